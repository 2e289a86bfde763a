//! The C library as an archive: a prefix that works wherever it is unpacked.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::command::{self, Product};
use super::licences::Libc;
use super::part::Made;
use super::release::Release;
use super::target::GNU;
use super::{binary, clean, deb};
use crate::{install_c, process};

/// Builds the library against an old glibc and packs a prefix.
pub(super) fn make(release: &Release) -> Result<Made> {
    let built = deb::shared(release, "swath-capi")?;
    let name = format!("libswath-{}-x86_64-linux-gnu", release.version());
    let prefix = release.empty_folder("c")?.join(name);
    let from = install_c::Built { folder: built, sources: release.staged("") };
    install_c::lay(&from, &prefix, release.version(), false)?;
    strip(release, &prefix.join("lib/libswath.a"))?;
    let papers = prefix.join("share/doc/swath");
    fs::create_dir_all(&papers)?;
    let product = Product { folder: &papers, triple: GNU, libc: Libc::Shared };
    command::papers(release, "swath-capi", &product)?;
    let glibc = binary::assert_glibc(&prefix.join("lib/libswath.so.0"), deb::GLIBC)?;
    let notes = vec![format!("needs glibc {glibc}")];
    Ok(Made::Files { files: vec![release.pack(&prefix)?], notes })
}

/// Removes the debugging information of an archive of objects, which would keep
/// it.
fn strip(release: &Release, archive: &Path) -> Result<()> {
    let mut strip = release.program("strip");
    process::run_quietly(
        strip.args(["--strip-debug", "--enable-deterministic-archives"]).arg(archive),
    )
}

/// Compiles programs against it, in a clean environment, after it was moved.
pub(super) fn attempt(release: &Release, files: &[PathBuf]) -> Result<Vec<String>> {
    let prefix = release.unpack(files.first().context("no archive")?, "try-c")?;
    command::complete(&prefix.join("share/doc/swath"))?;
    release.names_no_folder(&prefix.join("lib/libswath.so.0"))?;
    let home = release.empty_folder("try-c-home")?;
    let consumer = Consumer { release, prefix: &prefix, home: &home };
    let mut tried = vec![consumer.by_pkg_config(&[])?, consumer.by_pkg_config(&["--static"])?];
    if release.workspace().has("cmake") {
        tried.push(consumer.by_cmake()?);
    } else {
        tried.push(String::from("not by CMake: it is not installed"));
    }
    Ok(tried)
}

/// A program that uses the library.
struct Consumer<'a> {
    release: &'a Release,
    prefix: &'a Path,
    home: &'a Path,
}

impl Consumer<'_> {
    fn by_pkg_config(&self, more: &[&str]) -> Result<String> {
        let mut command = clean::command("pkg-config", self.home);
        command.env("PKG_CONFIG_LIBDIR", self.prefix.join("lib/pkgconfig"));
        let flags = process::output(command.args(more).args(["--cflags", "--libs", "swath"]))?;
        let program = self.home.join("program");
        let mut compiler = clean::command("cc", self.home);
        compiler.args(more.iter().map(|_| "-static"));
        compiler.arg(self.release.staged("crates/capi/tests/consumer/main.c"));
        compiler.arg("-o").arg(&program).args(flags.split_whitespace());
        process::run_quietly(&mut compiler)?;
        self.run(&program)?;
        Ok(format!("a C program by `pkg-config {}`", [more, &["--libs"]].concat().join(" ")))
    }

    fn by_cmake(&self) -> Result<String> {
        let build = self.home.join("build");
        let mut configure = clean::command("cmake", self.home);
        configure.arg("-S").arg(self.release.staged("crates/capi/tests/consumer"));
        configure.arg("-B").arg(&build);
        configure.arg(format!("-DCMAKE_PREFIX_PATH={}", self.prefix.display()));
        process::run_quietly(&mut configure)?;
        process::run_quietly(clean::command("cmake", self.home).arg("--build").arg(&build))?;
        for program in ["shared", "static", "plus"] {
            self.run(&build.join(program))?;
        }
        Ok(String::from("C and C++ programs by CMake, shared and static"))
    }

    fn run(&self, program: &Path) -> Result<()> {
        let mut command = clean::command(program, self.home);
        process::run_quietly(command.env("LD_LIBRARY_PATH", self.prefix.join("lib")))
    }
}
