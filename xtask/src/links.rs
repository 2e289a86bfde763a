//! Checks that links lead somewhere: those between documents of the repository, and those of the
//! site.
//!
//! `lychee` follows them to files and anchors; [`programs`] provides it. Nothing is fetched.

use std::path::Path;

use anyhow::{Result, bail};

use crate::workspace::Workspace;
use crate::{process, programs, skips};

/// Runs the step on the documents that Git tracks or would offer to track.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut git = workspace.command("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"]);
    let listed = process::output(&mut git)?;
    let names: Vec<&str> =
        listed.lines().filter(|it| workspace.root().join(it).exists()).collect();
    check(workspace, workspace.root(), &names)
}

/// Fails if a link of these files or folders below `folder` leads nowhere, or if the tool misses a
/// planted one.
pub(crate) fn check(workspace: &Workspace, folder: &Path, names: &[&str]) -> Result<()> {
    let Some(program) = programs::path(workspace, "lychee") else {
        return skips::note(workspace, "lychee", "not installed");
    };
    let lychee = |names: &[&str]| {
        let mut command = workspace.command(&program);
        command.args(["--offline", "--include-fragments", "--no-ignore", "--no-progress"]);
        // A line of a source in the reference, which a script marks.
        command.args(["--exclude", "/api/src/.*#[0-9-]+$"]).args(names).current_dir(folder);
        command
    };
    for link in ["[a](gone.md)", "# a\n[a](#gone)"] {
        let planted = workspace.target().join("planted.md");
        std::fs::write(&planted, link)?;
        if process::run_quietly(&mut lychee(&[&planted.to_string_lossy()])).is_ok() {
            bail!("lychee does not see that `{link}` leads nowhere");
        }
    }
    process::run(&mut lychee(names))
}
