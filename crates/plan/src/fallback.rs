//! Requests that could not be met, and their substitutes: every report has a list of fallbacks.
//!
//! A program distinguishes a [`Fallback`] by its variant; people read its text. `policy` makes some
//! here in `plan`; all others are made where a request is refused.
//!
//! ```
//! use swath_plan::fallback::{DirectUse, Fallback};
//!
//! let why = String::from("Invalid argument (os error 22)");
//! let fallback = Fallback::DirectRefused { at: DirectUse::Read, why };
//! assert!(fallback.is_direct_refused());
//! assert!(fallback.to_string().starts_with("O_DIRECT refused (Invalid argument"));
//! ```

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::mirror::Standing;
use crate::wishes::{Engine, PageCache};

/// An option that could not be honoured, or a means that was not available. Its text names the
/// substitute.
///
/// `why` is for people: the kernel's words, or our own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fallback {
    /// Bytes went through the page cache instead of bypassing it.
    DirectRefused {
        /// The step that was refused.
        at: DirectUse,
        /// The reason.
        why: String,
    },
    /// The page cache was used in another mode than requested, for a reason other than `O_DIRECT`.
    PageCacheUnused {
        /// The requested mode.
        asked: PageCache,
        /// The mode that was used.
        used: PageCache,
        /// The reason: an incompatibility with the request.
        why: &'static str,
    },
    /// Another engine ran.
    EngineUnused {
        /// The requested engine.
        asked: Engine,
        /// The engine that ran.
        used: Engine,
        /// The reason: an incompatibility with the request.
        why: &'static str,
    },
    /// An option that has no effect here.
    Unused {
        /// Its name.
        what: &'static str,
        /// The rule that applies instead.
        why: &'static str,
    },
    /// A number beyond the usable maximum.
    TooMany {
        /// The name of what was requested.
        what: &'static str,
        /// The requested number.
        asked: u64,
        /// The maximum, which was used.
        used: u64,
    },
    /// An absurd number.
    OutOfRange {
        /// Its origin: a profile, or the source.
        from: &'static str,
        /// Its name.
        what: &'static str,
        /// The number.
        asked: u64,
        /// The nearest sensible number, which was used.
        used: u64,
    },
    /// The chunk size is not a multiple of the device's unit.
    ChunkSizeRounded {
        /// The requested size in bytes.
        asked: u64,
        /// Bytes of one unit.
        unit: u64,
        /// The next multiple, which was used.
        used: u64,
    },
    /// There was not enough memory for all workers.
    FewerWorkers {
        /// The requested number.
        asked: u64,
        /// The number of workers that ran.
        used: u64,
    },
    /// A thread could not be started; the others did its work.
    WorkerNotStarted {
        /// The index of the worker; `None` if workers are not numbered.
        index: Option<u64>,
        /// The error from starting it.
        why: String,
    },
    /// The number of workers could not adapt to the response times of the source.
    NoMoreWorkers {
        /// The error from starting the thread that watches them.
        why: String,
    },
    /// There was no ring.
    RingRefused {
        /// The kernel's words.
        why: String,
        /// The operation for which a thread was started instead: a `read` or a `file` in flight.
        each: &'static str,
    },
    /// The ring ended before its work did.
    RingLost {
        /// The kernel's words.
        why: String,
    },
    /// The ring was closed, because its descriptor was needed.
    RingClosed,
    /// Threads read with the priority they already had.
    PriorityNotSet {
        /// The kernel's words.
        why: String,
    },
    /// Memory comes from the nodes of the threads that touched it first.
    NotPlaced {
        /// The kernel's words, or ours.
        why: String,
    },
    /// The kernel did not take the advice.
    AdviceRefused {
        /// The kernel's words.
        why: String,
    },
    /// Advice for maps was not given: nothing was mapped.
    AdviceForMapsOnly,
    /// A file was read instead of mapped.
    NotMapped {
        /// The incompatibility with a map, and the substitute.
        why: &'static str,
    },
    /// The caller's memory cannot be read into directly.
    NotAligned,
    /// No space was reserved: a full disk shows up only in a write.
    NotReserved,
    /// The copy's times differ from its source's, perhaps only below the file system's resolution.
    TimesNotKept {
        /// The kernel's words, or ours.
        why: String,
    },
    /// The new file lets in more users than its source: the file system did not keep the
    /// permissions that were set.
    ModeNotKept {
        /// The permissions that were set.
        given: u32,
        /// The permissions that it has beyond those.
        wider: u32,
    },
    /// The mount does not show the permissions of files: only its owner may read and write the new file, as perhaps
    /// the one that it replaces.
    ModeNotShown,
    /// There is no lock: the file system has none, a sandbox refuses it, or there is no place for
    /// it in the folder of a file that is written in place.
    NoLocks,
    /// Copies that vote are all read, so no read is repeated.
    NoHedging,
    /// Copies are on one device.
    MirrorsShareDevice {
        /// The first of them, as displayed.
        path: String,
        /// The others, as displayed.
        others: Vec<String>,
    },
    /// A copy is not read.
    MirrorNotRead {
        /// Its name, as displayed.
        path: String,
        /// The fault.
        why: String,
    },
    /// A copy differs in length from the others, and is read anyway.
    MirrorLength {
        /// Its name, as displayed.
        path: String,
        /// Its length in bytes.
        len: u64,
        /// The length of the others in bytes.
        expected: u64,
    },
    /// A copy failed at some chunks, which others provided.
    MirrorFailed {
        /// Its name, as displayed.
        path: String,
        /// The number of chunks.
        chunks: u64,
        /// The last problem with it.
        why: String,
        /// The fate of the copy.
        standing: Standing,
    },
    /// A compressor uses shorter tables than its level requires: there is no memory for full ones.
    ShorterTables {
        /// The level.
        level: i32,
    },
    /// A service that the caller reported as unavailable before the call, in the caller's words.
    Noted(String),
}

