//! The verb that writes tables.

use std::error::Error as _;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use swath_formats::table::BatchesWritten;

use crate::failure::Failure;
use crate::guard::guard;
use crate::options::CallOptions;
use crate::pointer;
use crate::status::Status;
use crate::table::given::{Given, taken};

/// The report of a table that was written.
#[repr(C)]
#[derive(Debug, Default)]
pub struct TableWritten {
    /// Rows.
    pub rows: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Numbers that are NaN or infinite and became null, since JSON has none.
    pub not_finite: u64,
}

/// Writes the batches of a stream, by all workers: as CSV, TSV, JSON Lines, an Arrow file or an Arrow
/// stream, compressed on the way if the name or the options say so. The file is complete under its name,
/// or as it was before. Sets `written`, to zeros if nothing was written; it may be NULL, as may
/// `options` for defaults.
///
/// It takes the stream: whatever happens, `release` of `batches` is NULL afterwards, and the stream was
/// released. Its functions are called on the calling thread and on threads of the library, one at a
/// time; the rules for callbacks apply to them.
///
/// SWATH_STATUS_INVALID_ARGUMENT if the stream was released before, has no tables, or has a column or
/// a value that the form cannot hold; if the stream fails, the status for its `errno`, which
/// `swath_last_error_errno` returns too, with its text in the message; otherwise as for `swath_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_write(
    path: *const c_char,
    batches: Option<&mut FFI_ArrowArrayStream>,
    options: Option<&CallOptions>,
    written: Option<&mut MaybeUninit<TableWritten>>,
) -> Status {
    guard(|| {
        let stream = taken(batches);
        let place = written.map(|it| it.write(TableWritten::default()));
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        let given = Given::open(stream?).map_err(|failure| {
            let text = format!("cannot write {}: {failure}", path.display());
            failure.saying(text).at_path(path)
        })?;
        let options = CallOptions::table_write(options)?;
        let schema = Arc::clone(&given.schema);
        let written = options.write_batches(path, &schema, given).map_err(failed)?;
        if let Some(place) = place {
            let BatchesWritten { rows, bytes_out: bytes, not_finite, .. } = written;
            *place = TableWritten { rows, bytes, not_finite };
        }
        Ok(())
    })
}

/// The failure of the stream has its own status.
fn failed(error: swath_formats::Error) -> Failure {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<Failure>());
    let other = cause.map(Failure::kind);
    let failure = Failure::from(error);
    match other {
        Some(other) => failure.with_kind(other),
        None => failure,
    }
}
