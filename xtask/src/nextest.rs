//! Runs the tests of Rust with nextest, each in a process of its own.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{build, process, programs, reports, skips};

/// The tests to run, and how.
pub(crate) struct TestRun<'t> {
    /// An expression of nextest; all tests if it is empty.
    pub(crate) filter: &'t str,
    /// The profile of `.config/nextest.toml`.
    pub(crate) profile: &'t str,
    /// Variables of the tests.
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// Runs the built tests, each in a process of its own, on all cores; notes their times for the
/// summary and returns their number. Without nextest, `cargo test` runs all of them.
pub(crate) fn run(workspace: &Workspace, run: &TestRun<'_>) -> Result<u64> {
    let Some(nextest) = programs::path(workspace, "cargo-nextest") else {
        skips::note(workspace, "nextest", "not installed; `cargo test` ran instead")?;
        let mut cargo = workspace.cargo(&["test", "--workspace", "--tests"]);
        cargo.args(build::NOT_BUILT);
        return process::run(cargo.envs(run.variables.iter().cloned())).map(|()| 0);
    };
    // Cargo lists its results once, so that its lock is free while the tests run.
    let binaries = workspace.steps().join("binaries.json");
    let mut list = command(workspace, &nextest, "list");
    list.args(["--workspace", "--tests", "--cargo-quiet"]);
    list.args(build::NOT_BUILT);
    list.args(["--list-type", "binaries-only", "--message-format", "json"]);
    std::fs::write(&binaries, process::output(&mut list)?)?;
    let metadata = workspace.steps().join("metadata.json");
    let mut cargo = workspace.cargo(&["metadata", "--format-version", "1", "--locked"]);
    std::fs::write(&metadata, process::output(&mut cargo)?)?;
    let mut tests = command(workspace, &nextest, "run");
    tests.arg("--binaries-metadata").arg(&binaries).arg("--cargo-metadata").arg(&metadata);
    // One more than cores, since some of them wait.
    let threads = std::thread::available_parallelism().map_or(1, usize::from) + 1;
    tests.args(["--test-threads", &threads.to_string()]);
    tests.args(["--profile", run.profile]);
    if !run.filter.is_empty() {
        tests.args(["--filterset", run.filter]);
    }
    let outcome = process::run(tests.envs(run.variables.iter().cloned()));
    let report = workspace.target().join("nextest").join(run.profile).join("junit.xml");
    let name = if run.filter.is_empty() { "tests" } else { "some-tests" };
    let count = reports::keep(workspace, name, &report)?;
    outcome.map(|()| count)
}

fn command(workspace: &Workspace, program: &Path, verb: &str) -> Command {
    let mut command = workspace.command(program);
    command.args(["nextest", verb]);
    command
}
