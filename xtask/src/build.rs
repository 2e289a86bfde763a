//! The build of everything that a push compiles, in one invocation of Cargo.

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// The targets of a push. One invocation builds them all, so that each crate is compiled with one set of
/// features; an example among the targets makes Cargo count the dependencies of tests in each of
/// the commands.
const TARGETS: [&str; 5] = ["--workspace", "--lib", "--bins", "--tests", "--examples"];

/// This program is built already, with other features: its dependencies would be built again.
pub(crate) const NOT_BUILT: [&str; 2] = ["--exclude", "swath-xtask"];

/// Builds the libraries, the command, the tests and the examples.
pub(crate) fn all(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo(&["build", "--quiet"]);
    process::run(cargo.args(TARGETS).args(NOT_BUILT))
}