/// The step at which `O_DIRECT` was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DirectUse {
    /// Before the first byte was read.
    Open,
    /// By a read.
    Read,
    /// Before the first byte was written, or by a write.
    Write,
}

impl Fallback {
    /// Whether bytes should have bypassed the page cache with `O_DIRECT`, which was refused.
    pub fn is_direct_refused(&self) -> bool {
        matches!(self, Self::DirectRefused { .. })
    }

    /// Returns the fallback for worker `index`, which could not be started for the reason `why`.
    pub fn not_started(index: usize, why: &dyn fmt::Display) -> Self {
        Self::WorkerNotStarted { index: Some(index as u64), why: why.to_string() }
    }
}

const MODE_NOT_SHOWN: &str =
    "permissions 600: this file system does not show those of the replaced file";

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DirectRefused { at, why } => direct_refused(f, *at, why),
            Self::PageCacheUnused { asked, used, why } => page_cache(f, *asked, *used, why),
            Self::EngineUnused { asked, used, why } => {
                write!(f, "engine `{asked}`: {why}, used `{used}`")
            }
            Self::Unused { what, why } => write!(f, "{what}: {why}"),
            Self::TooMany { what, asked, used } => {
                write!(f, "{what} {asked}: limited to {used}")
            }
            Self::OutOfRange { from, what, asked, used } => {
                write!(f, "{from}: {what} {asked} is out of range, used {used}")
            }
            Self::ChunkSizeRounded { asked, unit, used } => {
                write!(f, "chunk size {asked}: O_DIRECT reads units of {unit}, used {used}")
            }
            Self::FewerWorkers { asked, used } => {
                write!(f, "{used} of {asked} workers: not enough memory for more")
            }
            Self::WorkerNotStarted { index: Some(index), why } => {
                write!(f, "worker {index} not started ({why})")
            }
            Self::WorkerNotStarted { index: None, why } => {
                write!(f, "a thread was not started ({why})")
            }
            Self::NoMoreWorkers { why } => write!(f, "workers do not grow in number ({why})"),
            Self::RingRefused { why, each } => {
                write!(f, "ring refused ({why}), a thread for each {each} in flight")
            }
            Self::RingLost { why } => {
                write!(f, "ring lost ({why}), a thread for each file in flight")
            }
            Self::PriorityNotSet { why } => write!(f, "I/O priority not set: {why}"),
            Self::NotPlaced { why } => write!(f, "NUMA placement refused ({why}), first touch"),
            Self::TimesNotKept { why } => write!(f, "times of the source not kept: {why}"),
            Self::ModeNotKept { given, wider } => {
                write!(f, "permissions {given:03o}: this file system adds {wider:03o}")
            }
            Self::ModeNotShown => f.write_str(MODE_NOT_SHOWN),
            Self::AdviceRefused { why } => write!(f, "advice refused: {why}"),
            Self::MirrorNotRead { path, why } => write!(f, "mirror {path} is not read: {why}"),
            Self::MirrorLength { path, len, expected } => {
                let bytes = if *len == 1 { "byte" } else { "bytes" };
                write!(f, "mirror {path}: it has {len} {bytes} instead of {expected}")
            }
            Self::MirrorFailed { path, chunks, why, standing } => {
                let word = if *chunks == 1 { "chunk" } else { "chunks" };
                let end = ending(*standing);
                write!(f, "mirror {path}: {chunks} {word} not taken from it ({why}){end}")
            }
            Self::MirrorsShareDevice { path, others } => {
                let others = others.join(", ");
                write!(f, "mirrors {path} and {others} {SHARED}")
            }
            Self::ShorterTables { level } => {
                write!(
                    f,
                    "shorter tables than those of level {level}: not enough memory for full ones"
                )
            }
            Self::NotMapped { why } => f.write_str(why),
            Self::Noted(text) => f.write_str(text),
            Self::RingClosed => f.write_str(CLOSED),
            Self::AdviceForMapsOnly => f.write_str("this advice is for maps only: not given"),
            Self::NotAligned => f.write_str("destination not aligned: through bounce buffers"),
            Self::NotReserved => f.write_str("space was not reserved: this file system cannot"),
            Self::NoLocks => f.write_str(UNLOCKED),
            Self::NoHedging => f.write_str(VOTING),
        }
    }
}

