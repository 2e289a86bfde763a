//! The flags for the form of a table in its file, of all commands that read or write tables.
//!
//! ```text
//! swath head   --delimiter ';' --decimal , export.csv
//! swath info   --delimiter ';' --decimal , export.csv
//! swath convert --delimiter ';' --decimal , export.csv export.arrow
//! ```

use std::convert::Infallible;
use std::ops::RangeInclusive;

use clap::Args;
use clap::builder::{PossibleValuesParser, StringValueParser, TypedValueParser};
use swath::ReadOptions;
use swath_formats::table::{
    BatchForm, BatchOptions, BatchWriteOptions, ColumnKey, ColumnType, Delimiter, Encoding,
    EncodingErrors, HeaderLine, LineEnd, Quoting, Ragged,
};

use super::words::{Named, whole};

/// Defines flags whose texts are options of tables, each with the name of its value and its parser; and further flags.
macro_rules! flags {
    ($(#[$meta:meta])* $name:ident { $($more:tt)* }
        $($(#[$doc:meta])* $flag:ident: $value:literal, $parser:expr;)*) => {
        #[derive(Clone, Debug, Args)]
        $(#[$meta])*
        pub struct $name {
            $($more)*
            $(
                $(#[$doc])*
                #[arg(long, value_name = $value, value_parser = $parser)]
                pub $flag: Option<String>,
            )*
        }

        impl $name {
            /// Returns the words and texts of the flags that were given.
            pub(crate) fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
                let all = [$((stringify!($flag), self.$flag.as_deref())),*];
                all.into_iter().filter_map(|(word, text)| Some((word, text?)))
            }
        }
    };
}

flags! {
    /// How a table is read.
    #[command(next_help_heading = "How tables are read")]
    TableArgs {
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

        /// Words for missing values, in addition to an empty field [default: NA, N/A, null and NULL]
        #[arg(long, value_name = "WORD,...", value_delimiter = ',', visible_alias = "missing-words",
            allow_hyphen_values = true)]
        pub null_values: Option<Vec<String>>,

        /// Words that mean true [default: true, True and TRUE]
        #[arg(long, value_name = "WORD,...", value_delimiter = ',')]
        pub true_values: Option<Vec<String>>,

        /// Words that mean false [default: false, False and FALSE]
        #[arg(long, value_name = "WORD,...", value_delimiter = ',')]
        pub false_values: Option<Vec<String>>,

        /// Read at most this many rows; what follows them is not checked
        #[arg(long, short = 'n', value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
        pub rows: Option<u64>,

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
    }

    /// Whether the first line of a table has names: auto, yes, no, or the number of lines that have
    /// parts of them [default: auto]
    #[arg(hide_possible_values = true)]
    header: "WHEN", named(|| listed(HeaderLine::WORDS), setting("header"));

    /// The delimiter of a table that is read: one ASCII character, several as in '||', or `blanks` for runs
    /// of spaces and tabs [default: a tab in a .tsv, else the one of tab , ; and | that fits the first lines]
    delimiter: "CHARS", sign("delimiter");

    /// Read text of fixed width, with columns of these widths in characters, as in 10,5,8; `auto` finds them
    ///
    /// With `auto`, a column is a run of positions at which not all of the first thousand lines are blank.
    /// Text after the last column, or between those that were found, is an error with its line.
    widths: "N,...", setting("widths");

    /// Read text of fixed width with columns at these positions from 0, as in 0..10,12..20,25..;
    /// other text is not read
    positions: "FROM..TO,...", setting("positions");

    /// Lines to skip before anything else, empty ones and comments included
    skip_rows: "N", setting("skip_rows");

    /// Leave out this many of the last records of each file, such as totals; empty lines and comments do not
    /// count
    skip_footer: "N", number(0..=1_000_000);

    /// The decimal point, as in `,` [default: .]
    decimal: "CHAR", sign("decimal");

    /// The character between groups of three digits, as in 1,000,000 [default: none]
    thousands: "CHAR", sign("thousands");

    /// The character that begins a line to skip; `none` to skip none [default: # in a table of
    /// numbers, otherwise none]
    comment: "CHAR", sign("comment");

    /// The character around fields that contain delimiters or newlines; `none` for no quotes
    /// [default: "]
    quote: "CHAR", sign("quote");

    /// The character after which any character is text, as in \ [default: none]
    escape: "CHAR", sign("escape");

    /// The encoding of the text: utf-8, latin-1, utf-16le, utf-16be, or a label of the WHATWG's Encoding
    /// Standard, such as windows-1251 or shift_jis [default: that of its byte order mark, else UTF-8]
    #[arg(hide_possible_values = true)]
    encoding: "NAME", named(|| listed(Encoding::WORDS), encoding);

    /// How to treat bytes outside the encoding: they are an error in fields that are read, or become
    /// U+FFFD and are counted [default: error]
    encoding_errors: "WHAT", choice(EncodingErrors::WORDS);

    /// How to treat lines with more or fewer fields than columns, with text outside of columns of fixed
    /// width, or, in JSON Lines, without an object: they are an error; missing fields are missing
    /// values; such lines are left out and counted; or missing fields are missing values and further
    /// ones are dropped [default: error]
    ragged: "WHAT", choice(Ragged::WORDS);

    /// The number of fields in a line, and so of columns in the table; a header may have fewer
    /// names [default: that of the first line]
    fields: "N", number(1..=u64::MAX);

    /// Add a last column of this name, with the file of each row
    file_column: "NAME", setting("file_column");
}

flags! {
    /// How a table is written as text.
    #[command(next_help_heading = "How tables are written")]
    TableOutArgs {}

    /// Digits after the decimal point [default: the fewest that read back as the same number]
    decimals: "N", number(0..=60);

    /// Which fields are quoted: those that have to be, all, or none, where a field that has to be is an
    /// error
    quoting: "WHICH", choice(Quoting::WORDS);

    /// The delimiter of a table that is written [default: a comma; a tab in a .tsv]
    out_delimiter: "CHAR", mark;

    /// How lines end
    line_end: "HOW", choice(LineEnd::WORDS);

    /// The word for missing values in a table that is written [default: an empty field]
    null_word: "WORD", StringValueParser::new();
}

/// Returns the words of a list of choices.
fn listed<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|&(word, _)| word).collect()
}

