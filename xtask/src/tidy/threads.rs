//! Threads are started so that a machine without free threads gives an error, not a panic.

use super::Violation;
use super::rust::begins;
use super::tree::Tree;

/// `std::thread::spawn`, and `spawn` of a `std::thread::Scope`, which is always named `scope` here.
const PANICKING: [&[&str]; 2] =
    [&["thread", ":", ":", "spawn", "("], &["scope", ".", "spawn", "("]];

/// Finds calls that panic where no thread can be started, outside tests.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, rust) in tree.rust() {
        let is_ours =
            ["crates/", "lab/study/", "python/"].iter().any(|it| path.starts_with(it));
        if !is_ours || is_test(path) {
            continue;
        }
        for (index, token) in rust.shipped.iter().enumerate() {
            if PANICKING.iter().any(|call| begins(&rust.shipped[index..], call)) {
                let text = "panics where no thread can be started: use `thread::Builder`, which returns an error";
                violations.push(Violation::new(path, token.line, text));
            }
        }
    }
    violations
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const PATH: &str = "crates/plan/src/extent.rs";

    #[test]
    fn a_start_that_panics_is_found() {
        for call in ["std::thread::spawn(work)", "scope.spawn(|| work())"] {
            let planted = Planted::clean();
            planted.put(PATH, &format!("fn a() {{ {call}; }}\n"));
            planted.finds(check, &format!("{PATH}:1: panics where no thread can be started"));
        }
    }

    #[test]
    fn a_start_that_gives_an_error_and_one_in_a_test_are_fine() {
        let planted = Planted::clean();
        let text = "fn a() { Builder::new().spawn_scoped(scope, work); child.spawn(); }\n\
                    #[cfg(test)]\nmod tests { fn b() { std::thread::spawn(work); } }\n";
        planted.put(PATH, text);
        assert!(planted.found(check).is_empty());
    }
}
