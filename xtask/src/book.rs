//! `cargo xtask book`: the documentation as a site, in `target/book`.
//!
//! ```text
//! docs/, what its pages link to → stage → target/book-src → mdbook → target/book
//!                                            cargo doc   → target/book/api
//! every link and anchor of the result → check         two pages → a browser
//! ```
//!
//! Pages are written for the repository: their links lead to files of it. [`stage`] copies what they
//! lead to into the site and points the links there, so no link leaves it.

mod browser;
mod check;
mod shown;
mod stage;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::process;
use crate::skips;
use crate::workspace::Workspace;

/// What the site is made with.
const VERSION: &str = "0.5.4";

/// Crates whose reference is part of the site, each after those that it links to.
const API: &[&str] = &["swath", "swath_formats", "swath_profile"];

/// Builds the site and checks it.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let tool = match tool(workspace) {
        Ok(tool) => tool,
        Err(error) => return skips::note(workspace, "mdbook", &format!("{error:#}")),
    };
    let source = workspace.target().join("book-src");
    let site = workspace.target().join("book");
    for folder in [&source, &site] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    stage::run(workspace.root(), &source)?;
    let mut mdbook = workspace.command(tool);
    process::run(mdbook.arg("build").arg(&source).arg("--dest-dir").arg(&site))?;
    api(workspace, &site.join("api"))?;
    let broken = check::run(&site)?;
    for text in &broken {
        eprintln!("{text}");
    }
    ensure!(broken.is_empty(), "the site has {} broken links", broken.len());
    browser::run(workspace, &site, &["index.html", "guide/reading.html"])
}

/// The program, installed under `target` if it is not there.
fn tool(workspace: &Workspace) -> Result<PathBuf> {
    let tools = workspace.target().join("tools");
    let own = tools.join("bin/mdbook");
    for program in [own.as_path(), Path::new("mdbook")] {
        let said = process::output(workspace.command(program).arg("--version"));
        if said.is_ok_and(|it| it.trim().ends_with(VERSION)) {
            return Ok(program.to_owned());
        }
    }
    println!("installing mdbook {VERSION}");
    // Its speed does not matter: a debug build takes a third of the time.
    let words = ["install", "mdbook", "--version", VERSION, "--locked", "--debug", "--force"];
    let mut install = workspace.cargo(&words);
    install.args(["--no-default-features", "--features", "search", "--quiet"]);
    install.arg("--root").arg(&tools).current_dir(workspace.target());
    install.env("CARGO_TARGET_DIR", tools.join("build"));
    process::run_quietly(&mut install)?;
    // What it was built from takes half a gigabyte.
    fs::remove_dir_all(tools.join("build")).context("cannot remove target/tools/build")?;
    Ok(own)
}

/// The reference of the libraries, and a page that lists them.
fn api(workspace: &Workspace, to: &Path) -> Result<()> {
    let target = workspace.target().join("book-api");
    // One after the other: a link into a crate leads nowhere if the pages of that crate are not there yet.
    for package in API.iter().map(|name| name.replace('_', "-")) {
        let words = ["doc", "--no-deps", "--quiet", "--package", package.as_str()];
        let mut doc = workspace.cargo(&words);
        // Apart from the reference of all members, whose search finds what is not here. What is built
        // for it is shared where Cargo can.
        doc.arg("--target-dir").arg(&target).env("CARGO_BUILD_BUILD_DIR", workspace.target());
        process::run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    copy_folder(&target.join("doc"), to)?;
    let crates = API.iter().map(|name| (*name, format!("{name}/index.html")));
    fs::write(to.join("index.html"), shown::folder("The Rust reference", crates))?;
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("no {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if entry.file_name() != ".lock" {
            fs::copy(entry.path(), &target)
                .with_context(|| format!("cannot write {}", target.display()))?;
        }
    }
    Ok(())
}