const SHARED: &str = "share one device: reading several at once gains nothing, so one of them is \
                      read and the others are spare";
const CLOSED: &str = "ring closed: too few descriptors, one file after the other";
const UNLOCKED: &str = "there is no lock here: a second writer would not be detected";
const VOTING: &str = "copies that vote are all read in parallel: no second reads";

fn direct_refused(f: &mut fmt::Formatter<'_>, at: DirectUse, why: &str) -> fmt::Result {
    match at {
        DirectUse::Open => {
            write!(f, "page cache `bypass`: {why}, read through it and dropped")
        }
        DirectUse::Read => write!(f, "O_DIRECT refused ({why}), read buffered"),
        DirectUse::Write => {
            write!(f, "O_DIRECT refused ({why}), written through the page cache")
        }
    }
}

fn page_cache(
    f: &mut fmt::Formatter<'_>,
    asked: PageCache,
    used: PageCache,
    why: &str,
) -> fmt::Result {
    let end = if used == PageCache::Drop { ", read through it and dropped" } else { "" };
    write!(f, "page cache `{asked}`: {why}{end}")
}

fn ending(standing: Standing) -> &'static str {
    match standing {
        Standing::Good => "",
        Standing::GivenUp => "; given up",
        Standing::Gone => "; not read any more",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn text(word: &str) -> String {
        String::from(word)
    }

    #[test]
    fn o_direct_is_asked_for_by_its_variant_wherever_it_was_refused() {
        for (at, expected) in [
            (DirectUse::Open, "page cache `bypass`: W, read through it and dropped"),
            (DirectUse::Read, "O_DIRECT refused (W), read buffered"),
            (DirectUse::Write, "O_DIRECT refused (W), written through the page cache"),
        ] {
            let fallback = Fallback::DirectRefused { at, why: text("W") };
            assert!(fallback.is_direct_refused());
            assert_eq!(fallback.to_string(), expected);
        }
        let copies = Fallback::PageCacheUnused {
            asked: PageCache::Bypass,
            used: PageCache::Drop,
            why: "copies are compared",
        };
        assert!(!copies.is_direct_refused());
        let expected = "page cache `bypass`: copies are compared, read through it and dropped";
        assert_eq!(copies.to_string(), expected);
        assert!(!Fallback::Noted(text("O_DIRECT refused")).is_direct_refused());
    }

    #[test]
    fn every_number_of_a_fallback_stands_in_its_text() {
        let cases = [
            (
                Fallback::TooMany { what: "workers", asked: 5000, used: 1024 },
                "workers 5000: limited to 1024",
            ),
            (
                Fallback::OutOfRange { from: "profile", what: "depth", asked: 9, used: 8 },
                "profile: depth 9 is out of range, used 8",
            ),
            (
                Fallback::ChunkSizeRounded { asked: 511, unit: 512, used: 512 },
                "chunk size 511: O_DIRECT reads units of 512, used 512",
            ),
            (
                Fallback::FewerWorkers { asked: 8, used: 3 },
                "3 of 8 workers: not enough memory for more",
            ),
            (
                Fallback::WorkerNotStarted { index: Some(4), why: text("W") },
                "worker 4 not started (W)",
            ),
            (
                Fallback::WorkerNotStarted { index: None, why: text("W") },
                "a thread was not started (W)",
            ),
        ];
        for (fallback, expected) in cases {
            assert_eq!(fallback.to_string(), expected);
        }
    }

    #[test]
    fn a_copy_that_failed_is_said_with_what_became_of_it() {
        for (chunks, standing, expected) in [
            (1, Standing::Good, "mirror a: 1 chunk not taken from it (W)"),
            (2, Standing::GivenUp, "mirror a: 2 chunks not taken from it (W); given up"),
            (3, Standing::Gone, "mirror a: 3 chunks not taken from it (W); not read any more"),
        ] {
            let why = text("W");
            let fallback = Fallback::MirrorFailed { path: text("a"), chunks, why, standing };
            assert_eq!(fallback.to_string(), expected);
        }
        let others = vec![text("b"), text("c")];
        let shared = Fallback::MirrorsShareDevice { path: text("a"), others }.to_string();
        assert!(shared.starts_with("mirrors a and b, c share one device: "), "{shared}");
    }
}
