//! What became of a call, as a number that never changes its meaning.

use std::ffi::{CStr, c_char};
use std::io;
use std::mem::MaybeUninit;

use swath::Reason;

use crate::number::{known, numbers};

/// What became of a call. Numbers keep their meaning; new ones may be added, so treat one that you
/// do not know as a failure.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A pointer was NULL that must not be, a number means nothing, options contradict each other
    /// or the file, or a handle was used after its end.
    InvalidArgument = 1,
    /// There is no such file or folder.
    NotFound = 2,
    /// It may not be read or written by this user.
    PermissionDenied = 3,
    /// The kernel or the device said so; see `swath_last_error_errno`.
    Io = 4,
    /// The file ended before the bytes that were to be read.
    Truncated = 5,
    /// The file changed, or was replaced, while it was read.
    Changed = 6,
    /// A token cancelled it.
    Cancelled = 7,
    /// Not enough memory at hand.
    OutOfMemory = 8,
    /// Somebody else is writing the same target, another thread is using the same handle, or forks
    /// or tickets are open. It changes nothing, but for the commit of an output with open forks or
    /// tickets: that gives up what was written.
    Busy = 9,
    /// Part of the output was abandoned, so what follows it has no place.
    Poisoned = 10,
    /// The name was changed, but whether that survives a power cut is not known.
    OutcomeUnknown = 11,
    /// A manifest, a segment, a file of checksums or a record is damaged, or was made to harm; or
    /// copies of a file are, so that none has the right bytes, or too few agree.
    Corrupt = 12,
    /// A callback returned something else than 0.
    Stopped = 13,
    /// It was not there in time. Nothing is wrong, and it goes on.
    TimedOut = 14,
    /// A fault in the library, which has been caught, after a line on stderr. Please report it, with
    /// its message.
    Panic = 15,
    /// There is such a file, and it must not be replaced.
    AlreadyExists = 16,
}

impl Status {
    /// The status for an error of the library.
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

    /// The status for an error of the kernel.
    pub(crate) fn of_kind(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::AlreadyExists => Self::AlreadyExists,
            io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            io::ErrorKind::OutOfMemory => Self::OutOfMemory,
            // No number of the kernel's: what was read is wrong.
            io::ErrorKind::InvalidData => Self::Corrupt,
            _ => Self::Io,
        }
    }
}

/// All of them, with what each means in few words.
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
    Io = c"input or output failed",
    Truncated = c"the file ended early",
    Changed = c"the file changed while it was read",
    Cancelled = c"cancelled",
    OutOfMemory = c"out of memory",
    Busy = c"in use",
    Poisoned = c"part of the output was abandoned",
    OutcomeUnknown = c"the outcome is not known",
    Corrupt = c"damaged",
    Stopped = c"stopped by a callback",
    TimedOut = c"not there in time",
    Panic = c"a fault in the library",
    AlreadyExists = c"there already",
}

/// Returns the meaning of `status` in few words, never NULL: for a number that is none,
/// "unknown status". The text lives as long as the program. For what went wrong with which file
/// see `swath_last_error_message`.
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
