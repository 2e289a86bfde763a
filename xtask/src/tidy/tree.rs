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

impl Source {
    pub(super) fn new(path: &str, text: String) -> Source {
        let rust = path.ends_with(".rs").then(|| Rust::parse(&text));
        Source { text, rust }
    }
}

/// Text files by their path from the root, with `/` between folders.
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
        let paths = names.split('\0').filter(|path| !path.is_empty()).map(str::to_owned);
        Tree::read(root, paths)
    }

    /// Reads `paths` below `root`; skips those that are gone or are not plain files.
    pub(super) fn read(root: &Path, paths: impl Iterator<Item = String>) -> Result<Tree> {
        let mut tree = Tree { files: BTreeMap::new(), others: Vec::new() };
        for path in paths {
            let full = root.join(&path);
            let is_plain = full.symlink_metadata().is_ok_and(|facts| facts.is_file());
            if !is_plain {
                continue;
            }
            let bytes = std::fs::read(&full).with_context(|| format!("cannot read {path}"))?;
            match String::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => tree.add(path, text),
                _ => tree.others.push(path),
            }
        }
        Ok(tree)
    }

    fn add(&mut self, path: String, text: String) {
        let source = Source::new(&path, text);
        self.files.insert(path, source);
    }

    pub(super) fn get(&self, path: &str) -> Option<&Source> {
        self.files.get(path)
    }

    /// Returns `path` as stored in the tree, if it is there.
    pub(super) fn path(&self, path: &str) -> Option<&str> {
        self.files.get_key_value(path).map(|(path, _)| path.as_str())
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

    fn git(root: &Path, words: &[&str]) {
        let mut command = Command::new("git");
        // A hook that runs the tests must not make them work on its own repository.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let status = command.current_dir(root).args(words).status().expect("git can start");
        assert!(status.success());
    }

    #[test]
    fn ignored_files_are_not_looked_at_and_untracked_ones_are() {
        let planted = Planted::empty();
        planted.put(".gitignore", "/target/\n");
        planted.put("target/a.rs", "fn a() {}\n");
        planted.put("src/a file.rs", "fn a() {}\n");
        git(planted.root(), &["init", "--quiet"]);
        let tree = Tree::of_git(planted.root()).expect("it is a repository");
        assert_eq!(tree.paths().collect::<Vec<_>>(), [".gitignore", "src/a file.rs"]);
    }

    #[test]
    fn a_folder_is_held_when_a_file_is_in_it() {
        let planted = Planted::empty();
        planted.put("docs/guide/read.md", "\n");
        planted.put_bytes("docs/plot.png", &[0, 255]);
        let tree = planted.tree();
        assert!(tree.holds("docs/guide") && tree.holds("docs/plot.png") && tree.holds(""));
        assert!(!tree.holds("docs/gui") && !tree.holds("guide"));
        assert!(tree.get("docs/plot.png").is_none());
    }
}
