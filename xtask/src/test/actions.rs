//! The steps of the test, and their actions.

use anyhow::{Result, bail};

use super::Step;
use super::StepLane::{Beside, Cargo};
use crate::nextest::{self, TestRun};
use crate::workspace::Workspace;
use crate::{
    blocks, book, build, c, deny, links, manifest, prepare, process, python, readme, slow, tidy,
};

/// The steps, in the order in which they begin if none has to wait.
#[rustfmt::skip]
pub(super) const STEPS: &[Step] = &[
    Step { name: "build", lane: Cargo, needs: &[], in_fast: true, action: build::all },
    Step { name: "prepare", lane: Beside, needs: &[], in_fast: true, action: prepare::run_all },
    Step { name: "format", lane: Beside, needs: &[], in_fast: true, action: format },
    Step { name: "tidy", lane: Beside, needs: &[], in_fast: true, action: tidy::run },
    Step { name: "deny", lane: Beside, needs: &["prepare"], in_fast: true, action: deny::run },
    Step { name: "links", lane: Beside, needs: &["prepare"], in_fast: true, action: links::run },
    Step { name: "tests", lane: Beside, needs: &["build", "prepare"], in_fast: true, action: tests },
    Step { name: "wheel", lane: Cargo, needs: &["build", "prepare"], in_fast: false, action: python::install },
    Step { name: "docs", lane: Cargo, needs: &["build"], in_fast: false, action: book::document },
    Step { name: "xtask", lane: Cargo, needs: &["build"], in_fast: false, action: tests_of_xtask },
    Step { name: "python", lane: Beside, needs: &["wheel"], in_fast: false, action: python::run },
    Step { name: "c", lane: Beside, needs: &["build", "prepare"], in_fast: false, action: c::check },
    Step { name: "blocks", lane: Beside, needs: &["c", "wheel"], in_fast: false, action: blocks },
    Step { name: "book", lane: Beside, needs: &["docs", "prepare"], in_fast: false, action: book::run },
    Step { name: "examples", lane: Beside, needs: &["build"], in_fast: true, action: examples },
    Step { name: "demo", lane: Beside, needs: &["build"], in_fast: true, action: demo },
    Step { name: "readme", lane: Cargo, needs: &["xtask", "python", "c"], in_fast: false, action: readme::run_step },
];

fn format(workspace: &Workspace) -> Result<()> {
    process::run(&mut workspace.cargo(&["fmt", "--all", "--check"]))
}

fn tests(workspace: &Workspace) -> Result<()> {
    let filter = match prepare::is_fast() {
        true => slow::others(&slow::names(workspace)?),
        false => String::new(),
    };
    nextest::run(
        workspace,
        &TestRun { filter: &filter, profile: "default", variables: Vec::new() },
    )
    .map(drop)
}

/// Runs the blocks of the pages.
pub(crate) fn blocks(workspace: &Workspace) -> Result<()> {
    blocks::shell_and_c(workspace)?;
    python::blocks(workspace)
}

/// Runs the tests of this program, with the features that it was built with, and lints the rest of
/// it.
fn tests_of_xtask(workspace: &Workspace) -> Result<()> {
    for verb in ["build", "test"] {
        process::run(&mut workspace.cargo(&[verb, "--quiet", "--package", "swath-xtask"]))?;
    }
    Ok(())
}

/// Runs the built examples.
fn examples(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target().join("debug/examples");
    for name in example_names(&workspace.read("examples/Cargo.toml")?)? {
        println!("example {name}");
        process::run(&mut workspace.command(folder.join(&name)))?;
    }
    Ok(())
}

fn demo(workspace: &Workspace) -> Result<()> {
    let mut demo = workspace.command(workspace.target().join("debug/swath"));
    process::run(demo.args(["demo", "--size", "16MiB"]))
}

/// Returns the `[[example]]` list. `tidy` checks that every file is on it.
fn example_names(text: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for section in manifest::sections(text).iter().filter(|it| it.head == "example") {
        let Some(name) = section.string("name") else {
            bail!("examples/Cargo.toml:{}: [[example]] without a name", section.line);
        };
        names.push(name.to_owned());
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_of_the_manifest_is_run() {
        let text = "[lib]\npath = \"lib.rs\"\n[[example]]\n\
                    name = \"read\"\npath = \"read.rs\"\n\
                    [[example]]\nname = \"append\"\n";
        assert_eq!(example_names(text).expect("both have names"), ["read", "append"]);
        assert!(example_names("[[example]]\npath = \"read.rs\"\n").is_err());
    }
}
