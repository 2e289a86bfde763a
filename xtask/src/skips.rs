//! The checks that this machine could not make, and whether that is acceptable.
//!
//! A test that needs something the machine lacks returns early and appends one line, `capability:
//! reason`, to the file that `SWATH_SKIPS` names. Printing would not work, since the output of a
//! passing test is swallowed. On a laptop, skips are listed; where `CI=true`, a skip that
//! `xtask/may-be-absent.txt` does not list is a failure.

use std::collections::BTreeSet;
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

/// Something that the machine may lack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Absence {
    pub(crate) capability: String,
    pub(crate) how_to_get: String,
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

/// Returns everything noted since [`start`], each line once, in order.
pub(crate) fn noted(workspace: &Workspace) -> Result<BTreeSet<Skip>> {
    let path = workspace.skips();
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(parse_skips(&text))
}

/// Fails if this runs in CI and a skip is not on the committed list.
pub(crate) fn judge(workspace: &Workspace, skips: &BTreeSet<Skip>) -> Result<()> {
    let absent = capabilities(workspace)?;
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

/// Returns the committed list of capabilities that may be absent.
pub(crate) fn capabilities(workspace: &Workspace) -> Result<Vec<Absence>> {
    parse_absent(&workspace.read("xtask/may-be-absent.txt")?)
}

fn parse_absent(text: &str) -> Result<Vec<Absence>> {
    let mut absent = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [capability, how_to_get, _why] = cells[..] else {
            bail!(
                "xtask/may-be-absent.txt: `{line}` does not say how to get it, and why it may be missing"
            );
        };
        let (capability, how_to_get) = (capability.to_owned(), how_to_get.to_owned());
        absent.push(Absence { capability, how_to_get });
    }
    Ok(absent)
}

fn unexpected(skips: &BTreeSet<Skip>, absent: &[Absence]) -> Vec<String> {
    skips
        .iter()
        .filter(|skip| absent.iter().all(|it| it.capability != skip.capability))
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
        let absent = parse_absent("# why\n\nroot | be root | a user\n").expect("well formed");
        let root = Absence { capability: "root".into(), how_to_get: "be root".into() };
        assert_eq!(absent, [root]);
        assert!(parse_absent("root | be root\n").is_err());
    }

    #[test]
    fn the_committed_list_can_be_read() {
        let absent = parse_absent(include_str!("../may-be-absent.txt")).expect("well formed");
        assert!(absent.iter().any(|it| it.capability == "io-uring"));
    }

    #[test]
    fn only_a_skip_that_is_not_listed_is_unexpected() {
        let skips = parse_skips("root: uid 1000\nripgrep: not installed\n");
        let absent = parse_absent("root | be root | a user\n").expect("it is well formed");
        assert_eq!(unexpected(&skips, &absent), ["ripgrep: not installed"]);
    }

    #[test]
    fn ci_is_on_only_when_it_says_so() {
        assert!(is_ci(Some("true")) && is_ci(Some("1")));
        assert!(!is_ci(Some("false")) && !is_ci(Some("")) && !is_ci(None));
    }
}
