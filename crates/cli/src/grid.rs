//! Values in columns that fit the terminal.
//!
//! ```text
//! name          n  born          names
//! text        i64  date          types
//! Ann          12  1980-02-29    texts on the left, numbers on the right
//! Bartholom…    –  –             long cells are cut, missing ones are a dash
//! … 3 more columns: x, y, z      columns for which there is no room
//! ```

use std::io::IsTerminal;

use rustix::termios::tcgetwinsize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width of a terminal of unknown width.
const USUAL: usize = 80;
/// The minimum width.
const LEAST: usize = 8;
/// The gap between two columns.
const GAP: usize = 2;
/// Width to which cells of text may be cut.
pub(crate) const TEXT: usize = 8;
/// Width to which other cells may be cut.
pub(crate) const OTHER: usize = 30;
/// The sign for a missing value.
pub(crate) const MISSING: &str = "–";

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A column: a head of some lines, and cells.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) head: Vec<String>,
    pub(crate) cells: Vec<String>,
    pub(crate) align: Align,
    /// Width up to which cells are not cut.
    pub(crate) uncut: usize,
}

impl Column {
    /// Returns the width for the longest line.
    fn natural(&self) -> usize {
        self.head.iter().chain(&self.cells).map(|it| it.width()).max().unwrap_or(0)
    }

    /// Returns the width to which it may shrink.
    fn narrow(&self) -> usize {
        let cells = self.cells.iter().map(|it| it.width()).max().unwrap_or(0);
        self.natural().min(TEXT).max(cells.min(self.uncut))
    }
}

/// Returns how many columns the terminal has; `None` if there is no terminal, or its width is unknown.
pub(crate) fn terminal_columns() -> Option<u16> {
    let out = std::io::stdout();
    let size = out.is_terminal().then(|| tcgetwinsize(out).ok()).flatten();
    size.map(|size| size.ws_col).filter(|&columns| columns > 0)
}

/// Returns how many columns the terminal has, or [`USUAL`] if there is no terminal.
pub(crate) fn terminal_width() -> usize {
    terminal_columns().map_or(USUAL, |width| usize::from(width).max(LEAST))
}

/// Returns the most columns, of minimum width, that fit the width.
pub(crate) fn most_columns(width: usize) -> usize {
    width.div_ceil(1 + GAP)
}

/// Returns lines of at most `width`, and the number of columns in them: all, or as many as fit.
pub(crate) fn lines(columns: &[Column], width: usize) -> (Vec<String>, usize) {
    let widths = fitted(columns, width.max(1));
    let columns = &columns[..widths.len()];
    let heads = columns.iter().map(|it| it.head.len()).max().unwrap_or(0);
    let rows = columns.iter().map(|it| it.cells.len()).max().unwrap_or(0);
    let line = |cell: &dyn Fn(&Column) -> Option<&String>| {
        let mut line = String::new();
        for (column, &width) in columns.iter().zip(&widths) {
            if !line.is_empty() {
                line.push_str(&" ".repeat(GAP));
            }
            let cell = cut(cell(column).map_or("", String::as_str), width);
            let space = " ".repeat(width.saturating_sub(cell.width()));
            match column.align {
                Align::Left => line.extend([&cell[..], &space]),
                Align::Right => line.extend([&space[..], &cell]),
            }
        }
        line.trim_end().to_owned()
    };
    let heads = (0..heads).map(|at| line(&|column| column.head.get(at)));
    let rows = (0..rows).map(|at| line(&|column| column.cells.get(at)));
    (heads.chain(rows).collect(), widths.len())
}

/// Returns the widths of the columns that fit, at least one.
fn fitted(columns: &[Column], width: usize) -> Vec<usize> {
    let sizes: Vec<(usize, usize)> = columns
        .iter()
        .take(most_columns(width))
        .map(|it| (it.narrow().clamp(1, width), it.natural().clamp(1, width)))
        .collect();
    let (mut count, mut used) = (0, 0);
    for &(narrow, _) in &sizes {
        let more = narrow + if count == 0 { 0 } else { GAP };
        if count > 0 && used + more > width {
            break;
        }
        (count, used) = (count + 1, used + more);
    }
    let sizes = &sizes[..count];
    let room = width.saturating_sub(GAP * count.saturating_sub(1));
    let at_most =
        |most: usize| sizes.iter().map(move |&(narrow, all)| all.min(most).max(narrow));
    // The widest columns shrink first.
    let most = (1..=width).rev().find(|&most| at_most(most).sum::<usize>() <= room);
    let mut widths: Vec<usize> = at_most(most.unwrap_or(1)).collect();
    let mut left = room.saturating_sub(widths.iter().sum());
    for (width, &(_, all)) in widths.iter_mut().zip(sizes) {
        let more = all.saturating_sub(*width).min(left);
        (*width, left) = (*width + more, left - more);
    }
    widths
}

