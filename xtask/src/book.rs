//! `cargo xtask book`: the documentation as a site, in `target/book`.
//!
//! ```text
//! docs/, what its pages link to → stage → target/book-src → Sphinx    → target/book
//!                                            rustdoc   → target/book/api
//! every link and anchor of the result → lychee        two pages → a browser
//! ```
//!
//! Pages are written for the repository: their links lead to files of it. [`stage`] copies the
//! targets into the site and points the links there, so no link leaves it.

mod browser;
mod shown;
mod stage;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::Workspace;
use crate::{build, links, process, skips};

/// Crates whose reference is part of the site, in the order of Cargo: each after those that it links to.
const API: &[&str] = &["swath", "swath_formats", "swath_profile"];

/// The variable that names the folder for their reference.
pub(crate) const API_FOLDER: &str = "SWATH_BOOK_API";

/// Builds the site and checks it.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    if !workspace.venv_stamp().exists() {
        return skips::note(workspace, "sphinx", "there is no Python to run it");
    }
    let source = workspace.target().join("book-src");
    let site = workspace.target().join("book");
    for folder in [&source, &site] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    stage::run(workspace.root(), &source)?;
    let mut sphinx = workspace.command(workspace.venv_python());
    sphinx.args(["-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]);
    sphinx.arg("--doctree-dir").arg(source.join("trees"));
    process::run(sphinx.arg(source.join("pages")).arg(&site))?;
    copy_folder(&workspace.target().join("book-api"), &site.join("api"))?;
    let crates = API.iter().map(|name| (*name, format!("{name}/index.html")));
    fs::write(site.join("api/index.html"), shown::folder("The Rust reference", crates))?;
    links::check(workspace, &site, &["."])?;
    browser::run(workspace, &site, &["index.html", "guide/reading.html"])
}

/// Runs the examples of all libraries; those of the site are documented on the way, by [`rustdoc`].
pub(crate) fn document(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target().join("book-api");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut cargo = workspace.cargo(&["test", "--quiet", "--workspace", "--doc"]);
    cargo.args(build::NOT_BUILT).env("RUSTDOC", env::current_exe()?).env(API_FOLDER, folder);
    process::run(cargo.env("RUSTDOCFLAGS", workspace.rustdoc_flags()?))
}

/// Stands in for rustdoc when Cargo runs the examples of a library. Documents crates of the site
/// first, with the same words: with other words, Cargo would compile all dependencies once more.
pub(crate) fn rustdoc(folder: &OsStr) -> Result<()> {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let is_name = |pair: &[OsString]| {
        pair[0] == "--crate-name" && API.iter().any(|name| pair[1] == *name)
    };
    if words.windows(2).any(is_name) {
        let mut document = Command::new("rustdoc");
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--test") => {}
                Some("--test-run-directory" | "--test-args") => drop(words.next()),
                _ => drop(document.arg(word)),
            }
        }
        document.args(["--crate-version", env!("CARGO_PKG_VERSION"), "--out-dir"]);
        process::run(document.arg(folder))?;
    }
    process::run(Command::new("rustdoc").args(words))
}

/// Documents the other members; returns how many libraries and programs they have.
pub(crate) fn document_others(workspace: &Workspace) -> Result<Option<u64>> {
    let words = ["doc", "--no-deps", "--workspace", "--lib", "--bins"];
    let mut others = workspace.cargo(&words);
    others
        .args(API.iter().flat_map(|name| [String::from("--exclude"), name.replace('_', "-")]));
    process::run(others.env("RUSTDOCFLAGS", workspace.rustdoc_flags()?))?;
    let pages = fs::read_dir(workspace.target().join("doc"))?.flatten();
    let are_there = pages.filter(|it| it.path().join("index.html").exists());
    Ok(Some(are_there.count() as u64))
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
