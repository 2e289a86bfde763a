//! The static command: one file, for any Linux on `x86_64`.
//!
//! ```text
//! musl's library installed, or its source there → musl, linked by Zig
//! else                                          → glibc, static (`crt-static`), and named so
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::clean::Root;
use super::licences::{self, Libc};
use super::part::Made;
use super::release::Release;
use super::target::{GNU, MUSL, Std};
use super::tools::Tools;
use super::{binary, linked, sbom, target};
use crate::{install, process};

const PACKAGE: &str = "swath-cli";

/// The folder of zsh's completions, as Debian names it.
pub(super) const DEBIAN_ZSH: &str = "vendor-completions";

/// Builds it and packs it with its papers.
pub(super) fn make(release: &Release) -> Result<Made> {
    let std = target::std_of(release, MUSL)?;
    let (built, kind, libc) = match std {
        Std::Missing => (with_glibc(release)?, "linux-gnu-static", Libc::Glibc),
        _ => (with_musl(release, std)?, "linux-musl", Libc::Musl),
    };
    let folder = release
        .empty_folder("command")?
        .join(format!("swath-{}-x86_64-{kind}", release.version()));
    fs::create_dir_all(&folder)?;
    fs::copy(&built, folder.join("swath"))?;
    install::describe(&built, &folder.join("share"), DEBIAN_ZSH)?;
    let triple = if libc == Libc::Musl { MUSL } else { GNU };
    papers(release, PACKAGE, &Product { folder: &folder, triple, libc })?;
    let size = release.assert_small(&built, binary::COMMAND_LIMIT)?;
    let mut notes = vec![format!("the stripped command has {size}")];
    if libc == Libc::Glibc {
        notes.push(format!(
            "linked with glibc: {MUSL} is missing; try: rustup target add {MUSL}"
        ));
    }
    Ok(Made::Files { files: vec![release.pack(&folder)?], notes })
}

/// The product for which papers are written, and its place.
pub(super) struct Product<'a> {
    pub(super) folder: &'a Path,
    pub(super) triple: &'a str,
    pub(super) libc: Libc,
}

/// Writes README, licences, and the list of components beside a product.
pub(super) fn papers(release: &Release, package: &str, product: &Product<'_>) -> Result<()> {
    for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(release.staged(name), product.folder.join(name))?;
    }
    let packages = linked::packages(release, package, product.triple)?;
    let text = licences::text(release, &packages, product.libc)?;
    fs::write(product.folder.join(licences::NAME), text)?;
    let list = sbom::text(package, release.version(), &packages);
    fs::write(product.folder.join(format!("swath.{}", sbom::ENDING)), list)?;
    Ok(())
}

fn with_glibc(release: &Release) -> Result<PathBuf> {
    let mut cargo = release.cargo();
    release.prepare(&mut cargo, &["-Ctarget-feature=+crt-static"]);
    // A folder of its own: with these flags, everything in the other folders would be built again.
    let build = release.scratch("build-static");
    cargo.env("CARGO_TARGET_DIR", &build);
    cargo.args(["build", "--release", "--locked", "--package", PACKAGE, "--target", GNU]);
    process::run(&mut cargo)?;
    Ok(build.join(GNU).join("release/swath"))
}

fn with_musl(release: &Release, std: Std) -> Result<PathBuf> {
    let tools = Tools::new(release)?;
    let mut cargo = tools.command(release, "cargo-zigbuild")?;
    cargo.args(["zigbuild", "--release", "--locked", "--package", PACKAGE, "--target", MUSL]);
    if std == Std::FromSource {
        // The objects that start a program come with a library that is installed; else from Zig.
        release.prepare(&mut cargo, &["-Clink-self-contained=no"]);
    }
    std.apply(&mut cargo);
    process::run(&mut cargo)?;
    Ok(release.build().join(MUSL).join("release/swath"))
}

/// Runs the command in an empty root: no library, no `/proc`, no `/dev`, no home.
pub(super) fn attempt(release: &Release, files: &[PathBuf]) -> Result<Vec<String>> {
    let archive = files.first().context("no archive")?;
    let folder = release.unpack(archive, "try-command")?;
    let program = folder.join("swath");
    binary::assert_static(&program)?;
    release.names_no_folder(&program)?;
    complete(&folder)?;
    let root = Root::new(release.empty_folder("root-command")?);
    root.put(&program, "swath")?;
    in_an_empty_root(&root, "/swath")?;
    Ok(vec![
        String::from(
            "static: no loader, no library; stripped; names no folder of this machine",
        ),
        String::from("in an empty root: --version, read, cat, cp, sum, compress, decompress"),
    ])
}

/// Fails if an archive lacks a paper.
pub(super) fn complete(folder: &Path) -> Result<()> {
    let list = format!("swath.{}", sbom::ENDING);
    for name in ["LICENSE-MIT", "LICENSE-APACHE", licences::NAME, &list] {
        let len = fs::metadata(folder.join(name)).map_or(0, |facts| facts.len());
        ensure!(len > 0, "{} has no {name}", folder.display());
    }
    Ok(())
}

/// As [`used`], in an empty root.
pub(super) fn in_an_empty_root(root: &Root, program: &str) -> Result<()> {
    used(&root.path("."), "/", &|words| root.run(&[&[program], words].concat()))
}

/// Has a command read, copy and compress a file of `folder`, which it finds below `place`, and compares each
/// byte.
pub(super) fn used(
    folder: &Path,
    place: &str,
    said: &dyn Fn(&[&str]) -> Result<Vec<u8>>,
) -> Result<()> {
    let byte = |at: u32| at.to_le_bytes()[usize::from(at.is_multiple_of(3))];
    let data: Vec<u8> = (0..3_000_001).map(byte).collect();
    fs::write(folder.join("data.bin"), &data)?;
    let (input, copy) = (format!("{place}data.bin"), format!("{place}copy.bin"));
    ensure!(said(&["--version"])?.starts_with(b"swath "), "no version");
    ensure!(!said(&["read", &input])?.is_empty(), "`read` reports nothing");
    ensure!(said(&["cat", &input])? == data, "`cat` gives other bytes");
    said(&["cp", &input, &copy])?;
    ensure!(fs::read(folder.join("copy.bin"))? == data, "`cp` writes other bytes");
    let sum: u64 = data.iter().map(|byte| u64::from(*byte)).sum();
    let shown = String::from_utf8(said(&["sum", &input])?)?;
    ensure!(has_number(&shown, sum), "`sum` gives {shown}");
    said(&["compress", &input])?;
    let whole = said(&["cat", "-d", &format!("{input}.zst")])?;
    ensure!(whole == data, "what was compressed gives other bytes");
    Ok(())
}

/// Returns whether a text has this number, however its digits are grouped.
fn has_number(text: &str, number: u64) -> bool {
    text.replace([',', '_', '\u{202f}'], "").contains(&number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_without_its_licences_is_refused() {
        let folder = std::env::temp_dir().join(format!("swath-papers-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        let names = ["LICENSE-MIT", "LICENSE-APACHE", licences::NAME, "swath.cdx.json"];
        for name in names {
            fs::write(folder.join(name), "text").expect("room");
        }
        complete(&folder).expect("all are there");
        for name in names {
            fs::write(folder.join(name), "").expect("room");
            let error = complete(&folder).expect_err("one is empty");
            assert!(error.to_string().ends_with(&format!("has no {name}")), "{error}");
            fs::write(folder.join(name), "text").expect("room");
        }
        fs::remove_dir_all(&folder).expect("it is this test's own");
    }
}
