//! `cargo xtask install`: the command where a shell finds it, with its completions and manual pages.
//!
//! ```text
//! PREFIX/bin/swath
//! PREFIX/share/bash-completion/completions/swath
//! PREFIX/share/zsh/site-functions/_swath
//! PREFIX/share/fish/vendor_completions.d/swath.fish
//! PREFIX/share/man/man1/swath.1, swath-read.1, …
//! ```
//!
//! The completions and the pages are printed by the command itself, so that they always match it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::install_c::replace;
use crate::process;
use crate::workspace::Workspace;

/// The words after `install`.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallWish {
    /// Where to [default: ~/.local]
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// A command that is already built [default: the release build, made first]
    #[arg(long, value_name = "PATH", conflicts_with = "uninstall")]
    binary: Option<PathBuf>,
    /// Remove what was installed
    #[arg(long)]
    uninstall: bool,
}

/// Where a shell's completions are below `share`; zsh's folder has another name in a package of Debian.
fn completions(zsh: &str) -> [(&'static str, String); 3] {
    [
        ("bash", "bash-completion/completions/swath".to_owned()),
        ("zsh", format!("zsh/{zsh}/_swath")),
        ("fish", "fish/vendor_completions.d/swath.fish".to_owned()),
    ]
}

const ZSH: &str = "site-functions";
const PAGES: &str = "man/man1";

impl InstallWish {
    fn prefix(&self) -> Result<PathBuf> {
        if let Some(prefix) = &self.prefix {
            return Ok(std::path::absolute(prefix)?);
        }
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
        let home = home.context("there is no home folder: set HOME, or pass --prefix DIR")?;
        Ok(Path::new(&home).join(".local"))
    }
}

/// Installs or removes, and prints the files.
pub(crate) fn run(workspace: &Workspace, wish: &InstallWish) -> Result<()> {
    let prefix = wish.prefix()?;
    if wish.uninstall {
        let removed = uninstall(&prefix)?;
        ensure!(!removed.is_empty(), "nothing is installed below {}", prefix.display());
        removed.iter().for_each(|path| println!("removed {}", path.display()));
        return Ok(());
    }
    let binary = match &wish.binary {
        Some(path) => std::path::absolute(path)?,
        None => build(workspace)?,
    };
    for path in install(&binary, &prefix)? {
        println!("installed {}", path.display());
    }
    print!("{}", advice(&prefix, std::env::var_os("PATH").as_deref()));
    Ok(())
}

/// Makes the release build, as `cargo run --release` does, and returns a copy without symbols, which are three
/// quarters of it; without `strip`, the build.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    println!("building the release: some minutes with two cores, unless it is there");
    process::run(&mut workspace.cargo(&["build", "--release", "--package", "swath-cli"]))?;
    let built = workspace.target().join("release/swath");
    let stripped = workspace.target().join("release/swath-stripped");
    let mut strip = workspace.command("strip");
    strip.arg("-o").arg(&stripped).arg(&built);
    let is_stripped = workspace.has("strip") && process::run_quietly(&mut strip).is_ok();
    Ok(if is_stripped { stripped } else { built })
}

/// Installs a binary and what it prints about itself; returns the files.
fn install(binary: &Path, prefix: &Path) -> Result<Vec<PathBuf>> {
    fs::File::open(binary).with_context(|| format!("cannot read {}", binary.display()))?;
    let mut files = vec![prefix.join("bin/swath")];
    replace(&files[0], |path| {
        fs::copy(binary, path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))
    })?;
    files.extend(describe(binary, &prefix.join("share"), ZSH)?);
    Ok(files)
}

/// Writes what a binary prints for shells and for man(1) below `share`; returns the files.
pub(crate) fn describe(binary: &Path, share: &Path, zsh: &str) -> Result<Vec<PathBuf>> {
    let printed = |words: &[&str]| process::output(Command::new(binary).args(words));
    let mut files = Vec::new();
    let mut put = |name: &str, text: String| -> Result<()> {
        let file = share.join(name);
        replace(&file, |path| fs::write(path, text))?;
        files.push(file);
        Ok(())
    };
    for (shell, name) in completions(zsh) {
        put(&name, printed(&["completions", shell])?)?;
    }
    put(&format!("{PAGES}/swath.1"), printed(&["man"])?)?;
    for page in printed(&["man", "--list"])?.lines() {
        put(&format!("{PAGES}/swath-{page}.1"), printed(&["man", page])?)?;
    }
    Ok(files)
}

