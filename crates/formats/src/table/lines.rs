//! Which lines of a block hold data.

use swath_simd::Lines;

use super::dialect::Dialect;

/// Neighbouring lines that all hold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) rows: usize,
}

/// Returns the lines of data of a block, which begins with a line; one run, almost always.
pub(super) fn runs<'b>(block: &'b [u8], dialect: &Dialect) -> Vec<Run<'b>> {
    let lines = Lines::of(block, dialect.marks);
    if !lines.odd {
        let newlines = usize::try_from(lines.newlines).unwrap_or(usize::MAX);
        let rows = newlines + usize::from(block.last().is_some_and(|&last| last != b'\n'));
        return vec![Run { bytes: block, rows }];
    }
    let mut runs = Vec::new();
    let (mut start, mut at, mut rows) = (0, 0, 0);
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        if dialect.is_data(line) {
            rows += 1;
        } else {
            if rows > 0 {
                runs.push(Run { bytes: &block[start..at], rows });
            }
            (start, rows) = (at + line.len(), 0);
        }
        at += line.len();
    }
    if rows > 0 {
        runs.push(Run { bytes: &block[start..at], rows });
    }
    runs
}

/// Returns how many lines of a block hold data.
pub(super) fn count(block: &[u8], dialect: &Dialect) -> usize {
    runs(block, dialect).iter().map(|run| run.rows).sum()
}
