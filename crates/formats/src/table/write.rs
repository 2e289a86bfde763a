//! Writes tables: any worker makes the text of some rows, ordered mode puts it in its place.

use swath::append::{Ordered, Ticket};
use swath::{Output, OutputOptions};

use super::columns::{Columns, Values, numbered};
use super::dialect::Dialect;
use super::first_line;
use super::head::looks_like_data;
use super::options::{Delimiter, TableOptions};
use super::value::{Decimals, Value, push_double};
use crate::error::{Error, FormatReason, Result};
use crate::number::format::{push_i64, push_u64};
use crate::setters::setters;

/// Values whose text a worker makes at one time: some hundred kilobytes.
const VALUES: usize = 32 << 10;

/// The smallest double has so many digits behind the point: 2^-1074.
const MOST_PLACES: usize = 1074;

/// Nothing, or why a table is not written, and what to try.
type Refused = std::result::Result<(), (String, &'static str)>;

/// Writes a row-major array with rows of `columns` values; returns the bytes of the output.
///
/// # Errors
///
/// As [`TableWriteOptions::write`].
pub fn write<T: Value>(output: impl Into<Output>, columns: usize, values: &[T]) -> Result<u64> {
    TableWriteOptions::new().write(output, columns, values)
}

/// Writes columns; returns the bytes of the output.
///
/// # Errors
///
/// As [`TableWriteOptions::write`].
pub fn write_columns(output: impl Into<Output>, table: &Columns) -> Result<u64> {
    TableWriteOptions::new().write_columns(output, table)
}

/// How to write a table. Every setter returns the options, none can fail.
///
/// ```
/// use swath_formats::table::{TableWriteOptions, read};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("points.csv");
/// let options = TableWriteOptions::new().with_names(["x", "y"]);
/// options.write(&path, 2, &[1.0, 2.5, 3.0, 0.1])?;
/// assert_eq!(std::fs::read_to_string(&path)?, "x,y\n1.0,2.5\n3.0,0.1\n");
/// assert_eq!(read::<f64>(&path)?.values[..], [1.0, 2.5, 3.0, 0.1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableWriteOptions {
    delimiter: u8,
    names: Option<Vec<String>>,
    decimals: Decimals,
    output: OutputOptions,
}

impl Default for TableWriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl TableWriteOptions {
    /// Commas, no names, the shortest doubles, one worker for each core.
    pub fn new() -> Self {
        Self {
            delimiter: b',',
            names: None,
            decimals: Decimals::Shortest,
            output: OutputOptions::new(),
        }
    }

    setters! {
        /// What stands between fields. Default: `,`.
        with_delimiter(delimiter: u8);
    }

    /// What columns are called, on a line before all others. Default: no such line, or the names
    /// that columns have; where there are no rows, `column_1` and so on, for an empty file is no
    /// table. Names that need it are quoted, those that look like numbers too, which other readers
    /// may take for data all the same. Names that are all empty are found only by readers who are
    /// told that there is a header.
    #[must_use]
    pub fn with_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    setters! {
        /// How doubles are written. Default: [`Decimals::Shortest`].
        with_decimals(decimals: Decimals);

        /// How the output is written. Its workers make the text: 0 are one for each core. The text does
        /// not depend on them.
        with_output(output: OutputOptions);
    }

    /// Writes a row-major array with rows of `columns` values; returns the bytes of the file,
    /// which is complete under its name, or absent.
    ///
    /// NaN is `nan`, the infinities are `inf` and `-inf`.
    ///
    /// # Errors
    ///
    /// [`FormatReason::Invalid`] unless the values are whole rows, there is a name for each column, and
    /// the number of digits is possible; and those of writing.
    pub fn write<T: Value>(
        &self,
        output: impl Into<Output>,
        columns: usize,
        values: &[T],
    ) -> Result<u64> {
        let output = output.into();
        let path = output.name();
        if columns == 0 || !values.len().is_multiple_of(columns) {
            let detail = format!("{} values are no rows of {columns}", values.len());
            return Err(Error::writing(path, FormatReason::Invalid, detail));
        }
        let numbered = values.is_empty().then(|| numbered(columns));
        let out = self.begin(output, columns, self.names.as_deref().or(numbered.as_deref()))?;
        let rows = values.chunks(columns * (VALUES / columns).max(1));
        out.map_ordered(rows, self.output.workers(), |rows, ticket: &mut Ticket| {
            let text = ticket.buffer();
            for row in rows.chunks_exact(columns) {
                for value in row {
                    value.push(text, self.decimals);
                    text.push(self.delimiter);
                }
                end_line(text);
            }
            Ok::<_, Error>(())
        })?;
        Ok(out.commit()?.bytes)
    }

