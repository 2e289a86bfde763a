//! Parallel file I/O for Linux: reads files as fast as the machine can, and writes in parallel,
//! in order.
//!
//! ```text
//! facts      which bytes    moves bytes    holds / reads them    writes them
//! source  →  plan        →  engine      →  buffer, records    →  sink
//! ```
//!
//! ```
//! let passwd = swath::read("/etc/passwd")?;            // all of it, in memory
//! let lines = swath::ReadOptions::new()
//!     .count("/etc/passwd", b'\n')?;                   // consumed without keeping
//! assert_eq!(passwd.iter().filter(|&&byte| byte == b'\n').count() as u64, lines.value);
//! # Ok::<(), swath::Error>(())
//! ```
//!
//! Output is complete under its name, or absent, even if the program is killed:
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("out.bin");
//! swath::write(&path, b"all of this, durable, or what was there before")?;
//! # Ok::<(), swath::Error>(())
//! ```
//!
//! **The promise**: input that another process writes, truncates or replaces while it is read, or
//! that has an I/O error, results in an error with path and offset in every case that `fstat` before
//! and after can show; never in a signal or silently short data. Not detected: stores through another
//! process's shared map, and writes within one timestamp tick on old kernels.
//!
//! | To | Call |
//! | --- | --- |
//! | read a file into memory | [`read`](fn@read) |
//! | process it without keeping it | [`scan`](fn@scan), [`records`](fn@records), [`ReadOptions::count`] |
//! | read it in order, as `Read` and `BufRead` | [`reader`](fn@reader) |
//! | read the urgent parts first | [`classes::read_prioritised`] |
//! | read many small files | [`ingest`](fn@ingest), [`ingest::stream`] |
//! | change a text line by line | [`transform`](fn@transform) |
//! | write one buffer | [`write`](fn@write) |
//! | write in parallel, in serial order | [`append::create`], [`append::ordered`] |
//! | copy a file | [`copy`](fn@copy) |
//! | write one output from many processes | [`job::plan`], [`WriteOptions::create_shared`] |
//! | keep verified copies and repair them | [`mirror`](fn@mirror), [`heal`](fn@heal), [`manifest`] |
//!
//! Options are built with `Options::new().with_…()` and have the verbs as methods.
//!
//! **Text**: `String::from_utf8` checks the bytes, as `std::fs::read_to_string` does, and
//! [`reader`](fn@reader) returns lines:
//!
//! ```
//! use std::io::BufRead;
//!
//! let text = String::from_utf8(swath::read("/etc/passwd")?.into())?;
//! let lines: Result<Vec<String>, _> = swath::reader("/etc/passwd")?.lines().collect();
//! assert!(text.lines().eq(lines?.iter()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Async**: calls block, on the calling thread and on Swath's own threads, never on those of the
//! caller's pools. In async code, run them where blocking is allowed: with tokio,
//! `tokio::task::spawn_blocking(|| swath::read("data.bin")).await??`. To end one early, pass a
//! [`CancelToken`].

// Invariants:
// - `forbid(unsafe_code)`.
// - `Interrupted` and short reads never leave `engine/fill.rs`; for copies, they never leave
//   `source/mirrored/fetch.rs`.
// - A second read writes to memory that it owns; nothing waits for a late one.
// - A buffer is handed over only if all of it is frozen and the source is unchanged.
// - Blocking reads run on Swath's own threads, never on a pool of the caller's. The caller's thread
//   takes part, so one worker starts no thread. Only where the number of workers is determined
//   during the read (`Decision::crew`) is there a foreman, which reads nothing.
// - The first workers stay to the end; later workers may end early, but never with a lease.
// - Messages and hints that only make sense for files (`O_DIRECT`, `--follow-size`, maps) come
//   from `source/opened.rs`; those about copies and about a caller's own source never mention
//   them.
// - Engines have no loop of their own for progress, cancellation, limits or timelines: `ReadJob`
//   has it, and `Hands` record their reads. A span ends where a worker calls its `Recorder`. Two
//   spans of one lane are nested, or one comes after the other.
// - `source` and `buffer` do not know `engine`; `engine` does not know the verbs.
// - No code of Swath runs on rayon's global pool unless the caller is in it: that pool outlives the
//   call, does not exist in a child of `fork`, and cannot be created where threads are forbidden.
//   Independent jobs of a commit or a verification go through `together.rs`.
// - Only `error.rs` joins an error, its causes and its hint into one line (`in_one_line`).
// - Results of a scan do not depend on which worker read which chunk: chunks are cut from the
//   start of the extent and combined from left to right.
// - A worker of `ingest` passes no descriptor to another thread and takes none: its descriptor
//   numbers are its own. The reported failure is the first in input order, in whatever order workers
//   meet failures.
// - A strand is owned by exactly one handle; the strand that forked concatenates the ropes.
// - Bytes are placed in the file only after everything before them, in serial order, has ended
//   well; so placed bytes are never taken back.
// - No strand waits for another strand's output; only taking a ticket may wait.
// - Nothing is visible under the final name before link or rename; a failed sync is final.
// - `sink` knows neither engines nor verbs, and calls the kernel through `Fs` alone.
// - A path is resolved once, by `Fs::locate`. After that, names are relative to the open folder,
//   and no link under one of them is followed. Files of another user are neither removed nor
//   locked.
// - A panic of the caller's code is caught on the worker, kept in `FailureLog`, and resumed where
//   the call was made; no code leaves it to `thread::scope`.
// - No code waits for a thread that has not been started: if none can be started, the caller does
//   the work (`threads.rs`, `together.rs`, `append/pool.rs`). `threads.rs` starts the threads that
//   share the work of one call, each of which starts two more before its share, and those that
//   outlive the call. It is not generic: it would be compiled again for every closure, and each copy
//   would add to the start-up time of the command.
// - Shared mutexes, conditions and counters come from `locks.rs`, which counts their uses in tests.
//   For the same work, the uses grow by a constant for each worker: a turn or a place wakes one
//   thread (`docs/design/scaling.md`).
// - No buffer is sized by the length of a chunk in a manifest: `source/mirrored/steps.rs`.

