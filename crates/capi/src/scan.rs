//! The verb `scan`: chunks, on several threads, in bounded memory.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use swath::CancelToken;

use crate::failure::{Failure, Result};
use crate::guard::guard;
use crate::options::{CallOptions, CallVerb, Maps, ReadOptions, resolve, told};
use crate::pointer::{self, given, wanted};
use crate::report::{Report, tell};
use crate::status::Status;
use crate::user::UserData;

/// Adjacent bytes of a file during a scan. Valid until the callback returns. Fields may be added
/// at the end.
#[repr(C)]
#[derive(Debug)]
pub struct Chunk {
    /// Number of the chunk, from 0 where the read begins.
    pub index: u64,
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// The bytes.
    pub data: *const u8,
    /// Length in bytes: the chunk size; the last chunk may be shorter.
    pub len: usize,
}

/// Receives a chunk. Returns 0 to go on, any other value to stop. Called by several threads at
/// once, in any order; the calling thread is one of them. It must not throw or `longjmp`.
pub type ChunkFn = Option<extern "C" fn(chunk: *const Chunk, user_data: *mut c_void) -> i32>;

/// Reads a file, or the part that `options` select, chunk by chunk in bounded memory, and calls
/// `callback` for each chunk. Chunk boundaries are counted from where the read begins and do not
/// depend on the number of threads. `report` may be NULL; free it with `swath_report_free`.
///
/// If the callback returns a value other than 0, no further call begins, and this function
/// returns SWATH_STATUS_STOPPED once the running ones have ended. Chunks after that one may have
/// been passed already. Whether the file changed is checked at the end.
///
/// Errors as for `swath_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_scan(
    path: *const c_char,
    options: Option<&CallOptions>,
    callback: ChunkFn,
    user_data: *mut c_void,
    report: Option<&mut MaybeUninit<Option<Box<Report>>>>,
) -> Status {
    guard(|| {
        let report = wanted(report);
        // SAFETY: the contract of the header.
        let path = unsafe { pointer::path(path, "path") }?;
        let callback = given(callback, "callback")?;
        let options = CallOptions::reading(options, CallVerb::Read)?;
        let call = resolve(options, path)?;
        let (user_data, stop) = (UserData(user_data), Stop::new(options));
        let cancelled = call.options.with_cancel(stop.token.clone());
        let fold = |chunk: swath::Chunk<'_>| {
            let (data, len) = (chunk.bytes.as_ptr(), chunk.bytes.len());
            let chunk = Chunk { index: chunk.index, offset: chunk.offset, data, len };
            stop.call(|| callback(&raw const chunk, user_data.get()));
        };
        let scanned = cancelled.scan(call.source, fold, |(), ()| ());
        stop.judge(path, ())?;
        tell(report, scanned.map_err(told(options, Maps::Never))?.report);
        Ok(())
    })
}

/// The result of a callback, and how it stops its call.
pub(crate) struct Stop {
    pub(crate) token: CancelToken,
    is_stopped: AtomicBool,
    returned: AtomicI32,
}

impl Stop {
    /// Returns a stop that the token of `options` cancels too, but not vice versa.
    pub(crate) fn new(options: Option<&ReadOptions>) -> Self {
        Self::below(&ReadOptions::cancel(options))
    }

    pub(crate) fn below(token: &CancelToken) -> Self {
        let (is_stopped, returned) = (AtomicBool::new(false), AtomicI32::new(0));
        Self { token: token.child(), is_stopped, returned }
    }

    /// Calls the callback, unless the call has been stopped; a value other than 0 stops it.
    pub(crate) fn call(&self, callback: impl FnOnce() -> i32) {
        if self.is_stopped.load(Ordering::SeqCst) {
            return;
        }
        let value = callback();
        if value != 0 && !self.is_stopped.swap(true, Ordering::SeqCst) {
            self.returned.store(value, Ordering::SeqCst);
            self.token.cancel();
        }
    }

    /// Returns `value`, or the failure of a callback that stopped the call.
    pub(crate) fn judge<T>(&self, path: &Path, value: T) -> Result<T> {
        if self.is_stopped.load(Ordering::SeqCst) {
            Err(Failure::stopped(self.returned.load(Ordering::SeqCst), path))
        } else {
            Ok(value)
        }
    }
}
