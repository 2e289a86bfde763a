//! One option by its word: its look-up, its values, and its setter.

use std::ffi::{CString, OsStr};
use std::sync::OnceLock;

use swath_formats::table::{BatchOptions, BatchWriteOptions, ColumnKey, Setting};

use crate::failure::{Failure, Result};
use crate::number::Number;
use crate::options::rows::{self, OptionRow};
use crate::options::{CallOptions, CallVerb};

/// An option of a verb.
#[derive(Debug)]
pub(super) struct WordEntry {
    pub(super) word: &'static str,
    /// Whether it belongs to the `call`, to a `column`, or to `both`.
    pub(super) scope: &'static str,
    pub(super) takes: String,
    pub(super) default: String,
    sentence: String,
    pub(super) set: fn(&mut CallOptions, Change<'_>) -> Result<()>,
    row: Option<&'static OptionRow>,
}

/// The option to set, and its texts; none for its default.
#[derive(Clone, Copy)]
pub(super) struct Change<'c> {
    pub(super) entry: &'c WordEntry,
    pub(super) column: Option<&'c ColumnKey>,
    pub(super) texts: Option<&'c [&'c OsStr]>,
}

/// Returns the options of a verb: its own, then those of its base.
pub(super) fn all(verb: CallVerb) -> &'static [WordEntry] {
    static ALL: OnceLock<Vec<Vec<WordEntry>>> = OnceLock::new();
    let of_each = ALL.get_or_init(|| CallVerb::ALL.iter().map(|&verb| entries(verb)).collect());
    &of_each[verb as usize]
}

fn entries(verb: CallVerb) -> Vec<WordEntry> {
    let of_tables = match verb {
        CallVerb::TableRead => of_table(BatchOptions::settings(), set_table),
        CallVerb::TableWrite => of_table(BatchWriteOptions::settings(), set_table_write),
        _ => Vec::new(),
    };
    let own = rows::of(verb).iter();
    let base = rows::of(verb.base()).iter().filter(|_| verb != verb.base());
    of_tables.into_iter().chain(own.chain(base).map(of_row)).collect()
}

fn of_row(row: &'static OptionRow) -> WordEntry {
    WordEntry {
        word: row.word,
        scope: "call",
        takes: (row.setter.takes)(),
        default: row.default.to_owned(),
        sentence: row.sentence.trim_start().to_owned(),
        set: set_row,
        row: Some(row),
    }
}

fn of_table(
    settings: Vec<Setting>,
    set: fn(&mut CallOptions, Change<'_>) -> Result<()>,
) -> Vec<WordEntry> {
    let entry = |it: Setting| WordEntry {
        word: it.word,
        scope: if it.scope == "table" { "call" } else { it.scope },
        takes: it.takes,
        default: it.default.to_owned(),
        sentence: it.sentence.to_owned(),
        set,
        row: None,
    };
    settings.into_iter().map(entry).collect()
}

/// Finds an option.
pub(super) fn find(verb: CallVerb, word: &str) -> Result<&'static WordEntry> {
    all(verb).iter().find(|it| it.word == word).ok_or_else(|| {
        let words: Vec<_> = all(verb).iter().map(|it| it.word).collect();
        let words = words.join(", ");
        let verb = verb.name();
        Failure::invalid(format!(
            "`{word}` is not an option of {verb}; try: pass one of {words}"
        ))
    })
}

fn set_row(options: &mut CallOptions, change: Change<'_>) -> Result<()> {
    let Change { entry, column, texts } = change;
    let Some(row) = entry.row else { return Ok(()) };
    if column.is_some() {
        let text = format!("`{}` belongs to the call; try: set it for no column", row.word);
        return Err(Failure::invalid(text));
    }
    let default = [OsStr::new(row.default)];
    let texts = texts.unwrap_or(if row.default.is_empty() { &[] } else { &default });
    if (row.setter.set)(options, texts)? {
        return Ok(());
    }
    let given: Vec<_> = texts.iter().map(|text| text.display().to_string()).collect();
    let (given, takes) = (given.join("`, `"), &entry.takes);
    Err(Failure::invalid(format!("`{}` cannot be `{given}`; try: pass {takes}", row.word)))
}

fn set_table(options: &mut CallOptions, change: Change<'_>) -> Result<()> {
    let texts = utf8(change.texts)?;
    let (word, column) = (change.entry.word, change.column);
    let set = options.table.set_texts(column, word, texts.as_deref());
    set.map_err(Failure::invalid)?;
    if word == "form" {
        options.has_form = texts.is_some();
    }
    Ok(())
}

fn set_table_write(options: &mut CallOptions, change: Change<'_>) -> Result<()> {
    let texts = utf8(change.texts)?;
    let set = options.table_write.set_texts(change.column, change.entry.word, texts.as_deref());
    set.map_err(Failure::invalid)
}

fn utf8<'t>(texts: Option<&[&'t OsStr]>) -> Result<Option<Vec<&'t str>>> {
    let each = |text: &&'t OsStr| {
        text.to_str().ok_or_else(|| {
            Failure::invalid(format!("`{}` is not UTF-8; try: pass UTF-8", text.display()))
        })
    };
    texts.map(|texts| texts.iter().map(each).collect()).transpose()
}

/// Returns the options of a verb as text.
pub(super) fn text(verb: CallVerb) -> CString {
    let line = |it: &WordEntry| {
        let WordEntry { word, scope, takes, default, sentence, .. } = it;
        format!("{word}\t{scope}\t{takes}\t{default}\t{sentence}\n")
    };
    CString::new(all(verb).iter().map(line).collect::<String>()).unwrap_or_default()
}
