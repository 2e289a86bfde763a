//! The command for 64-bit ARM: compiled across, its tests run by an emulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::command::{self, Product};
use super::licences::Libc;
use super::part::Made;
use super::release::Release;
use super::target::{ARM, Std};
use super::tools::Tools;
use super::{binary, clean, deb, target};
use crate::process;

const EMULATORS: [&str; 2] = ["qemu-aarch64-static", "qemu-aarch64"];

/// Packages whose tests run under the emulator: those that decide, and those with kernels.
/// The emulator lacks `io_uring`, and takes a hundred times as long.
const TESTED: [&str; 2] = ["swath-plan", "swath-simd"];

/// Builds the command for glibc 2.28 and newer.
pub(super) fn make(release: &Release) -> Result<Made> {
    let std = target::std_of(release, ARM)?;
    if std == Std::Missing {
        return Ok(target::missing(ARM));
    }
    let tools = Tools::new(release)?;
    let mut cargo = tools.command(release, "cargo-zigbuild")?;
    cargo.args(["zigbuild", "--release", "--locked", "--package", "swath-cli"]);
    cargo.args(["--target", &format!("{ARM}.{}", deb::GLIBC)]);
    std.apply(&mut cargo);
    process::run(&mut cargo)?;
    let built = release.build().join(ARM).join("release/swath");
    let name = format!("swath-{}-aarch64-linux-gnu", release.version());
    let folder = release.empty_folder("aarch64")?.join(name);
    fs::create_dir_all(&folder)?;
    fs::copy(&built, folder.join("swath"))?;
    let product = Product { folder: &folder, triple: ARM, libc: Libc::Shared };
    command::papers(release, "swath-cli", &product)?;
    let glibc = binary::assert_glibc(&built, deb::GLIBC)?;
    let size = release.assert_small(&built, binary::COMMAND_LIMIT)?;
    let notes =
        vec![format!("needs glibc {glibc}; {size}; byte kernels are the portable ones")];
    Ok(Made::Files { files: vec![release.pack(&folder)?], notes })
}

/// Runs the command, and the tests of some crates, under the emulator.
pub(super) fn attempt(release: &Release, files: &[PathBuf]) -> Result<Vec<String>> {
    let folder = release.unpack(files.first().context("no archive")?, "try-aarch64")?;
    command::complete(&folder)?;
    let Some(emulator) = Emulator::find(release) else {
        return Ok(vec![String::from(
            "not run: there is no emulator; try: apt-get install qemu-user-static libc6-arm64-cross",
        )]);
    };
    let home = release.empty_folder("try-aarch64-home")?;
    command::used(&home, "", &|words| emulator.run(&folder.join("swath"), &home, words))?;
    let mut tried = vec![String::from("under qemu: --version, read, cat, cp, sum, compress")];
    tried.push(emulator.tests(release)?);
    Ok(tried)
}

/// An emulator, and where the libraries of the other processor are.
struct Emulator {
    program: &'static str,
    libraries: Option<&'static str>,
}

impl Emulator {
    fn find(release: &Release) -> Option<Emulator> {
        let program = EMULATORS.into_iter().find(|name| release.workspace().has(name))?;
        if Path::new("/lib/ld-linux-aarch64.so.1").exists() {
            return Some(Emulator { program, libraries: None });
        }
        let folder = "/usr/aarch64-linux-gnu";
        let loader = Path::new(folder).join("lib/ld-linux-aarch64.so.1");
        loader.exists().then_some(Emulator { program, libraries: Some(folder) })
    }

    fn words(&self) -> Vec<&'static str> {
        let mut words = vec![self.program];
        words.extend(self.libraries.iter().flat_map(|folder| ["-L", folder]));
        words
    }

    fn run(&self, binary: &Path, home: &Path, words: &[&str]) -> Result<Vec<u8>> {
        let all = self.words();
        let mut command = clean::command(all[0], home);
        let output = command.args(&all[1..]).arg(binary).args(words).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`swath {}` under qemu: {said}", words.join(" "));
        Ok(output.stdout)
    }

    fn tests(&self, release: &Release) -> Result<String> {
        if !release.workspace().has("aarch64-linux-gnu-gcc") {
            return Ok(String::from(
                "tests not run: no linker; try: apt-get install gcc-aarch64-linux-gnu",
            ));
        }
        let mut cargo = release.cargo();
        self.prepare(&mut cargo);
        cargo.args(["test", "--locked", "--tests", "--target", ARM]);
        for name in TESTED {
            cargo.args(["--package", name]);
        }
        process::run(&mut cargo)?;
        Ok(format!("under qemu: the tests of {}", TESTED.join(", ")))
    }

    fn prepare(&self, cargo: &mut Command) {
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", self.words().join(" "));
        cargo.env("CC_aarch64_unknown_linux_gnu", "aarch64-linux-gnu-gcc");
        // Each random test runs a hundred times slower there.
        cargo.env("PROPTEST_CASES", "16");
    }
}
