//! A comment for the facts that a list of edges cannot express: the size of the matrix and the type
//! of its weights.
//!
//! ```text
//! # swath: rows=3 columns=5 values=integer first=0
//! 0 4 9007199254740993
//! ```
//!
//! It is written if the edges alone would be read differently. Only a comment before the first edge
//! counts. Other programs skip it as a comment.

use crate::matrix::kinds::Field;

const MARK: &str = "swath:";
const FIELDS: [(&str, Field); 4] = [
    ("none", Field::Pattern),
    ("integer", Field::Integer),
    ("unsigned", Field::Unsigned),
    ("real", Field::Real),
];

/// The contents of such a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommentShape {
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) field: Field,
    /// The number of the first row and column: 0 or 1.
    pub(super) first: u64,
}

impl CommentShape {
    /// Whether a user's own comment could be mistaken for one.
    pub(super) fn is_like(comment: &str) -> bool {
        comment.lines().any(|line| line.trim_start().starts_with(MARK))
    }

    /// Returns the comment, without its mark.
    pub(super) fn comment(&self) -> String {
        let Self { rows, columns, field, first } = self;
        let values = FIELDS.iter().find(|(_, known)| known == field);
        let values = values.map_or("real", |&(word, _)| word);
        format!("{MARK} rows={rows} columns={columns} values={values} first={first}")
    }

    /// Parses a line; `None` for any other line.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?.trim().strip_prefix('#')?;
        let mut words = line.trim_start().strip_prefix(MARK)?.split_ascii_whitespace();
        let mut word = |key: &str| words.next()?.strip_prefix(key)?.strip_prefix('=');
        let rows = word("rows")?.parse().ok()?;
        let columns = word("columns")?.parse().ok()?;
        let values = word("values")?;
        let first = word("first")?.parse().ok().filter(|&first| first <= 1)?;
        let &(_, field) = FIELDS.iter().find(|(known, _)| *known == values)?;
        words.next().is_none().then_some(Self { rows, columns, field, first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_other_comments_are_not() {
        for (_, field) in FIELDS {
            for (rows, columns, first) in [(0, 0, 0), (3, 5, 1), (u64::MAX, 1, 0)] {
                let shape = CommentShape { rows, columns, field, first };
                let line = format!("# {}\r", shape.comment());
                assert_eq!(CommentShape::parse(line.as_bytes()), Some(shape), "{line}");
                let cut = &line[..line.len() - 2];
                assert_eq!(CommentShape::parse(cut.as_bytes()), None, "{cut}");
            }
        }
        for other in [
            "",
            "#",
            "# rows=1 columns=1 values=none first=0",
            "% swath: rows=1 columns=1 values=none first=0",
            "# swath: rows=-1 columns=1 values=none first=0",
            "# swath: rows=1 columns=18446744073709551616 values=none first=0",
            "# swath: rows=1 columns=1 values=words first=0",
            "# swath: rows=1 columns=1 values=none first=2",
            "# swath: columns=1 rows=1 values=none first=0",
            "# swath: rows=1 columns=1 values=none first=0 more",
        ] {
            assert_eq!(CommentShape::parse(other.as_bytes()), None, "{other}");
        }
        assert!(
            CommentShape::is_like("a\n swath: b") && !CommentShape::is_like("about swath: b")
        );
    }
}