/// Keeps one of the words; help and completions list them.
fn choice<T>(words: &[(&'static str, T)]) -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(listed(words))
}

/// Keeps a whole number in `range`.
fn number(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = String> {
    whole::<u64>(range).map(|number| number.to_string())
}

/// Keeps the texts that `keep` accepts; completions offer the usual words.
fn named(
    words: fn() -> Vec<&'static str>,
    keep: impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = String> {
    Named(words).try_map(move |text| keep(&text))
}

/// Keeps the name of an encoding; the error for an unknown one says how to convert the file.
fn encoding(text: &str) -> Result<String, String> {
    text.parse::<Encoding>().map(|_| text.to_owned())
}

/// Keeps the text of an option that the library accepts.
fn setting(word: &'static str) -> impl Fn(&str) -> Result<String, String> + Clone {
    move |value| match BatchOptions::new().set(word, value) {
        Ok(()) => Ok(value.to_owned()),
        Err(error) => Err(error.rsplit_once("; try: ").map_or("", |(_, pass)| pass).to_owned()),
    }
}

/// Accepts a character for a special meaning; refuses a letter, which is probably a mistake.
fn sign(word: &'static str) -> impl Fn(&str) -> Result<String, String> + Clone {
    move |value| match value.as_bytes() {
        [byte] if byte.is_ascii_alphanumeric() => {
            Err("pass one ASCII character that is not a letter or digit".to_owned())
        }
        _ => setting(word)(value),
    }
}

/// Keeps a delimiter for writing a table.
fn mark(value: &str) -> Result<String, String> {
    let text = sign("delimiter")(value)?;
    match text.parse()? {
        Delimiter::Byte(_) => Ok(text),
        _ => Err("pass one ASCII character: several are only read".to_owned()),
    }
}

/// Parses a column: its index, or else its name.
fn column(word: &str) -> Result<ColumnKey, Infallible> {
    Ok(word.parse().map_or_else(|_| ColumnKey::from(word), ColumnKey::Index))
}

/// Types of some columns; a type without a column is for all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Types(Vec<(Option<ColumnKey>, ColumnType)>);

/// Parses types of columns; commas in brackets do not separate them.
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

/// Texts that mean the same as no flag.
const USUAL: [(&str, &str); 5] = [
    ("header", "auto"),
    ("encoding", "auto"),
    ("encoding_errors", "error"),
    ("ragged", "error"),
    ("skip_footer", "0"),
];

/// Returns the flag for the word of an option.
fn named_flag(word: &str) -> String {
    format!("--{}", word.replace('_', "-"))
}

impl TableArgs {
    /// Returns the first flag that was given, with another text than its usual one.
    pub(crate) fn flag(&self) -> Option<String> {
        let more = [
            ("columns", self.columns.is_some()),
            ("null_values", self.null_values.is_some()),
            ("true_values", self.true_values.is_some()),
            ("false_values", self.false_values.is_some()),
            ("dtypes", !self.dtypes.is_empty()),
            ("formats", !self.formats.is_empty()),
            ("rename", !self.rename.is_empty()),
            ("rows", self.rows.is_some()),
            ("json_nan", self.json_nan),
            ("json_nested", self.json_nested),
            ("union_by_name", self.union_by_name),
        ];
        let texts = self.texts().filter(|given| !USUAL.contains(given)).map(|(word, _)| word);
        let more = more.into_iter().filter_map(|(word, is_given)| is_given.then_some(word));
        texts.chain(more).next().map(named_flag)
    }

    /// Whether columns are defined by their positions in each line.
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
            .with_json_nan(self.json_nan)
            .with_json_nested(self.json_nested)
            .with_union_by_name(self.union_by_name);
        if let Some((_, kind)) = types().rfind(|(key, _)| key.is_none()) {
            options = options.with_all_types(kind);
        }
        for (word, text) in self.texts() {
            options.set(word, text).expect("it was parsed");
        }
        if let Some(columns) = &self.columns {
            options = options.with_columns(columns.iter().cloned());
        }
        if let Some(words) = &self.null_values {
            // In JSON, an empty text is a value.
            let empty = (form != BatchForm::JsonLines).then_some("");
            options = options.with_null_values(words.iter().map(String::as_str).chain(empty));
        }
        if let Some(words) = &self.true_values {
            options = options.with_true_values(words);
        }
        if let Some(words) = &self.false_values {
            options = options.with_false_values(words);
        }
        if let Some(rows) = self.rows {
            options = options.with_rows(rows);
        }
        options
    }
}

impl TableOutArgs {
    /// Returns the first flag that was given and that only text with fields has.
    pub(crate) fn flag(&self) -> Option<String> {
        self.texts().map(|(word, _)| word).find(|word| *word != "decimals").map(named_flag)
    }

    /// Returns the library's options for a table that is written.
    pub(crate) fn write_options(&self) -> BatchWriteOptions {
        let mut options = BatchWriteOptions::new();
        for (word, text) in self.texts() {
            options.set(word.trim_start_matches("out_"), text).expect("it was parsed");
        }
        options
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
        let flag = |words: &[&str]| flag(words).unwrap_or_default();
        assert_eq!(flag(&[]), "");
        assert_eq!(flag(&["--delimiter", ";"]), "--delimiter");
        assert_eq!(flag(&["--missing-words", "-"]), "--null-values");
        assert_eq!(flag(&["--true-values", "ja"]), "--true-values");
        assert_eq!(flag(&["-n", "3"]), "--rows");
        assert_eq!(flag(&["--quote", "none"]), "--quote");
        assert_eq!(flag(&["--header", "2"]), "--header");
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
