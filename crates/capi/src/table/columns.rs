//! Which columns of a table are read, and what is known of them.

use std::ffi::c_char;

use swath_formats::table::{BatchOptions, ColumnKey, ColumnType};

use crate::failure::{Failure, Result};
use crate::pointer;
use crate::setter::{change, put, set};
use crate::status::Status;
use crate::table::options::TableOptions;

/// Sets what is known of a column; the last call counts.
fn know<V>(known: &mut Vec<(ColumnKey, V)>, column: ColumnKey, value: V) {
    known.retain(|(other, _)| *other != column);
    known.push((column, value));
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

/// The type for a word.
///
/// # Safety
///
/// As [`pointer::utf8`].
unsafe fn kind(word: *const c_char) -> Result<ColumnType> {
    // SAFETY: as above.
    unsafe { pointer::utf8(word, "type") }?.parse().map_err(Failure::invalid)
}

/// Reads the column with this name in the header, after those that were added before; columns that
/// are not added are neither parsed nor checked. Default: all columns. The name is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_add_column(
    options: Option<&mut TableOptions>,
    column: *const c_char,
) -> Status {
    change(options, |options| {
        // SAFETY: the contract of the header.
        options.columns.push(unsafe { named(column) }?);
        Ok(())
    })
}

/// As `swath_table_options_add_column`, for the column with this index in the file, from 0.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_add_column_index(
    options: Option<&mut TableOptions>,
    index: usize,
) -> Status {
    put(options, |options| options.columns.push(index.into()))
}

/// Forgets the columns that were added: all are read.
#[unsafe(no_mangle)]
pub extern "C" fn swath_table_options_clear_columns(
    options: Option<&mut TableOptions>,
) -> Status {
    put(options, |options| options.columns.clear())
}

/// Sets the type of a column by a word: `bool`; `i8`, `i16`, `i32`, `i64`, `u8` and so on; `f32`,
/// `f64`; `date`; `timestamp[us]` or `timestamp[us, UTC]`, with `s`, `ms`, `us` or `ns`; `text`;
/// `dictionary`; `null`. A value of another type is an error of the call that reads, or of the
/// stream. `column` is its name in the header. Default: the type that holds all values in the file.
/// Both texts are copied.
///
/// SWATH_STATUS_INVALID_ARGUMENT for any other word; the message lists all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_type(
    options: Option<&mut TableOptions>,
    column: *const c_char,
    r#type: *const c_char,
) -> Status {
    change(options, |options| {
        // SAFETY: the contract of the header.
        let column = unsafe { named(column) }?;
        // SAFETY: as above.
        know(&mut options.types, column, unsafe { kind(r#type) }?);
        Ok(())
    })
}

/// As `swath_table_options_set_type`, for the column with this index in the file, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_type_at(
    options: Option<&mut TableOptions>,
    index: usize,
    r#type: *const c_char,
) -> Status {
    change(options, |options| {
        // SAFETY: the contract of the header.
        know(&mut options.types, index.into(), unsafe { kind(r#type) }?);
        Ok(())
    })
}

/// Sets how dates or timestamps of a column are written, in the notation of strftime(3), such as
/// "%d.%m.%Y". Without a type the column is a date if the format has no time, and otherwise a
/// timestamp in microseconds. `column` is its name in the header. Both texts are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_format(
    options: Option<&mut TableOptions>,
    column: *const c_char,
    format: *const c_char,
) -> Status {
    change(options, |options| {
        // SAFETY: the contract of the header.
        let column = unsafe { named(column) }?;
        // SAFETY: as above.
        let format = unsafe { pointer::utf8(format, "format") }?;
        know(&mut options.formats, column, format.to_owned());
        Ok(())
    })
}

/// As `swath_table_options_set_format`, for the column with this index in the file, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_format_at(
    options: Option<&mut TableOptions>,
    index: usize,
    format: *const c_char,
) -> Status {
    change(options, |options| {
        // SAFETY: the contract of the header.
        let format = unsafe { pointer::utf8(format, "format") }?;
        know(&mut options.formats, index.into(), format.to_owned());
        Ok(())
    })
}

/// Gives a column another name in the batches and in the report. `column` is its name in the header.
/// Both texts are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_name(
    options: Option<&mut TableOptions>,
    column: *const c_char,
    name: *const c_char,
) -> Status {
    change(options, |options| {
        // SAFETY: the contract of the header.
        let column = unsafe { named(column) }?;
        // SAFETY: as above.
        let name = unsafe { pointer::utf8(name, "name") }?;
        know(&mut options.names, column, name.to_owned());
        Ok(())
    })
}

/// As `swath_table_options_set_name`, for the column with this index in the file, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_name_at(
    options: Option<&mut TableOptions>,
    index: usize,
    name: *const c_char,
) -> Status {
    change(options, |options| {
        // SAFETY: the contract of the header.
        let name = unsafe { pointer::utf8(name, "name") }?;
        know(&mut options.names, index.into(), name.to_owned());
        Ok(())
    })
}

/// Sets words of one column with a setter of the library.
///
/// # Safety
///
/// That of the functions which call it.
unsafe fn set_words_of<'w>(
    options: Option<&mut TableOptions>,
    column: *const c_char,
    words: *const *const c_char,
    count: usize,
    with: fn(BatchOptions, ColumnKey, Vec<&'w str>) -> BatchOptions,
) -> Status {
    // SAFETY: the contract of the header.
    let column = unsafe { named(column) };
    // SAFETY: as above.
    let words = unsafe { pointer::texts(words, count, "words") };
    set(options, |options| Ok(with(options, column?, words?)))
}

/// Sets the `count` fields of one column that mean a missing value, in place of those of
/// `swath_table_options_set_null_values`, which the other columns keep; the last call for a column
/// counts. In text of fixed width, the empty field is one too. `column` is its name in the header. All
/// texts are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_null_values_of(
    options: Option<&mut TableOptions>,
    column: *const c_char,
    words: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the contract of the header.
    unsafe { set_words_of(options, column, words, count, BatchOptions::with_null_values_of) }
}

/// Sets the `count` fields of one column that mean true, as
/// `swath_table_options_set_null_values_of` sets those for missing values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_true_values_of(
    options: Option<&mut TableOptions>,
    column: *const c_char,
    words: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the contract of the header.
    unsafe { set_words_of(options, column, words, count, BatchOptions::with_true_values_of) }
}

/// Sets the `count` fields of one column that mean false, as
/// `swath_table_options_set_null_values_of` sets those for missing values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_options_set_false_values_of(
    options: Option<&mut TableOptions>,
    column: *const c_char,
    words: *const *const c_char,
    count: usize,
) -> Status {
    // SAFETY: the contract of the header.
    unsafe { set_words_of(options, column, words, count, BatchOptions::with_false_values_of) }
}
