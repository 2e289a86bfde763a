//! How a table is written in its file: the flags of all commands that read tables, and of those that
//! write them.
//!
//! ```text
//! swath head   --delimiter ';' --decimal , export.csv
//! swath info   --delimiter ';' --decimal , export.csv
//! swath convert --delimiter ';' --decimal , export.csv export.arrow
//! ```

use std::convert::Infallible;
use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command, Error};
use swath::ReadOptions;
use swath_formats::table::{
    BatchForm, BatchOptions, ColumnKey, ColumnType, Delimiter, Encoding, HeaderLine, LineEnd,
    Quoting, Ragged,
};

use super::fixed::{Positions, Widths, positions, widths};
use super::words::{whole, words};

/// How a table is read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "How tables are read")]
pub struct TableArgs {
    /// Whether the first line of a table has names: auto, yes, no, or how many lines have parts of them
    #[arg(long, value_name = "WHEN", value_parser = HeaderParser, default_value = "auto", hide_possible_values = true)]
    pub header: Header,

    /// The delimiter of a table that is read: one ASCII character, or `blanks` for runs of spaces and
    /// tabs [default: a tab in a .tsv, else the one of tab , ; and | that fits the first lines]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<Delimiter>,

    /// Read text of fixed width, with columns of these widths in characters, as in 10,5,8; `auto` finds them
    ///
    /// With `auto`, a column is a run of positions at which not all of the first thousand lines are blank.
    /// Text after the last column, or between those that were found, is an error with its line.
    #[arg(long, value_name = "N,...", value_parser = widths)]
    pub widths: Option<Widths>,

    /// The same with columns at these positions from 0, as in 0..10,12..20,25..; other text is not read
    #[arg(long, value_name = "FROM..TO,...", value_parser = positions)]
    pub positions: Option<Positions>,

    /// Read only these columns of a table, in this order: names from the header, or numbers from 0 (also
    /// for names that contain a comma). Other columns may hold anything
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = column)]
    pub columns: Option<Vec<ColumnKey>>,

    /// Types of columns, as in zip=text,n=u32; a value of another type is an error
    ///
    /// The types are bool, i8 to i64, u8 to u64, f32, f64, date, timestamp[s], timestamp[ms],
    /// timestamp[us], timestamp[ns], timestamp[us, UTC], text and dictionary. Columns are named as in
    /// --columns [default: the type that holds all values of a column]
    #[arg(long, value_name = "NAME=TYPE,...", value_parser = types)]
    pub dtypes: Vec<Types>,

    /// How the dates and times of a column are written, in the notation of strftime, as in
    /// born=%d.%m.%Y; may be given again for another column
    #[arg(long, value_name = "NAME=FORM", value_parser = form)]
    pub formats: Vec<Form>,

    /// Another name for a column, as in old=new or 2=new; may be given again for another column
    #[arg(long, value_name = "NAME=NEW", value_parser = rename)]
    pub rename: Vec<Renaming>,

    /// Words for missing values, in addition to an empty field [default: NA, N/A and null]
    #[arg(
        long,
        value_name = "WORD,...",
        value_delimiter = ',',
        visible_alias = "missing-words"
    )]
    pub null_values: Option<Vec<String>>,

    /// Read at most this many rows; what follows them is not checked
    #[arg(long, short = 'n', value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub rows: Option<u64>,

    /// Lines to skip before anything else, empty ones and comments included
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX), default_value_t = 0, hide_default_value = true)]
    pub skip_rows: u64,

    /// The decimal point, as in `,` [default: .]
    #[arg(long, value_name = "CHAR", value_parser = mark)]
    pub decimal: Option<u8>,

    /// The character between groups of three digits, as in 1,000,000 [default: none]
    #[arg(long, value_name = "CHAR", value_parser = mark)]
    pub thousands: Option<u8>,

    /// The character that begins a line to skip; `none` for no such [default: # in a table of numbers,
    /// otherwise none]
    #[arg(long, value_name = "CHAR", value_parser = mark_or_none)]
    pub comment: Option<MarkOrNone>,

    /// The character around fields that contain delimiters or newlines; `none` for no such [default: "]
    #[arg(long, value_name = "CHAR", value_parser = mark_or_none)]
    pub quote: Option<MarkOrNone>,

    /// The character after which any character is text, as in \ [default: none]
    #[arg(long, value_name = "CHAR", value_parser = mark)]
    pub escape: Option<u8>,

    /// The encoding of the text [default: that of its byte order mark, else UTF-8]
    #[arg(long, value_name = "NAME", value_parser = words(Encoding::WORDS), default_value = "auto", hide_default_value = true)]
    pub encoding: Encoding,

    /// What happens to lines with more or fewer fields than columns, or with text outside of columns of
    /// fixed width: they are an error; missing fields are missing values; or such lines are left out and
    /// counted
    #[arg(long, value_name = "WHAT", value_parser = words(Ragged::WORDS), default_value = "error")]
    pub ragged: Ragged,

    /// Add a last column of this name, which has the file of each row
    #[arg(long, value_name = "NAME")]
    pub file_column: Option<String>,
}

