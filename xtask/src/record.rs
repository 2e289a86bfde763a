//! `cargo xtask record`: the measurements, with the peers that they are compared with.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{prepare, process, skips};

/// Runs the benchmarks in a release build, with `words` as arguments.
pub(crate) fn run(workspace: &Workspace, words: &[String]) -> Result<()> {
    skips::start(workspace)?;
    prepare::run_all(workspace)?;
    for skip in skips::noted(workspace)? {
        eprintln!("not measured here: {skip}");
    }
    let mut benches = workspace.cargo(&["run", "--release", "-p", "swath-benches", "--"]);
    process::run(benches.args(words))
}
