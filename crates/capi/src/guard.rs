//! Stops panics from crossing into C, and keeps every failure.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::{self, Failure, Result};
use crate::status::Status;

/// Runs the work of a C function.
pub(crate) fn guard(work: impl FnOnce() -> Result<()>) -> Status {
    swath::machine::silence_caught_panics();
    failure::forget();
    match caught(work) {
        Ok(()) => {
            // A call that a callback made on this thread may have failed.
            failure::forget();
            Status::Ok
        }
        Err(failure) => failure::keep(failure),
    }
}

/// Runs work and turns a panic into a failure.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // The work changes only handles, whose types stay consistent when they unwind.
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|panic| Err(Failure::new(Status::Panic, words(&*panic))))
}

/// Runs work that cannot fail, such as freeing; the last failure stays.
pub(crate) fn quietly(work: impl FnOnce()) {
    // The panic has been printed, and no caller depends on it.
    let _ = catch_unwind(AssertUnwindSafe(work));
}

fn words(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "a bug in Swath: {}; try: report it, with the call that caused it",
        said.unwrap_or("no message")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    /// Like an exported function: a panic that leaves it ends the process.
    extern "C" fn planted(panics: bool) -> Status {
        guard(|| if panics { panic!("planted in {}", "a call") } else { Ok(()) })
    }

    fn message() -> String {
        // SAFETY: a C string that lives until the next call on this thread.
        let text = unsafe { CStr::from_ptr(failure::swath_last_error_message()) };
        text.to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn a_planted_panic_is_a_status_with_its_words() {
        assert_eq!(planted(true), Status::Panic);
        assert!(message().contains("planted in a call"), "{}", message());
        assert_eq!(planted(false), Status::Ok);
        assert_eq!(message(), "");
    }

    #[test]
    fn a_success_leaves_nothing_of_a_failure_within() {
        let status = guard(|| {
            assert_eq!(guard(|| Err(Failure::invalid("within"))), Status::InvalidArgument);
            Ok(())
        });
        assert_eq!((status, message().as_str()), (Status::Ok, ""));
    }

    #[test]
    fn a_panic_of_another_worker_is_a_status_too() {
        let options = swath::ReadOptions::new().with_workers(2).with_chunk_size(1);
        let status = guard(|| {
            let fold =
                |chunk: swath::Chunk<'_>| assert!(chunk.index < 3, "planted in a worker");
            options.scan("/etc/passwd", fold, |(), ()| ())?;
            Ok(())
        });
        assert_eq!(status, Status::Panic);
    }

    #[test]
    fn a_panic_while_something_is_freed_goes_no_further() {
        quietly(|| panic!("planted in a drop"));
    }
}
