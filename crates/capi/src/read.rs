//! The verb `read`.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

use crate::buffer::Buffer;
use crate::guard::guard;
use crate::options::{CallOptions, CallVerb, Maps, ReadOptions, resolve, told};
use crate::pointer::{self, handle, wanted};
use crate::report::{Report, tell};
use crate::status::Status;

/// Reads a file, or the part that `options` select, into new memory, in the fastest way for this
/// file at this moment. Free `buffer` with `swath_buffer_free`. `report`, which may be NULL,
/// describes the read; free it with `swath_report_free`. After a failure both are NULL.
///
/// SWATH_STATUS_NOT_FOUND, SWATH_STATUS_PERMISSION_DENIED or SWATH_STATUS_IO if it cannot be
/// read; SWATH_STATUS_CHANGED if it changed while it was read; SWATH_STATUS_TRUNCATED if it has
/// fewer bytes than the options select; SWATH_STATUS_OUT_OF_MEMORY, SWATH_STATUS_CANCELLED,
/// SWATH_STATUS_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_read(
    path: *const c_char,
    options: Option<&CallOptions>,
    buffer: Option<&mut MaybeUninit<Option<Box<Buffer>>>>,
    report: Option<&mut MaybeUninit<Option<Box<Report>>>>,
) -> Status {
    guard(|| {
        let (report, buffer) = (wanted(report), handle(buffer, "buffer")?);
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        let options = CallOptions::reading(options, CallVerb::Read)?;
        let call = resolve(options, path)?;
        let loaded = match call.frozen() {
            Some(frozen) if ReadOptions::maps(options) => {
                call.options.read_mapped(frozen, path)?
            }
            _ => {
                let read = call.options.read(call.source);
                read.map_err(told(options, Maps::OncePromised))?
            }
        };
        *buffer = Some(Box::new(Buffer { bytes: loaded.buffer }));
        tell(report, loaded.report);
        Ok(())
    })
}

/// Reads `len` bytes of a file, from the offset of `options`, into the caller's memory. The
/// length in `options` is ignored. Nothing writes to `target` after this returns, whatever
/// happened; after a failure its contents are unspecified. `report` may be NULL; free it with
/// `swath_report_free`.
///
/// Errors as for `swath_read`; SWATH_STATUS_TRUNCATED if the file has fewer bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_read_into(
    path: *const c_char,
    options: Option<&CallOptions>,
    target: *mut c_void,
    len: usize,
    report: Option<&mut MaybeUninit<Option<Box<Report>>>>,
) -> Status {
    guard(|| {
        let report = wanted(report);
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        // SAFETY: as above.
        let target = unsafe { pointer::bytes_mut(target.cast(), len, "target") }?;
        let options = CallOptions::reading(options, CallVerb::Read)?;
        let call = resolve(options, path)?;
        let read = call.options.read_into(call.source, target);
        tell(report, read.map_err(told(options, Maps::Never))?);
        Ok(())
    })
}
