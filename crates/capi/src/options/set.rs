//! The functions that set options.

use std::ffi::{CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;

use swath_formats::table::ColumnKey;

use crate::cancel::CancelToken;
use crate::failure::{Failure, Result};
use crate::guard::guard;
use crate::options::hooks::ProgressFn;
use crate::options::word::{self, Change};
use crate::options::{CallOptions, CallVerb};
use crate::pointer::{self, given};
use crate::status::Status;

/// Sets an option by its word: `swath_options_set(options, "workers", "4")`. NULL as `value` sets the
/// default. Both texts are copied. The last call for a word counts.
///
/// SWATH_STATUS_INVALID_ARGUMENT for a word that is not in `swath_options_words`, or that belongs to a
/// column, and for a value that the option does not take; the message says what to pass. After a
/// failure the options are unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_options_set(
    options: Option<&mut CallOptions>,
    word: *const c_char,
    value: *const c_char,
) -> Status {
    guard(|| {
        // SAFETY: as above.
        unsafe { put_one(options, Ok(None), word, value) }
    })
}

/// As `swath_options_set`, for a value that is a whole number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_options_set_number(
    options: Option<&mut CallOptions>,
    word: *const c_char,
    value: u64,
) -> Status {
    guard(|| {
        let text = value.to_string();
        // SAFETY: the contract of the header.
        unsafe { put(options, Ok(None), word, Some(&[OsStr::new(&text)])) }
    })
}

/// As `swath_options_set`, for `count` texts: names of columns, fields that mean something, paths of
/// mirrors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_options_set_list(
    options: Option<&mut CallOptions>,
    word: *const c_char,
    values: *const *const c_char,
    count: usize,
) -> Status {
    guard(|| {
        // SAFETY: as above.
        unsafe { put_list(options, Ok(None), word, values, count) }
    })
}

/// As `swath_options_set`, for one column of a table, by its name in the header:
/// `swath_options_set_of(options, "zip", "types", "text")`. The last call for a column and a word counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_options_set_of(
    options: Option<&mut CallOptions>,
    column: *const c_char,
    word: *const c_char,
    value: *const c_char,
) -> Status {
    guard(|| {
        // SAFETY: as above.
        let column = unsafe { named(column) };
        // SAFETY: as above.
        unsafe { put_one(options, column, word, value) }
    })
}

/// As `swath_options_set_of`, for `count` texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_options_set_list_of(
    options: Option<&mut CallOptions>,
    column: *const c_char,
    word: *const c_char,
    values: *const *const c_char,
    count: usize,
) -> Status {
    guard(|| {
        // SAFETY: as above.
        let column = unsafe { named(column) };
        // SAFETY: as above.
        unsafe { put_list(options, column, word, values, count) }
    })
}

/// As `swath_options_set_of`, for the column with this index in the file, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_options_set_at(
    options: Option<&mut CallOptions>,
    index: usize,
    word: *const c_char,
    value: *const c_char,
) -> Status {
    guard(|| {
        // SAFETY: as above.
        unsafe { put_one(options, Ok(Some(index.into())), word, value) }
    })
}

/// As `swath_options_set_list_of`, for the column with this index in the file, from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_options_set_list_at(
    options: Option<&mut CallOptions>,
    index: usize,
    word: *const c_char,
    values: *const *const c_char,
    count: usize,
) -> Status {
    guard(|| {
        // SAFETY: as above.
        unsafe { put_list(options, Ok(Some(index.into())), word, values, count) }
    })
}

/// Sets the function that receives progress, and the pointer passed to it: bytes read or, in calls
/// that write, bytes written. Default NULL: no function.
#[unsafe(no_mangle)]
pub extern "C" fn swath_options_set_progress(
    options: Option<&mut CallOptions>,
    progress: ProgressFn,
    user_data: *mut c_void,
) -> Status {
    guard(|| {
        given(options, "options")?.read.hooks.set_progress(progress, user_data);
        Ok(())
    })
}

/// Sets the token that cancels calls with these options; those that write, until their commit begins.
/// Default NULL: no token. The options keep what they need of it.
#[unsafe(no_mangle)]
pub extern "C" fn swath_options_set_cancel(
    options: Option<&mut CallOptions>,
    token: Option<&CancelToken>,
) -> Status {
    guard(|| {
        given(options, "options")?.read.hooks.set_cancel(token);
        Ok(())
    })
}

