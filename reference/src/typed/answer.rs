//! A table as text, for answers that are compared and read.

use std::fmt::Write;

use super::Table;
use super::column::{Changes, Column};
use super::fault::Fault;
use super::options::Between;
use super::show::{quoted, shown};

/// Returns a table as text: the findings, a line for each column, then one for each record.
#[must_use]
pub fn answer(table: &Table) -> String {
    let mut text = format!("delimiter {}", between(table.delimiter));
    let _ = writeln!(text, " header {} {}", table.header, table.encoding.word());
    for (start, end) in &table.fixed {
        let end = end.map_or_else(String::new, |end| end.to_string());
        let _ = writeln!(text, "at {start}..{end}");
    }
    for one in &table.renamed {
        let _ =
            writeln!(text, "renamed {} {} {}", one.column, quoted(&one.from), quoted(&one.to));
    }
    if table.set_aside.count > 0 {
        let lines = &table.set_aside.lines;
        let _ = writeln!(text, "set aside {} {lines:?}", table.set_aside.count);
    }
    if table.replaced > 0 {
        let _ = writeln!(text, "replaced {}", table.replaced);
    }
    if table.dropped > 0 {
        let _ = writeln!(text, "dropped {}", table.dropped);
    }
    for column in &table.columns {
        let _ = writeln!(text, "column {}", about(column));
    }
    for row in 0..table.rows {
        let values =
            table.columns.iter().map(|column| shown(&column.values[row], column.type_is));
        let _ = writeln!(text, "{}", values.collect::<Vec<_>>().join(" "));
    }
    text
}

/// Returns a fault as text.
#[must_use]
pub fn show_fault(fault: &Fault) -> String {
    let at = format!("line {} byte {} {}", fault.line, fault.byte, fault.wrong.word());
    match &fault.column {
        Some(name) => format!("{at} column {}\n", quoted(name)),
        None => format!("{at}\n"),
    }
}

fn between(delimiter: Between) -> String {
    match delimiter {
        Between::Byte(byte) => quoted(&char::from(byte).to_string()),
        Between::Text(text) => quoted(text),
        Between::Blanks => "blanks".to_owned(),
        Between::Nothing => "none".to_owned(),
    }
}

fn about(column: &Column) -> String {
    let name = quoted(&column.name);
    let type_is = column.nested.clone().unwrap_or_else(|| column.type_is.word());
    let how = match (column.is_told, column.deciding_line) {
        (true, _) => "told".to_owned(),
        (false, Some(line)) => format!("line {line}"),
        (false, None) => "undecided".to_owned(),
    };
    let mut text = format!("{name} {type_is} nulls {} {how}", column.nulls);
    let changes = [column.rounded, column.padded, column.as_text];
    for (word, changes) in ["rounded", "padded", "as text"].into_iter().zip(changes) {
        if let Changes { count, line: Some(line) } = changes {
            let _ = write!(text, " {word} {count} line {line}");
        }
    }
    text
}
