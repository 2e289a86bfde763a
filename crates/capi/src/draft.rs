//! One file that several processes write.

use std::ffi::{CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use swath::WriteOptions;
use swath::drafts::{DraftReceipt, DraftToken, SharedDraft};
use swath::sink::Durability;

use crate::append::owned::Shared;
use crate::failure::{Failure, Result};
use crate::guard::{guard, quietly};
use crate::options::{CallOptions, CallVerb};
use crate::pointer::{self, given, handle};
use crate::status::Status;

/// A file of known length that several processes write, each at its own places. Nothing of it is
/// visible before the commit. If it is freed before that, nothing of it remains.
#[derive(Debug)]
pub struct Draft {
    draft: Shared<SharedDraft>,
    token: CString,
}

/// A writer of a draft, in the process that began it or in another. Several threads may use it at
/// once.
#[derive(Debug)]
pub struct DraftWriter {
    writer: Shared<swath::drafts::DraftWriter>,
    receipt: OnceLock<CString>,
}

/// Returns text for C; JSON has no NUL.
pub(crate) fn json(text: String) -> Result<CString> {
    CString::new(text).map_err(|error| Failure::new(Status::Panic, error.to_string()))
}

/// Begins a file of `len` bytes that replaces or creates `path` when it is committed. Until then it
/// has a hidden name in the same folder, under which only processes of this user can open it.
/// `options` may be NULL for defaults. Free it with `swath_draft_free`, after the commit too.
///
/// SWATH_STATUS_BUSY if another process or thread is writing the file; SWATH_STATUS_IO and others
/// if the folder cannot be written, has no space for `len` bytes, or `path` names something that
/// cannot be replaced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_draft_create(
    path: *const c_char,
    options: Option<&CallOptions>,
    len: u64,
    draft: Option<&mut MaybeUninit<Option<Box<Draft>>>>,
) -> Status {
    guard(|| {
        let place = handle(draft, "draft")?;
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        let write =
            WriteOptions::new().with_output(CallOptions::output(options, CallVerb::Write)?);
        let draft = write.create_shared(path, len)?;
        let token = json(draft.token().to_json())?;
        *place = Some(Box::new(Draft { draft: Shared::new(draft, "draft"), token }));
        Ok(())
    })
}

/// Returns the token with which other processes open the draft: one line of JSON, which belongs to
/// the handle. NULL if `draft` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_draft_token(draft: Option<&Draft>) -> *const c_char {
    draft.map_or(std::ptr::null(), |draft| draft.token.as_ptr())
}

/// Opens a draft that this or another process has begun, on this machine or on another that sees the
/// same folder under the same path. `token` is the text of `swath_draft_token`. Free the writer with
/// `swath_draft_writer_free`, after `swath_draft_writer_finish` too.
///
/// Of `options`, only progress and cancellation have an effect, on this writer; the others were
/// chosen when the draft was begun. NULL for defaults.
///
/// SWATH_STATUS_CHANGED if the draft has ended: committed, freed, or followed by another;
/// SWATH_STATUS_CORRUPT if `token` is not a token; SWATH_STATUS_PERMISSION_DENIED for another user.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_draft_open(
    token: *const c_char,
    options: Option<&CallOptions>,
    writer: Option<&mut MaybeUninit<Option<Box<DraftWriter>>>>,
) -> Status {
    guard(|| {
        let place = handle(writer, "writer")?;
        // SAFETY: the contract of the header.
        let token = DraftToken::from_json(unsafe { pointer::utf8(token, "token") }?)?;
        let write =
            WriteOptions::new().with_output(CallOptions::output(options, CallVerb::Write)?);
        let writer = Shared::new(write.open_shared(&token)?, "writer");
        *place = Some(Box::new(DraftWriter { writer, receipt: OnceLock::new() }));
        Ok(())
    })
}

