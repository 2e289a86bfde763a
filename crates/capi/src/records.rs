//! The verb `records`: blocks of whole records, on several threads.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::MaybeUninit;

use swath::{BlockRecords, Cut, Extent};

use crate::failure::{Failure, Result};
use crate::guard::{guard, quietly};
use crate::options::{Maps, ReadOptions, SWATH_TO_END, resolve, told};
use crate::pointer::{self, given, wanted};
use crate::report::{Report, tell};
use crate::setter::{made, put};
use crate::status::Status;
use crate::user::UserData;

/// Where records end, and how long they may be. One thread at a time may set options, and no
/// thread while a call uses them. NULL means defaults: lines.
#[derive(Debug)]
pub struct RecordOptions {
    cut: Cut,
    block_size: u64,
    record_limit: u64,
    starting_in: Option<Extent>,
    /// The text of `cut`.
    text: CString,
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self {
            cut: Cut::Byte(b'\n'),
            block_size: 0,
            record_limit: 0,
            starting_in: None,
            text: LINES.to_owned(),
        }
    }
}

/// The text of the defaults.
const LINES: &CStr = c"records end after each byte 10";

impl RecordOptions {
    fn cut(&mut self, cut: Cut) {
        let text = match cut {
            Cut::Byte(byte) => format!("records end after each byte {byte}"),
            Cut::Fixed(width) => format!("records have {width} bytes"),
            Cut::Quoted { quote, delimiter } => {
                format!("records end after each byte {delimiter} outside bytes {quote}")
            }
            _ => format!("{cut:?}"),
        };
        (self.cut, self.text) = (cut, CString::new(text).unwrap_or_default());
    }
}

/// Makes options for lines. Free them with `swath_record_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_record_options_new(
    options: Option<&mut MaybeUninit<Option<Box<RecordOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_record_options_free(options: Option<Box<RecordOptions>>) {
    quietly(|| drop(options));
}

/// Ends a record after each byte of this value. What follows the last one is a record too, unless
/// it is empty. Default: a newline.
#[unsafe(no_mangle)]
pub extern "C" fn swath_record_options_set_delimiter(
    options: Option<&mut RecordOptions>,
    delimiter: u8,
) -> Status {
    put(options, |options| options.cut(Cut::Byte(delimiter)))
}

/// Ends a record every `width` bytes. A shorter last record is an error of the call that reads,
/// and so is a width of 0.
#[unsafe(no_mangle)]
pub extern "C" fn swath_record_options_set_fixed(
    options: Option<&mut RecordOptions>,
    width: u64,
) -> Status {
    put(options, |options| options.cut(Cut::Fixed(width)))
}

/// Ends a record after each `delimiter` that is not inside quotes: CSV, where a field may contain
/// a newline. A quote inside quotes is doubled. A quote that is never closed is an error of the
/// call that reads.
#[unsafe(no_mangle)]
pub extern "C" fn swath_record_options_set_quoted(
    options: Option<&mut RecordOptions>,
    quote: u8,
    delimiter: u8,
) -> Status {
    put(options, |options| options.cut(Cut::Quoted { quote, delimiter }))
}

/// Returns where records end with these options, as text: for programs whose processes must have the
/// same options. NULL gives the text of the defaults. Valid until options are set or freed.
#[unsafe(no_mangle)]
pub extern "C" fn swath_record_options_text(options: Option<&RecordOptions>) -> *const c_char {
    options.map_or(LINES, |options| &options.text).as_ptr()
}

/// Sets the bytes of a block. Default 0: the chunk size of the read options, or 1 MiB.
#[unsafe(no_mangle)]
pub extern "C" fn swath_record_options_set_block_size(
    options: Option<&mut RecordOptions>,
    bytes: u64,
) -> Status {
    put(options, |options| options.block_size = bytes)
}

/// Sets the length of the longest accepted record in bytes; a longer one is an error of the call
/// that reads. Default 0: as much as fits into the available memory.
#[unsafe(no_mangle)]
pub extern "C" fn swath_record_options_set_record_limit(
    options: Option<&mut RecordOptions>,
    bytes: u64,
) -> Status {
    put(options, |options| options.record_limit = bytes)
}

/// Takes only the records that begin in the `len` bytes from `offset`; the last one is taken to
/// its end, wherever that is. If extents cover a file without overlap, each record begins in
/// exactly one of them. SWATH_TO_END stands for all bytes after the offset. Default: all records.
///
/// SWATH_STATUS_INVALID_ARGUMENT if offset and length exceed 2^64. A source that can
/// only be read in order, such as a pipe, is read from its start.
#[unsafe(no_mangle)]
pub extern "C" fn swath_record_options_set_starting_in(
    options: Option<&mut RecordOptions>,
    offset: u64,
    len: u64,
) -> Status {
    guard(|| {
        let len = if len == SWATH_TO_END { u64::MAX - offset } else { len };
        let Some(extent) = Extent::new(offset, len) else {
            return Err(Failure::invalid("offset and length exceed 2^64"));
        };
        given(options, "options")?.starting_in = Some(extent);
        Ok(())
    })
}