    /// Writes columns; a missing value is an empty field, or `""` if it is alone on its line or
    /// stands between spaces, which count once for many readers.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn write_columns(&self, output: impl Into<Output>, table: &Columns) -> Result<u64> {
        self.columns_to(output.into(), table)
    }

    fn columns_to(&self, output: Output, table: &Columns) -> Result<u64> {
        let path = output.name();
        let columns = &table.columns;
        if columns.is_empty() {
            return Err(Error::writing(path, FormatReason::Invalid, "there are no columns"));
        }
        let names = self.names.as_deref().or(table.names.as_deref());
        let numbered = (table.rows == 0).then(|| numbered(columns.len()));
        let names = names.or(numbered.as_deref());
        let out = self.begin(output, columns.len(), names)?;
        let step = (VALUES / columns.len()).max(1);
        let values: Vec<_> = columns.iter().map(|it| (it, it.values())).collect();
        let parts = (0..table.rows).step_by(step);
        out.map_ordered(parts, self.output.workers(), |first, ticket: &mut Ticket| {
            let text = ticket.buffer();
            for row in first..table.rows.min(first + step) {
                for (column, values) in &values {
                    match column.is_valid(row) {
                        true => self.push(text, values, row),
                        false if self.delimiter == b' ' => text.extend_from_slice(b"\"\""),
                        false => {}
                    }
                    text.push(self.delimiter);
                }
                if let ([_], [.., b'\n', _] | [_]) = (&columns[..], &text[..]) {
                    text.splice(text.len() - 1.., *b"\"\",");
                }
                end_line(text);
            }
            Ok::<_, Error>(())
        })?;
        Ok(out.commit()?.bytes)
    }

    fn push(&self, text: &mut Vec<u8>, values: &Values<'_>, row: usize) {
        match values {
            Values::I64(values) => push_i64(text, values[row]),
            Values::U64(values) => push_u64(text, values[row]),
            Values::F64(values) => push_double(text, values[row], self.decimals),
        }
    }

    /// Refuses what would not be read back.
    fn check(&self, columns: usize, names: Option<&[String]>, usual: &Dialect) -> Refused {
        let sign = self.delimiter.escape_ascii();
        if self.delimiter.is_ascii_alphanumeric() || b"+-.\n\r\"".contains(&self.delimiter) {
            return Err((format!("`{sign}` cannot stand between numbers"), ""));
        }
        if self.delimiter == b'#' {
            let detail = "`#` cannot stand between numbers: it begins comments";
            return Err((detail.to_owned(), "choose another delimiter"));
        }
        if let Decimals::Fixed(places) = self.decimals
            && places > MOST_PLACES
        {
            let detail = format!("no double has {places} digits behind the point");
            return Err((detail, "at most 1,074, or the shortest text"));
        }
        if let Some(names) = names.filter(|names| names.len() != columns) {
            return Err((format!("{} names for {columns} columns", names.len()), ""));
        }
        if names.is_some_and(|names| names.iter().all(String::is_empty)) {
            let detail = "every name is empty: it would be read back as a row without values";
            return Err((detail.to_owned(), "give the columns names, or leave the names out"));
        }
        for name in names.into_iter().flatten() {
            if let Some((_, detail)) = first_line::control(name.as_bytes(), usual) {
                let detail = format!("the name {name:?} cannot be read back: {detail}");
                return Err((detail, "choose a name without it"));
            }
        }
        Ok(())
    }

    /// Begins the file, with its header if there are names.
    fn begin(
        &self,
        output: Output,
        columns: usize,
        names: Option<&[String]>,
    ) -> Result<Ordered> {
        // How readers who are told nothing take it.
        let usual = Dialect::new(&TableOptions::new(), Delimiter::Byte(self.delimiter));
        self.check(columns, names, &usual).map_err(|(detail, hint)| {
            Error::writing(output.name(), FormatReason::Invalid, detail).hint(hint)
        })?;
        let out = output.open(self.output.clone())?;
        if let Some(names) = names {
            let mut ticket = out.ticket()?;
            let text = ticket.buffer();
            for name in names {
                self.push_name(text, name, names.len() == 1, &usual);
                text.push(self.delimiter);
            }
            end_line(text);
            ticket.done()?;
        }
        Ok(out)
    }

    /// A name, in quotes if it would not be read as it is.
    fn push_name(&self, text: &mut Vec<u8>, name: &str, is_alone: bool, usual: &Dialect) {
        let name = name.as_bytes();
        let odd = |&byte: &u8| byte == self.delimiter || b"\"\n\r\t,;|#".contains(&byte);
        let edge = name.first().is_some_and(|&byte| byte == b' ')
            || name.last().is_some_and(|&byte| byte == b' ')
            || name.starts_with(b"\xef\xbb\xbf");
        // Alone, a blank in it would be taken for what separates two names.
        let is_lost = is_alone && name.contains(&b' ');
        if name.iter().any(odd) || edge || is_lost || looks_like_data(name, usual) {
            text.push(b'"');
            for &byte in name {
                text.push(byte);
                if byte == b'"' {
                    text.push(byte);
                }
            }
            text.push(b'"');
        } else {
            text.extend_from_slice(name);
        }
    }
}

/// Makes a newline of the delimiter behind the last field.
fn end_line(text: &mut [u8]) {
    if let Some(last) = text.last_mut() {
        *last = b'\n';
    }
}