/// Writes `len` bytes at `offset`, straight from the caller's memory. Bytes that are written twice
/// come from one of the writes.
///
/// SWATH_STATUS_INVALID_ARGUMENT if they extend past the length of the draft; none of them is then
/// written. SWATH_STATUS_CHANGED if the draft has ended. After an error this writer gives no
/// receipt.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_draft_writer_write(
    writer: Option<&DraftWriter>,
    data: *const c_void,
    len: usize,
    offset: u64,
) -> Status {
    guard(|| {
        let writer = given(writer, "writer")?.writer.get()?;
        // SAFETY: the contract of the header.
        let bytes = unsafe { pointer::items(data.cast::<u8>(), len, "data") }?;
        Ok(writer.write_at(bytes, offset)?)
    })
}

/// Declares that everything is written. If `is_durable`, it waits for the device, as the options of
/// the draft say; otherwise one writer of each machine must do so, and finish last: it waits for
/// the bytes of all processes of the machine. On the machine of the commit, no writer has to.
/// Afterwards `swath_draft_writer_receipt` returns the receipt that the commit needs.
///
/// SWATH_STATUS_BUSY if another thread is using the writer, which leaves everything unchanged;
/// SWATH_STATUS_POISONED after a failed write; SWATH_STATUS_CHANGED if the draft has ended.
#[unsafe(no_mangle)]
pub extern "C" fn swath_draft_writer_finish(
    writer: Option<&DraftWriter>,
    is_durable: bool,
) -> Status {
    guard(|| {
        let writer = given(writer, "writer")?;
        let durability = if is_durable { Durability::Full } else { Durability::None };
        let receipt = json(writer.writer.take()?.finish_with(durability)?.to_json())?;
        // The writer was taken once, so this is the first receipt.
        let _ = writer.receipt.set(receipt);
        Ok(())
    })
}

/// Returns the receipt of the written bytes: one line of JSON for the process that commits, which
/// belongs to the handle. NULL before `swath_draft_writer_finish` has succeeded.
#[unsafe(no_mangle)]
pub extern "C" fn swath_draft_writer_receipt(writer: Option<&DraftWriter>) -> *const c_char {
    let receipt = writer.and_then(|writer| writer.receipt.get());
    receipt.map_or(std::ptr::null(), |text| text.as_ptr())
}

/// Frees the writer; NULL is ignored. Without a receipt, the commit does not know of its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn swath_draft_writer_free(writer: Option<Box<DraftWriter>>) {
    quietly(|| drop(writer));
}

/// Gives the file its name, durably unless the options say otherwise. Call it in the process that
/// began the draft, when every writer has finished, with the `count` receipts of all, in any order. Bytes
/// that are in no receipt are an error or, if `has_gaps`, zero.
/// Free the handle afterwards; any other use of it is SWATH_STATUS_INVALID_ARGUMENT.
///
/// SWATH_STATUS_INVALID_ARGUMENT if a byte is in no receipt, with the first such bytes in
/// `swath_last_error_extent`, or if a receipt is of another draft; SWATH_STATUS_CORRUPT if a text is
/// not a receipt. Otherwise as for `swath_append_commit`. After any failure the old file remains,
/// unless the status is SWATH_STATUS_OUTCOME_UNKNOWN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_draft_commit(
    draft: Option<&Draft>,
    receipts: *const *const c_char,
    count: usize,
    has_gaps: bool,
) -> Status {
    guard(|| {
        let draft = given(draft, "draft")?;
        // SAFETY: the contract of the header.
        let receipts = unsafe { pointer::texts(receipts, count, "receipts") }?;
        let receipts: swath::Result<Vec<_>> =
            receipts.into_iter().map(DraftReceipt::from_json).collect();
        // Before the draft is taken: a wrong text leaves it unchanged.
        let receipts = receipts?;
        let commit = if has_gaps { SharedDraft::commit_with_gaps } else { SharedDraft::commit };
        Ok(commit(draft.draft.take()?, &receipts)?)
    })
}

/// Frees the draft and discards bytes that are not committed; NULL is ignored. Its writers must
/// still be freed; writing with one is SWATH_STATUS_CHANGED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_draft_free(draft: Option<Box<Draft>>) {
    quietly(|| drop(draft));
}
