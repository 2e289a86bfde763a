//! Tokens that cancel.

use std::mem::MaybeUninit;

use crate::guard::{guard, quietly};
use crate::pointer::{given, handle};
use crate::status::Status;

/// Cancels running calls from another thread or a callback. Any number of threads may use it at
/// once. Options keep what they need of a token, so it may be freed before them.
#[derive(Debug)]
pub struct CancelToken(pub(crate) swath::CancelToken);

/// Makes a token that is not cancelled. Free it with `swath_cancel_token_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_cancel_token_new(
    token: Option<&mut MaybeUninit<Option<Box<CancelToken>>>>,
) -> Status {
    guard(|| {
        *handle(token, "token")? = Some(Box::new(CancelToken(swath::CancelToken::new())));
        Ok(())
    })
}

/// Cancels every call whose options have this token, including later ones. They return
/// SWATH_STATUS_CANCELLED once the requests in flight have ended. May be called from any thread
/// and from callbacks, but not from a signal handler. A signal handler can wake a thread that
/// cancels: by `sem_post`, by writing a byte to a pipe, or by blocking the signal and letting a
/// thread `sigwait` for it.
///
/// A call that waits for another process to write to a pipe does not notice it.
#[unsafe(no_mangle)]
pub extern "C" fn swath_cancel_token_cancel(token: Option<&CancelToken>) -> Status {
    guard(|| {
        given(token, "token")?.0.cancel();
        Ok(())
    })
}

/// Returns whether the token was cancelled; false for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_cancel_token_is_cancelled(token: Option<&CancelToken>) -> bool {
    token.is_some_and(|token| token.0.is_cancelled())
}

/// Frees a token; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_cancel_token_free(token: Option<Box<CancelToken>>) {
    quietly(|| drop(token));
}
