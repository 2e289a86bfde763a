//! Texts of matrices, and their right results.

use std::path::PathBuf;

use swath_formats::matrix::{AnyCoo, Values};
use swath_reference::matrix::{Matrix, MatrixValue};

/// An entry: row, column, value.
pub(crate) type Entry = (u64, u64, MatrixValue);

/// A file that is removed together with its folder.
pub(crate) struct Scratch(tempfile::TempDir, &'static str);

impl Scratch {
    pub(crate) fn new(name: &'static str, text: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(name), text).expect("room");
        Self(folder, name)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join(self.1)
    }
}

/// Makes the values of entries comparable bit by bit, NaN included.
pub(crate) fn bits(entries: impl IntoIterator<Item = Entry>) -> Vec<(u64, u64, [u64; 2])> {
    entries
        .into_iter()
        .map(|(row, column, value)| (row, column, value.map(f64::to_bits)))
        .collect()
}

pub(crate) fn value_at(values: &Values, index: usize) -> MatrixValue {
    match values {
        Values::None => [1.0, 0.0],
        Values::I64(values) => [values[index] as f64, 0.0],
        Values::U64(values) => [values[index] as f64, 0.0],
        Values::F32(values) => [f64::from(values[index]), 0.0],
        Values::F64(values) => [values[index], 0.0],
        Values::Complex(values) => values[index],
        _ => unreachable!("no other values"),
    }
}

pub(crate) fn entries_of(matrix: &AnyCoo) -> Vec<Entry> {
    match matrix {
        AnyCoo::U32(matrix) => {
            let ids = matrix.rows.iter().zip(&matrix.columns[..]);
            let ids = ids.map(|(&row, &column)| (u64::from(row), u64::from(column)));
            ids.enumerate()
                .map(|(at, (row, column))| (row, column, value_at(&matrix.values, at)))
                .collect()
        }
        AnyCoo::U64(matrix) => {
            let ids = matrix.rows.iter().zip(&matrix.columns[..]).enumerate();
            ids.map(|(at, (&row, &column))| (row, column, value_at(&matrix.values, at)))
                .collect()
        }
    }
}

/// The size of a matrix: rows and columns.
pub(crate) fn size_of(matrix: &AnyCoo) -> (u64, u64) {
    match matrix {
        AnyCoo::U32(matrix) => (matrix.row_count, matrix.column_count),
        AnyCoo::U64(matrix) => (matrix.row_count, matrix.column_count),
    }
}

const FIELDS: [&str; 5] = ["pattern", "real", "integer", "unsigned-integer", "complex"];
const SYMMETRIES: [&str; 4] = ["general", "symmetric", "skew-symmetric", "hermitian"];

/// Every kind of matrix.
pub(crate) fn kinds() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let all = ["coordinate", "array"].into_iter().flat_map(|layout| {
        FIELDS.into_iter().flat_map(move |field| {
            SYMMETRIES.into_iter().map(move |symmetry| (layout, field, symmetry))
        })
    });
    all.filter(|&(layout, field, symmetry)| match (field, symmetry) {
        ("pattern" | "unsigned-integer", "skew-symmetric") => false,
        ("pattern", _) => layout == "coordinate",
        _ => true,
    })
}

/// A random Matrix Market text of `entries` lines, with everything that readers must accept. Some arrays are longer
/// than what is parsed at a time.
pub(crate) fn market(
    seed: u64,
    layout: &str,
    field: &str,
    symmetry: &str,
    entries: u64,
) -> String {
    let mut next = swath_reference::splitmix(seed);
    let mut roll = move |count: u64| next() % count;
    let rows = 1 + roll(if layout == "array" {
        [6, 1_500][usize::from(symmetry == "general" && seed % 16 == 15)]
    } else {
        10_u64.pow(1 + u32::try_from(seed % 8).expect("small"))
    });
    let columns = if symmetry == "general" { 1 + roll(12) } else { rows };
    let is_plain = roll(2) == 0;
    let mut text = format!("%%MatrixMarket matrix {layout} {field} {symmetry}\n");
    if roll(2) == 0 {
        text += "% a comment\n\n%\n";
    }
    let mut lines = Vec::new();
    let mut next = swath_reference::splitmix(!seed);
    let mut value = |is_diagonal: bool| {
        let value = number(&mut next, field);
        let parts = value.split_once(' ').filter(|_| is_diagonal && symmetry == "hermitian");
        parts.map_or(value.clone(), |(real, _)| format!("{real} 0"))
    };
    if layout == "array" {
        text += &format!("{rows} {columns}\n");
        for column in 0..columns {
            let first = match symmetry {
                "general" => 0,
                "skew-symmetric" => column + 1,
                _ => column,
            };
            lines.extend((first..rows).map(|row| value(row == column)));
        }
    } else {
        let entries = if symmetry == "skew-symmetric" && rows == 1 { 0 } else { entries };
        text += &format!("{rows} {columns} {entries}\n");
        for _ in 0..entries {
            let (mut row, mut column) = (1 + roll(rows), 1 + roll(columns));
            let is_zero = symmetry == "skew-symmetric" && row == column && roll(2) == 0;
            if symmetry == "skew-symmetric" && row == column && !is_zero {
                (row, column) = if row == 1 { (2, 1) } else { (row, row - 1) };
            }
            if symmetry != "general" && row < column {
                (row, column) = (column, row);
            }
            let value = value(row == column);
            let value = if is_zero { zero(field).to_owned() } else { value };
            let gap = if value.is_empty() { "" } else { " " };
            lines.push(format!("{row} {column}{gap}{value}"));
        }
    }
    for line in lines {
        let odd = if is_plain { 99 } else { roll(30) };
        text += &match odd {
            0 => format!("  {}\n", line.replace(' ', " \t ")),
            1 => format!("{line} \r\n"),
            2 => format!("\n{line}\n"),
            3 => format!("% {line}\n{line}\n"),
            _ => format!("{line}\n"),
        };
    }
    if roll(3) == 0 && text.ends_with('\n') {
        text.pop();
    }
    text
}

/// Values that may be on a diagonal that is its own negative.
fn zero(field: &str) -> &'static str {
    if field == "complex" { "0 -0.0" } else { "0" }
}

/// A number as it may appear in a file.
fn number(next: &mut impl FnMut() -> u64, field: &str) -> String {
    match field {
        "pattern" => String::new(),
        "integer" => format!("{}", next().cast_signed() >> (next() % 64)),
        "unsigned-integer" => format!("{}", next() >> (next() % 64)),
        "complex" => format!("{} {}", number(next, "real"), number(next, "real")),
        _ => {
            let double = f64::from_bits(next());
            match next() % 6 {
                0 if double.is_finite() => format!("{double:e}"),
                1 if double.is_finite() => format!("{double:E}"),
                2 => format!("{:.6}", (next() >> 11) as f64 / 1e12),
                3 => format!("{}", next() % 1000),
                4 => format!("-{}", (next() >> 11) as f64 / (1_u64 << 53) as f64),
                _ => format!("{}e{}", next() % 100_000, next() % 40),
            }
        }
    }
}

/// Returns what the slow reader makes of a text.
pub(crate) fn right(text: &str) -> Matrix {
    swath_reference::matrix::market(text).expect("a matrix")
}
