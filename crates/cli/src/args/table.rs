//! How a table is written in its file: the flags of all commands that read tables, and of those that
//! write them.
//!
//! ```text
//! swath head   --delimiter ';' --decimal , export.csv
//! swath info   --delimiter ';' --decimal , export.csv
//! swath convert --delimiter ';' --decimal , export.csv export.arrow
//! ```

use std::convert::Infallible;

use clap::Args;
use clap::builder::TypedValueParser;
use swath::ReadOptions;
use swath_formats::table::{
    BatchForm, BatchOptions, ColumnKey, ColumnType, Delimiter, Encoding, EncodingErrors,
    HeaderLine, LineEnd, Quoting, Ragged,
};

use super::words::{Named, whole, words};

/// How a table is read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "How tables are read")]
pub struct TableArgs {
    /// Whether the first line of a table has names: auto, yes, no, or how many lines have parts of them
    #[arg(long, value_name = "WHEN", value_parser = header(), default_value = "auto", hide_possible_values = true)]
    pub header: String,

    /// The delimiter of a table that is read: one ASCII character, several as in '||', or `blanks` for runs
    /// of spaces and tabs [default: a tab in a .tsv, else the one of tab , ; and | that fits the first lines]
    #[arg(long, value_name = "CHARS", value_parser = delimiter)]
    pub delimiter: Option<Delimiter>,

    /// Read text of fixed width, with columns of these widths in characters, as in 10,5,8; `auto` finds them
    ///
    /// With `auto`, a column is a run of positions at which not all of the first thousand lines are blank.
    /// Text after the last column, or between those that were found, is an error with its line.
    #[arg(long, value_name = "N,...", value_parser = setting("widths"))]
    pub widths: Option<String>,

    /// The same with columns at these positions from 0, as in 0..10,12..20,25..; other text is not read
    #[arg(long, value_name = "FROM..TO,...", value_parser = setting("positions"))]
    pub positions: Option<String>,

    /// Read only these columns of a table, in this order: names from the header, or numbers from 0 (also
    /// for names that contain a comma). Other columns may hold anything
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = column)]
    pub columns: Option<Vec<ColumnKey>>,

    /// Types of columns, as in zip=text,n=u32, or one type for all others, as in text; a value of another
    /// type is an error
    ///
    /// The types are bool, i8 to i64, u8 to u64, f32, f64, date, timestamp[s], timestamp[ms],
    /// timestamp[us], timestamp[ns], timestamp[us, UTC], text and dictionary. Columns are named as in
    /// --columns [default: the type that holds all values of a column]
    #[arg(long, value_name = "[NAME=]TYPE,...", value_parser = types)]
    pub dtypes: Vec<Types>,

    /// How the dates and times of a column are written, in the notation of strftime, as in
    /// born=%d.%m.%Y, or as a number since 1970: epoch_s, epoch_ms, epoch_us, epoch_ns; may be given
    /// again for another column
    #[arg(long, value_name = "NAME=FORM", value_parser = form)]
    pub formats: Vec<Pair>,

    /// Another name for a column, as in old=new or 2=new; may be given again for another column
    #[arg(long, value_name = "NAME=NEW", value_parser = rename)]
    pub rename: Vec<Pair>,

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
    #[arg(long, value_name = "N", value_parser = setting("skip_rows"))]
    pub skip_rows: Option<String>,

    /// Leave out this many of the last records of each file, such as totals; empty lines and comments do not
    /// count
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..=1_000_000), default_value_t = 0, hide_default_value = true)]
    pub skip_footer: usize,

    /// The decimal point, as in `,` [default: .]
    #[arg(long, value_name = "CHAR", value_parser = sign("decimal"))]
    pub decimal: Option<String>,

    /// The character between groups of three digits, as in 1,000,000 [default: none]
    #[arg(long, value_name = "CHAR", value_parser = sign("thousands"))]
    pub thousands: Option<String>,

    /// The character that begins a line to skip; `none` for no such [default: # in a table of numbers,
    /// otherwise none]
    #[arg(long, value_name = "CHAR", value_parser = sign("comment"))]
    pub comment: Option<String>,

    /// The character around fields that contain delimiters or newlines; `none` for no such [default: "]
    #[arg(long, value_name = "CHAR", value_parser = sign("quote"))]
    pub quote: Option<String>,

    /// The character after which any character is text, as in \ [default: none]
    #[arg(long, value_name = "CHAR", value_parser = sign("escape"))]
    pub escape: Option<String>,

    /// The encoding of the text: utf-8, latin-1, utf-16le, utf-16be, or a label of the WHATWG's Encoding
    /// Standard, such as windows-1251 or shift_jis [default: that of its byte order mark, else UTF-8]
    #[arg(long, value_name = "NAME", value_parser = encoding(), default_value = "auto", hide_default_value = true, hide_possible_values = true)]
    pub encoding: Encoding,

    /// What happens to bytes that are not of the encoding: they are an error in fields that are read, or
    /// become U+FFFD and are counted
    #[arg(long, value_name = "WHAT", value_parser = words(EncodingErrors::WORDS), default_value = "error")]
    pub encoding_errors: EncodingErrors,

    /// What happens to lines with more or fewer fields than columns, with text outside of columns of
    /// fixed width, or, in JSON Lines, without an object: they are an error; missing fields are missing
    /// values; such lines are left out and counted; or missing fields are missing values and further
    /// ones are dropped
    #[arg(long, value_name = "WHAT", value_parser = words(Ragged::WORDS), default_value = "error")]
    pub ragged: Ragged,

    /// How many fields a line has, and so how many columns the table; a header may have fewer names
    /// [default: as many as the first line has]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=u64::MAX))]
    pub fields: Option<usize>,

    /// NaN, Infinity and -Infinity are numbers in JSON Lines
    #[arg(long)]
    pub json_nan: bool,
    /// Objects and arrays in JSON Lines become structs and lists, not text
    #[arg(long)]
    pub json_nested: bool,
    /// Files may have different columns: those with the same name are one, and a file that lacks one has
    /// missing values there
    #[arg(long)]
    pub union_by_name: bool,

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

