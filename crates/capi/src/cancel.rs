//! Tokens that cancel.

use std::mem::MaybeUninit;

use crate::guard::{guard, quietly};
use crate::pointer::{given, handle};
use crate::status::Status;

/// Cancels calls that are running, from another thread or a callback. Used by any number of
/// threads at one time. Options that were given it keep what they need of it: it may be freed
/// before them.
#[derive(Debug)]
pub struct CancelToken(pub(crate) swath::CancelToken);

/// Makes a token that nobody has cancelled. To be freed by `swath_cancel_token_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_cancel_token_new(
    token: Option<&mut MaybeUninit<Option<Box<CancelToken>>>>,
) -> Status {
    guard(|| {
        *handle(token, "token")? = Some(Box::new(CancelToken(swath::CancelToken::new())));
        Ok(())
    })
}

/// Cancels every call whose options have this token, those that come later too. They return
/// SWATH_STATUS_CANCELLED once what is in flight has ended. May be called by any thread, and from
/// callbacks; not from a signal handler, which may wake a thread that does: by `sem_post`, by a byte
/// into a pipe, or with the signal blocked and a thread in `sigwait`.
///
/// A call that waits for whoever writes a pipe does not see it.
#[unsafe(no_mangle)]
pub extern "C" fn swath_cancel_token_cancel(token: Option<&CancelToken>) -> Status {
    guard(|| {
        given(token, "token")?.0.cancel();
        Ok(())
    })
}

/// Returns whether somebody cancelled; false for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_cancel_token_is_cancelled(token: Option<&CancelToken>) -> bool {
    token.is_some_and(|token| token.0.is_cancelled())
}

/// Frees a token; NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn swath_cancel_token_free(token: Option<Box<CancelToken>>) {
    quietly(|| drop(token));
}
