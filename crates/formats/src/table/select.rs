//! The columns of a file that are read, and their order.

use swath_simd::Tokens;

use super::columns::ColumnKind;

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

/// The columns to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picked {
    /// In the order of the file.
    columns: Vec<usize>,
    /// For each column of the result, its index among these.
    order: Vec<usize>,
}

impl Picked {
    /// Finds the columns in a file with this many; returns an error text if one does not exist.
    pub(super) fn new(
        keys: &[ColumnKey],
        names: Option<&[String]>,
        count: usize,
    ) -> Result<Self, String> {
        if keys.is_empty() {
            return Err("no columns are selected".to_owned());
        }
        let wanted: Vec<usize> =
            keys.iter().map(|key| find(key, names, count)).collect::<Result<_, _>>()?;
        let mut columns = wanted.clone();
        columns.sort_unstable();
        if let Some(twice) = columns.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("column index {} is selected twice", twice[0]));
        }
        let place = |column: &usize| columns.partition_point(|other| other < column);
        let order = wanted.iter().map(place).collect();
        Ok(Self { columns, order })
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns the index of a column among those that are read, in the order of the file; `None` if
    /// it is not read.
    pub(super) fn place(&self, column: usize) -> Option<usize> {
        self.columns.binary_search(&column).ok()
    }

    /// Reorders items from the order of the file to that of the result.
    pub(super) fn arrange<T: Clone>(&self, items: &[T]) -> Vec<T> {
        self.order.iter().map(|&at| items[at].clone()).collect()
    }

    /// The same for the values of rows.
    pub(super) fn arrange_rows<T: Copy>(&self, values: &mut [T]) {
        if self.order.is_sorted() {
            return;
        }
        let mut row = Vec::with_capacity(self.len());
        for values in values.chunks_exact_mut(self.len()) {
            row.clear();
            row.extend_from_slice(values);
            for (value, &at) in values.iter_mut().zip(&self.order) {
                *value = row[at];
            }
        }
    }

    /// Selects from items for all columns of the file, in the order of the result.
    pub(super) fn of_all<T: Clone>(&self, all: &[T]) -> Vec<T> {
        self.order.iter().map(|&at| all[self.columns[at]].clone()).collect()
    }
}

/// Finds the columns of the file to which types are given, in the order of the file; an error text if
/// that is impossible.
pub(super) fn kinds_of(
    given: &[(ColumnKey, ColumnKind)],
    names: Option<&[String]>,
    count: usize,
) -> Result<Vec<(usize, ColumnKind)>, String> {
    let mut kinds: Vec<(usize, ColumnKind)> = Vec::with_capacity(given.len());
    for (key, kind) in given {
        let column = find(key, names, count)?;
        if *kind == ColumnKind::U64 {
            return Err(format!("column index {column}: text never becomes unsigned"));
        }
        kinds.push((column, *kind));
    }
    kinds.sort_by_key(|&(column, _)| column);
    let twice = kinds.windows(2).find(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
    match twice {
        Some(pair) => Err(format!("column index {} is given two types", pair[0].0)),
        None => Ok(kinds),
    }
}

/// Returns the index of a column in a file with this many; an error text if it does not exist.
pub(super) fn find(
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

/// Drops the fields of columns that are not read.
pub(super) struct Picking<'p> {
    picked: Option<&'p Picked>,
    columns: usize,
    /// The column of the next field.
    column: usize,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl<'p> Picking<'p> {
    /// For rows of this many columns.
    pub(super) fn new(picked: Option<&'p Picked>, columns: usize) -> Self {
        Self { picked, columns, column: 0, starts: Vec::new(), ends: Vec::new() }
    }

    /// Returns the fields to read among those that come next in the file.
    pub(super) fn pick<'t>(&'t mut self, tokens: Tokens<'t>) -> Tokens<'t> {
        let Some(picked) = self.picked else { return tokens };
        self.starts.clear();
        self.ends.clear();
        for (&start, &end) in tokens.starts.iter().zip(tokens.ends) {
            if picked.place(self.column).is_some() {
                self.starts.push(start);
                self.ends.push(end);
            }
            self.column = if self.column + 1 == self.columns { 0 } else { self.column + 1 };
        }
        Tokens { text: tokens.text, starts: &self.starts, ends: &self.ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(keys: &[&str]) -> Result<Picked, String> {
        let names = ["a", "b", "c", "b"].map(String::from);
        let key = |key: &&str| match key.parse() {
            Ok(index) => ColumnKey::Index(index),
            Err(_) => ColumnKey::from(*key),
        };
        Picked::new(&keys.iter().map(key).collect::<Vec<_>>(), Some(&names), 4)
    }

    #[test]
    fn columns_come_in_the_order_in_which_they_were_chosen() {
        let picked = picked(&["c", "3", "a"]).expect("there are such");
        assert_eq!(
            [0, 1, 2, 3].map(|column| picked.place(column)),
            [Some(0), None, Some(1), Some(2)]
        );
        assert_eq!(picked.arrange(&["a", "c", "d"]), ["c", "d", "a"]);
        assert_eq!(picked.of_all(&["a", "b", "c", "d"]), ["c", "d", "a"]);
        let mut values = [0, 2, 3, 10, 12, 13];
        picked.arrange_rows(&mut values);
        assert_eq!(values, [2, 3, 0, 12, 13, 10]);
    }

    #[test]
    fn columns_that_are_not_there_or_not_clear_are_refused() {
        for (keys, says) in [
            (&["x"][..], "no column `x`: the file has `a`, `b`, `c`, `b`"),
            (&["b"], "two columns are named `b`, at index 1 and 3"),
            (&["4"], "no column index 4: the file has 4 columns"),
            (&["a", "0"], "index 0 is selected twice"),
            (&[], "no columns are selected"),
        ] {
            let why = picked(keys).expect_err("it is not clear");
            assert!(why.contains(says), "{why}");
        }
        let why = Picked::new(&["a".into()], None, 2).expect_err("no names");
        assert!(why.contains("the first line has no names"), "{why}");
    }
}