/// Keeps which lines name the columns; completions offer the words for it.
fn header() -> impl TypedValueParser<Value = String> {
    Named(|| HeaderLine::WORDS.iter().map(|&(word, _)| word).collect())
        .try_map(|text| setting("header")(&text))
}

/// Keeps the text of an option that the library takes.
fn setting(word: &'static str) -> impl Fn(&str) -> Result<String, String> + Clone {
    move |value| match BatchOptions::new().set(word, value) {
        Ok(()) => Ok(value.to_owned()),
        Err(error) => Err(error.rsplit_once("; try: ").map_or("", |(_, pass)| pass).to_owned()),
    }
}

/// The same for a character that means something: a letter is rather a mistake.
fn sign(word: &'static str) -> impl Fn(&str) -> Result<String, String> + Clone {
    move |value| match value.as_bytes() {
        [byte] if byte.is_ascii_alphanumeric() => {
            Err("pass one ASCII character that is not a letter or digit".to_owned())
        }
        _ => setting(word)(value),
    }
}

/// Parses a delimiter.
fn delimiter(value: &str) -> Result<Delimiter, String> {
    sign("delimiter")(value)?.parse()
}

/// Parses a delimiter of a table that is written.
fn mark(value: &str) -> Result<u8, String> {
    match delimiter(value)? {
        Delimiter::Byte(byte) => Ok(byte),
        _ => Err("pass one ASCII character: several are only read".to_owned()),
    }
}

/// Parses an encoding; completions offer the usual words, not all labels.
fn encoding() -> impl TypedValueParser<Value = Encoding> {
    Named(|| Encoding::WORDS.iter().map(|&(word, _)| word).collect())
        .try_map(|text| text.parse::<Encoding>())
}

/// A column by its index, or else by its name.
fn column(word: &str) -> Result<ColumnKey, Infallible> {
    Ok(word.parse().map_or_else(|_| ColumnKey::from(word), ColumnKey::Index))
}

/// Types of some columns, and, without a column, that of all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Types(Vec<(Option<ColumnKey>, ColumnType)>);

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

fn of_column(word: &str) -> Result<(Option<ColumnKey>, ColumnType), String> {
    let (name, kind) = match word.rsplit_once('=') {
        Some((name, kind)) => (Some(name), kind),
        None => (None, word),
    };
    let kind = kind.trim().replace(",UTC", ", UTC").parse::<ColumnType>();
    let kind = kind.map_err(|error| match name {
        Some(_) => error,
        None => format!("write a column and its type, as in zip=text, or a type: {error}"),
    })?;
    let key = name.map(|name| {
        let Ok(key) = column(name);
        key
    });
    Ok((key, kind))
}

/// A text for a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair(ColumnKey, String);

fn pair(word: &str) -> Option<Pair> {
    let (name, text) = word.split_once('=')?;
    let Ok(key) = column(name);
    Some(Pair(key, text.to_owned()))
}

/// Parses the form of the dates or times of a column.
fn form(word: &str) -> Result<Pair, &'static str> {
    let is_form = |form: &str| form.contains('%') || form.starts_with("epoch_");
    let form = pair(word).filter(|Pair(_, form)| is_form(form));
    form.ok_or("write a column and a form, as in born=%d.%m.%Y or at=epoch_ms")
}

/// Parses another name for a column.
fn rename(word: &str) -> Result<Pair, &'static str> {
    let name = pair(word).filter(|Pair(_, name)| !name.is_empty());
    name.ok_or("write a column and its new name, as in old=new")
}

impl TableArgs {
    /// The flags whose texts are options of tables, the words of these, and the texts.
    fn texts(&self) -> [(&'static str, &'static str, Option<&String>); 9] {
        [
            ("--header", "header", Some(&self.header).filter(|it| *it != "auto")),
            ("--widths", "widths", self.widths.as_ref()),
            ("--positions", "positions", self.positions.as_ref()),
            ("--skip-rows", "skip_rows", self.skip_rows.as_ref()),
            ("--decimal", "decimal", self.decimal.as_ref()),
            ("--thousands", "thousands", self.thousands.as_ref()),
            ("--comment", "comment", self.comment.as_ref()),
            ("--quote", "quote", self.quote.as_ref()),
            ("--escape", "escape", self.escape.as_ref()),
        ]
    }

