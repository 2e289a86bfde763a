//! The build of everything that a push compiles, in one invocation of Cargo.

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// The targets of a push. One invocation builds them all, so that each crate is compiled with one set of
/// features; with an example among them Cargo counts what only tests depend on, for any of the commands.
const TARGETS: [&str; 5] = ["--workspace", "--lib", "--bins", "--tests", "--examples"];

/// This program is built already, and with other features: what it depends on would be built again for it.
pub(crate) const NOT_BUILT: [&str; 2] = ["--exclude", "swath-xtask"];

/// Builds the libraries, the command, the tests and the examples.
pub(crate) fn all(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo(&["build", "--quiet"]);
    process::run(cargo.args(TARGETS).args(NOT_BUILT))
}
