//! The tools of a release, in a Python environment of their own: maturin, Zig as a linker, auditwheel.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::release::Release;
use crate::process;
use crate::venv::Venv;

const REQUIREMENTS: &str = "xtask/dist-requirements.txt";

/// The place of the tools.
pub(super) struct Tools {
    venv: Venv,
}

impl Tools {
    /// Installs them, unless they are there already.
    pub(super) fn new(release: &Release) -> Result<Tools> {
        let wanted = fs::read_to_string(release.staged(REQUIREMENTS))?;
        let venv =
            Venv { folder: release.scratch("tools"), list: REQUIREMENTS, wanted, uv: None };
        venv.make(|program| release.program(program))?;
        Ok(Tools { venv })
    }

    /// Returns the path of a program.
    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.venv.path(program)
    }

    /// Returns the folder of the packages, for an interpreter without packages of its own.
    pub(super) fn site_packages(&self) -> Result<PathBuf> {
        let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let said = process::output(Command::new(self.path("python")).args(["-c", ask]))?;
        Ok(PathBuf::from(said.trim()))
    }

    /// Returns a program that finds the other tools first, and strips its results.
    pub(super) fn command(&self, release: &Release, program: &str) -> Result<Command> {
        let mut command = release.program(self.path(program));
        let mut paths = vec![self.venv.folder.join("bin")];
        paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let paths: OsString = std::env::join_paths(paths).context("PATH has an odd folder")?;
        command.env("PATH", paths).env("VIRTUAL_ENV", &self.venv.folder);
        release.prepare(&mut command, &[]);
        Ok(command)
    }
}