/// Adjacent records, each whole. Valid until the callback returns, on the thread that runs it.
#[derive(Debug)]
pub struct Block<'b> {
    block: swath::Block<'b>,
    records: BlockRecords<'b>,
}

/// Receives a block. Returns 0 to go on, any other value to stop. Called by several threads at
/// once, in any order; the calling thread is one of them. It must not throw or `longjmp`.
pub type BlockFn = Option<extern "C" fn(block: *mut Block<'_>, user_data: *mut c_void) -> i32>;

/// Splits a file, or the part that `options` select, into records and calls `callback` for each
/// block of them. No record is ever split. `records` says where records end; NULL means lines.
/// `report` may be NULL; free it with `swath_report_free`.
///
/// If the callback returns a value other than 0, no further block begins, and this function
/// returns SWATH_STATUS_STOPPED once the running ones have ended. Blocks after that one may have
/// been passed already.
///
/// Errors as for `swath_read`; SWATH_STATUS_CORRUPT, with the bytes of the record, if the last
/// one has no end; SWATH_STATUS_INVALID_ARGUMENT if a record is longer than the limit or the
/// record options are impossible.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_records(
    path: *const c_char,
    options: Option<&ReadOptions>,
    records: Option<&RecordOptions>,
    callback: BlockFn,
    user_data: *mut c_void,
    report: Option<&mut MaybeUninit<Option<Box<Report>>>>,
) -> Status {
    guard(|| {
        let report = wanted(report);
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        let (callback, user_data) = (given(callback, "callback")?, UserData(user_data));
        let defaults = RecordOptions::default();
        let wish = records.unwrap_or(&defaults);
        let call = resolve(options, path)?;
        let records = match call.frozen() {
            Some(frozen) => call.options.records_mapped(frozen, path),
            None => call.options.records(call.source.clone()),
        };
        let records = records
            .with_cut(wish.cut)
            .with_block_size(wish.block_size)
            .with_record_limit(wish.record_limit);
        let records = match wish.starting_in {
            Some(extent) => records.with_starting_in(extent),
            None => records,
        };
        let each = |block: swath::Block<'_>| -> Result<()> {
            let mut block = Block { block, records: block.records() };
            match callback(&raw mut block, user_data.get()) {
                0 => Ok(()),
                value => Err(Failure::stopped(value, path)),
            }
        };
        let passed = records.for_each_block(each);
        tell(report, passed.map_err(told(options, Maps::OncePromised))?);
        Ok(())
    })
}

/// Returns the number of a block, counted from where the read began: the same in every run with
/// the same block size. Numbers of blocks in which no record begins are left out.
#[unsafe(no_mangle)]
pub extern "C" fn swath_block_index(block: Option<&Block<'_>>) -> u64 {
    block.map_or(0, |block| block.block.index)
}

/// Returns the offset of a block in the file.
#[unsafe(no_mangle)]
pub extern "C" fn swath_block_offset(block: Option<&Block<'_>>) -> u64 {
    block.map_or(0, |block| block.block.offset)
}

/// Returns the first byte of a block: whole records, each with its delimiter if it has one.
#[unsafe(no_mangle)]
pub extern "C" fn swath_block_data(block: Option<&Block<'_>>) -> *const u8 {
    block.map_or(std::ptr::null(), |block| block.block.bytes.as_ptr())
}

/// Returns the length of a block in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn swath_block_len(block: Option<&Block<'_>>) -> usize {
    block.map_or(0, |block| block.block.bytes.len())
}

/// Moves to the next record of a block, at first to the first one: points `record` at its first
/// byte and sets `len` to its length without the delimiter. Returns false, and sets neither, if
/// there is no further record or a pointer is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_block_next(
    block: Option<&mut Block<'_>>,
    record: Option<&mut MaybeUninit<*const u8>>,
    len: Option<&mut MaybeUninit<usize>>,
) -> bool {
    let (Some(block), Some(record), Some(len)) = (block, record, len) else { return false };
    let next = block.records.next();
    if let Some(bytes) = next {
        record.write(bytes.as_ptr());
        len.write(bytes.len());
    }
    next.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_where_records_end() {
        let mut options = RecordOptions::default();
        options.cut(Cut::Byte(b'\n'));
        assert_eq!(options.text.as_c_str(), LINES);
        options.cut(Cut::Fixed(24));
        assert_eq!(options.text.to_str(), Ok("records have 24 bytes"));
        options.cut(Cut::Quoted { quote: 34, delimiter: 59 });
        let text = "records end after each byte 59 outside bytes 34";
        assert_eq!(options.text.to_str(), Ok(text));
    }
}
