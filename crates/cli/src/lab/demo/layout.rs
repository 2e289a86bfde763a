//! Lines that fit the terminal.

use unicode_width::UnicodeWidthStr;

pub(super) use crate::grid::Align;
use crate::grid::{self, Column};

/// Returns a line for each row, its cells in columns; `None` if they are wider than `width`.
pub(super) fn columns<const N: usize>(
    rows: &[[String; N]],
    aligned: [Align; N],
    width: usize,
) -> Option<Vec<String>> {
    let column = |at: usize| Column {
        head: Vec::new(),
        cells: rows.iter().map(|row| row[at].clone()).collect(),
        align: aligned[at],
        uncut: usize::MAX,
    };
    let all: [Column; N] = std::array::from_fn(column);
    let (lines, _) = grid::lines(&all, usize::MAX);
    lines.iter().all(|line| line.width() <= width).then_some(lines)
}

/// Returns `text` in lines of at most `width`, the first indented as it is, the others by `indent`; a
/// word that is longer is cut.
pub(super) fn filled(text: &str, width: usize, indent: usize) -> Vec<String> {
    let spaces = |count: usize| " ".repeat(count.min(width.saturating_sub(1)));
    let words = text.trim_start();
    let (first, indent) = (spaces(text.len() - words.len()), spaces(indent));
    let mut lines = vec![first];
    for word in words.split(' ') {
        add(&mut lines, word, width, &indent);
    }
    lines
}

fn add(lines: &mut Vec<String>, word: &str, width: usize, indent: &str) {
    let line = lines.last_mut().expect("there is a first line");
    let space = if line.trim().is_empty() { "" } else { " " };
    if line.width() + space.len() + word.width() <= width {
        *line += space;
        *line += word;
        return;
    }
    if !line.trim().is_empty() {
        lines.push(indent.to_owned());
    }
    for sign in word.chars() {
        let line = lines.last_mut().expect("there is a first line");
        let sign = sign.to_string();
        if line.width() + sign.width() > width && !line.trim().is_empty() {
            lines.push(indent.to_owned() + &sign);
        } else {
            *line += &sign;
        }
    }
}

/// Returns a number with three digits, small ones with three after the point.
pub(super) fn digits(value: f64) -> String {
    match value {
        small if small < 0.095 => format!("{value:.3}"),
        tens if tens < 9.995 => format!("{value:.2}"),
        hundreds if hundreds < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Returns a size without its exact bytes.
pub(super) fn size_text(bytes: u64) -> String {
    let text = crate::report::size_text(bytes);
    text.split(" (").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_or_there_are_none() {
        let rows = [["a", "×–1", "x"], ["bbb", "22", ""]].map(|row| row.map(str::to_owned));
        let aligned = [Align::Left, Align::Right, Align::Left];
        let lines = columns(&rows, aligned, 11).expect("it fits");
        assert_eq!(lines, ["a    ×–1  x", "bbb   22"]);
        assert_eq!(columns(&rows, aligned, 10), None);
    }

    #[test]
    fn text_is_filled_and_what_is_too_long_is_cut() {
        assert_eq!(filled("a bb ccc", 5, 2), ["a bb", "  ccc"]);
        assert_eq!(filled("a abcdefgh b", 5, 2), ["a", "  abc", "  def", "  gh", "  b"]);
        assert_eq!(filled("abcdef", 3, 0), ["abc", "def"]);
        assert_eq!(filled("", 3, 0), [""]);
        assert_eq!(filled("  a bb ccc", 6, 4), ["  a bb", "    cc", "    c"]);
        assert_eq!(filled("字字字", 4, 1), ["字字", " 字"]);
    }

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0123, "0.012"),
            (0.123, "0.12"),
            (9.99, "9.99"),
            (9.999, "10.0"),
            (345.6, "346"),
        ] {
            assert_eq!(digits(value), text);
        }
    }
}
