//! Names of columns, and the selected columns.

use super::fault::{Fault, Wrong};
use super::options::{Key, Options};
use super::records::{Record, trim};

/// A name that differs from the file's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The index of the column in the file.
    pub column: usize,
    /// The name in the header.
    pub from: String,
    /// The name in the result.
    pub to: String,
}

/// Returns the names in a header of these records, part by part.
pub(super) fn in_header(header: &[Record], columns: usize) -> Vec<String> {
    let mut names = vec![String::new(); columns];
    for record in header {
        for (name, field) in names.iter_mut().zip(&record.fields) {
            let text = if field.is_quoted { &field.text } else { trim(&field.text) };
            let part = std::str::from_utf8(text);
            let part = part.expect("checked when the header was taken");
            if !name.is_empty() && !part.is_empty() {
                name.push('_');
            }
            name.push_str(part);
        }
    }
    names
}

/// Makes the name of each column unique. A name in the header stays with the first column that has
/// it.
#[must_use]
pub(super) fn distinct(names: &[String]) -> (Vec<String>, Vec<Renamed>) {
    let mut taken: Vec<String> = names.to_vec();
    let (mut own, mut renamed) = (Vec::new(), Vec::new());
    for (column, name) in names.iter().enumerate() {
        if !name.is_empty() && !names[..column].contains(name) {
            own.push(name.clone());
            continue;
        }
        let to = free(name, column, &taken);
        taken.push(to.clone());
        renamed.push(Renamed { column, from: name.clone(), to: to.clone() });
        own.push(to);
    }
    (own, renamed)
}

fn free(name: &str, column: usize, taken: &[String]) -> String {
    let base = if name.is_empty() { format!("column_{}", column + 1) } else { name.to_owned() };
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    let mut candidates = std::iter::once(base.clone()).chain(numbered);
    candidates.find(|one| !taken.contains(one)).expect("there is always another number")
}

/// Returns the index of a column.
///
/// # Errors
///
/// There is no such column.
pub(super) fn find(key: &Key, names: &[String]) -> Result<usize, Fault> {
    let at = match key {
        Key::Index(index) => (*index < names.len()).then_some(*index),
        Key::Name(name) => names.iter().position(|one| one == name),
    };
    at.ok_or_else(Fault::of_options)
}

/// Returns the columns of the result, in its order.
///
/// # Errors
///
/// There is no such column, or it is selected twice.
pub(super) fn wanted(options: &Options, names: &[String]) -> Result<Vec<usize>, Fault> {
    let Some(keys) = &options.columns else { return Ok((0..names.len()).collect()) };
    let columns: Vec<usize> =
        keys.iter().map(|key| find(key, names)).collect::<Result<_, _>>()?;
    let is_repeated = |at: usize| columns[..at].contains(&columns[at]);
    if columns.is_empty() || (0..columns.len()).any(is_repeated) {
        return Err(Fault::of_options());
    }
    Ok(columns)
}

/// Returns the names of the result, for all columns of the file.
///
/// # Errors
///
/// An option renames a column that does not exist.
pub(super) fn rename(options: &Options, names: &[String]) -> Result<Vec<String>, Fault> {
    let mut renamed = names.to_vec();
    for (key, name) in &options.rename {
        renamed[find(key, names)?].clone_from(name);
    }
    Ok(renamed)
}

/// Checks the names of the result, which are on this line, at this byte.
///
/// # Errors
///
/// Two columns have the same name, or a name contains a NUL byte.
pub(super) fn check(shown: &[&str], line: usize, byte: usize) -> Result<(), Fault> {
    if (1..shown.len()).any(|at| shown[..at].contains(&shown[at])) {
        return Err(Fault::of_options());
    }
    match shown.iter().any(|name| name.contains('\0')) {
        true => Err(Fault::new(Wrong::Nul, line, byte)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        distinct(&names).0
    }

    #[test]
    fn every_column_has_a_name_of_its_own() {
        assert_eq!(own(&["a", "b"]), ["a", "b"]);
        assert_eq!(own(&["a", "a", "a"]), ["a", "a_2", "a_3"]);
        assert_eq!(own(&["a", "a", "a_2"]), ["a", "a_3", "a_2"]);
        assert_eq!(own(&["", "a", ""]), ["column_1", "a", "column_3"]);
        assert_eq!(own(&["", "column_1"]), ["column_1_2", "column_1"]);
        assert_eq!(own(&["a_2", "a_2", "a", "a"]), ["a_2", "a_2_2", "a", "a_3"]);
    }
}
