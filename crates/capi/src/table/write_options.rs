//! How a table is written.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use swath_formats::table::BatchWriteOptions;

use crate::failure::{Failure, Result};
use crate::guard::quietly;
use crate::setter::made;
use crate::status::Status;
use crate::table::options::{one, put, several, words};

/// How a table is written in its file. One thread at a time may set options, and no thread while a
/// call writes with them. NULL means defaults: form and compression by the name, a header, commas,
/// quotes where necessary.
#[derive(Debug, Default)]
pub struct TableWriteOptions(BatchWriteOptions);

impl TableWriteOptions {
    /// The settings of C for the library; the defaults for NULL.
    pub(super) fn of(options: Option<&Self>) -> BatchWriteOptions {
        options.map_or_else(BatchWriteOptions::new, |set| set.0.clone())
    }

    fn set(&mut self, word: &str, texts: Option<&[&str]>) -> Result<()> {
        self.0.set_texts(None, word, texts).map_err(Failure::invalid)
    }
}

/// Makes options with the defaults. Free them with `swath_table_write_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_new(
    options: Option<&mut MaybeUninit<Option<Box<TableWriteOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_free(options: Option<Box<TableWriteOptions>>) {
    quietly(|| drop(options));
}

/// Returns the options that have words, as `swath_table_options_words` does.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_write_options_words() -> *const c_char {
    static WORDS: OnceLock<CString> = OnceLock::new();
    WORDS.get_or_init(|| words(&BatchWriteOptions::settings())).as_ptr()
}

/// Sets an option by its word, one of `swath_table_write_options_words`, as `swath_table_options_set` does:
/// `swath_table_write_options_set(options, "quoting", "all")`. NULL as `value` sets the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_write_options_set(
    options: Option<&mut TableWriteOptions>,
    word: *const c_char,
    value: *const c_char,
) -> Status {
    // SAFETY: the contract of the header.
    let value = unsafe { one(value) };
    // SAFETY: as above.
    unsafe { put(options, word, value, TableWriteOptions::set) }
}

/// As `swath_table_write_options_set`, for `count` texts: the names of the columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_write_options_set_list(
    options: Option<&mut TableWriteOptions>,
    word: *const c_char,
    values: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the contract of the header.
    let values = unsafe { several(values, count) };
    // SAFETY: as above.
    unsafe { put(options, word, values, TableWriteOptions::set) }
}
