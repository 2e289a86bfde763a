//! The verb that writes tables.

use std::error::Error as _;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;

use crate::failure::Failure;
use crate::guard::guard;
use crate::output::OutputOptions;
use crate::pointer;
use crate::status::Status;
use crate::table::given::{Given, taken};
use crate::table::write_options::TableWriteOptions;

/// Writes the batches of a stream, by all workers: as CSV, TSV, JSON Lines, an Arrow file or an Arrow
/// stream, compressed on the way if the name or `table` says so. The file is complete under its name,
/// or as it was before. Sets `rows` to the number of rows, `bytes` to the bytes of the file, and
/// `not_finite` to the numbers that are NaN or infinite and became null, since JSON has none; each may be
/// NULL. `output` and `table` may be NULL for defaults.
///
/// It takes the stream: whatever happens, `release` of `batches` is NULL afterwards, and the stream was
/// released. Its functions are called on the calling thread and on threads of the library, one at a
/// time; what holds for callbacks holds for them.
///
/// SWATH_STATUS_INVALID_ARGUMENT if the stream was released before, has no tables, or has a column or
/// a value that the form cannot hold; if the stream fails, the status for its `errno`, which
/// `swath_last_error_errno` returns too, with its text in the message; otherwise as for `swath_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_table_write(
    path: *const c_char,
    batches: Option<&mut FFI_ArrowArrayStream>,
    output: Option<&OutputOptions>,
    table: Option<&TableWriteOptions>,
    rows: Option<&mut MaybeUninit<u64>>,
    bytes: Option<&mut MaybeUninit<u64>>,
    not_finite: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let stream = taken(batches);
        let [rows, bytes, not_finite] =
            [rows, bytes, not_finite].map(|it| it.map(|it| it.write(0)));
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        let given = Given::open(stream?).map_err(|failure| {
            let text = format!("cannot write {}: {failure}", path.display());
            failure.saying(text).at_path(path)
        })?;
        let options = TableWriteOptions::of(table).with_output(OutputOptions::of(output));
        let schema = Arc::clone(&given.schema);
        let written = options.write_batches(path, &schema, given).map_err(failed)?;
        let counts = [written.rows, written.bytes_out, written.not_finite];
        for (place, count) in [rows, bytes, not_finite].into_iter().zip(counts) {
            if let Some(place) = place {
                *place = count;
            }
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
