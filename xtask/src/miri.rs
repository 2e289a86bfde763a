//! Miri: tests of what is unsafe, and of what decides, run by an interpreter that knows Rust's rules.
//!
//! It is a hundred times as slow and knows few kernel calls, so it gets the tests that share memory
//! between threads, lend it out or load it past the compiler, and some of those that compute places. It
//! needs a nightly toolchain with the components `miri` and `rust-src`; nothing is installed for it.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::workspace::Workspace;
use crate::{process, skips};

/// A package, and the tests of its library that are run: those whose names begin so.
const TESTS: [(&str, &[&str]); 4] = [
    ("swath-plan", &["chunk::", "extent::", "checksums::", "window::"]),
    ("swath-os", &["handoff::", "memory::lease::", "fault_table::"]),
    ("swath-simd", &["cells::"]),
    ("swath", &["buffer::"]),
];

/// A test that breaks a promise, which Miri must find: else it looks at nothing.
const PLANTED: (&str, &str) = ("swath-simd", "cells::tests::a_planted_race_is_found_by_miri");
const FOUND: &str = "Data race detected";

/// Runs the tests, and the one that must fail.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    if let Err(error) = set_up(workspace) {
        return skips::note(workspace, "miri", &format!("{error:#}"));
    }
    for (package, names) in TESTS {
        let mut command = test(workspace, package);
        process::run(command.arg("--").args(names))?;
    }
    let (package, name) = PLANTED;
    let mut command = test(workspace, package);
    let output = command.args(["--", "--ignored", "--exact", name]).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains(FOUND) {
        bail!("Miri did not find the data race of `{name}`:\n{said}");
    }
    Ok(())
}

/// Builds a standard library for it, once.
fn set_up(workspace: &Workspace) -> Result<()> {
    process::run_quietly(miri(workspace).arg("--version"))?;
    // Where the sources are missing, it would fetch them.
    let mut rustc = nightly(workspace, "rustc");
    let sysroot = process::output(rustc.args(["--print", "sysroot"]))?;
    let sources = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library");
    ensure!(sources.is_dir(), "the nightly toolchain has no component `rust-src`");
    process::run_quietly(miri(workspace).arg("setup"))
}

fn test(workspace: &Workspace, package: &str) -> Command {
    let mut command = miri(workspace);
    command.args(["test", "--quiet", "--package", package, "--lib"]);
    command
}

/// `cargo miri` of the nightly toolchain, in a folder of its own.
fn miri(workspace: &Workspace) -> Command {
    let mut command = nightly(workspace, "cargo");
    command.arg("miri").env("CARGO_TARGET_DIR", workspace.target().join("miri"));
    // Time and folders are those of this machine; few cases of each random test.
    command.env("MIRIFLAGS", "-Zmiri-disable-isolation").env("PROPTEST_CASES", "4");
    command
}

fn nightly(workspace: &Workspace, program: &str) -> Command {
    let mut command = workspace.command(program);
    command.arg("+nightly").env("RUST_BACKTRACE", "0");
    // What `cargo run` has set is for the toolchain that built this program.
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH"] {
        command.env_remove(name);
    }
    command
}
