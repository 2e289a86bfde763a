//! The result of a call, as a number that never changes its meaning.

use std::ffi::{CStr, c_char};
use std::io;
use std::mem::MaybeUninit;

use swath::Reason;

use crate::number::{known, numbers};

/// Result of a call. Values keep their meaning. New ones may be added, so treat an unknown value
/// as a failure.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// A required pointer is NULL, a number is undefined or out of range, options contradict each
    /// other or the file, or the handle has ended.
    InvalidArgument = 1,
    /// No such file or folder.
    NotFound = 2,
    /// The user may not read or write the path.
    PermissionDenied = 3,
    /// The kernel or the device reported an error; see `swath_last_error_errno`.
    Io = 4,
    /// The file ends before the requested bytes do.
    Truncated = 5,
    /// The file was changed or replaced while it was read.
    Changed = 6,
    /// The call was cancelled by a token.
    Cancelled = 7,
    /// Not enough memory is available.
    OutOfMemory = 8,
    /// Another process or thread is writing the same target, another thread is using the same
    /// handle, or forks or tickets are open. Nothing has changed, with one exception: committing
    /// an output with open forks or tickets discards its bytes.
    Busy = 9,
    /// Part of the output was abandoned, so the bytes after it have no place.
    Poisoned = 10,
    /// The name was changed, but it is not known whether the change survives a power cut.
    OutcomeUnknown = 11,
    /// A manifest, a segment, a file of checksums, a record or the text of a table is damaged or
    /// malicious; or no copy of a file has the right bytes, or too few copies agree.
    Corrupt = 12,
    /// A callback returned a value other than 0.
    Stopped = 13,
    /// The bytes did not arrive in time. This is not a failure: the read continues.
    TimedOut = 14,
    /// A bug in the library. It was caught, and a line was written to stderr. Please report it
    /// with the message.
    Panic = 15,
    /// The file exists and must not be replaced.
    AlreadyExists = 16,
}

impl Status {
    /// Returns the status for an error of the library.
    pub(crate) fn of(reason: Reason, kind: io::ErrorKind) -> Self {
        match reason {
            Reason::Truncated => Self::Truncated,
            Reason::Changed => Self::Changed,
            Reason::Cancelled => Self::Cancelled,
            Reason::OutOfMemory => Self::OutOfMemory,
            Reason::Invalid => Self::InvalidArgument,
            Reason::Busy => Self::Busy,
            Reason::Poisoned => Self::Poisoned,
            Reason::OutcomeUnknown => Self::OutcomeUnknown,
            Reason::Corrupt => Self::Corrupt,
            // `Reason` may grow.
            _ => Self::of_kind(kind),
        }
    }

    /// Returns the status for an error of the kernel.
    pub(crate) fn of_kind(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::AlreadyExists => Self::AlreadyExists,
            io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            io::ErrorKind::OutOfMemory => Self::OutOfMemory,
            // Not a number of the kernel: the bytes that were read are wrong.
            io::ErrorKind::InvalidData => Self::Corrupt,
            _ => Self::Io,
        }
    }
}

/// All statuses, each with a short description.
macro_rules! statuses {
    ($($status:ident = $text:literal),+ $(,)?) => {
        numbers!(Status, "swath_status", [$($status),+]);

        impl Status {
            fn text(self) -> &'static CStr {
                match self { $(Self::$status => $text),+ }
            }
        }
    };
}

statuses! {
    Ok = c"done",
    InvalidArgument = c"invalid argument",
    NotFound = c"not found",
    PermissionDenied = c"permission denied",
    Io = c"input/output error",
    Truncated = c"the file ended early",
    Changed = c"the file changed while it was read",
    Cancelled = c"cancelled",
    OutOfMemory = c"out of memory",
    Busy = c"in use",
    Poisoned = c"part of the output was abandoned",
    OutcomeUnknown = c"outcome unknown",
    Corrupt = c"damaged",
    Stopped = c"stopped by a callback",
    TimedOut = c"timed out",
    Panic = c"a bug in the library",
    AlreadyExists = c"already exists",
}

/// Returns a short description of `status`, such as "not found"; for an unknown value, "unknown
/// status". Never NULL; valid for the life of the program. For what failed on which file, see
/// `swath_last_error_message`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_status_text(status: MaybeUninit<Status>) -> *const c_char {
    known(status).map_or(c"unknown status", Status::text).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;

    #[test]
    fn every_status_has_its_number_and_a_text_of_its_own() {
        assert_eq!(Status::ALL.last(), Some(&Status::AlreadyExists));
        for (number, &status) in (0..).zip(Status::ALL) {
            assert_eq!(status.number(), number);
            assert!(!status.text().is_empty());
            let same = Status::ALL.iter().filter(|it| it.text() == status.text());
            assert_eq!(same.count(), 1, "{status:?}");
        }
    }

    #[test]
    fn reasons_and_kinds_have_a_status() {
        use io::ErrorKind::{InvalidData, NotFound, Other, PermissionDenied};
        assert_eq!(Status::of(Reason::Io, InvalidData), Status::Corrupt);
        assert_eq!(Status::of(Reason::Io, NotFound), Status::NotFound);
        assert_eq!(Status::of(Reason::Io, PermissionDenied), Status::PermissionDenied);
        assert_eq!(Status::of(Reason::Io, Other), Status::Io);
        assert_eq!(Status::of(Reason::Changed, NotFound), Status::Changed);
    }
}
