//! A release: its version, the tree it is made from, and where its files go.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{binary, clean, size};
use crate::workspace::Workspace;
use crate::{install_c, process};

/// The tree of the last commit, and folders to work in.
pub(super) struct Release {
    workspace: Workspace,
    version: String,
    /// Seconds of the last commit, which become the times of all files.
    epoch: String,
    out: PathBuf,
    scratch: PathBuf,
    quick: bool,
}

impl Release {
    /// Exports the last commit to a folder of its own, so that a release has nothing else.
    pub(super) fn stage(workspace: &Workspace, out: &Path, quick: bool) -> Result<Release> {
        let version = install_c::version(workspace)?;
        let scratch = workspace.target().join("dist");
        fs::create_dir_all(out)?;
        fs::create_dir_all(&scratch)?;
        let mut time = workspace.command("git");
        let epoch = process::output(time.args(["log", "-1", "--format=%ct"]))?;
        let epoch = epoch.trim().to_owned();
        let (workspace, out) = (workspace.clone(), out.to_owned());
        let release = Release { workspace, version, epoch, out, scratch, quick };
        release.warn_of_changes()?;
        release.export()?;
        Ok(release)
    }

    /// Checks out into the stage; unchanged files keep their times, so that Cargo does not compile
    /// them again.
    fn export(&self) -> Result<()> {
        let stage = self.scratch("stage");
        fs::create_dir_all(&stage)?;
        for words in [&["read-tree", "--reset", "-u", "HEAD"][..], &["clean", "-xdfq"]] {
            let mut git = self.workspace.command("git");
            git.env("GIT_WORK_TREE", &stage).env("GIT_INDEX_FILE", self.scratch("stage.index"));
            process::run_quietly(git.args(words))?;
        }
        Ok(())
    }

    fn warn_of_changes(&self) -> Result<()> {
        let mut status = self.workspace.command("git");
        let changes = process::output(status.args(["status", "--porcelain"]))?;
        if !changes.is_empty() {
            println!(
                "note: {} files differ from the last commit; a release holds the last commit",
                changes.lines().count()
            );
        }
        Ok(())
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn out(&self) -> &Path {
        &self.out
    }

    /// Returns a path in the exported tree.
    pub(super) fn staged(&self, path: &str) -> PathBuf {
        self.scratch.join("stage").join(path)
    }

    /// Returns the folder in which everything is compiled.
    pub(super) fn build(&self) -> PathBuf {
        self.scratch.join("build")
    }

    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// Returns an empty folder.
    pub(super) fn empty_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.scratch.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Returns a program that works on the exported tree and compiles into its folder.
    pub(super) fn program(&self, program: impl Into<OsString>) -> Command {
        let mut command = self.workspace.command(program);
        command.current_dir(self.staged("")).env("CARGO_TARGET_DIR", self.build());
        command.env("SOURCE_DATE_EPOCH", &self.epoch);
        command
    }

    /// Returns Cargo, set to strip its results and to name no folder of this machine in them.
    pub(super) fn cargo(&self) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut command = self.program(cargo);
        self.prepare(&mut command, &[]);
        command
    }

    /// Makes the compiler that `command` calls strip its results and name no folder of this
    /// machine.
    pub(super) fn prepare(&self, command: &mut Command, flags: &[&str]) {
        let mut all: Vec<OsString> = Vec::new();
        for (from, to) in [(self.staged(""), "/swath"), (registry(), "/registry")] {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(from.join(""));
            flag.push(format!("={to}/"));
            all.push(flag);
        }
        all.extend(flags.iter().map(OsString::from));
        // The flags are separated by this character, because names of folders may have spaces.
        command.env("CARGO_ENCODED_RUSTFLAGS", all.join(&OsString::from("\u{1f}")));
        command.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
        command.env("CARGO_PROFILE_RELEASE_DEBUG", "none");
        if self.quick {
            command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
            command.env("CARGO_PROFILE_RELEASE_LTO", "off");
            command.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
        }
    }

    /// Fails for an optimised file that is larger than `limit`; otherwise returns the size in
    /// words.
    pub(super) fn assert_small(&self, path: &Path, limit: u64) -> Result<String> {
        if self.quick {
            return Ok(format!("{}, not optimised", size::shown(path)));
        }
        binary::assert_small(path, limit)
    }

    /// Packs `folder`, which becomes the one folder in the archive, into OUT.
    pub(super) fn pack(&self, folder: &Path) -> Result<PathBuf> {
        let name = folder.file_name().context("a folder without a name")?;
        let archive = self.out.join(format!("{}.tar.gz", name.to_string_lossy()));
        let mut tar = self.workspace.command("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
        tar.arg(format!("--mtime=@{}", self.epoch))
            .args(["--use-compress-program", "gzip -n9"]);
        tar.arg("-cf").arg(&archive).arg("-C").arg(folder.parent().unwrap_or(folder)).arg(name);
        process::run_quietly(&mut tar)?;
        Ok(archive)
    }

    /// Unpacks an archive into an empty folder, and returns its one folder.
    pub(super) fn unpack(&self, archive: &Path, name: &str) -> Result<PathBuf> {
        let folder = self.empty_folder(name)?;
        let mut tar = clean::command("tar", &folder);
        process::run_quietly(tar.arg("-xf").arg(archive))?;
        let entries: Vec<_> = fs::read_dir(&folder)?.collect::<std::io::Result<_>>()?;
        ensure!(entries.len() == 1, "{} has not one folder", archive.display());
        Ok(entries[0].path())
    }

    /// Fails if a file names a folder of this machine.
    pub(super) fn names_no_folder(&self, path: &Path) -> Result<()> {
        let bytes = fs::read(path)?;
        for folder in [self.scratch.clone(), registry()] {
            let name = folder.to_string_lossy().into_owned();
            ensure!(!contains(&bytes, name.as_bytes()), "{} names {name}", path.display());
        }
        Ok(())
    }
}

/// Returns the folder of Cargo's downloads.
fn registry() -> PathBuf {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home);
    cargo.unwrap_or_else(|| PathBuf::from("/root/.cargo")).join("registry/src")
}

fn contains(bytes: &[u8], name: &[u8]) -> bool {
    let first = name.first().copied().unwrap_or_default();
    let mut starts = bytes.iter().enumerate().filter(|(_, byte)| **byte == first);
    starts.any(|(at, _)| bytes[at..].starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_within_bytes_is_found_wherever_it_is() {
        for (bytes, found) in [("/home/x", true), ("a/hom/home/", true), ("/hom", false)] {
            assert_eq!(contains(bytes.as_bytes(), b"/home"), found, "{bytes}");
        }
    }
}
