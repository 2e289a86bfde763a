//! A tree on disk into which a test plants what a rule should find.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::tree::Tree;
use super::{Rule, Violation};

/// Counts trees, so that tests of one process do not share a folder.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A folder of its own, removed when dropped.
pub(super) struct Planted {
    root: PathBuf,
}

impl Planted {
    pub(super) fn empty() -> Planted {
        let index = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("swath-tidy-{}-{index}", std::process::id());
        let root = std::env::temp_dir().join(name);
        // A leftover of a killed run with the same process id.
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).expect("the temporary folder is writable");
        Planted { root }
    }

    /// A small repository without violations.
    pub(super) fn clean() -> Planted {
        let planted = Planted::empty();
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/plan\"]\n"),
            ("ARCHITECTURE.md", "# Rooms\n\n`crates/plan` decides, `crates/swath` does.\n"),
            (
                "README.md",
                "# Swath\n\nSee [the rooms](ARCHITECTURE.md#rooms).\n\n\
                 <!-- from: lab/record/x/summary.md, counts -->\nOf 2 claims\n\
                 <!-- /from -->\n",
            ),
            (
                "lab/record/x/summary.md",
                "# X\n<!-- part: counts -->\nOf 2 claims\n<!-- /part -->\nmore\n",
            ),
            ("crates/plan/Cargo.toml", "[package]\nname = \"swath-plan\"\n"),
            (
                "crates/plan/src/lib.rs",
                "//! Decides.\n#![no_std]\n#![forbid(unsafe_code)]\nmod extent;\n",
            ),
            ("crates/plan/src/extent.rs", "//! Extents.\n"),
            (
                "crates/swath/Cargo.toml",
                "[package]\nname = \"swath\"\n[dependencies]\nswath-plan.workspace = true\n",
            ),
            (
                "crates/swath/src/lib.rs",
                "//! Swath.\n#![forbid(unsafe_code)]\n\
                 mod buffer;\nmod engine;\nmod error;\nmod read;\nmod records;\n",
            ),
            ("crates/swath/src/buffer.rs", "use crate::error::Error;\n"),
            ("crates/swath/src/engine.rs", "use crate::buffer::Buffer;\nmod pool;\n"),
            ("crates/swath/src/engine/pool.rs", "use super::super::error::Error;\n"),
            ("crates/swath/src/error.rs", "//! Errors.\n"),
            ("crates/swath/src/read.rs", "use crate::{buffer::Buffer, engine};\n"),
            ("crates/swath/src/records.rs", "use crate::buffer;\n"),
        ];
        for (path, text) in files {
            planted.put(path, text);
        }
        planted
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file, replacing an older one.
    pub(super) fn put(&self, path: &str, text: &str) {
        self.put_bytes(path, text.as_bytes());
    }

    pub(super) fn put_bytes(&self, path: &str, bytes: &[u8]) {
        let path = self.root.join(path);
        let folder = path.parent().expect("every path has a folder");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        std::fs::write(path, bytes).expect("the file can be written");
    }

    pub(super) fn tree(&self) -> Tree {
        let mut paths = Vec::new();
        list(&self.root, "", &mut paths);
        Tree::read(&self.root, paths.into_iter()).expect("every file can be read")
    }

    /// Returns what `rule` finds, as `path:line: text`.
    pub(super) fn found(&self, rule: Rule) -> Vec<String> {
        rule(&self.tree()).iter().map(Violation::to_string).collect()
    }

    /// Asserts that `rule` finds exactly one violation, whose line begins with `expected`.
    pub(super) fn finds(&self, rule: Rule, expected: &str) {
        let found = self.found(rule);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].starts_with(expected), "{} does not begin {expected}", found[0]);
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        // A failure does not matter: this is the system's temporary folder.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn list(folder: &Path, prefix: &str, paths: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be listed") {
        let entry = entry.expect("the entry can be read");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), paths);
        } else {
            paths.push(name);
        }
    }
}

#[test]
fn a_clean_tree_passes_every_rule() {
    let found = super::violations(&Planted::clean().tree());
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_violation_is_listed_once_in_order() {
    let planted = Planted::clean();
    planted.put("crates/plan/src/extent.rs", "fn a() { unsafe {} }\n\tfn b() { c(1) }\n");
    let found: Vec<_> = super::violations(&planted.tree())
        .iter()
        .map(|it| (it.path.clone(), it.line))
        .collect();
    let path = "crates/plan/src/extent.rs".to_owned();
    assert_eq!(found, [(path.clone(), 1), (path, 2)]);
}
