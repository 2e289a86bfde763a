//! Sums and counts: in one pass over a file, without keeping it.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::path::Path;

use swath::Scanned;

use crate::failure::Result;
use crate::guard::guard;
use crate::options::read::Call;
use crate::options::{CallOptions, CallVerb, Maps, resolve, told};
use crate::pointer::{self, Place, given, wanted};
use crate::report::{Report, tell};
use crate::status::Status;

/// Computes the sum of all bytes of a file, or of the part that `options` select: each byte
/// counts 0 to 255, modulo 2^64. `report` may be NULL; free it with `swath_report_free`.
///
/// Errors as for `swath_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_sum(
    path: *const c_char,
    options: Option<&CallOptions>,
    sum: Option<&mut MaybeUninit<u64>>,
    report: Option<&mut MaybeUninit<Option<Box<Report>>>>,
) -> Status {
    guard(|| {
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") };
        one_pass(path, options, sum, "sum", report, |call, path| {
            Ok(match call.frozen() {
                Some(frozen) => call.options.sum_mapped(frozen, path)?,
                None => call.options.sum(call.source.clone())?,
            })
        })
    })
}

/// Counts how often `byte` occurs in a file, or in the part that `options` select: newlines, for
/// example. `report` may be NULL; free it with `swath_report_free`.
///
/// Errors as for `swath_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_count(
    path: *const c_char,
    options: Option<&CallOptions>,
    byte: u8,
    count: Option<&mut MaybeUninit<u64>>,
    report: Option<&mut MaybeUninit<Option<Box<Report>>>>,
) -> Status {
    guard(|| {
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") };
        one_pass(path, options, count, "count", report, |call, path| {
            Ok(match call.frozen() {
                Some(frozen) => call.options.count_mapped(frozen, path, byte)?,
                None => call.options.count(call.source.clone(), byte)?,
            })
        })
    })
}

fn one_pass(
    path: Result<&Path>,
    options: Option<&CallOptions>,
    place: Place<'_, u64>,
    name: &str,
    report: Place<'_, Option<Box<Report>>>,
    pass: impl FnOnce(&Call, &Path) -> Result<Scanned<u64>>,
) -> Result<()> {
    let report = wanted(report);
    let place = given(place, name)?;
    let path = path?;
    let options = CallOptions::reading(options, CallVerb::Read)?;
    let scanned = pass(&resolve(options, path)?, path);
    let scanned = scanned.map_err(told(options, Maps::OncePromised))?;
    place.write(scanned.value);
    tell(report, scanned.report);
    Ok(())
}
