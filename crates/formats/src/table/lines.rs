//! Finds the lines of a block that hold data.

use swath_simd::{Lines, Marks, Positions, WordLines, find};

use super::dialect::Dialect;
use super::options::Delimiter;

/// Consecutive lines that all hold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) rows: usize,
    pub(super) between: Between,
}

/// What separates the fields of some lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// One byte.
    Byte(u8),
    /// Blanks, possibly also around lines.
    Blanks,
    /// The dialect's delimiter, with quotes around fields that carry no meaning.
    Quoted,
    /// The lines contain a fault.
    Wrong,
}

/// Returns the data lines of a block that begins with a line; almost always one run.
pub(super) fn runs<'b>(block: &'b [u8], dialect: &Dialect) -> Vec<Run<'b>> {
    let (newlines, odd, between) = look(block, dialect);
    if !odd {
        let newlines = usize::try_from(newlines).unwrap_or(usize::MAX);
        let rows = newlines + usize::from(block.last().is_some_and(|&last| last != b'\n'));
        return vec![Run { bytes: block, rows, between }];
    }
    let mut runs = Vec::new();
    let (mut start, mut at, mut rows) = (0, 0, 0);
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        if dialect.is_data(line) {
            rows += 1;
        } else {
            if rows > 0 {
                runs.push(Run { bytes: &block[start..at], rows, between });
            }
            (start, rows) = (at + line.len(), 0);
        }
        at += line.len();
    }
    if rows > 0 {
        runs.push(Run { bytes: &block[start..at], rows, between });
    }
    runs
}

/// Returns the number of newlines of a block, whether it may have lines without data, and the
/// separator.
fn look(block: &[u8], dialect: &Dialect) -> (u64, bool, Between) {
    let (newlines, odd, between) = match dialect.delimiter {
        Delimiter::Byte(delimiter) => {
            let lines = Lines::of(block, Marks { delimiter, comment: dialect.comment });
            (lines.newlines, lines.odd, Between::Byte(delimiter))
        }
        Delimiter::Blanks => {
            let lines = WordLines::of(block, dialect.comment);
            let between = match lines {
                WordLines { lone_return: true, .. } => Between::Wrong,
                WordLines { loose: true, .. } => Between::Blanks,
                _ => Between::Byte(b' '),
            };
            (lines.newlines, lines.odd, between)
        }
    };
    let is_text = || dialect.quote.is_some_and(|quote| find(block, quote).is_some());
    let is_odd = dialect.skips && (is_text() || has_lone_return(block));
    (newlines, odd, if is_odd { Between::Quoted } else { between })
}

fn has_lone_return(block: &[u8]) -> bool {
    let is_lone = |at| block.get(at + 1).is_some_and(|byte| !b"\r\n".contains(byte));
    Positions::new(block, b'\r').any(is_lone)
}

/// Returns how many lines of a block hold data.
pub(super) fn count(block: &[u8], dialect: &Dialect) -> usize {
    runs(block, dialect).iter().map(|run| run.rows).sum()
}
