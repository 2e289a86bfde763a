//! Path patterns: the crate `globset`, and the folders in which a pattern can match.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use super::listing::as_path;
use crate::error::{Error, Operation, Reason, Result};

/// A pattern, and its parts for the folders on the way.
#[derive(Debug)]
pub(super) struct Glob<'p> {
    pattern: &'p str,
    base: &'p str,
    whole: GlobMatcher,
    folders: Vec<GlobMatcher>,
    /// Whether any folder may match below those.
    open: bool,
}

impl<'p> Glob<'p> {
    /// # Errors
    ///
    /// If it is not a pattern: a bracket or a brace is not closed.
    pub(super) fn new(pattern: &'p str) -> Result<Self> {
        let wild = pattern.find(|letter| "*?[{\\".contains(letter));
        let base = wild.map_or(pattern.len(), |wild| {
            pattern[..wild].rfind('/').map_or(0, |slash| slash + 1)
        });
        let (base, rest) = pattern.split_at(base);
        let whole = matcher(rest).map_err(|error| {
            Error::new(Operation::Open, Reason::Invalid, Path::new(pattern))
                .detail(format!("it is not a valid pattern: {}", error.kind()))
                .hint("put a backslash before each bracket or brace that is part of a name")
        })?;
        let (mut folders, mut open) = (Vec::new(), false);
        let mut parts = rest.split('/').peekable();
        while let Some(part) = parts.next() {
            // A brace may contain slashes, and its halves are not patterns.
            let Some(part) = Some(part).filter(|&part| part != "**").map(matcher) else {
                open = true;
                break;
            };
            match (part, parts.peek()) {
                (Ok(part), Some(_)) => folders.push(part),
                // The last part matches files.
                (Ok(_), None) => {}
                (Err(_), _) => {
                    open = true;
                    break;
                }
            }
        }
        Ok(Self { pattern, base, whole, folders, open })
    }

    /// Returns the path itself, if it contains no wildcard.
    pub(super) fn literal(&self) -> Option<&'p str> {
        (self.base.len() == self.pattern.len() && !self.pattern.is_empty())
            .then_some(self.pattern)
    }

    /// Returns the folder that contains all matches, with its slash; "" for the current one.
    pub(super) fn base(&self) -> &'p str {
        self.base
    }

    /// Whether it matches the file at `path`, relative to the base.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        self.whole.is_match(as_path(path))
    }

    /// Whether something in the folder at `path`, relative to the base, could match.
    pub(super) fn may_match_in(&self, path: &[u8]) -> bool {
        for (depth, name) in path.split(|&byte| byte == b'/').enumerate() {
            match self.folders.get(depth) {
                Some(folder) if folder.is_match(as_path(name)) => {}
                Some(_) => return false,
                None => return self.open,
            }
        }
        true
    }
}

/// `*` and `?` stop at slashes, as in a shell.
fn matcher(pattern: &str) -> std::result::Result<GlobMatcher, globset::Error> {
    let glob =
        GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build()?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(pattern: &str) -> Glob<'_> {
        Glob::new(pattern).expect("a pattern")
    }

    #[test]
    fn names_are_matched_as_a_shell_would_hidden_ones_too() {
        let yes = [
            ("*", "a"),
            ("*.txt", ".txt"),
            ("a*b*c", "axxbyybzc"),
            ("?", "x"),
            ("[a-c]", "b"),
            ("[!a-c]", "d"),
            ("[]]", "]"),
            ("**", "x"),
            ("*?", "ab"),
            ("[a-]", "-"),
            ("[^x]", "y"),
            ("*.{txt,md}", "a.md"),
            ("\\*", "*"),
            ("[[]", "["),
        ];
        for (pattern, name) in yes {
            assert!(glob(pattern).matches(name.as_bytes()), "{pattern} {name}");
        }
        let no = [
            ("*.txt", "txt"),
            ("?", ""),
            ("?", "ab"),
            ("[a-c]", "d"),
            ("[!a-c]", "a"),
            ("a*b", "ac"),
            ("*", "a/b"),
            ("?", "/"),
            ("\\*", "a"),
        ];
        for (pattern, name) in no {
            assert!(!glob(pattern).matches(name.as_bytes()), "{pattern} {name}");
        }
        assert!(glob("a*").matches(b"a\xff"), "names are bytes");
    }

    #[test]
    fn a_double_star_stands_for_any_number_of_folders() {
        let deep = glob("data/x/**/a*/*.txt");
        assert_eq!(deep.base(), "data/x/");
        for path in ["a/b.txt", "q/a/b.txt", "q/r/s/abc/.txt"] {
            assert!(deep.matches(path.as_bytes()), "{path}");
        }
        for path in ["b.txt", "q/b.txt", "a/q/b.txt", "a/b.txt/c"] {
            assert!(!deep.matches(path.as_bytes()), "{path}");
        }
        assert!(glob("**").matches(b"a/b/c") && glob("**/*").matches(b"a"));
        // Many wildcards take no longer: the pattern is one automaton.
        let many = "**/".repeat(30) + "x";
        assert!(!glob(&many).matches("a/".repeat(60).as_bytes()));
    }

    #[test]
    fn folders_that_cannot_hold_a_match_are_not_entered() {
        let two = glob("a*/b/*.txt");
        for (path, may) in
            [("a", true), ("x", false), ("ab/b", true), ("ab/c", false), ("ab/b/c", false)]
        {
            assert_eq!(two.may_match_in(path.as_bytes()), may, "{path}");
        }
        assert!(glob("**/x").may_match_in(b"any/where"));
        assert!(!glob("*.txt").may_match_in(b"any"));
        let braces = glob("x?/{a/b,c}/d");
        assert!(braces.matches(b"x1/a/b/d") && braces.may_match_in(b"x1/a/b"));
        assert!(!braces.may_match_in(b"y"));
    }

    #[test]
    fn a_pattern_without_stars_is_a_path_and_what_is_none_is_refused() {
        assert_eq!(glob("a/b").literal(), Some("a/b"));
        assert_eq!(glob("a/*").literal(), None);
        assert_eq!(glob("a/*").base(), "a/");
        assert_eq!(glob("*").base(), "");
        for pattern in ["[a-c", "{a,b", "a/[", "[c-a]"] {
            let refused = Glob::new(pattern).expect_err(pattern);
            assert_eq!(refused.path(), Path::new(pattern));
        }
    }
}