/// Promises that until a call with these options returns, no process writes to the file or
/// truncates it. The file may then be mapped: by `swath_read` with the engine `map`, and by
/// `swath_sum`, `swath_count` and `swath_records` wherever that is faster. Other calls never map;
/// those that use the engine return SWATH_STATUS_INVALID_ARGUMENT for `map`, and so does this function
/// for options of calls that write.
///
/// Breaking the promise is undefined behaviour: if a mapped file is truncated, SIGBUS ends the
/// process. Without the promise this cannot happen. It applies to calls that read one file
/// without mirrors; other calls read as usual.
#[unsafe(no_mangle)]
pub extern "C" fn swath_options_promise_frozen(options: Option<&mut CallOptions>) -> Status {
    guard(|| {
        let options = given(options, "options")?;
        if options.verb.base() == CallVerb::Write {
            return Err(Failure::invalid(
                "a call that writes maps no file; try: leave the promise out",
            ));
        }
        options.read.frozen = true;
        Ok(())
    })
}

/// Returns one text; none for NULL.
///
/// # Safety
///
/// As [`pointer::text`].
unsafe fn one<'t>(value: *const c_char) -> Result<Option<&'t OsStr>> {
    if value.is_null() {
        return Ok(None);
    }
    // SAFETY: as above.
    Ok(Some(OsStr::from_bytes(unsafe { pointer::text(value, "value") }?)))
}

/// Returns several texts.
///
/// # Safety
///
/// As [`pointer::items`], and each of them as [`pointer::text`].
unsafe fn several<'t>(values: *const *const c_char, count: usize) -> Result<Vec<&'t OsStr>> {
    // SAFETY: as above.
    let pointers = unsafe { pointer::items(values, count, "values") }?;
    let each = |(index, &text): (usize, &*const c_char)| {
        // SAFETY: as above.
        let text = unsafe { pointer::text(text, &format!("values[{index}]")) }?;
        Ok(OsStr::from_bytes(text))
    };
    pointers.iter().enumerate().map(each).collect()
}

/// Returns a column by its name.
///
/// # Safety
///
/// As [`pointer::utf8`].
unsafe fn named(column: *const c_char) -> Result<Option<ColumnKey>> {
    // SAFETY: as above.
    Ok(Some(unsafe { pointer::utf8(column, "column") }?.into()))
}

/// Sets an option to one text; for NULL, to its default.
///
/// # Safety
///
/// As [`pointer::text`].
pub(super) unsafe fn put_one(
    options: Option<&mut CallOptions>,
    column: Result<Option<ColumnKey>>,
    word: *const c_char,
    value: *const c_char,
) -> Result<()> {
    // SAFETY: as above.
    let value = unsafe { one(value) }?;
    // SAFETY: as above.
    unsafe { put(options, column, word, value.as_ref().map(std::slice::from_ref)) }
}

/// Sets an option to several texts.
///
/// # Safety
///
/// As [`several`].
unsafe fn put_list(
    options: Option<&mut CallOptions>,
    column: Result<Option<ColumnKey>>,
    word: *const c_char,
    values: *const *const c_char,
    count: usize,
) -> Result<()> {
    // SAFETY: as above.
    let values = unsafe { several(values, count) }?;
    // SAFETY: as above.
    unsafe { put(options, column, word, Some(&values)) }
}

/// Sets an option, of the call or of a column; without texts, its default.
///
/// # Safety
///
/// As [`pointer::utf8`].
unsafe fn put(
    options: Option<&mut CallOptions>,
    column: Result<Option<ColumnKey>>,
    word: *const c_char,
    texts: Option<&[&OsStr]>,
) -> Result<()> {
    let options = given(options, "options")?;
    // SAFETY: as above.
    let word = unsafe { pointer::utf8(word, "word") }?;
    let column = column?;
    let entry = word::find(options.verb, word)?;
    (entry.set)(options, Change { entry, column: column.as_ref(), texts })?;
    if column.is_none() {
        let text = match texts {
            Some(texts) => texts.join(OsStr::new("\n")).into_encoded_bytes(),
            None => entry.default.clone().into_bytes(),
        };
        options.texts.insert(entry.word, CString::new(text).unwrap_or_default());
    }
    Ok(())
}
