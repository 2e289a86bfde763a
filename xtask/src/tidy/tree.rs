//! The files that the rules check, read once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::rust::Rust;

/// One text file.
pub(super) struct Source {
    pub(super) text: String,
    /// Split and parsed, if it is Rust.
    pub(super) rust: Option<Rust>,
}

/// Text files by their path from the root, with `/` between folders.
#[derive(Default)]
pub(super) struct Tree {
    files: BTreeMap<String, Source>,
    /// Paths of files that are not text; links may lead to them.
    others: Vec<String>,
}

impl Tree {
    /// The files that Git tracks or would offer to track.
    pub(super) fn of_git(root: &Path) -> Result<Tree> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let output = git
            .current_dir(root)
            .stdin(Stdio::null())
            .output()
            .context("cannot start `git ls-files`")?;
        if !output.status.success() {
            bail!("`git ls-files` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let names = String::from_utf8_lossy(&output.stdout);
        let mut tree = Tree::default();
        for path in names.split('\0').filter(|path| !path.is_empty()) {
            let full = root.join(path);
            // Not one that is gone, and not a link.
            if full.symlink_metadata().is_ok_and(|facts| facts.is_file()) {
                let bytes = std::fs::read(&full);
                tree.add(path, bytes.with_context(|| format!("cannot read {path}"))?);
            }
        }
        Ok(tree)
    }

    pub(super) fn add(&mut self, path: &str, bytes: Vec<u8>) {
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => {
                let rust = path.ends_with(".rs").then(|| Rust::parse(&text));
                self.files.insert(path.to_owned(), Source { text, rust });
            }
            _ => self.others.push(path.to_owned()),
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<&Source> {
        self.files.get(path)
    }

    /// Returns `path` as stored in the tree, if it is there.
    pub(super) fn path(&self, path: &str) -> Option<&str> {
        self.files.get_key_value(path).map(|(path, _)| path.as_str())
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.files.iter().map(|(path, source)| (path.as_str(), source))
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, source)| (path.as_str(), source.text.as_str()))
    }

    pub(super) fn rust(&self) -> impl Iterator<Item = (&str, &Rust)> {
        self.files
            .iter()
            .filter_map(|(path, source)| Some((path.as_str(), source.rust.as_ref()?)))
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().chain(&self.others).map(String::as_str)
    }

    /// Whether `path` is a file, or a folder with a file in it. The root is `""`.
    pub(super) fn holds(&self, path: &str) -> bool {
        path.is_empty() || self.paths().any(|it| it == path || is_below(it, path))
    }

    /// Folders that hold `src/lib.rs` or `src/main.rs`.
    pub(super) fn packages(&self) -> Vec<&str> {
        let mut folders: Vec<&str> = self
            .files
            .keys()
            .filter_map(|it| {
                it.strip_suffix("/src/lib.rs").or_else(|| it.strip_suffix("/src/main.rs"))
            })
            .collect();
        folders.dedup();
        folders
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn ignored_files_are_not_looked_at_and_untracked_ones_are() {
        let root = std::env::temp_dir().join(format!("swath-tidy-{}", std::process::id()));
        std::fs::create_dir_all(root.join("target")).expect("the temporary folder is writable");
        for (path, text) in
            [(".gitignore", "/target/\n"), ("target/a.rs", "\n"), ("a file.rs", "\n")]
        {
            std::fs::write(root.join(path), text).expect("room");
        }
        let mut git = Command::new("git");
        // A hook that runs the tests must not make them work on its own repository.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            git.env_remove(name);
        }
        let status = git.args(["init", "--quiet"]).current_dir(&root).status();
        assert!(status.expect("git can start").success());
        let tree = Tree::of_git(&root).expect("it is a repository");
        assert_eq!(tree.paths().collect::<Vec<_>>(), [".gitignore", "a file.rs"]);
        std::fs::remove_dir_all(&root).expect("it is this test's own");
    }

    #[test]
    fn a_folder_is_held_when_a_file_is_in_it() {
        let planted = Planted::default();
        planted.put("docs/guide/read.md", "\n");
        planted.put_bytes("docs/plot.png", &[0, 255]);
        let tree = planted.tree();
        assert!(tree.holds("docs/guide") && tree.holds("docs/plot.png") && tree.holds(""));
        assert!(!tree.holds("docs/gui") && !tree.holds("guide"));
        assert!(tree.get("docs/plot.png").is_none());
    }
}
