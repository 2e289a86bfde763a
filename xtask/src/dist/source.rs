//! The source archive: the last commit, as Git has it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::part::Made;
use super::release::Release;
use crate::process;

/// Packs what Git tracks.
pub(super) fn make(release: &Release) -> Result<Made> {
    let name = format!("swath-{}-source", release.version());
    let folder = release.empty_folder("source")?.join(&name);
    let mut copy = release.program("cp");
    process::run_quietly(copy.arg("--archive").arg(release.staged("")).arg(&folder))?;
    let file = release.pack(&folder)?;
    fs::remove_dir_all(&folder)?;
    Ok(Made::Files { files: vec![file], notes: Vec::new() })
}

/// Builds the command from the archive without a network, and asks it for its version.
pub(super) fn attempt(release: &Release, files: &[PathBuf]) -> Result<Vec<String>> {
    let archive = files.first().context("no archive")?;
    let folder = release.unpack(archive, "try-source")?;
    let mut cargo = release.cargo();
    cargo.current_dir(&folder).args([
        "build",
        "--locked",
        "--offline",
        "--package",
        "swath-cli",
    ]);
    process::run(&mut cargo)?;
    let mut swath = release.program(release.build().join("debug/swath"));
    let version = process::output(swath.arg("--version"))?;
    ensure!(version.contains(release.version()), "the version is {version}");
    fs::remove_dir_all(&folder)?;
    Ok(vec![String::from("unpacked; `cargo build --locked --offline`; `swath --version`")])
}
