//! The Python package: installed as README says, but with the assertions of a debug build, and then tested.

use std::env;
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::Workspace;
use crate::{process, readme, reports, skips};

/// Runs the tests of the installed package, a slice of those that kill processes, and the examples.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    if !workspace.venv_stamp().exists() {
        return skips::note(workspace, "python-package", "there is no Python to test it with");
    }
    run_tests(workspace, &[], Vec::new()).map(drop)?;
    examples(workspace)
}

/// Runs pytest with these words and variables, in a process for each core; returns the number of
/// tests.
pub(crate) fn run_tests(
    workspace: &Workspace,
    words: &[&str],
    variables: Vec<(&'static str, String)>,
) -> Result<u64> {
    let report = workspace.target().join("pytest.xml");
    let mut tests = python(workspace)?;
    tests.args(["-m", "pytest", "--quiet", "--numprocesses", "auto", "--dist", "loadfile"]);
    tests.arg("--junit-xml").arg(&report);
    tests.arg(format!("--hypothesis-seed={}", workspace.seed()));
    tests.args(words).envs(variables).current_dir(workspace.root().join("python"));
    let outcome = process::run(&mut tests);
    let count = reports::keep(workspace, "python", &report)?;
    outcome.map(|()| count)
}

/// Runs the Python blocks of the pages; nothing without the private Python.
pub(crate) fn blocks(workspace: &Workspace) -> Result<()> {
    if !workspace.venv_stamp().exists() {
        return skips::note(
            workspace,
            "python-package",
            "there is no Python to run blocks with",
        );
    }
    crate::blocks::python(workspace, &workspace.venv_python(), &python(workspace)?)
}

fn examples(workspace: &Workspace) -> Result<()> {
    let mut examples = workspace.sources("python/examples", "py")?;
    examples.extend(workspace.sources("examples", "py")?);
    // Examples of MPI need ranks.
    let is_plain = |path: &std::path::PathBuf| {
        path.file_name().is_none_or(|name| !name.as_encoded_bytes().starts_with(b"mpi_"))
    };
    for example in examples.into_iter().filter(is_plain) {
        println!("example {}", example.display());
        process::run(python(workspace)?.arg(example))?;
    }
    Ok(())
}

/// The step `wheel`: builds and installs the package. Without the private Python there is nothing to do.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    if !workspace.venv_stamp().exists() {
        return skips::note(workspace, "python-package", "there is no Python to build it for");
    }
    readme::install_package(workspace)
}

/// Returns the private Python, with its own tools first in the path.
fn python(workspace: &Workspace) -> Result<Command> {
    // The command of this tree, which the package runs for `python -m swath`.
    let mut paths = vec![workspace.venv().join("bin"), workspace.target().join("debug")];
    paths.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let mut command = workspace.command(workspace.venv_python());
    command.env("PATH", env::join_paths(paths).context("PATH has an odd folder")?);
    Ok(command)
}
