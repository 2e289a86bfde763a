//! Patterns of paths, byte by byte.

/// A pattern, cut at its slashes.
#[derive(Debug)]
pub(super) struct Glob<'p> {
    pattern: &'p [u8],
    base: &'p [u8],
    parts: Vec<&'p [u8]>,
}

impl<'p> Glob<'p> {
    pub(super) fn new(pattern: &'p [u8]) -> Self {
        let wild = pattern.iter().position(|byte| b"*?[".contains(byte));
        let base = wild.map_or(pattern.len(), |wild| {
            pattern[..wild].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)
        });
        let (base, rest) = pattern.split_at(base);
        Self { pattern, base, parts: rest.split(|&byte| byte == b'/').collect() }
    }

    /// The path that it is, if nothing in it stands for something else.
    pub(super) fn literal(&self) -> Option<&'p [u8]> {
        (self.base.len() == self.pattern.len() && !self.pattern.is_empty())
            .then_some(self.pattern)
    }

    /// The folder that everything is in that it matches, slash and all; "" for this one.
    pub(super) fn base(&self) -> &'p [u8] {
        self.base
    }

    /// Whether it matches the file at `path`, relative to the base.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let path: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        matches_path(&self.parts, &path)
    }

    /// Whether something in the folder at `path`, relative to the base, could be matched.
    pub(super) fn may_match_in(&self, path: &[u8]) -> bool {
        for (depth, name) in path.split(|&byte| byte == b'/').enumerate() {
            match self.parts.get(depth) {
                Some(part) if *part == b"**" => return true,
                // The last part names files.
                Some(part) if depth + 1 < self.parts.len() && matches_name(part, name) => {}
                _ => return false,
            }
        }
        true
    }
}

fn matches_path(parts: &[&[u8]], path: &[&[u8]]) -> bool {
    match (parts, path) {
        ([], []) => true,
        ([b"**"], [_, ..]) => true,
        ([b"**", rest @ ..], _) => {
            (0..path.len()).any(|skip| matches_path(rest, &path[skip..]))
        }
        ([part, parts @ ..], [name, path @ ..]) => {
            matches_name(part, name) && matches_path(parts, path)
        }
        _ => false,
    }
}

/// Goes back to the last star alone, so it takes at most pattern × name steps.
fn matches_name(mut pattern: &[u8], mut name: &[u8]) -> bool {
    let mut star: Option<(&[u8], &[u8])> = None;
    while let Some((&byte, name_rest)) = name.split_first() {
        let matched = match pattern.split_first() {
            Some((b'*', rest)) => {
                star = Some((rest, name));
                pattern = rest;
                continue;
            }
            Some((b'?', rest)) => Some(rest),
            Some((b'[', rest)) => match set(rest) {
                Some((set, rest)) => in_set(set, byte).then_some(rest),
                None => (byte == b'[').then_some(rest),
            },
            Some((&literal, rest)) => (literal == byte).then_some(rest),
            None => None,
        };
        match (matched, star) {
            (Some(rest), _) => (pattern, name) = (rest, name_rest),
            (None, Some((behind, from))) => {
                let from = from.get(1..).unwrap_or_default();
                star = Some((behind, from));
                (pattern, name) = (behind, from);
            }
            (None, None) => return false,
        }
    }
    pattern.iter().all(|&byte| byte == b'*')
}

/// What is between the brackets, and what is behind them; `None` if they are not closed.
fn set(pattern: &[u8]) -> Option<(&[u8], &[u8])> {
    let negated = usize::from(matches!(pattern.first(), Some(b'!' | b'^')));
    // A closing bracket that comes first stands for itself.
    let first = negated + 1;
    let end = first + pattern.get(first..)?.iter().position(|&byte| byte == b']')?;
    Some((&pattern[..end], &pattern[end + 1..]))
}

fn in_set(set: &[u8], byte: u8) -> bool {
    let negated = matches!(set.first(), Some(b'!' | b'^'));
    let mut set = &set[usize::from(negated)..];
    let mut found = false;
    while let [first, rest @ ..] = set {
        (found, set) = match rest {
            [b'-', last, rest @ ..] => (found || (*first..=*last).contains(&byte), rest),
            _ => (found || *first == byte, rest),
        };
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_as_a_shell_would() {
        let yes = [
            ("*", "a"),
            ("*.txt", ".txt"),
            ("a*b*c", "axxbyybzc"),
            ("?", "x"),
            ("[a-c]", "b"),
            ("[!a-c]", "d"),
            ("[]]", "]"),
            ("[]-a]", "^"),
            ("[", "["),
            ("a[", "a["),
            ("**", "x"),
            ("*?", "ab"),
            ("[a-]", "-"),
            ("[^x]", "y"),
        ];
        for (pattern, name) in yes {
            assert!(matches_name(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        let no = [
            ("*.txt", "txt"),
            ("?", ""),
            ("?", "ab"),
            ("[a-c]", "d"),
            ("[!a-c]", "a"),
            ("a*b", "ac"),
            ("", "a"),
            ("[a-c", "a"),
        ];
        for (pattern, name) in no {
            assert!(!matches_name(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }

    #[test]
    fn a_double_star_stands_for_any_number_of_folders() {
        let glob = Glob::new(b"data/x/**/a*/*.txt");
        assert_eq!(glob.base(), b"data/x/");
        for path in ["a/b.txt", "q/a/b.txt", "q/r/s/abc/.txt"] {
            assert!(glob.matches(path.as_bytes()), "{path}");
        }
        for path in ["b.txt", "q/b.txt", "a/q/b.txt", "a/b.txt/c"] {
            assert!(!glob.matches(path.as_bytes()), "{path}");
        }
        assert!(Glob::new(b"**").matches(b"a/b/c") && Glob::new(b"**/*").matches(b"a"));
    }

    #[test]
    fn folders_that_cannot_hold_a_match_are_not_entered() {
        let glob = Glob::new(b"a*/b/*.txt");
        for (path, may) in
            [("a", true), ("x", false), ("ab/b", true), ("ab/c", false), ("ab/b/c", false)]
        {
            assert_eq!(glob.may_match_in(path.as_bytes()), may, "{path}");
        }
        assert!(Glob::new(b"**/x").may_match_in(b"any/where"));
        assert!(!Glob::new(b"*.txt").may_match_in(b"any"));
    }

    #[test]
    fn a_pattern_without_stars_is_a_path() {
        assert_eq!(Glob::new(b"a/b").literal(), Some(&b"a/b"[..]));
        assert_eq!(Glob::new(b"a/*").literal(), None);
        assert_eq!(Glob::new(b"a/*").base(), b"a/");
        assert_eq!(Glob::new(b"*").base(), b"");
    }
}
