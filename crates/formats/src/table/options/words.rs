//! The options of tables that are read, by their words.

use swath::Extent;

use crate::table::options::choices::{Delimiter, HeaderLine};
use crate::table::options::column_key::ColumnKey;
use crate::table::options::settings::{
    MARK, OptionValue, Setter, column, listed, put, quoted, range, separated, settings, table,
    value, word,
};
use crate::table::options::{
    BatchOptions, CommentRule, Dictionary, Encoding, EncodingErrors, HeaderLines, Ragged,
    WordMeaning,
};
use crate::table::text::fixed::FixedColumn;
use crate::table::types::ColumnType;
use crate::table::write::BatchForm;

type WordLists = Vec<Vec<u8>>;

/// The setter of words with a meaning, for all columns or for one.
macro_rules! words {
    ($field:ident: $meaning:ident) => {
        Setter {
            of_column: Some(|options, column, texts| {
                options.set_words_of(column, WordMeaning::$meaning, texts.and_then(WordLists::of));
                Some(())
            }),
            ..table!($field: WordLists)
        }
    };
}

settings! { BatchOptions,
    /// The form of the text. C and Python go by the name of the file.
    form = table!(form: BatchForm), "`csv`";
    /// The delimiter of fields.
    delimiter = table!(delimiter: Delimiter), "the one that fits the first lines; `tab` in a `.tsv`";
    /// The character around fields that contain delimiters or newlines.
    quote = table!(quote: Option<u8>), "`\"`";
    /// The character after which any other is text.
    escape = table!(escape: Option<u8>), "`none`";
    /// The character that begins a line to skip.
    comment = table!(comment: CommentRule), "`auto`: `#` in a table of numbers";
    /// Which lines name the columns: the first one, none, or how many have parts of the names.
    header = table!(header: HeaderLines), "`auto`";
    /// Lines to skip before anything else, empty ones and comments included.
    skip_rows = table!(skip_rows: u64), "`0`";
    /// How many of the last records of each file to leave out.
    skip_footer = table!(skip_footer: usize), "`0`";
    /// How many rows to read at most; what follows them is not checked.
    rows = table!(rows: u64), "all";
    /// Reads only the rows that begin in these bytes of each text.
    starting_in = table!(starting_in: Extent), "all";
    /// Which columns to read, in this order; one that is set to `yes` comes last.
    columns = Setter {
        of_column: Some(|options, column, texts| options.choose(column, texts)),
        ..table!(columns: Vec<ColumnKey>)
    }, "all";
    /// The type of a column, or of all others; a value of another one is an error.
    types = Setter {
        of_column: Some(|options, column, texts| put(&mut options.types, column, texts)),
        ..table!(all_types: ColumnType)
    }, "the type that holds all values";
    /// How dates and timestamps are written, in the notation of strftime, or what numbers count since 1970:
    /// `epoch_s`, `epoch_ms`, `epoch_us` or `epoch_ns`.
    formats = column!(formats: String), "ISO 8601";
    /// Another name for a column.
    rename = column!(rename: String), "the name in the header";
    /// Fields that mean a missing value.
    null_values = words!(nulls: Missing), "the empty field, `NA`, `N/A`, `null`, `NULL`";
    /// Fields that mean true.
    true_values = words!(trues: True), "`true`, `True`, `TRUE`";
    /// Fields that mean false.
    false_values = words!(falses: False), "`false`, `False`, `FALSE`";
    /// The decimal point.
    decimal = table!(decimal: u8), "`.`";
    /// The character between groups of three digits before the decimal point.
    thousands = table!(thousands: Option<u8>), "`none`";
    /// The encoding of the text.
    encoding = table!(encoding: Encoding), "`auto`: as a byte order mark says, else UTF-8";
    /// How to treat bytes outside the encoding: they are an error, or become U+FFFD.
    encoding_errors = table!(encoding_errors: EncodingErrors), "`error`";
    /// How to treat records with more or fewer fields than columns, with text outside of columns of fixed
    /// width, or, in JSON Lines, lines without an object: they are an error, fields that they lack are missing values, they are left out and
    /// reported, or what they lack is missing and what is too much is dropped.
    ragged = table!(ragged: Ragged), "`error`";
    /// Whether `NaN`, `Infinity` and `-Infinity` are numbers in JSON Lines.
    json_nan = table!(json_nan: bool), "`no`";
    /// Whether objects and arrays in JSON Lines become structs and lists, or are text.
    json_nested = table!(json_nested: bool), "`no`";
    /// How many fields a record has, whatever the first one has.
    fields = table!(fields: usize), "as many as the first one";
    /// Which columns of text become dictionaries: those whose type is given, or all.
    dictionary = table!(dictionary: Dictionary), "`given`";
    /// The name of a further column, which has the name of each row's file.
    file_column = table!(file_column: String), "no such column";
    /// Whether several files may have different columns: those with the same name are one.
    union_by_name = table!(union_by_name: bool), "`no`";
    /// The widths of the columns of the form `fixed` in characters, without gaps.
    widths = table!(widths: Option<Vec<usize>>), "`auto`: columns are found";
    /// The positions of the columns of the form `fixed` in characters, from 0; other text is not read.
    positions = table!(positions: Vec<FixedColumn>), "columns are found";
    /// Bytes of text that become one batch; the rows do not depend on it.
    block_size = table!(block_size: u64), "`0`: 1 MiB";
}

