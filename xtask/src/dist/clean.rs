//! A clean environment: none of the caller's variables, an empty home, an empty root.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Returns a program with the system's own `PATH`, and `home` as its home and working
/// folder.
pub(super) fn command(program: impl AsRef<OsStr>, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().stdin(Stdio::null()).current_dir(home);
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    command.env("HOME", home).env("LANG", "C.UTF-8");
    command
}

/// A root folder with the files that are put there, and nothing else: no libraries, no
/// `/proc`.
pub(super) struct Root {
    folder: PathBuf,
}

impl Root {
    pub(super) fn new(folder: PathBuf) -> Root {
        Root { folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn put(&self, from: &Path, name: &str) -> Result<()> {
        let to = self.path(name);
        fs::create_dir_all(to.parent().context("a path without a folder")?)?;
        fs::copy(from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        Ok(())
    }

    /// Runs a program of the root, by root or in a user namespace; returns what it printed.
    pub(super) fn run(&self, words: &[&str]) -> Result<Vec<u8>> {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--wd=/"]).arg("--root").arg(&self.folder);
        command.args(words).env_clear().env("HOME", "/").stdin(Stdio::null());
        command.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        let output = command.output().context("cannot start unshare")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{}` in an empty root: {said}", words.join(" "));
        Ok(output.stdout)
    }
}
