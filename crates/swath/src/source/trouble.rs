//! Classifies a source's own errors: whether they pass, and when.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

/// The meaning of an error of a [`ReadAt`](crate::ReadAt) for its reader.
///
/// Without it, the kind of an error decides: `WouldBlock` and `TimedOut` may pass, all others last.
///
/// ```
/// use std::{io, sync::Arc, time::Duration};
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use swath::{ReadAt, ReadOptions, Source, SourceFacts, SourceTrouble};
///
/// /// A server that is overloaded at first.
/// struct Server(AtomicBool);
///
/// impl ReadAt for Server {
///     fn facts(&self) -> io::Result<SourceFacts> {
///         Ok(SourceFacts::new(Some(1 << 20)))
///     }
///     fn read_at(&self, target: &mut [u8], _: u64) -> io::Result<usize> {
///         if !self.0.swap(true, Ordering::Relaxed) {
///             // 503 Slow Down, Retry-After.
///             let later = SourceTrouble::Passing(Duration::from_millis(20));
///             return Err(later.because("503 Slow Down"));
///         }
///         target.fill(7);
///         Ok(target.len())
///     }
/// }
/// let loaded = ReadOptions::new().read(Source::custom(Arc::new(Server(false.into()))))?;
/// assert_eq!((loaded.buffer.len(), loaded.report.retries), (1 << 20, 1));
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceTrouble {
    /// It passes. The same bytes are requested again a few times, at the earliest after this time. Zero
    /// means that the source does not know the time; then each pause is longer than the last. Other
    /// bytes are read in the meantime.
    Passing(Duration),
    /// The content has changed since the source was opened. The read ends with
    /// [`Reason::Changed`](crate::Reason::Changed).
    Changed,
    /// This request was refused, and would be refused again. The read ends.
    Refused,
}

impl SourceTrouble {
    /// Returns the error for the source to return, with its cause: a text, or an error.
    pub fn because(self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> io::Error {
        let kind = match self {
            Self::Passing(_) => io::ErrorKind::TimedOut,
            Self::Changed => io::ErrorKind::Other,
            Self::Refused => io::ErrorKind::PermissionDenied,
        };
        io::Error::new(kind, Told { trouble: self, cause: cause.into() })
    }

    /// Returns the classification that a source gave an error, if any.
    pub fn of(error: &io::Error) -> Option<Self> {
        Some(error.get_ref()?.downcast_ref::<Told>()?.trouble)
    }

    /// Returns the hint for a read that failed because of it.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Passing(_) => "read it again later, or with fewer workers",
            Self::Changed => "read it again once its writer is done",
            Self::Refused => "check the source's message: the request was not repeated",
        }
    }
}

/// An error with a source's classification; its text is that of its cause.
#[derive(Debug)]
struct Told {
    trouble: SourceTrouble,
    cause: Box<dyn StdError + Send + Sync>,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl StdError for Told {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_found_again_and_reads_as_its_cause() {
        let error = SourceTrouble::Passing(Duration::from_secs(2)).because("503 Slow Down");
        assert_eq!(
            SourceTrouble::of(&error),
            Some(SourceTrouble::Passing(Duration::from_secs(2)))
        );
        assert_eq!(error.to_string(), "503 Slow Down");
        let inner = io::Error::from_raw_os_error(5);
        let error = SourceTrouble::Refused.because(inner);
        assert!(error.to_string().contains("os error 5"), "{error}");
        assert_eq!(SourceTrouble::of(&io::Error::other("plain")), None);
        assert_eq!(SourceTrouble::of(&io::Error::from_raw_os_error(5)), None);
    }
}
