//! Runs the blocks of one language: `swath-docs sh`, `swath-docs c PREFIX`, `swath-docs python PYTHON`,
//! each of all pages or of those that are named after it.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use swath_docs::run::Tool;
use swath_docs::{pages, run};

const USAGE: &str =
    "usage: swath-docs sh [PAGE...] | c PREFIX [PAGE...] | python PYTHON [PAGE...]";

fn main() -> ExitCode {
    match work() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("{failed} failed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("swath-docs: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn work() -> Result<usize> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (tool, wanted) = match words.as_slice() {
        ["sh", pages @ ..] => (Tool::Shell(beside_this_program()?), pages),
        ["c", prefix, pages @ ..] => (Tool::C(PathBuf::from(prefix)), pages),
        ["python", python, pages @ ..] => (Tool::Python(PathBuf::from(python)), pages),
        _ => bail!("{USAGE}"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no root")?;
    let mut failed = 0;
    for page in pages::all(root).map_err(anyhow::Error::msg)? {
        if !wanted.is_empty() && !wanted.contains(&page.path.as_str()) {
            continue;
        }
        for text in run::page(&page, &tool)? {
            eprintln!("{text}\n");
            failed += 1;
        }
    }
    Ok(failed)
}

/// Where the command is: built by the same build.
fn beside_this_program() -> Result<PathBuf> {
    let folder = std::env::current_exe()?.parent().context("no folder")?.to_owned();
    if !folder.join("swath").exists() {
        bail!("{} has no `swath`: run cargo build first", folder.display());
    }
    Ok(folder)
}
