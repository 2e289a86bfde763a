//! How a table is written in its text, and what to read of it.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::OnceLock;

use swath_formats::table::{BatchForm, BatchOptions, ColumnKey, Setting};

use crate::failure::{Failure, Result};
use crate::guard::quietly;
use crate::pointer;
use crate::setter::{change, made};
use crate::status::Status;

/// How a table is written in its text, and what to read of it. One thread at a time may set options, and
/// no thread while a call begins to read with them: it uses what is set then. NULL means defaults: what
/// fits the text.
#[derive(Debug, Default)]
pub struct TableOptions {
    options: BatchOptions,
    has_form: bool,
}

impl TableOptions {
    /// The settings of C for the library; the defaults for NULL. Names of the files may say the form.
    pub(super) fn of(options: Option<&Self>, paths: &[&Path]) -> Result<BatchOptions> {
        match options {
            Some(set) if set.has_form => Ok(set.options.clone()),
            Some(set) => Ok(set.options.clone().with_form(form(paths)?)),
            None => Ok(BatchOptions::new().with_form(form(paths)?)),
        }
    }

    fn set_for_all(&mut self, word: &str, texts: Option<&[&str]>) -> Result<()> {
        self.set(None, word, texts)
    }

    fn set(
        &mut self,
        column: Option<&ColumnKey>,
        word: &str,
        texts: Option<&[&str]>,
    ) -> Result<()> {
        self.options.set_texts(column, word, texts).map_err(Failure::invalid)?;
        if word == "form" {
            self.has_form = texts.is_some();
        }
        Ok(())
    }
}

/// The form of files.
fn form(paths: &[&Path]) -> Result<BatchForm> {
    let named = |path: &&Path| BatchForm::of_name(path).unwrap_or(BatchForm::Csv);
    let first = paths.first().map_or(BatchForm::Csv, named);
    match paths.iter().find(|&&path| named(&path) != first) {
        None => Ok(first),
        Some(other) => {
            let text = format!(
                "{} is of another form than {}; try: set `form` for all",
                other.display(),
                paths[0].display()
            );
            Err(Failure::invalid(text).at_path(other))
        }
    }
}

/// The texts that an option is set to; none for its default.
pub(super) type Texts<'t> = Result<Option<Vec<&'t str>>>;

/// One text; none for NULL.
///
/// # Safety
///
/// As [`pointer::utf8`].
pub(super) unsafe fn one<'t>(value: *const c_char) -> Texts<'t> {
    if value.is_null() {
        return Ok(None);
    }
    // SAFETY: as above.
    Ok(Some(vec![unsafe { pointer::utf8(value, "value") }?]))
}

/// Several texts.
///
/// # Safety
///
/// As [`pointer::texts`].
pub(super) unsafe fn several<'t>(values: *const *const c_char, count: usize) -> Texts<'t> {
    // SAFETY: as above.
    unsafe { pointer::texts(values, count, "values") }.map(Some)
}

/// Sets an option with a setter that takes its word and its texts.
///
/// # Safety
///
/// As [`pointer::utf8`].
pub(super) unsafe fn put<O>(
    options: Option<&mut O>,
    word: *const c_char,
    texts: Texts<'_>,
    set: impl FnOnce(&mut O, &str, Option<&[&str]>) -> Result<()>,
) -> Status {
    change(options, |options| {
        // SAFETY: as above.
        let word = unsafe { pointer::utf8(word, "word") }?;
        set(options, word, texts?.as_deref())
    })
}

/// Sets an option of a column.
///
/// # Safety
///
/// As [`pointer::utf8`].
unsafe fn put_of(
    options: Option<&mut TableOptions>,
    column: Result<ColumnKey>,
    word: *const c_char,
    texts: Texts<'_>,
) -> Status {
    let set = |options: &mut TableOptions, word: &str, texts: Option<&[&str]>| {
        options.set(Some(&column?), word, texts)
    };
    // SAFETY: as above.
    unsafe { put(options, word, texts, set) }
}

