//! Finds the repository, and runs programs inside it.
//!
//! Every child process starts in the root, without a terminal. Environment variables name the
//! Python of [`prepare`](crate::prepare), and the file that records skipped tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::{manifest, process, venv};

/// Names the Python interpreter that has the packages of `xtask/requirements.txt`.
const PYTHON_VARIABLE: &str = "SWATH_VENV_PYTHON";
/// Names the file to which a skipped test appends `capability: reason`.
const SKIPS_VARIABLE: &str = "SWATH_SKIPS";
/// Names the file to which a battery appends its line.
const BATTERIES_VARIABLE: &str = "SWATH_BATTERIES";
/// The first seed of each battery.
pub(crate) const SEED_VARIABLE: &str = "SWATH_SEED";

/// The folders of every command.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
    /// The seed of the commit, so that each commit tries other cases; without git it is fixed.
    seed: u64,
    /// Flags for clippy, if it compiles.
    lints: Option<&'static str>,
}

impl Workspace {
    /// Finds the repository that this program was built from.
    pub(crate) fn find() -> Result<Workspace> {
        // Set by `cargo run`; the other one is for a binary that is started by hand.
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
        let root = Path::new(&package).parent().context("xtask has no parent folder")?;
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => std::path::absolute(folder)?,
            None => root.join("target"),
        };
        std::fs::create_dir_all(&target)
            .with_context(|| format!("cannot create {}", target.display()))?;
        let mut workspace = Workspace { root: root.to_owned(), target, seed: 0, lints: None };
        let commit = workspace.commit();
        // Small enough to be typed.
        let digits = commit.as_deref().and_then(|it| it.get(..7));
        workspace.seed = digits.and_then(|it| u64::from_str_radix(it, 16).ok()).unwrap_or(0);
        Ok(workspace)
    }

    /// Returns the repository with clippy linting its crates while Cargo compiles them: separate
    /// checks would parse and type the crates and their dependencies once more. With the compiler
    /// that the tree names, warnings are errors; a newer one may have lints that are not worth a
    /// failure on the day of its release.
    pub(crate) fn linted(mut self) -> Result<Workspace> {
        let is_strict = self.has_named_compiler()?;
        self.lints = Some(if is_strict { "-Dwarnings" } else { "--cap-lints=warn" });
        Ok(self)
    }

    /// Returns the repository with Cargo compiling as for a user.
    pub(crate) fn plain(&self) -> Workspace {
        Workspace { lints: None, ..self.clone() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the first seed of each battery.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the folder for build output.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    pub(crate) fn venv(&self) -> PathBuf {
        self.target.join("venv")
    }

    /// Returns the stamp of the venv, which is written last, so an incomplete one lacks it.
    pub(crate) fn venv_stamp(&self) -> PathBuf {
        venv::stamp(&self.venv())
    }

    pub(crate) fn venv_python(&self) -> PathBuf {
        self.venv().join("bin/python")
    }

    pub(crate) fn skips(&self) -> PathBuf {
        self.target.join("skips.txt")
    }

    /// Returns the file in which batteries note their cases.
    pub(crate) fn batteries(&self) -> PathBuf {
        self.target.join("batteries.txt")
    }

    /// Returns the folder for the output of the steps of the test.
    pub(crate) fn steps(&self) -> PathBuf {
        self.target.join("steps")
    }

    /// Returns the commit, or `None` without git.
    pub(crate) fn commit(&self) -> Option<String> {
        let mut git = Command::new("git");
        git.args(["rev-parse", "HEAD"]).current_dir(&self.root).stdin(Stdio::null());
        process::output(&mut git).ok().map(|text| text.trim().to_owned())
    }

    /// Returns flags that make warnings about links and examples errors if those of the compiler
    /// are.
    pub(crate) fn rustdoc_flags(&self) -> Result<&'static str> {
        Ok(if self.has_named_compiler()? { "-D warnings" } else { "" })
    }

    /// Returns whether the compiler is the one that the tree names: with it, warnings are errors.
    pub(crate) fn has_named_compiler(&self) -> Result<bool> {
        let text = self.read("Cargo.toml")?;
        let sections = manifest::sections(&text);
        let named = sections.iter().find(|it| it.head == "workspace.metadata.swath");
        let named = named.and_then(|it| it.string("compiler"));
        let named = named.context("Cargo.toml: no `compiler` in [workspace.metadata.swath]")?;
        let version = process::output(self.command("rustc").arg("--version"))?;
        let is_named =
            version.split_whitespace().nth(1).is_some_and(|it| it.starts_with(named));
        if !is_named {
            println!("warnings are no errors: this is {}, not {named}", version.trim());
        }
        Ok(is_named)
    }

    /// Reads a file of the repository, by its path from the root.
    pub(crate) fn read(&self, path: &str) -> Result<String> {
        std::fs::read_to_string(self.root.join(path))
            .with_context(|| format!("cannot read {path}"))
    }

    pub(crate) fn cargo(&self, words: &[&str]) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut command = self.command(cargo);
        command.args(words);
        command
    }

    pub(crate) fn command(&self, program: impl Into<OsString>) -> Command {
        let mut command = Command::new(program.into());
        command.current_dir(&self.root).stdin(Stdio::null());
        command.env(SKIPS_VARIABLE, self.skips()).env(BATTERIES_VARIABLE, self.batteries());
        if let Some(lints) = self.lints {
            command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", lints);
        }
        if std::env::var_os(SEED_VARIABLE).is_none() {
            command.env(SEED_VARIABLE, self.seed.to_string());
        }
        // A first build takes a third less time if it stores no data for incremental builds. If
        // Cargo has stored them, nothing is compiled again.
        if !self.keeps_builds() {
            command.env("CARGO_INCREMENTAL", "0");
        }
        if std::env::var_os("CARGO_TARGET_DIR").is_some() {
            // It may be relative to the user's working folder.
            command.env("CARGO_TARGET_DIR", &self.target);
        }
        if self.venv_stamp().exists() {
            command.env(PYTHON_VARIABLE, self.venv_python());
        } else {
            command.env_remove(PYTHON_VARIABLE);
        }
        command
    }

    /// Returns whether the libraries were built incrementally.
    fn keeps_builds(&self) -> bool {
        let kept = std::fs::read_dir(self.target.join("debug/incremental"));
        let mut names = kept.into_iter().flatten().flatten().map(|it| it.file_name());
        names.any(|name| name.as_encoded_bytes().starts_with(b"swath_formats-"))
    }

    /// Returns whether a program can be started.
    pub(crate) fn has(&self, program: &str) -> bool {
        process::run_quietly(self.command(program).arg("--version")).is_ok()
    }

    /// Returns the files of `folder` with this extension, in order. Fails if no file has it.
    pub(crate) fn sources(&self, folder: &str, extension: &str) -> Result<Vec<PathBuf>> {
        let folder = self.root.join(folder);
        let mut found = Vec::new();
        for entry in
            std::fs::read_dir(&folder).with_context(|| format!("no {}", folder.display()))?
        {
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == extension) {
                found.push(path);
            }
        }
        ensure!(!found.is_empty(), "no file .{extension} in {}", folder.display());
        found.sort();
        Ok(found)
    }
}