    /// Returns the first flag that was given.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        let given = [
            ("--delimiter", self.delimiter.is_some()),
            ("--columns", self.columns.is_some()),
            ("--null-values", self.null_values.is_some()),
            ("--dtypes", !self.dtypes.is_empty()),
            ("--formats", !self.formats.is_empty()),
            ("--rename", !self.rename.is_empty()),
            ("--rows", self.rows.is_some()),
            ("--json-nan", self.json_nan),
            ("--json-nested", self.json_nested),
            ("--union-by-name", self.union_by_name),
            ("--encoding", self.encoding != Encoding::Auto),
            ("--encoding-errors", self.encoding_errors != EncodingErrors::Refuse),
            ("--skip-footer", self.skip_footer > 0),
            ("--fields", self.fields.is_some()),
            ("--ragged", self.ragged != Ragged::Refuse),
            ("--file-column", self.file_column.is_some()),
        ];
        let texts = self.texts().map(|(flag, _, text)| (flag, text.is_some()));
        let mut all = texts.into_iter().chain(given);
        all.find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// Whether columns are given, or to be found, by where they are in each line.
    pub(crate) fn is_fixed(&self) -> bool {
        self.widths.is_some() || self.positions.is_some()
    }

    /// Returns the library's options for a table in this form.
    pub(crate) fn batch_options(&self, form: BatchForm, read: ReadOptions) -> BatchOptions {
        let types = || self.dtypes.iter().flat_map(|types| types.0.iter().cloned());
        let mut options = BatchOptions::new()
            .with_form(form)
            .with_read(read)
            .with_types(types().filter_map(|(key, kind)| Some((key?, kind))))
            .with_formats(self.formats.iter().map(|Pair(key, form)| (key.clone(), form)))
            .with_rename(self.rename.iter().map(|Pair(key, name)| (key.clone(), name)))
            .with_skip_footer(self.skip_footer)
            .with_encoding(self.encoding)
            .with_encoding_errors(self.encoding_errors)
            .with_ragged(self.ragged)
            .with_json_nan(self.json_nan)
            .with_json_nested(self.json_nested)
            .with_union_by_name(self.union_by_name);
        if let Some((_, kind)) = types().rfind(|(key, _)| key.is_none()) {
            options = options.with_all_types(kind);
        }
        for (_, word, text) in self.texts() {
            let set = text.map_or(Ok(()), |text| options.set(word, text));
            set.expect("it was parsed");
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
        if let Some(fields) = self.fields {
            options = options.with_fields(fields);
        }
        if let Some(rows) = self.rows {
            options = options.with_rows(rows);
        }
        if let Some(name) = &self.file_column {
            options = options.with_file_column(name);
        }
        options
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
            parsed(&["--dtypes", "a=i8,b=timestamp[ns, UTC],text,2=timestamp[us,UTC],x=y=f32"]);
        let told = told.expect("types").dtypes;
        let wanted = [
            (Some(ColumnKey::from("a")), "i8"),
            (Some(ColumnKey::from("b")), "timestamp[ns, UTC]"),
            (None, "text"),
            (Some(ColumnKey::Index(2)), "timestamp[us, UTC]"),
            (Some(ColumnKey::from("x=y")), "f32"),
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
        let given = parsed(&["--formats", "born=%d.%m.%Y, %H=%M", "--formats", "2=epoch_ms"]);
        let wanted = [
            Pair(ColumnKey::from("born"), "%d.%m.%Y, %H=%M".to_owned()),
            Pair(ColumnKey::Index(2), "epoch_ms".to_owned()),
        ];
        assert_eq!(given.expect("forms").formats, wanted);
        let error = parsed(&["--formats", "born"]).expect_err("no form");
        assert!(error.contains("as in born=%d.%m.%Y"), "{error}");
    }

    #[test]
    fn a_new_name_belongs_to_a_column() {
        let given = parsed(&["--rename", "old=new, er", "--rename", "2=x=y"]);
        let wanted = [
            Pair(ColumnKey::from("old"), "new, er".to_owned()),
            Pair(ColumnKey::Index(2), "x=y".to_owned()),
        ];
        assert_eq!(given.expect("names").rename, wanted);
        for wrong in ["old", "old="] {
            let error = parsed(&["--rename", wrong]).expect_err(wrong);
            assert!(error.contains("as in old=new"), "{error}");
        }
    }

    #[test]
    fn a_header_is_a_word_or_a_number_of_lines() {
        for word in ["auto", "0", "no", "1", "yes", "2"] {
            let args = parsed(&["--header", word]).expect(word);
            assert_eq!(args.flag().is_some(), word != "auto");
        }
        for wrong in ["-1", "maybe", "1001"] {
            let error = parsed(&[&format!("--header={wrong}")]).expect_err(wrong);
            assert!(error.contains("pass `auto`, `yes` or `no`"), "{error}");
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
