//! Where `unsafe` may occur, and where it must be forbidden explicitly.

use super::Violation;
use super::rust::begins;
use super::tables::{FORBID_UNSAFE_IN, UNSAFE_UNDER};
use super::tree::Tree;

const FORBID: [&str; 8] = ["#", "!", "[", "forbid", "(", "unsafe_code", ")", "]"];

/// Finds `unsafe` outside its folders, and roots that do not forbid it.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, rust) in tree.rust() {
        if UNSAFE_UNDER.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        for token in rust.all.iter().filter(|it| it.text == "unsafe") {
            let text = "`unsafe` belongs in os, simd, arrow, capi, study and python";
            violations.push(Violation::new(path, token.line, text));
        }
    }
    violations.extend(unforbidden(tree));
    violations.extend(with_std(tree));
    violations
}

/// The planner without `#![no_std]`, which keeps files, threads and clocks out of it.
fn with_std(tree: &Tree) -> Option<Violation> {
    const PLAN: &str = "crates/plan/src/lib.rs";
    let tokens = &tree.get(PLAN)?.rust.as_ref()?.all;
    let lacks_std = tokens.windows(3).any(|it| it[0].text == "[" && it[1].text == "no_std");
    (!lacks_std).then(|| Violation::new(PLAN, 1, "`#![no_std]` is missing"))
}

fn unforbidden(tree: &Tree) -> impl Iterator<Item = Violation> {
    let roots = FORBID_UNSAFE_IN
        .iter()
        .flat_map(|name| ["lib.rs", "main.rs"].map(|root| format!("{name}/src/{root}")));
    roots.filter_map(|path| {
        let tokens = &tree.get(&path)?.rust.as_ref()?.all;
        let forbids = (0..tokens.len()).any(|index| begins(&tokens[index..], &FORBID));
        (!forbids).then(|| Violation::new(&path, 1, "`#![forbid(unsafe_code)]` is missing"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    #[test]
    fn a_planner_with_std_is_found() {
        let planted = Planted::clean();
        planted.put("crates/plan/src/lib.rs", "#![forbid(unsafe_code)]\nmod extent;\n");
        planted.finds(check, "crates/plan/src/lib.rs:1: `#![no_std]` is missing");
    }

    #[test]
    fn unsafe_outside_its_folders_is_found() {
        let planted = Planted::clean();
        planted.put("crates/plan/src/extent.rs", "// unsafe\nfn a() { unsafe {} }\n");
        planted.finds(check, "crates/plan/src/extent.rs:2: `unsafe` belongs in");
    }

    #[test]
    fn unsafe_in_its_folders_and_in_words_is_fine() {
        let planted = Planted::clean();
        planted.put("crates/os/src/lib.rs", "unsafe fn a() {}\n");
        planted
            .put("crates/plan/src/extent.rs", "#![deny(unsafe_op_in_unsafe_fn)] // unsafe\n");
        assert!(planted.found(check).is_empty());
    }

    #[test]
    fn a_root_that_does_not_forbid_unsafe_is_found() {
        let planted = Planted::clean();
        planted.put("crates/cli/src/main.rs", "//! #![forbid(unsafe_code)]\nfn main() {}\n");
        planted.finds(check, "crates/cli/src/main.rs:1: `#![forbid(unsafe_code)]` is missing");
    }
}
