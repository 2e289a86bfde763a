//! What was not checked on this machine, and whether that is acceptable.
//!
//! A test that needs something the machine lacks returns early and appends one line, `capability:
//! reason`, to the file that `SWATH_SKIPS` names. Printing would not work, since the output of a
//! passing test is swallowed. On a laptop, skips are listed; where `CI=true`, a skip that
//! `xtask/may-be-absent.txt` does not list is a failure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// One check that was skipped, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Skip {
    pub(crate) capability: String,
    pub(crate) reason: String,
}

impl Skip {
    fn parse(line: &str) -> Skip {
        let (capability, reason) = line.split_once(':').unwrap_or((line, "no reason given"));
        Skip { capability: capability.trim().to_owned(), reason: reason.trim().to_owned() }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.capability, self.reason)
    }
}

/// Forgets the skips of the last run.
pub(crate) fn start(workspace: &Workspace) -> Result<()> {
    let path = workspace.skips();
    std::fs::write(&path, "").with_context(|| format!("cannot write {}", path.display()))
}

/// Notes that `capability` is missing, as a test would.
pub(crate) fn note(workspace: &Workspace, capability: &str, reason: &str) -> Result<()> {
    let path = workspace.skips();
    let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
    // A reason may come from another program; it must stay one line.
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    file.write_all(format!("{capability}: {reason}\n").as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Returns everything that has been noted since [`start`], each line once, in order.
pub(crate) fn noted(workspace: &Workspace) -> Result<BTreeSet<Skip>> {
    let path = workspace.skips();
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(parse_skips(&text))
}

/// Fails if this runs in CI and a skip is not on the committed list.
pub(crate) fn judge(workspace: &Workspace, skips: &BTreeSet<Skip>) -> Result<()> {
    let list = workspace.read("xtask/may-be-absent.txt")?;
    let absent = parse_absent(&list)?;
    if is_ci(std::env::var("CI").ok().as_deref()) {
        let unexpected = unexpected(skips, &absent);
        if !unexpected.is_empty() {
            bail!(
                "skipped, and not listed in xtask/may-be-absent.txt:\n  {}",
                unexpected.join("\n  ")
            );
        }
    }
    Ok(())
}

fn is_ci(value: Option<&str>) -> bool {
    matches!(value, Some("true" | "1"))
}

fn parse_skips(text: &str) -> BTreeSet<Skip> {
    text.lines().filter(|line| !line.trim().is_empty()).map(Skip::parse).collect()
}

/// Capability → why it may be absent.
fn parse_absent(text: &str) -> Result<BTreeMap<&str, &str>> {
    let mut absent = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((capability, reason)) = line.split_once(char::is_whitespace) else {
            bail!("xtask/may-be-absent.txt: `{line}` gives no reason");
        };
        absent.insert(capability, reason.trim());
    }
    Ok(absent)
}

fn unexpected(skips: &BTreeSet<Skip>, absent: &BTreeMap<&str, &str>) -> Vec<String> {
    skips
        .iter()
        .filter(|skip| !absent.contains_key(skip.capability.as_str()))
        .map(Skip::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(capability: &str, reason: &str) -> Skip {
        Skip { capability: capability.to_owned(), reason: reason.to_owned() }
    }

    #[test]
    fn a_line_that_many_tests_wrote_is_reported_once() {
        let skips = parse_skips("fuse: no /dev/fuse\n\nroot: uid 1000\nfuse: no /dev/fuse\n");
        let expected = [skip("fuse", "no /dev/fuse"), skip("root", "uid 1000")];
        assert_eq!(skips.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn two_reasons_for_one_capability_are_both_kept() {
        assert_eq!(parse_skips("fuse: none\nfuse: refused\n").len(), 2);
    }

    #[test]
    fn a_reason_may_hold_a_colon_and_may_be_missing() {
        let skips = parse_skips("io-uring: EPERM: seccomp\nfuse\n");
        assert!(skips.contains(&skip("io-uring", "EPERM: seccomp")));
        assert!(skips.contains(&skip("fuse", "no reason given")));
    }

    #[test]
    fn the_list_of_what_may_be_absent_has_comments_and_reasons() {
        let absent = parse_absent("# why\n\nroot   as a user\n").expect("it is well formed");
        assert_eq!(absent.get("root"), Some(&"as a user"));
        assert_eq!(absent.len(), 1);
        assert!(parse_absent("root\n").is_err());
    }

    #[test]
    fn the_committed_list_can_be_read() {
        let absent = parse_absent(include_str!("../may-be-absent.txt")).expect("well formed");
        assert!(absent.contains_key("io-uring"));
    }

    #[test]
    fn only_a_skip_that_is_not_listed_is_unexpected() {
        let skips = parse_skips("root: uid 1000\nripgrep: not installed\n");
        let absent = parse_absent("root  as a user\n").expect("it is well formed");
        assert_eq!(unexpected(&skips, &absent), ["ripgrep: not installed"]);
    }

    #[test]
    fn ci_is_on_only_when_it_says_so() {
        assert!(is_ci(Some("true")) && is_ci(Some("1")));
        assert!(!is_ci(Some("false")) && !is_ci(Some("")) && !is_ci(None));
    }
}