#![forbid(unsafe_code)]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("Swath is for 64-bit Linux");

// The tests' own file system names this crate as outside programs do.
#[cfg(test)]
extern crate self as swath;

pub mod append;
mod array;
mod blocks;
mod buffer;
pub mod copy;
mod engine;
mod error;
mod failures;
pub mod heal;
pub mod ingest;
pub mod job;
mod locks;
pub mod manifest;
pub mod mirror;
mod observe;
mod options;
mod planned;
mod prioritised;
mod profile;
mod read;
mod reader;
mod records;
mod report;
mod scan;
pub mod sink;
mod source;
mod threads;
pub mod timeline;
mod together;
mod transform;
mod write;

/// Priority classes: the order in which the chunks of a file are needed.
pub mod classes {
    pub use crate::prioritised::{
        ChunkBytes, ClassBytes, ClassPlan, ClassReport, ClassTime, LoadedPlan, Prioritised,
        RowLayout, read_prioritised, read_prioritised_files,
    };
}

/// One file that several processes write; see [`drafts::SharedDraft`].
pub mod drafts {
    pub use crate::write::{DraftReceipt, DraftToken, DraftWriter, SharedDraft};
}

/// The meaning of the fields of a [`Fallback`].
pub mod fallbacks {
    pub use swath_plan::fallback::DirectUse;
    pub use swath_plan::mirror::Standing;
}

/// Maps of files, and the conditions for their safety.
pub mod maps {
    pub use swath_os::guard::Guard;
    pub use swath_os::map::{Frozen, Permit};
}

/// Further options of reading, besides engine, workers and page cache, and the cost of a read.
pub mod reading {
    pub use swath_os::priority::IoPriority;
    pub use swath_plan::policy::{ParallelRequests, Reuse, Schedule, SourceKind};

    pub use crate::options::{Advice, Costs, MapPages, Numa, PageSize};
    pub use crate::report::Usage;
    pub use crate::source::Growth;
}

/// The services of the process and the machine: available memory, panics, locks of outputs, messages.
pub mod machine {
    pub use swath_os::locks::{Condvar, Mutex, MutexGuard};
    pub use swath_os::machine::memory_at_hand;
    pub use swath_os::panics::{caught, silence_caught_panics};

    pub use crate::error::{counted, escaped, in_one_line};
    pub use crate::sink::{EndDelay, Locks, NoLocks};
}

pub use array::Array;
pub use blocks::{Records, records, records_of};
pub use buffer::{Buffer, BufferPool};
pub use copy::copy;
pub use error::{Error, Operation, Reason, Result};
pub use heal::heal;
pub use ingest::ingest;
pub use mirror::mirror;
pub use observe::{CancelToken, Progress};
pub use options::ReadOptions;
pub use profile::Profile;
pub use read::{Loaded, read};
pub use reader::{Reader, reader};
pub use records::{Block, BlockRecords, Cut, Pattern, RecordsContaining};
pub use report::{Report, Scanned};
pub use scan::{Chunk, scan};
pub use sink::OutputOptions;
pub use source::{Input, ReadAt, Source, SourceFacts, SourceTrouble};
pub use swath_os::access::Access;
pub use swath_plan::extent::Extent;
pub use swath_plan::fallback::Fallback;
pub use swath_plan::policy::{Engine, PageCache};
pub use timeline::Timeline;
pub use transform::{Output, Transformed, transform};
pub use write::{Positional, WriteOptions, Written, write};
