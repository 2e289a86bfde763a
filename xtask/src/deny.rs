//! The step `deny`: licences, sources and duplicates of everything that is compiled.
//!
//! `cargo-deny` judges by `deny.toml`; [`programs`] brings it. Known vulnerabilities need a database from outside: `cargo deny check advisories`.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, programs, skips};

/// The result of the check; a violation is an error.
#[derive(Debug)]
pub(crate) enum Found {
    Passed,
    /// There is no `cargo-deny`, for this reason.
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
    let Some(program) = programs::path(workspace, "cargo-deny") else {
        return Ok(Found::NoTool(String::from("not installed")));
    };
    let mut deny = workspace.command(program);
    deny.args(["--locked", "--log-level", "error", "check", "--hide-inclusion-graph"]);
    process::run(deny.args(["bans", "licenses", "sources"]))?;
    Ok(Found::Passed)
}
