//! Progress and cancellation of a call.

use std::ffi::c_void;

use swath::CancelToken;

use crate::options::SWATH_TO_END;
use crate::user::UserData;

/// Receives the progress of a call: bytes done, and the total, or SWATH_TO_END if it is unknown.
/// Called about once per MiB by the thread that moved the bytes, so by several at once; calls of
/// different threads may overtake each other. It must be quick, must not throw or `longjmp`, and
/// must not free anything the call uses.
pub type ProgressFn = Option<extern "C" fn(bytes: u64, total: u64, user_data: *mut c_void)>;

/// Progress and cancelling of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooks {
    progress: Option<(extern "C" fn(u64, u64, *mut c_void), UserData)>,
    pub(crate) cancel: Option<CancelToken>,
}

impl Hooks {
    pub(crate) fn set_progress(&mut self, progress: ProgressFn, user_data: *mut c_void) {
        self.progress = progress.map(|called| (called, UserData(user_data)));
    }

    pub(crate) fn set_cancel(&mut self, token: Option<&crate::cancel::CancelToken>) {
        self.cancel = token.map(|token| token.0.clone());
    }

    /// Returns the callback for progress.
    pub(crate) fn progress(&self) -> Option<impl Fn(swath::Progress) + Send + Sync + 'static> {
        let (called, user_data) = self.progress?;
        Some(move |at: swath::Progress| {
            called(at.bytes, at.total.unwrap_or(SWATH_TO_END), user_data.get());
        })
    }
}