/// A column by its name.
///
/// # Safety
///
/// As [`pointer::utf8`].
unsafe fn named(column: *const c_char) -> Result<ColumnKey> {
    // SAFETY: as above.
    Ok(unsafe { pointer::utf8(column, "column") }?.into())
}

/// The options with words, as text.
pub(super) fn words(settings: &[Setting]) -> CString {
    let line = |it: &Setting| {
        let Setting { word, scope, takes, default, sentence, .. } = it;
        format!("{word}\t{scope}\t{takes}\t{default}\t{sentence}\n")
    };
    CString::new(settings.iter().map(line).collect::<String>()).unwrap_or_default()
}

/// Makes options with the defaults. Free them with `swath_table_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_new(
    options: Option<&mut MaybeUninit<Option<Box<TableOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_free(options: Option<Box<TableOptions>>) {
    quietly(|| drop(options));
}

/// Returns the options that have words, a line for each, with tabs between the word; "table", "column" or
/// "both"; what it takes; its default; and what it does. Never NULL; valid for the life of the program.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_words() -> *const c_char {
    static WORDS: OnceLock<CString> = OnceLock::new();
    WORDS.get_or_init(|| words(&BatchOptions::settings())).as_ptr()
}

/// Sets an option by its word: `swath_table_options_set(options, "delimiter", ";")`. NULL as `value` sets
/// the default. Both texts are copied.
///
/// SWATH_STATUS_INVALID_ARGUMENT for a word that is not in `swath_table_options_words`, or that belongs
/// to a column, and for a value that the option does not take; the message has what to pass.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set(
    options: Option<&mut TableOptions>,
    word: *const c_char,
    value: *const c_char,
) -> Status {
    // SAFETY: the contract of the header.
    let value = unsafe { one(value) };
    // SAFETY: as above.
    unsafe { put(options, word, value, TableOptions::set_for_all) }
}

/// As `swath_table_options_set`, for `count` texts: fields that mean something, or names of columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_list(
    options: Option<&mut TableOptions>,
    word: *const c_char,
    values: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the contract of the header.
    let values = unsafe { several(values, count) };
    // SAFETY: as above.
    unsafe { put(options, word, values, TableOptions::set_for_all) }
}

/// As `swath_table_options_set`, for one column, by its name in the header:
/// `swath_table_options_set_of(options, "zip", "types", "text")`. The last call for a column counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_of(
    options: Option<&mut TableOptions>,
    column: *const c_char,
    word: *const c_char,
    value: *const c_char,
) -> Status {
    // SAFETY: the contract of the header.
    let value = unsafe { one(value) };
    // SAFETY: as above.
    let column = unsafe { named(column) };
    // SAFETY: as above.
    unsafe { put_of(options, column, word, value) }
}

/// As `swath_table_options_set_of`, for `count` texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_list_of(
    options: Option<&mut TableOptions>,
    column: *const c_char,
    word: *const c_char,
    values: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the contract of the header.
    let values = unsafe { several(values, count) };
    // SAFETY: as above.
    let column = unsafe { named(column) };
    // SAFETY: as above.
    unsafe { put_of(options, column, word, values) }
}

/// As `swath_table_options_set_of`, for the column with this index in the file, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_at(
    options: Option<&mut TableOptions>,
    index: usize,
    word: *const c_char,
    value: *const c_char,
) -> Status {
    // SAFETY: the contract of the header.
    let value = unsafe { one(value) };
    // SAFETY: as above.
    unsafe { put_of(options, Ok(index.into()), word, value) }
}

/// As `swath_table_options_set_list_of`, for the column with this index in the file, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_list_at(
    options: Option<&mut TableOptions>,
    index: usize,
    word: *const c_char,
    values: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the contract of the header.
    let values = unsafe { several(values, count) };
    // SAFETY: as above.
    unsafe { put_of(options, Ok(index.into()), word, values) }
}