/// How a table is written as text.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "How tables are written")]
pub struct TableOutArgs {
    /// Digits after the decimal point [default: the fewest that read back as the same number]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=60))]
    pub decimals: Option<u16>,

    /// Which fields are quoted: those that have to be, all, or none, where a field that has to be is an
    /// error
    #[arg(long, value_name = "WHICH", value_parser = words(Quoting::WORDS))]
    pub quoting: Option<Quoting>,

    /// The delimiter of a table that is written [default: a comma; a tab in a .tsv]
    #[arg(long, value_name = "CHAR", value_parser = mark)]
    pub out_delimiter: Option<u8>,

    /// How lines end
    #[arg(long, value_name = "HOW", value_parser = words(LineEnd::WORDS))]
    pub line_end: Option<LineEnd>,

    /// The word for missing values in a table that is written [default: an empty field]
    #[arg(long, value_name = "WORD")]
    pub null_word: Option<String>,
}

/// Which lines name the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// The first line, or none.
    When(HeaderLine),
    /// This many lines, at least two.
    Lines(usize),
}

/// Parses [`Header`]; completions offer its words.
#[derive(Clone)]
struct HeaderParser;

impl TypedValueParser for HeaderParser {
    type Value = Header;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Header, Error> {
        StringValueParser::new().try_map(header).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(HeaderLine::WORDS.iter().map(|&(word, _)| PossibleValue::new(word))))
    }
}

fn header(word: String) -> Result<Header, String> {
    if let Some(&(_, when)) = HeaderLine::WORDS.iter().find(|(known, _)| *known == word) {
        return Ok(Header::When(when));
    }
    match word.parse() {
        Ok(0) => Ok(Header::When(HeaderLine::Absent)),
        Ok(1) => Ok(Header::When(HeaderLine::Present)),
        Ok(lines @ 2..=1000) => Ok(Header::Lines(lines)),
        _ => Err("use auto, yes, no, or a number of lines up to 1000".to_owned()),
    }
}

/// A column by its index, or else by its name.
fn column(word: &str) -> Result<ColumnKey, Infallible> {
    Ok(word.parse().map_or_else(|_| ColumnKey::from(word), ColumnKey::Index))
}

/// Types of some columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Types(Vec<(ColumnKey, ColumnType)>);

