//! A Python environment with a committed list of packages, built again when the list changes.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::run_quietly;

/// An environment: its folder, and its packages.
pub(crate) struct Venv {
    pub(crate) folder: PathBuf,
    /// The list, by its path and as text.
    pub(crate) list: &'static str,
    pub(crate) wanted: String,
    /// A program `uv`, which takes a tenth of the time of pip.
    pub(crate) uv: Option<PathBuf>,
}

impl Venv {
    /// Returns whether it was built from this list.
    pub(crate) fn is_current(&self) -> bool {
        fs::read_to_string(stamp(&self.folder)).is_ok_and(|made_from| made_from == self.wanted)
    }

    /// Returns a program of it.
    pub(crate) fn path(&self, program: &str) -> PathBuf {
        self.folder.join("bin").join(program)
    }

    /// Builds the environment, unless it is current. `start` returns a command in the root of
    /// the repository.
    pub(crate) fn make(&self, start: impl Fn(OsString) -> Command) -> Result<()> {
        if self.is_current() {
            return Ok(());
        }
        let mut venv = start("python3".into());
        run_quietly(venv.args(["-m", "venv", "--clear"]).arg(&self.folder))?;
        let mut pip = match &self.uv {
            Some(uv) => {
                let mut uv = start(uv.into());
                uv.args(["pip", "install", "--quiet", "--python"]).arg(self.path("python"));
                uv
            }
            None => {
                let mut pip = start(self.path("python").into());
                let words = ["install", "--quiet", "--disable-pip-version-check", "--no-input"];
                pip.args(["-m", "pip"]).args(words);
                pip
            }
        };
        // Never compile: a laptop without a wheel for its Python skips instead of waiting.
        pip.args(["--only-binary", ":all:", "--requirement", self.list]);
        run_quietly(&mut pip)
            .with_context(|| format!("cannot install the packages of {}", self.list))?;
        fs::write(stamp(&self.folder), &self.wanted).context("cannot write the stamp of a venv")
    }
}

/// Returns the stamp of an environment, which is written last, so an incomplete one lacks it.
pub(crate) fn stamp(folder: &Path) -> PathBuf {
    folder.join("made-from-requirements.txt")
}
