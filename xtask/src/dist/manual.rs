//! Man pages and completions, written by the command itself.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Writes a page for the command and one for each of its verbs into `folder`.
pub(super) fn pages(binary: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("swath.1"), said(binary, &["man"])?)?;
    let help = String::from_utf8(said(binary, &["--help"])?)?;
    let verbs = verbs(&help);
    ensure!(verbs.len() > 5, "`swath --help` lists no commands");
    for verb in verbs {
        fs::write(folder.join(format!("swath-{verb}.1")), said(binary, &["man", verb])?)?;
    }
    Ok(())
}

/// Writes what each shell completes, under the names that Debian uses, into `share`.
pub(super) fn completions(binary: &Path, share: &Path) -> Result<()> {
    let places = [
        ("bash", "bash-completion/completions/swath"),
        ("zsh", "zsh/vendor-completions/_swath"),
        ("fish", "fish/vendor_completions.d/swath.fish"),
    ];
    for (shell, place) in places {
        let path = share.join(place);
        fs::create_dir_all(path.parent().context("a place without a folder")?)?;
        fs::write(path, said(binary, &["completions", shell])?)?;
    }
    Ok(())
}

/// The first words of the list of commands; `help` has no page of its own.
fn verbs(help: &str) -> Vec<&str> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.trim().is_empty());
    // Continued lines are indented further.
    let first = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    first.filter(|word| !word.is_empty() && *word != "help").collect()
}

fn said(binary: &Path, words: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(binary).args(words).env_clear().env("COLUMNS", "200").output();
    let output = output.with_context(|| format!("cannot start {}", binary.display()))?;
    ensure!(output.status.success(), "`swath {}` failed", words.join(" "));
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_read_from_the_help() {
        let help = "What it is\n\nUsage: swath\n\nCommands:\n  read   Load it\n         and more\n  \
                    sum    Add it up\n  help   Print this\n\nOptions:\n  -h\n";
        assert_eq!(verbs(help), ["read", "sum"]);
        assert!(verbs("Usage: swath\n").is_empty());
    }
}
