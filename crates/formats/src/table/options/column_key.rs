//! Columns by name or index.

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ColumnKey {
    /// By its name in the header.
    Name(String),
    /// By its index in the file, from 0.
    Index(usize),
}

impl From<&str> for ColumnKey {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for ColumnKey {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for ColumnKey {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// Returns the index of a column in a file with these columns; an error text if there is no such
/// column.
pub(in crate::table) fn find(
    key: &ColumnKey,
    names: Option<&[String]>,
    count: usize,
) -> Result<usize, String> {
    match (key, names) {
        (ColumnKey::Index(index), _) if *index < count => Ok(*index),
        (ColumnKey::Index(index), _) => Err(format!(
            "there is no column index {index}: the file has {count} columns, counted from 0"
        )),
        (ColumnKey::Name(name), None) => {
            Err(format!("there is no column `{name}`: the first line has no names"))
        }
        (ColumnKey::Name(name), Some(names)) => {
            let mut found = (0..).zip(names).filter(|(_, other)| *other == name);
            match (found.next(), found.next()) {
                (Some((index, _)), None) => Ok(index),
                (Some((first, _)), Some((second, _))) => Err(format!(
                    "two columns are named `{name}`, at index {first} and {second}"
                )),
                (None, _) => Err(format!("there is no column `{name}`: {}", listed(names))),
            }
        }
    }
}

/// Lists the first names.
fn listed(names: &[String]) -> String {
    const MOST: usize = 20;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > MOST { ", …" } else { "" };
    format!("the file has {}{more}", shown.join(", "))
}
