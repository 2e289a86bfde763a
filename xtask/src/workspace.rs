//! Finds the repository, and runs programs inside it.
//!
//! Every child process starts in the root, without a terminal. Environment variables tell it where
//! the Python of [`prepare`](crate::prepare) is, and where to record skipped tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::process;

/// Names the Python interpreter that has the packages of `xtask/requirements.txt`.
const PYTHON_VARIABLE: &str = "SWATH_VENV_PYTHON";
/// Names the file to which a skipped test appends `capability: reason`.
const SKIPS_VARIABLE: &str = "SWATH_SKIPS";

/// The folders that every command works in.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// Finds the repository that this program was built from.
    pub(crate) fn find() -> Result<Workspace> {
        // Set at run time by `cargo run`; the other one serves a binary that is started by hand.
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
        let root = Path::new(&package).parent().context("xtask has no parent folder")?;
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => std::path::absolute(folder)?,
            None => root.join("target"),
        };
        std::fs::create_dir_all(&target)
            .with_context(|| format!("cannot create {}", target.display()))?;
        Ok(Workspace { root: root.to_owned(), target })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder for build output.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    pub(crate) fn venv(&self) -> PathBuf {
        self.target.join("venv")
    }

    /// Written last when the venv is made, so a half-made one lacks it.
    pub(crate) fn venv_stamp(&self) -> PathBuf {
        self.venv().join("made-from-requirements.txt")
    }

    pub(crate) fn venv_python(&self) -> PathBuf {
        self.venv().join("bin/python")
    }

    pub(crate) fn skips(&self) -> PathBuf {
        self.target.join("skips.txt")
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
        command.env(SKIPS_VARIABLE, self.skips());
        if std::env::var_os("CARGO_TARGET_DIR").is_some() {
            // It may be relative to the folder that the user was in.
            command.env("CARGO_TARGET_DIR", &self.target);
        }
        if self.venv_stamp().exists() {
            command.env(PYTHON_VARIABLE, self.venv_python());
        } else {
            command.env_remove(PYTHON_VARIABLE);
        }
        command
    }

    /// Whether a program can be started.
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