/// Removes everything that [`install`] writes, also of an older version; returns the files.
fn uninstall(prefix: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![prefix.join("bin/swath")];
    let share = prefix.join("share");
    files.extend(completions(ZSH).map(|(_, name)| share.join(name)));
    let pages = share.join(PAGES);
    if pages.is_dir() {
        for entry in fs::read_dir(&pages)? {
            let name = entry?.file_name();
            let text = name.to_string_lossy();
            let is_ours = text == "swath.1" || text.starts_with("swath-");
            files.extend((is_ours && text.ends_with(".1")).then(|| pages.join(&name)));
        }
    }
    files.retain(|file| file.symlink_metadata().is_ok());
    files.sort();
    for file in &files {
        fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    Ok(files)
}

/// Returns the steps that are left for the shells.
fn advice(prefix: &Path, path: Option<&std::ffi::OsStr>) -> String {
    let bin = prefix.join("bin");
    let is_on_path = path.is_some_and(|path| std::env::split_paths(path).any(|it| it == bin));
    let bin = bin.display();
    let first = if is_on_path {
        format!("{bin} is on PATH\n")
    } else {
        let word = quoted(&bin.to_string());
        format!(
            "{bin} is not on PATH: add `export PATH={word}:$PATH` to your shell's profile\n"
        )
    };
    let zsh = prefix.join("share/zsh/site-functions").display().to_string();
    first + &format!("zsh: add `fpath+=({})` to .zshrc, before compinit\n", quoted(&zsh))
}

/// Returns a path as one word of a shell.
fn quoted(path: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "/._-+".contains(sign);
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command that prints its words, and two names of pages.
    const COMMAND: &str = "#!/bin/sh\ncase \"$*\" in 'man --list') echo read; echo gen-bytes;; *) echo \"$*\";; esac\n";

    #[test]
    fn what_is_installed_is_removed_again_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("swath-command-{}", std::process::id()));
        let prefix = folder.join("prefix");
        fs::create_dir_all(prefix.join("share").join(PAGES))
            .expect("the temporary folder is writable");
        let other = prefix.join("share").join(PAGES).join("other.1");
        fs::write(&other, "of another package").expect("room");
        let binary = folder.join("swath");
        fs::write(&binary, COMMAND).expect("room");
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).expect("ours");
        let mut installed = install(&binary, &prefix).expect("installed");
        let text = |name: &str| fs::read_to_string(prefix.join(name)).expect(name);
        for (name, words) in [
            ("share/bash-completion/completions/swath", "completions bash"),
            ("share/zsh/site-functions/_swath", "completions zsh"),
            ("share/fish/vendor_completions.d/swath.fish", "completions fish"),
            ("share/man/man1/swath.1", "man"),
            ("share/man/man1/swath-read.1", "man read"),
            ("share/man/man1/swath-gen-bytes.1", "man gen-bytes"),
        ] {
            assert_eq!(text(name).trim(), words);
        }
        let mode = fs::metadata(prefix.join("bin/swath")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        installed.sort();
        assert_eq!(uninstall(&prefix).expect("removed"), installed);
        assert!(other.exists() && !prefix.join("bin/swath").exists());
        assert_eq!(uninstall(&prefix).expect("nothing is left"), Vec::<PathBuf>::new());
        fs::remove_dir_all(&folder).expect("ours");
    }

    #[test]
    fn the_advice_says_whether_the_command_is_found() {
        let of = |path: &str| advice(Path::new("/p"), Some(path.as_ref()));
        assert!(of("/usr/bin:/p/bin").starts_with("/p/bin is on PATH\n"));
        assert!(of("/usr/bin:/p/bin2").contains("add `export PATH=/p/bin:$PATH`"));
        assert!(of("").contains("fpath+=(/p/share/zsh/site-functions)"));
        let odd = advice(Path::new("/it's a p"), None);
        assert!(odd.contains(r"add `export PATH='/it'\''s a p/bin':$PATH`"), "{odd}");
        assert!(odd.contains(r"fpath+=('/it'\''s a p/share/zsh/site-functions')"), "{odd}");
    }

    #[test]
    fn a_missing_command_is_named() {
        let error = install(Path::new("/nonexistent"), Path::new("/p")).expect_err("missing");
        assert!(error.to_string().contains("cannot read /nonexistent"), "{error:#}");
    }
}