impl BatchOptions {
    /// Sets the words of a column, or removes them.
    pub(in crate::table) fn set_words_of(
        &mut self,
        column: &ColumnKey,
        meaning: WordMeaning,
        words: Option<WordLists>,
    ) {
        self.words_of.retain(|(other, its, _)| (other, *its) != (column, meaning));
        self.words_of.extend(words.map(|words| (column.clone(), meaning, words)));
    }

    /// Adds a column to those to read, or removes it.
    fn choose(&mut self, column: &ColumnKey, texts: Option<&[&str]>) -> Option<()> {
        let is_added = match texts {
            Some(["yes"]) => true,
            None | Some(["no"]) => false,
            Some(_) => return None,
        };
        let mut columns = self.columns.take().unwrap_or_default();
        columns.retain(|other| other != column);
        columns.extend(is_added.then(|| column.clone()));
        self.columns = Some(columns).filter(|columns| !columns.is_empty());
        Some(())
    }
}

value!(
    Encoding,
    "`auto`, `utf-8`, `latin-1`, `utf-16le`, `utf-16be`, or a label of the WHATWG's Encoding Standard",
    |text| text.parse().ok()
);
value!(EncodingErrors);
value!(Ragged);
value!(Dictionary);
value!(ColumnType, quoted(ColumnType::all()), |text| { text.parse().ok() });
value!(CommentRule, format!("{MARK}, `tab`, `none` or `auto`"), |text| match text {
    "auto" => Some(Self::Auto),
    text => Option::of(&[text]).map(Self::Given),
});
value!(
    HeaderLines,
    format!("{}, or a number of lines up to 1000", listed(HeaderLine::WORDS)),
    |text| {
        match (word(HeaderLine::WORDS, text), text.parse()) {
            (Some(when), _) => Some(when.into()),
            (None, Ok(lines @ 0..=1000)) => Some(Self::Lines(lines)),
            _ => None,
        }
    }
);
value!(Option<Vec<usize>>, "`auto`, or whole numbers, as in `10,5,8`", |text| match text {
    "auto" => Some(None),
    text => separated(text, |part| part.parse().ok()).map(Some),
});
value!(Vec<FixedColumn>, "positions without the end, as in `0..10,12..20,25..`", |text| {
    separated(text, |part| range(part).map(|(start, end)| FixedColumn { start, end }))
});
value!(Extent, "bytes without the end, as in `0..4096` or `4096..`", |text| {
    let (from, to) = range(text)?;
    let to: u64 = to.unwrap_or(u64::MAX);
    (from <= to).then(|| Extent::between(from, to))
});

impl From<HeaderLine> for HeaderLines {
    fn from(header: HeaderLine) -> Self {
        match header {
            HeaderLine::Auto => Self::Auto,
            HeaderLine::Present => Self::Lines(1),
            HeaderLine::Absent => Self::Lines(0),
        }
    }
}
