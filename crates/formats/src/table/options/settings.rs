//! Options by their words: the texts that each takes, and one way to set any of them.
//!
//! ```text
//! settings! { a row for each option: its word, field, type and default, and a sentence }
//! set(rows, options, Change { column, word, texts })    finds the row, whose type reads the texts
//! list(rows)                                            what the rows say, as the guide has it
//! ```

use std::fmt::Display;
use std::str::FromStr;

use super::choices::{Delimiter, HeaderLine, LongDelimiter};
use super::column_key::ColumnKey;
use crate::table::value::Decimals;

/// An option of tables that has a word. In the texts, backquotes enclose literal words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// Its word.
    pub word: &'static str,
    /// The scope: `table`, `column`, or `both`.
    pub scope: &'static str,
    /// The values that it accepts.
    pub takes: String,
    /// Its default.
    pub default: &'static str,
    /// Its effect, in a sentence.
    pub sentence: &'static str,
}

/// The texts of an option; none for its default.
pub(in crate::table) type OptionTexts<'t> = Option<&'t [&'t str]>;

/// The option to set: one of the table, or of one column.
#[derive(Clone, Copy)]
pub(in crate::table) struct Change<'c> {
    pub(in crate::table) column: Option<&'c ColumnKey>,
    pub(in crate::table) word: &'c str,
    pub(in crate::table) texts: OptionTexts<'c>,
}

