//! The step `deny`: licences, sources and duplicates of everything that is compiled.
//!
//! `cargo-deny` judges by `deny.toml`; [`programs`] provides it. Known vulnerabilities need a
//! database from outside: `cargo deny check advisories`.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, programs, skips};

/// Runs the step; without the tool it is noted as skipped.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    if check(workspace)? {
        return Ok(());
    }
    skips::note(workspace, "cargo-deny", "not installed")
}

/// Checks `Cargo.lock` and the packages it names; returns whether there is a tool for it.
pub(crate) fn check(workspace: &Workspace) -> Result<bool> {
    let Some(program) = programs::path(workspace, "cargo-deny") else { return Ok(false) };
    let mut deny = workspace.command(program);
    deny.args(["--locked", "--log-level", "error", "check", "--hide-inclusion-graph"]);
    process::run(deny.args(["bans", "licenses", "sources"]))?;
    Ok(true)
}