/// Parses types of columns: commas in brackets separate nothing.
fn types(words: &str) -> Result<Types, String> {
    let (mut depth, mut from, mut parts) = (0_i32, 0, Vec::new());
    for (at, sign) in words.char_indices() {
        match sign {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&words[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&words[from..]);
    parts.into_iter().map(of_column).collect::<Result<_, _>>().map(Types)
}

fn of_column(word: &str) -> Result<(ColumnKey, ColumnType), String> {
    let (name, kind) =
        word.rsplit_once('=').ok_or("write a column and its type, as in zip=text")?;
    let kind = kind.trim().replace(",UTC", ", UTC").parse()?;
    let Ok(key) = column(name);
    Ok((key, kind))
}

/// How a column of dates or times is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Form(ColumnKey, String);

fn form(word: &str) -> Result<Form, String> {
    let pair = word.split_once('=').filter(|(_, form)| form.contains('%'));
    let (name, form) = pair.ok_or("write a column and a form, as in born=%d.%m.%Y")?;
    let Ok(key) = column(name);
    Ok(Form(key, form.to_owned()))
}

/// Another name for a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Renaming(ColumnKey, String);

fn rename(word: &str) -> Result<Renaming, String> {
    let pair = word.split_once('=').filter(|(_, name)| !name.is_empty());
    let (name, new) = pair.ok_or("write a column and its new name, as in old=new")?;
    let Ok(key) = column(name);
    Ok(Renaming(key, new.to_owned()))
}

/// Parses a delimiter.
fn delimiter(word: &str) -> Result<Delimiter, String> {
    match word {
        "blanks" => Ok(Delimiter::Blanks),
        _ => mark(word).map(Delimiter::Byte).map_err(|error| error + ", or `blanks`"),
    }
}

/// Parses a character with a meaning of its own.
fn mark(word: &str) -> Result<u8, String> {
    match word.as_bytes() {
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        _ => Err("use one ASCII character that is not a letter or digit".to_owned()),
    }
}

/// A mark, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkOrNone(Option<u8>);

fn mark_or_none(word: &str) -> Result<MarkOrNone, String> {
    match word {
        "none" => Ok(MarkOrNone(None)),
        _ => {
            mark(word).map(|byte| MarkOrNone(Some(byte))).map_err(|error| error + ", or `none`")
        }
    }
}

impl TableArgs {
    /// Returns the first flag that was given.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        let given = [
            ("--header", self.header != Header::When(HeaderLine::Auto)),
            ("--delimiter", self.delimiter.is_some()),
            ("--columns", self.columns.is_some()),
            ("--null-values", self.null_values.is_some()),
            ("--widths", self.widths.is_some()),
            ("--positions", self.positions.is_some()),
            ("--dtypes", !self.dtypes.is_empty()),
            ("--formats", !self.formats.is_empty()),
            ("--rename", !self.rename.is_empty()),
            ("--rows", self.rows.is_some()),
            ("--skip-rows", self.skip_rows > 0),
            ("--decimal", self.decimal.is_some()),
            ("--thousands", self.thousands.is_some()),
            ("--comment", self.comment.is_some()),
            ("--quote", self.quote.is_some()),
            ("--escape", self.escape.is_some()),
            ("--encoding", self.encoding != Encoding::Auto),
            ("--ragged", self.ragged != Ragged::Refuse),
            ("--file-column", self.file_column.is_some()),
        ];
        given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// Whether columns are given, or to be found, by where they are in each line.
    pub(crate) fn is_fixed(&self) -> bool {
        self.widths.is_some() || self.positions.is_some()
    }

    /// Returns the library's options for a table in this form.
    pub(crate) fn batch_options(&self, form: BatchForm, read: ReadOptions) -> BatchOptions {
        let options = match self.header {
            Header::When(when) => BatchOptions::new().with_header(when),
            Header::Lines(lines) => BatchOptions::new().with_header_lines(lines),
        };
        let mut options = options
            .with_form(form)
            .with_read(read)
            .with_types(self.dtypes.iter().flat_map(|types| types.0.iter().cloned()))
            .with_formats(self.formats.iter().map(|form| (form.0.clone(), form.1.clone())))
            .with_rename(self.rename.iter().map(|it| (it.0.clone(), it.1.clone())))
            .with_skip_rows(self.skip_rows)
            .with_decimal(self.decimal.unwrap_or(b'.'))
            .with_thousands(self.thousands)
            .with_escape(self.escape)
            .with_encoding(self.encoding)
            .with_ragged(self.ragged);
        if let Some(Widths(Some(widths))) = &self.widths {
            options = options.with_widths(widths.iter().copied());
        }
        if let Some(Positions(positions)) = &self.positions {
            options = options.with_positions(positions.iter().copied());
        }
        if let Some(delimiter) = self.delimiter {
            options = options.with_delimiter(delimiter);
        }
        if let Some(columns) = &self.columns {
            options = options.with_columns(columns.iter().cloned());
        }
        if let Some(words) = &self.null_values {
            // In JSON, an empty text is one.
            let empty = (form != BatchForm::JsonLines).then_some("");
            options = options.with_null_values(words.iter().map(String::as_str).chain(empty));
        }
        if let Some(rows) = self.rows {
            options = options.with_rows(rows);
        }
        if let Some(name) = &self.file_column {
            options = options.with_file_column(name);
        }
        if let Some(MarkOrNone(comment)) = self.comment {
            options = options.with_comment(comment);
        }
        match self.quote {
            Some(MarkOrNone(quote)) => options.with_quote(quote),
            None => options,
        }
    }
}

impl TableOutArgs {
    /// Returns the first flag that was given and that only text with fields has.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        let given = [
            ("--quoting", self.quoting.is_some()),
            ("--out-delimiter", self.out_delimiter.is_some()),
            ("--line-end", self.line_end.is_some()),
            ("--null-word", self.null_word.is_some()),
        ];
        given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        table: TableArgs,
    }

    fn parsed(words: &[&str]) -> Result<TableArgs, String> {
        let only = Only::try_parse_from(["only"].iter().chain(words));
        only.map(|only| only.table).map_err(|error| error.to_string())
    }

    #[test]
    fn types_are_separated_by_commas_outside_brackets() {
        let told =
            parsed(&["--dtypes", "a=i8,b=timestamp[ns, UTC],2=timestamp[us,UTC],x=y=f32"]);
        let told = told.expect("types").dtypes;
        let wanted = [
            (ColumnKey::from("a"), "i8"),
            (ColumnKey::from("b"), "timestamp[ns, UTC]"),
            (ColumnKey::Index(2), "timestamp[us, UTC]"),
            (ColumnKey::from("x=y"), "f32"),
        ];
        let wanted = wanted.map(|(key, kind)| (key, kind.parse().expect("a type")));
        assert_eq!(told, [Types(wanted.to_vec())]);
        for (wrong, why) in
            [("a", "a column and its type"), ("a=int", "the types are null, bool")]
        {
            let error = parsed(&["--dtypes", wrong]).expect_err(wrong);
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_form_of_dates_belongs_to_a_column() {
        let given = parsed(&["--formats", "born=%d.%m.%Y, %H=%M", "--formats", "2=%Y"]);
        let wanted = [
            Form(ColumnKey::from("born"), "%d.%m.%Y, %H=%M".to_owned()),
            Form(ColumnKey::Index(2), "%Y".to_owned()),
        ];
        assert_eq!(given.expect("forms").formats, wanted);
        let error = parsed(&["--formats", "born"]).expect_err("no form");
        assert!(error.contains("as in born=%d.%m.%Y"), "{error}");
    }

    #[test]
    fn a_new_name_belongs_to_a_column() {
        let given = parsed(&["--rename", "old=new, er", "--rename", "2=x=y"]);
        let wanted = [
            Renaming(ColumnKey::from("old"), "new, er".to_owned()),
            Renaming(ColumnKey::Index(2), "x=y".to_owned()),
        ];
        assert_eq!(given.expect("names").rename, wanted);
        for wrong in ["old", "old="] {
            let error = parsed(&["--rename", wrong]).expect_err(wrong);
            assert!(error.contains("as in old=new"), "{error}");
        }
    }

    #[test]
    fn a_header_is_a_word_or_a_number_of_lines() {
        for (word, wanted) in [
            ("auto", Header::When(HeaderLine::Auto)),
            ("0", Header::When(HeaderLine::Absent)),
            ("1", Header::When(HeaderLine::Present)),
            ("2", Header::Lines(2)),
        ] {
            assert_eq!(parsed(&["--header", word]).expect(word).header, wanted);
        }
        for wrong in ["-1", "maybe", "1001"] {
            let error = parsed(&[&format!("--header={wrong}")]).expect_err(wrong);
            assert!(error.contains("use auto, yes, no"), "{error}");
        }
    }

    #[test]
    fn a_flag_that_was_given_is_named() {
        let flag = |words: &[&str]| parsed(words).expect("flags").flag();
        assert_eq!(flag(&[]), None);
        assert_eq!(flag(&["--delimiter", ";"]), Some("--delimiter"));
        assert_eq!(flag(&["--missing-words", "-"]), Some("--null-values"));
        assert_eq!(flag(&["-n", "3"]), Some("--rows"));
        assert_eq!(flag(&["--quote", "none"]), Some("--quote"));
        assert_eq!(flag(&["--header", "2"]), Some("--header"));
    }

    #[test]
    fn what_is_no_mark_is_refused() {
        for words in
            [["--delimiter", "ab"], ["--decimal", "é"], ["--quote", ""], ["--escape", "a"]]
        {
            let error = parsed(&words).expect_err("no mark");
            assert!(error.contains("one ASCII character"), "{error}");
        }
    }
}