type OfTable<O> = fn(&mut O, OptionTexts<'_>) -> Option<()>;
type OfColumn<O> = fn(&mut O, &ColumnKey, OptionTexts<'_>) -> Option<()>;

/// Sets an option. A setter changes nothing if the option does not accept the texts.
pub(in crate::table) struct Setter<O> {
    pub(in crate::table) takes: fn() -> String,
    pub(in crate::table) of_table: Option<OfTable<O>>,
    pub(in crate::table) of_column: Option<OfColumn<O>>,
}

/// An option.
pub(in crate::table) struct OptionRow<O: 'static> {
    pub(in crate::table) word: &'static str,
    pub(in crate::table) setter: Setter<O>,
    pub(in crate::table) default: &'static str,
    pub(in crate::table) sentence: &'static str,
}

/// Returns the rows as settings.
pub(in crate::table) fn list<O>(rows: &[OptionRow<O>]) -> Vec<Setting> {
    let setting = |row: &OptionRow<O>| {
        let OptionRow { word, ref setter, default, sentence } = *row;
        let scope = match (setter.of_table, setter.of_column) {
            (Some(_), Some(_)) => "both",
            (None, _) => "column",
            (Some(_), None) => "table",
        };
        let takes = (setter.takes)();
        Setting { word, scope, takes, default, sentence: sentence.trim_start() }
    };
    rows.iter().map(setting).collect()
}

/// Sets an option.
///
/// # Errors
///
/// The fault and the hint.
pub(in crate::table) fn set<O>(
    rows: &[OptionRow<O>],
    options: &mut O,
    change: Change<'_>,
) -> Result<(), String> {
    let Change { column, word, texts } = change;
    let Some(OptionRow { setter, .. }) = rows.iter().find(|row| row.word == word) else {
        let all: Vec<_> = rows.iter().map(|row| row.word).collect();
        return Err(format!("`{word}` is not an option; try: pass one of {}", all.join(", ")));
    };
    let set = match (column, setter.of_table, setter.of_column) {
        (None, Some(set), _) => set(options, texts),
        (Some(column), _, Some(set)) => set(options, column, texts),
        (None, ..) => return Err(format!("`{word}` belongs to a column; try: pass which one")),
        _ => return Err(format!("`{word}` belongs to the table; try: set it for no column")),
    };
    set.ok_or_else(|| {
        let given = texts.unwrap_or_default().join("`, `");
        format!("`{word}` cannot be `{given}`; try: pass {}", (setter.takes)())
    })
}

/// Defines the options of a type that have words: `word = setter, default;` below a sentence.
macro_rules! settings {
    ($options:ident, $($(#[doc = $sentence:literal])+ $word:ident = $setter:expr, $default:literal;)+) => {
        const ROWS: &[$crate::table::options::settings::OptionRow<$options>] = &[$(
            $crate::table::options::settings::OptionRow {
                word: stringify!($word),
                setter: $setter,
                default: $default,
                sentence: concat!($($sentence),+),
            }
        ),+];

        impl $options {
            /// Returns the options that have words, in the order of the guide.
            pub fn settings() -> Vec<$crate::table::Setting> {
                $crate::table::options::settings::list(ROWS)
            }

            /// Sets an option of the table by its word, one of those of [`settings`](Self::settings).
            ///
            /// # Errors
            ///
            /// For another word, or a value that the option does not accept: the text says what to
            /// pass.
            pub fn set(&mut self, word: &str, value: &str) -> Result<(), String> {
                self.set_texts(None, word, Some(&[value]))
            }

            /// Sets an option that takes several texts, for the table or one column; without texts,
            /// to the default.
            ///
            /// # Errors
            ///
            /// As [`set`](Self::set).
            pub fn set_texts(
                &mut self,
                column: Option<&$crate::table::ColumnKey>,
                word: &str,
                texts: Option<&[&str]>,
            ) -> Result<(), String> {
                let change = $crate::table::options::settings::Change { column, word, texts };
                $crate::table::options::settings::set(ROWS, self, change)
            }
        }
    };
}
pub(in crate::table) use settings;

/// The setter of a field, which may be an `Option` of the type.
macro_rules! table {
    ($field:ident: $type:ty) => {
        $crate::table::options::settings::Setter {
            takes: <$type as $crate::table::options::settings::OptionValue>::takes,
            of_table: Some(|options, texts| {
                options.$field = match texts {
                    Some(texts) => {
                        <$type as $crate::table::options::settings::OptionValue>::of(texts)?
                            .into()
                    }
                    None => $crate::table::options::settings::fresh(options).$field,
                };
                Some(())
            }),
            of_column: None,
        }
    };
}
pub(in crate::table) use table;

/// Returns options with every default.
pub(in crate::table) fn fresh<O: Default>(_: &O) -> O {
    O::default()
}

/// The setter of a field with values of some columns.
macro_rules! column {
    ($field:ident: $type:ty) => {
        $crate::table::options::settings::Setter {
            takes: <$type as $crate::table::options::settings::OptionValue>::takes,
            of_table: None,
            of_column: Some(|options, column, texts| {
                $crate::table::options::settings::put::<$type>(
                    &mut options.$field,
                    column,
                    texts,
                )
            }),
        }
    };
}
pub(in crate::table) use column;

/// Sets the value of a column, or removes it.
pub(in crate::table) fn put<V: OptionValue>(
    values: &mut Vec<(ColumnKey, V)>,
    column: &ColumnKey,
    texts: OptionTexts<'_>,
) -> Option<()> {
    let value = match texts {
        Some(texts) => Some((column.clone(), V::of(texts)?)),
        None => None,
    };
    values.retain(|(other, _)| other != column);
    values.extend(value);
    Some(())
}

/// The values that an option takes.
pub(in crate::table) trait OptionValue: Sized {
    /// Describes the values, as in errors and in the guide.
    fn takes() -> String;

    /// Parses a value.
    fn of(texts: &[&str]) -> Option<Self>;
}

/// Implements [`OptionValue`] for the value of one text, or for a list with an item for each text.
macro_rules! value {
    ([$item:ty], $takes:literal) => {
        impl $crate::table::options::settings::OptionValue for Vec<$item> {
            fn takes() -> String {
                $takes.to_owned()
            }

            fn of(texts: &[&str]) -> Option<Self> {
                Some(texts.iter().map(|&text| text.into()).collect())
            }
        }
    };
    ($type:ty, $takes:expr, $of:expr) => {
        impl $crate::table::options::settings::OptionValue for $type {
            fn takes() -> String {
                $takes.into()
            }

            fn of(texts: &[&str]) -> Option<Self> {
                let &[text] = texts else { return None };
                let of: fn(&str) -> Option<Self> = $of;
                of(text)
            }
        }
    };
    ($type:ty) => {
        $crate::table::options::settings::value!(
            $type,
            $crate::table::options::settings::listed(Self::WORDS),
            |text| $crate::table::options::settings::word(Self::WORDS, text)
        );
    };
}
pub(in crate::table) use value;

/// Returns the choice of a word.
pub(in crate::table) fn word<T: Copy>(words: &[(&str, T)], text: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == text).map(|&(_, choice)| choice)
}

/// Returns the words of a choice, as a list in a sentence.
pub(in crate::table) fn listed<T>(words: &[(&str, T)]) -> String {
    quoted(words.iter().map(|(word, _)| word))
}

/// Returns the words of items, as a list in a sentence.
pub(in crate::table) fn quoted(words: impl Iterator<Item: Display>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match &words[..] {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        _ => words.concat(),
    }
}

/// Parses values separated by commas; an empty text has none.
pub(in crate::table) fn separated<T>(text: &str, of: fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let parts = text.split(',').filter(|_| !text.is_empty());
    parts.map(|part| of(part.trim())).collect()
}

/// Parses `FROM..TO`; without `TO`, there is no end.
pub(in crate::table) fn range<N: FromStr>(text: &str) -> Option<(N, Option<N>)> {
    let (from, to) = text.split_once("..")?;
    let to = if to.is_empty() { None } else { Some(to.parse().ok()?) };
    Some((from.parse().ok()?, to))
}

/// The values that [`mark`] accepts, apart from the last word.
pub(in crate::table) const MARK: &str = "one ASCII character";

/// Parses a character with a meaning.
fn mark(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() => Some(*byte),
        b"tab" | b"\\t" => Some(b'\t'),
        _ => None,
    }
}

value!(u8, format!("{MARK} or `tab`"), mark);
value!(Option<u8>, format!("{MARK}, `tab` or `none`"), |text| match text {
    "none" => Some(None),
    text => mark(text).map(Some),
});
value!(
    Delimiter,
    format!("{MARK}, `tab`, `blanks`, or up to 16 bytes that are not all letters and digits"),
    |text| match (text, mark(text)) {
        ("blanks", _) => Some(Self::Blanks),
        (_, Some(byte)) => Some(Self::Byte(byte)),
        _ => LongDelimiter::new(&text.replace("\\t", "\t")).map(Self::Text),
    }
);

impl FromStr for Delimiter {
    type Err = String;

    /// Parses a character or several (`\\t` is a tab), or the word `tab` or `blanks`.
    ///
    /// # Errors
    ///
    /// For any other text: the error says what to pass.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::of(&[text]).ok_or_else(|| format!("pass {}", Self::takes()))
    }
}

value!(bool, "`yes` or `no`", |text| match text {
    "yes" => Some(true),
    "no" => Some(false),
    _ => None,
});
value!(u64, "a whole number", |text| text.parse().ok());
value!(i32, "a whole number", |text| text.parse().ok());
value!(usize, "a whole number", |text| text.parse().ok());
value!(String, "a text", |text| Some(text.to_owned()));
value!(HeaderLine);
value!(Decimals, "`shortest` or a whole number", |text| match text {
    "shortest" => Some(Self::Shortest),
    text => text.parse().ok().map(Self::Fixed),
});

value!([String], "texts");
value!([Vec<u8>], "texts");
value!([ColumnKey], "names; for one column, `yes` or `no`");
