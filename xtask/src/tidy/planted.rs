//! A tree into which a test plants what a rule should find.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::tree::Tree;
use super::{RULES, Rule, Violation};

/// Files by path.
#[derive(Default)]
pub(super) struct Planted(RefCell<BTreeMap<String, Vec<u8>>>);

impl Planted {
    /// A small repository without violations.
    pub(super) fn clean() -> Planted {
        let planted = Planted::default();
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/plan\"]\n"),
            (
                "ARCHITECTURE.md",
                "# Rooms\n\n## Crates\n\n| `crates/plan` | – |\n| `crates/swath` | `plan` |\n",
            ),
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

    /// Writes a file, replacing an older one.
    pub(super) fn put(&self, path: &str, text: &str) {
        self.put_bytes(path, text.as_bytes());
    }

    pub(super) fn put_bytes(&self, path: &str, bytes: &[u8]) {
        self.0.borrow_mut().insert(path.to_owned(), bytes.to_vec());
    }

    pub(super) fn tree(&self) -> Tree {
        let mut tree = Tree::default();
        for (path, bytes) in self.0.borrow().iter() {
            tree.add(path, bytes.clone());
        }
        tree
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

#[test]
fn every_planted_fault_is_found_and_nothing_else() {
    // Rules whose own tests cover their tables or limits.
    let mut tried = BTreeSet::from(["sizes", "readme", "plain", "text", "rows"]);
    for case in include_str!("planted.txt").split("\n== ").skip(1) {
        let (rule, _) = case.split_once(':').expect("the name of a rule");
        tried.insert(rule);
        let (_, rule) = RULES.iter().find(|it| it.0 == rule).expect(rule);
        let planted = Planted::clean();
        let (files, expected) = case.split_once("\n>> ").unwrap_or((case, ""));
        for file in files.trim_end().split("\n-- ").skip(1) {
            let (path, text) = file.split_once('\n').unwrap_or((file, ""));
            planted.put(path, &format!("{text}\n"));
        }
        let mut expected: Vec<&str> = expected.trim_end().split("\n>> ").collect();
        expected.retain(|it| !it.is_empty());
        expected.sort_unstable();
        let mut found = planted.found(*rule);
        found.sort_unstable();
        let mut pairs = found.iter().zip(&expected);
        let are_all = pairs.all(|(found, expected)| found.starts_with(expected));
        assert!(are_all && found.len() == expected.len(), "{case}\nfound: {found:#?}");
    }
    assert!(RULES.iter().all(|(name, _)| tried.contains(name)), "only {tried:?}");
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
