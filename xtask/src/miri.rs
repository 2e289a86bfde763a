//! Miri: runs the tests of unsafe code, and of code that decides, in an interpreter that knows
//! Rust's rules.
//!
//! Miri is a hundred times slower and supports few kernel calls, so it gets the tests that share
//! memory between threads, lend it out or access it through pointers, and some of those that
//! compute positions. It needs a nightly toolchain with the components `miri` and `rust-src`, and
//! does not install them.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::workspace::Workspace;
use crate::{process, skips};

/// A package, and the prefixes of the names of its library tests that are run.
const TESTS: [(&str, &[&str]); 4] = [
    ("swath-plan", &["chunk::", "extent::", "checksums::", "window::"]),
    ("swath-os", &["handoff::", "memory::lease::", "fault_table::"]),
    ("swath-simd", &["cells::"]),
    ("swath", &["buffer::"]),
];

/// A test that breaks a promise. If Miri does not find it, Miri checks nothing.
const PLANTED: (&str, &str) = ("swath-simd", "cells::tests::a_planted_race_is_found_by_miri");
const FOUND: &str = "Data race detected";

/// Runs the tests, and the one that must fail; returns how many there are, or `None` without Miri.
pub(crate) fn run(workspace: &Workspace) -> Result<Option<u64>> {
    if let Err(error) = set_up(workspace) {
        skips::note(workspace, "miri", &format!("{error:#}"))?;
        return Ok(None);
    }
    let mut tests = 1;
    for (package, names) in TESTS {
        let mut command = test(workspace, package);
        let printed = process::output(command.arg("--").args(names))?;
        print!("{printed}");
        tests += count(&printed);
    }
    let (package, name) = PLANTED;
    let mut command = test(workspace, package);
    let output = command.args(["--", "--ignored", "--exact", name]).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains(FOUND) {
        bail!("Miri did not find the data race of `{name}`:\n{said}");
    }
    Ok(Some(tests))
}

/// Returns the number of tests that passed: `test result: ok. 12 passed; …`.
fn count(printed: &str) -> u64 {
    let passed = printed.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    passed.filter_map(|it| it.split_whitespace().next()?.parse::<u64>().ok()).sum()
}

/// Builds a standard library for Miri, once.
fn set_up(workspace: &Workspace) -> Result<()> {
    process::run_quietly(miri(workspace).arg("--version"))?;
    // Without the sources, it would download them.
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

/// Returns `cargo miri` of the nightly toolchain, in a folder of its own.
fn miri(workspace: &Workspace) -> Command {
    let mut command = nightly(workspace, "cargo");
    command.arg("miri").env("CARGO_TARGET_DIR", workspace.target().join("miri"));
    // Time and folders come from this machine; each random test runs few cases.
    command.env("MIRIFLAGS", "-Zmiri-disable-isolation").env("PROPTEST_CASES", "4");
    command
}

fn nightly(workspace: &Workspace, program: &str) -> Command {
    let mut command = workspace.command(program);
    command.arg("+nightly").env("RUST_BACKTRACE", "0");
    // Variables that `cargo run` has set belong to the toolchain that built this program.
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH"] {
        command.env_remove(name);
    }
    command
}
