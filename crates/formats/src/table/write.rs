//! Writes tables: each worker formats some rows, and the output is written in order.

use swath::append::{Ordered, Ticket};
use swath::{Output, OutputOptions};
use swath_simd::{TEXT_ROOM, put_short_doubles};

use super::columns::{Column, Columns, Values, numbered};
use super::dialect::Dialect;
use super::first_line;
use super::head::looks_like_data;
use super::options::{Delimiter, TableOptions};
use super::value::sealed::Value as _;
use super::value::{Decimals, Value, push_double, rounded};
use crate::error::{Error, FormatReason, Result};
use crate::foreign;
use crate::number::format::{push_i64, push_u64};
use crate::setters::setters;

/// Number of values that a worker formats at a time: some hundred kilobytes of text.
const VALUES: usize = 32 << 10;

/// Rows whose doubles become text together.
const TOGETHER: usize = 64;

/// The smallest double, 2^-1074, has this many digits after the point.
const MOST_PLACES: usize = 1074;

/// Success, or why a table cannot be written and a hint.
type Refused = std::result::Result<(), (String, &'static str)>;

/// Writes a row-major array with rows of `columns` values; returns the length of the output in
/// bytes.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("points.csv");
/// let bytes = swath_formats::table::write(&path, 2, &[1.0, 2.5, 3.0, 4.0])?;
/// assert_eq!((bytes, std::fs::read(&path)?), (16, b"1.0,2.5\n3.0,4.0\n".to_vec()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`TableWriteOptions::write`].
pub fn write<T: Value>(output: impl Into<Output>, columns: usize, values: &[T]) -> Result<u64> {
    TableWriteOptions::new().write(output, columns, values)
}

/// Writes columns; returns the length of the output in bytes.
///
/// ```
/// use swath_formats::table;
///
/// # let folder = tempfile::tempdir()?;
/// # let (from, to) = (folder.path().join("from.csv"), folder.path().join("to.csv"));
/// std::fs::write(&from, "n;x\n1;2.5\n3;\n")?;
/// table::write_columns(&to, &table::read_columns(&from)?)?;
/// assert_eq!(std::fs::read_to_string(&to)?, "n,x\n1,2.5\n3,\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`TableWriteOptions::write`].
pub fn write_columns(output: impl Into<Output>, table: &Columns) -> Result<u64> {
    TableWriteOptions::new().write_columns(output, table)
}

/// How to write a table. Every setter returns the options; none can fail.
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
    /// Defaults: commas, no names, the shortest doubles, one worker per core.
    pub fn new() -> Self {
        Self {
            delimiter: b',',
            names: None,
            decimals: Decimals::Shortest,
            output: OutputOptions::new(),
        }
    }

    setters! {
        /// The byte that separates fields. Default: `,`.
        with_delimiter(delimiter: u8);
    }

    /// The names of the columns, written as the first line. Default: the columns' own names, or no
    /// such line. A table without rows gets `column_1` and so on, because an empty file is not a
    /// table. Names are quoted where necessary, also those that look like numbers; other readers
    /// may still take those for data. If all names are empty, a reader finds them only if its
    /// options say that there is a header.
    #[must_use]
    pub fn with_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    setters! {
        /// How to write doubles. Default: [`Decimals::Shortest`].
        with_decimals(decimals: Decimals);

        /// How to write the output. Its workers format the text, 0 for one per core; the text does
        /// not depend on their number.
        with_output(output: OutputOptions);
    }

    /// Writes a row-major array with rows of `columns` values. The file is complete under its name,
    /// or absent. Returns its length in bytes.
    ///
    /// NaN is written as `nan`, infinity as `inf` or `-inf`.
    ///
    /// # Errors
    ///
    /// [`FormatReason::Invalid`] unless the values form whole rows, there is one name per column,
    /// and the number of digits is possible; whatever writing reports.
    pub fn write<T: Value>(
        &self,
        output: impl Into<Output>,
        columns: usize,
        values: &[T],
    ) -> Result<u64> {
        let output = output.into();
        let path = output.name();
        if columns == 0 || !values.len().is_multiple_of(columns) {
            let detail =
                format!("{} values do not divide into rows of {columns}", values.len());
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

    /// Writes columns. A missing value is an empty field, or `""` if it is alone on its line or
    /// stands between spaces, since many readers merge runs of spaces.
    ///
    /// # Errors
    ///
    /// Those of [`write`](Self::write).
    pub fn write_columns(&self, output: impl Into<Output>, table: &Columns) -> Result<u64> {
        self.columns_to(output.into(), table)
    }

    fn columns_to(&self, output: Output, table: &Columns) -> Result<u64> {
        let path = output.name();
        let columns = &table.columns;
        if columns.is_empty() {
            return Err(Error::writing(
                path,
                FormatReason::Invalid,
                "the table has no columns",
            ));
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
            let end = table.rows.min(first + step);
            let mut short = ShortDoubles::of(&values, self.decimals, step.min(TOGETHER));
            for row in first..end {
                short.find(&values, row, end);
                for (index, (column, values)) in values.iter().enumerate() {
                    match column.is_valid(row) {
                        true if short.push(text, index, row) => {}
                        true => self.push(text, column, values, row),
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

    fn push(&self, text: &mut Vec<u8>, column: &Column, values: &Values<'_>, row: usize) {
        match values {
            Values::F64(values) if column.are_singles => {
                rounded(values[row]).push(text, self.decimals);
            }
            Values::I64(values) => push_i64(text, values[row]),
            Values::U64(values) => push_u64(text, values[row]),
            Values::F64(values) => push_double(text, values[row], self.decimals),
        }
    }

    /// Rejects what could not be read back.
    fn check(&self, columns: usize, names: Option<&[String]>, usual: &Dialect) -> Refused {
        let sign = self.delimiter.escape_ascii();
        if self.delimiter.is_ascii_alphanumeric() || b"+-.\n\r\"".contains(&self.delimiter) {
            return Err((
                format!("`{sign}` cannot separate numbers"),
                "choose another delimiter",
            ));
        }
        if self.delimiter == b'#' {
            let detail = "`#` cannot separate numbers, because it begins comments";
            return Err((detail.to_owned(), "choose another delimiter"));
        }
        if let Decimals::Fixed(places) = self.decimals
            && places > MOST_PLACES
        {
            let detail =
                format!("{places} digits after the point are more than any double has");
            return Err((detail, "request at most 1,074 digits, or the shortest text"));
        }
        if let Some(names) = names.filter(|names| names.len() != columns) {
            return Err((
                format!("{} names for {columns} columns", names.len()),
                "give one name per column",
            ));
        }
        if names.is_some_and(|names| names.iter().all(String::is_empty)) {
            let detail =
                "all names are empty: the header would be read back as a row of missing values";
            return Err((detail.to_owned(), "give the columns names, or leave the names out"));
        }
        for name in names.into_iter().flatten() {
            if let Some((_, detail)) = first_line::control(name.as_bytes(), usual) {
                let detail = format!("the name {name:?} cannot be read back: {detail}");
                return Err((detail, "choose another name"));
            }
        }
        Ok(())
    }

    /// Begins the file, with a header if there are names.
    fn begin(
        &self,
        output: Output,
        columns: usize,
        names: Option<&[String]>,
    ) -> Result<Ordered> {
        foreign::check_name(output.name())?;
        // How a reader with default options parses it.
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

    /// Appends a name, quoted if it would otherwise not be read back as it is.
    fn push_name(&self, text: &mut Vec<u8>, name: &str, is_alone: bool, usual: &Dialect) {
        let name = name.as_bytes();
        let odd = |&byte: &u8| byte == self.delimiter || b"\"\n\r\t,;|#".contains(&byte);
        let edge = name.first().is_some_and(|&byte| byte == b' ')
            || name.last().is_some_and(|&byte| byte == b' ')
            || name.starts_with(first_line::MARK)
            || name.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"sep="));
        // A blank in a lone name would be taken for a separator.
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

/// The texts of doubles with few decimals, of some rows at a time.
struct ShortDoubles {
    /// Of each column; empty unless it has doubles whose shortest text is wanted.
    rooms: Vec<Vec<[u8; TEXT_ROOM]>>,
    lens: Vec<Vec<usize>>,
    /// The rows that they are of.
    first: usize,
    end: usize,
    /// The most rows at a time.
    most: usize,
}

impl ShortDoubles {
    fn of(columns: &[(&Column, Values<'_>)], decimals: Decimals, most: usize) -> Self {
        let count = |(column, values): &(&Column, Values<'_>)| match values {
            Values::F64(_) if decimals == Decimals::Shortest && !column.are_singles => most,
            _ => 0,
        };
        let counts = || columns.iter().map(count);
        let rooms = counts().map(|count| vec![[0; TEXT_ROOM]; count]).collect();
        let lens = counts().map(|count| vec![0; count]).collect();
        Self { rooms, lens, first: 0, end: 0, most }
    }

    /// Finds the texts of this row, and of those after it up to `last`, unless they are known.
    fn find(&mut self, columns: &[(&Column, Values<'_>)], row: usize, last: usize) {
        if (self.first..self.end).contains(&row) {
            return;
        }
        (self.first, self.end) = (row, last.min(row + self.most));
        for (((_, values), rooms), lens) in
            columns.iter().zip(&mut self.rooms).zip(&mut self.lens)
        {
            if let Values::F64(values) = values {
                put_short_doubles(&values[row..self.end], rooms, lens);
            }
        }
    }

    /// Appends the text of a value; returns whether it is one of these.
    #[inline]
    fn push(&self, text: &mut Vec<u8>, column: usize, row: usize) -> bool {
        let at = row - self.first;
        let Some(room) = self.rooms[column].get(at) else { return false };
        let len = self.lens[column][at];
        let end = text.len() + len;
        // A copy of a fixed size is made without a call.
        text.extend_from_slice(room);
        text.truncate(end);
        len > 0
    }
}

/// Turns the delimiter after the last field into a newline.
fn end_line(text: &mut [u8]) {
    if let Some(last) = text.last_mut() {
        *last = b'\n';
    }
}
