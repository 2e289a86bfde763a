//! `cargo xtask blocks`: runs the shell, C and Python blocks of `README.md` and `docs`.
//!
//! The crate `swath-docs` finds and runs them; this file provides the programs that they run with.
//! Rust blocks are tests of that crate and run with all others.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{build, install_c, process, skips};

/// Runs the shell and C blocks, with debug builds of the command and of the library.
pub(crate) fn shell_and_c(workspace: &Workspace) -> Result<()> {
    build::all(workspace)?;
    println!("blocks of shell");
    process::run(docs(workspace).arg("sh"))?;
    if !workspace.has("cc") {
        return skips::note(workspace, "c-compiler", "no `cc`");
    }
    let prefix = workspace.target().join("c").join("prefix");
    install_c::lay_build(workspace, &prefix)?;
    println!("blocks of C");
    process::run(docs(workspace).arg("c").arg(prefix))
}

/// Runs the Python blocks with `interpreter`, which has the package; `like` has its environment.
pub(crate) fn python(workspace: &Workspace, interpreter: &Path, like: &Command) -> Result<()> {
    println!("blocks of Python");
    let mut docs = docs(workspace);
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => docs.env(name, value),
            None => docs.env_remove(name),
        };
    }
    process::run(docs.arg("python").arg(interpreter))
}

fn docs(workspace: &Workspace) -> Command {
    workspace.command(workspace.target().join("debug/swath-docs"))
}
