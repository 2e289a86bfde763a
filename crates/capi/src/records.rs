//! The verb `records`: blocks of whole records, on several threads.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

use swath::BlockRecords;

use crate::failure::{Failure, Result};
use crate::guard::guard;
use crate::options::{CallOptions, CallVerb, Maps, resolve, told};
use crate::pointer::{self, given, wanted};
use crate::report::{Report, tell};
use crate::status::Status;
use crate::user::UserData;

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
/// block of them. No record is ever split. The options say where records end; by default they are lines.
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
    options: Option<&CallOptions>,
    callback: BlockFn,
    user_data: *mut c_void,
    report: Option<&mut MaybeUninit<Option<Box<Report>>>>,
) -> Status {
    guard(|| {
        let report = wanted(report);
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        let (callback, user_data) = (given(callback, "callback")?, UserData(user_data));
        let wish = CallOptions::records(options)?;
        let options = CallOptions::reading(options, CallVerb::Records)?;
        let call = resolve(options, path)?;
        let records = match call.frozen() {
            Some(frozen) => call.options.records_mapped(frozen, path),
            None => call.options.records(call.source.clone()),
        };
        let records = records
            .with_cut(wish.cut()?)
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

/// Moves to the next record of a block; the first call moves to the first one. Points `record` at
/// its first byte and sets `len` to its length without the delimiter. Returns false, and sets
/// neither, if there is no further record or a pointer is NULL.
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
