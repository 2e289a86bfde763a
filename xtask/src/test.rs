//! `cargo xtask test`: the one check that CI runs.
//!
//! ```text
//! prepare → format → deny → clippy → tidy → tests → doctests → examples → c → blocks → docs → book →
//! miri → python → demo → readme
//! ```
//!
//! The steps run in order, cheap ones first, and the first failure ends the run. What this machine
//! could not check is listed at the end; see [`skips`].

use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use crate::{
    blocks, book, c, deny, manifest, miri, prepare, process, python, readme, skips, tidy,
};

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// Without the steps that need a release build.
    Fast,
}

struct Step {
    name: &'static str,
    action: fn(&Workspace) -> Result<()>,
    in_fast: bool,
}

const STEPS: &[Step] = &[
    Step { name: "prepare", action: prepare::run_all, in_fast: true },
    Step { name: "format", action: format, in_fast: true },
    Step { name: "deny", action: deny::run, in_fast: true },
    Step { name: "clippy", action: clippy, in_fast: true },
    Step { name: "tidy", action: tidy::run, in_fast: true },
    Step { name: "tests", action: tests, in_fast: true },
    Step { name: "doctests", action: doctests, in_fast: true },
    Step { name: "examples", action: examples, in_fast: true },
    Step { name: "c", action: c::check, in_fast: true },
    // Blocks of C use what the step before has installed; Python's run in the step `python`.
    Step { name: "blocks", action: blocks::shell_and_c, in_fast: true },
    Step { name: "docs", action: docs, in_fast: true },
    Step { name: "book", action: book::run, in_fast: true },
    Step { name: "miri", action: miri::run, in_fast: true },
    // Before the demo, which is built from much of the same.
    Step { name: "python", action: python::run, in_fast: false },
    Step { name: "demo", action: demo, in_fast: false },
    // After the demo, whose command it installs.
    Step { name: "readme", action: readme::run_step, in_fast: false },
];

/// Runs every step of `extent` and prints a summary.
pub(crate) fn run(workspace: &Workspace, extent: Extent) -> Result<()> {
    skips::start(workspace)?;
    let mut passed = 0_usize;
    let mut left_out = Vec::new();
    for (index, step) in STEPS.iter().enumerate() {
        let heading = format!("[{}/{}] {}", index + 1, STEPS.len(), step.name);
        if extent == Extent::Fast && !step.in_fast {
            left_out.push(format!("step {}: left out by --fast", step.name));
            continue;
        }
        println!("{heading}");
        let start = Instant::now();
        (step.action)(workspace).with_context(|| format!("step `{}` failed", step.name))?;
        println!("{heading}: passed in {:.1} s", start.elapsed().as_secs_f64());
        passed += 1;
    }
    let skips = skips::noted(workspace)?;
    println!("all {passed} steps passed, {} skipped", skips.len() + left_out.len());
    for line in left_out.into_iter().chain(skips.iter().map(skips::Skip::to_string)) {
        println!("  skipped {line}");
    }
    skips::judge(workspace, &skips)
}

fn format(workspace: &Workspace) -> Result<()> {
    process::run(&mut workspace.cargo(&["fmt", "--all", "--check"]))
}

fn clippy(workspace: &Workspace) -> Result<()> {
    let words = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    process::run(&mut workspace.cargo(&words))
}

fn tests(workspace: &Workspace) -> Result<()> {
    process::run(&mut workspace.cargo(&["test", "--workspace", "--all-targets"]))
}

fn doctests(workspace: &Workspace) -> Result<()> {
    process::run(&mut workspace.cargo(&["test", "--workspace", "--doc"]))
}

/// Runs the examples. They are built with the workspace, for what the step `tests` has compiled: alone they
/// would have other features.
fn examples(workspace: &Workspace) -> Result<()> {
    process::run(&mut workspace.cargo(&["build", "--quiet", "--workspace", "--examples"]))?;
    let folder = workspace.target().join("debug/examples");
    for name in example_names(&workspace.read("examples/Cargo.toml")?)? {
        println!("example {name}");
        process::run(&mut workspace.command(folder.join(&name)))?;
    }
    Ok(())
}

fn docs(workspace: &Workspace) -> Result<()> {
    let mut command = workspace.cargo(&["doc", "--workspace", "--no-deps"]);
    process::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn demo(workspace: &Workspace) -> Result<()> {
    let words = ["run", "--release", "--quiet", "--", "demo", "--size", "16MiB"];
    process::run(&mut workspace.cargo(&words))
}

/// The `[[example]]` list. `tidy` makes sure that every file is on it.
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
