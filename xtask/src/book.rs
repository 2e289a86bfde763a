//! `cargo xtask book`: the documentation as a site, in `target/book`.
//!
//! ```text
//! docs/, what its pages link to → stage → target/book-src → Sphinx    → target/book
//!                                            cargo doc → target/book/api
//! every link and anchor of the result → check         two pages → a browser
//! ```
//!
//! Pages are written for the repository: their links lead to files of it. [`stage`] copies what they
//! lead to into the site and points the links there, so no link leaves it.

mod browser;
mod check;
mod shown;
mod stage;
mod verbs;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::process;
use crate::skips;
use crate::workspace::Workspace;

/// Crates whose reference is part of the site.
const API: &[&str] = &["swath", "swath_formats", "swath_profile"];

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
    copy_folder(&workspace.target().join("book-api/doc"), &site.join("api"))?;
    let crates = API.iter().map(|name| (*name, format!("{name}/index.html")));
    fs::write(site.join("api/index.html"), shown::folder("The Rust reference", crates))?;
    let mut broken = check::run(&site)?;
    broken.extend(verbs::missing(&workspace.read("ARCHITECTURE.md")?, &site));
    for text in &broken {
        eprintln!("{text}");
    }
    ensure!(broken.is_empty(), "the site has {} faults", broken.len());
    browser::run(workspace, &site, &["index.html", "guide/reading.html"])
}

/// Documents the libraries with all their features, for the site.
pub(crate) fn document(workspace: &Workspace) -> Result<()> {
    let mut api = workspace.cargo(&["doc", "--no-deps", "--quiet", "--lib", "--examples"]);
    api.arg("--all-features");
    api.args(packages().iter().flat_map(|it| ["--package", it]));
    // It has no library and no example, so nothing of it is documented. What the libraries depend on
    // gets the features that clippy has compiled.
    api.args(["--package", "swath-benches"]);
    // Apart from the other members, which the search of the site must not find. All are documented
    // at once, and a crate links to those alone that have a folder by then.
    let folder = workspace.target().join("book-api");
    for name in API {
        fs::create_dir_all(folder.join("doc").join(name))?;
    }
    api.arg("--target-dir").arg(folder);
    api.env("CARGO_BUILD_BUILD_DIR", workspace.target());
    process::run(api.env("RUSTDOCFLAGS", workspace.rustdoc_flags()?))
}

/// Documents the other members; returns how many libraries and programs they have.
pub(crate) fn document_others(workspace: &Workspace) -> Result<Option<u64>> {
    let words = ["doc", "--no-deps", "--workspace", "--lib", "--bins"];
    let mut others = workspace.cargo(&words);
    others.args(packages().iter().flat_map(|it| ["--exclude", it]));
    process::run(others.env("RUSTDOCFLAGS", workspace.rustdoc_flags()?))?;
    let pages = fs::read_dir(workspace.target().join("doc"))?.flatten();
    let are_there = pages.filter(|it| it.path().join("index.html").exists());
    Ok(Some(are_there.count() as u64))
}

fn packages() -> Vec<String> {
    API.iter().map(|name| name.replace('_', "-")).collect()
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