/// Returns `text`, or its beginning with a mark that it is cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut end = 0;
    for (at, sign) in text.char_indices() {
        let next = at + sign.len_utf8();
        if text[..next].width() + 1 > width {
            break;
        }
        end = next;
    }
    format!("{}…", &text[..end])
}

/// Returns the beginning of `text`, as much as a line of the terminal can hold, with escapes for
/// characters that would change how the terminal shows the rest.
pub(crate) fn shown(text: &str, width: usize) -> String {
    let mut shown = String::new();
    // A character is at least a quarter of a column wide: some have no width of their own.
    for (count, sign) in text.chars().enumerate() {
        if count > 4 * width {
            // The caller cuts it further.
            shown.push_str("  ");
            break;
        }
        match sign {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            sign if is_odd(sign) => shown.extend(sign.escape_unicode()),
            sign => shown.push(sign),
        }
    }
    shown
}

/// Whether a character is a control character, or changes the direction or the lines of a text.
fn is_odd(sign: char) -> bool {
    const RANGES: [std::ops::RangeInclusive<char>; 4] = [
        '\u{200e}'..='\u{200f}',
        '\u{2028}'..='\u{202e}',
        '\u{2066}'..='\u{2069}',
        '\u{fff9}'..='\u{fffb}',
    ];
    sign.width().is_none() || RANGES.iter().any(|range| range.contains(&sign))
}

/// Returns a line that names the columns for which there is no room.
pub(crate) fn more(names: &[&str], count: usize, width: usize) -> String {
    let columns = if count == 1 { "column" } else { "columns" };
    let names: Vec<String> =
        names.iter().take(most_columns(width)).map(|name| shown(name, width)).collect();
    cut(&format!("… {count} more {columns}: {}", names.join(", ")), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(head: &str, cells: &[&str], is_text: bool) -> Column {
        Column {
            head: vec![head.to_owned()],
            cells: cells.iter().map(|&cell| cell.to_owned()).collect(),
            align: if is_text { Align::Left } else { Align::Right },
            uncut: if is_text { TEXT } else { OTHER },
        }
    }

    #[test]
    fn columns_are_as_wide_as_what_is_in_them() {
        let table = [column("n", &["1", "100"], false), column("name", &["Ann", "日本"], true)];
        let (lines, shown) = lines(&table, 80);
        assert_eq!(lines, ["  n  name", "  1  Ann", "100  日本"]);
        assert_eq!(shown, 2);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let long = "日本語 ".repeat(30);
        let table = [
            column("a", &["123456789012345678901234567890", "1"], false),
            column("b", &[&long, "x"], true),
            column("a name that is long", &["2024-02-29", "–"], false),
            column("d", &[&long, ""], true),
        ];
        for width in [1, 2, 5, 8, 20, 33, 40, 80, 120, 1000] {
            let (lines, shown) = lines(&table, width);
            assert!(shown >= 1, "{width}");
            for line in &lines {
                assert!(line.width() <= width, "{} of {width}: {line}", line.width());
            }
        }
        let (all, shown) = lines(&table, 1000);
        assert!(shown == 4 && !all.concat().contains('…'), "{all:?}");
        let (some, shown) = lines(&table, 40);
        assert!(shown == 2 && some[1].contains('…'), "{some:?}");
    }

    #[test]
    fn what_would_change_the_terminal_is_escaped() {
        let text = "a\u{1b}[31mb\nc\t\u{202e}\u{9b}é\u{301}";
        let escaped = shown(text, 80);
        assert_eq!(escaped, "a\\u{1b}[31mb\\nc\\t\\u{202e}\\u{9b}é\u{301}");
        assert!(shown(&"x".repeat(1 << 20), 80).len() < 400);
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(
            (cut("abc", 3), cut("abc", 2), cut("abc", 1)),
            ("abc".into(), "a…".into(), "…".into())
        );
        let line = more(&["a", "b\u{7}"], 2, 80);
        assert_eq!(line, "… 2 more columns: a, b\\u{7}");
        assert_eq!(more(&["a", "b"], 2, 10), "… 2 more …");
    }
}
