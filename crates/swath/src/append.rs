//! Serial-append: parallel strands write, and the file is the one that the serial program leaves.
//!
//! A program forks and joins; every branch writes through its own [`Writer`]; the file is byte
//! for byte what running the branches one after the other would have written, whatever the
//! number of threads and whoever stole what. It appears under its name, complete, at the commit.
//!
//! ```text
//! create ─ scope(|w| ..) ─ w.join(a, b) ─ commit        strands on rayon
//!        ─ fork() ─ Fork: Write ─ finish                owned handles for threads of your own
//! ordered ─ ticket() ─ Ticket: Write ─ done ─ commit    bounded memory, back-pressure, streams
//! open ─ Read, Seek, read_at                            what was committed
//! ```
//!
//! ```
//! use std::io::Write;
//! use swath::append::{self, AppendOptions};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("out");
//! let out = append::create(&path)?;            // nothing visible yet
//! out.scope(|w| {
//!     w.write_all(b"head ")?;
//!     w.join(|w| w.write_all(b"left "), |w| w.write_all(b"right "))?; // in parallel
//!     w.write_all(b"tail")
//! })?;
//! out.commit()?;                                                      // complete and durable
//! assert_eq!(std::fs::read(&path)?, b"head left right tail");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: study E, *Fast Serial-Append* (PLIO), whose semantics this has; its rule for where a
//! stolen strand goes is not used, because it loses the order of what is written after a join.
//! A handle is a rope of extents instead, and the owner of a fork puts its ropes one behind the
//! other.

mod commit;
mod fork;
mod iter;
mod manifest;
mod opened;
mod options;
mod ordered;
mod output;
mod pool;
mod sequence;
mod spawn;
mod start_offset;
mod strand;
mod unplaced;
mod writer;

use std::path::Path;

pub use commit::Committed;
pub use fork::{Append, Fork};
pub use iter::{AppendTo, Out};
pub use opened::Opened;
pub use options::{AppendOptions, ExtentChecksums, Mode};
pub use ordered::{
    Direct, Ordered, OrderedOptions, OrderedReport, Ticket, ordered, ordered_to,
};
pub use spawn::Scope;
pub use swath_plan::segment::index::Index as ExtentIndex;
pub use writer::Writer;

use crate::append::manifest::Entries;
use crate::append::output::Target;
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::{Draft, FileKind, Folder, move_range};

/// Begins an output that replaces what is at `path`, if anything, when it is committed.
///
/// # Errors
///
/// [`Reason::Busy`] if somebody else is writing it; if `path` names something that cannot be
/// replaced (a folder for a file, a device), or its folder cannot be written.
pub fn create(path: impl AsRef<Path>) -> Result<Append> {
    AppendOptions::new().create(path)
}

/// Begins an output whose first bytes are those of a committed one at `path`; new ones come
/// behind them. Without anything at `path`, this is [`create`].
///
/// Until the commit, `path` stays what it is. A file's bytes are taken over by sharing blocks
/// where the file system can, else by copying; segments are taken over as they are.
///
/// A lock keeps other writers of Swath out; of other programs it is found out at the commit, and
/// at checkpoints, that they have changed a file meanwhile ([`Reason::Changed`]): it is not
/// replaced then.
///
/// # Errors
///
/// As [`create`]; what reading the old output fails with.
pub fn append_to_existing(path: impl AsRef<Path>) -> Result<Append> {
    AppendOptions::new().append_to_existing(path)
}

impl AppendOptions {
    /// As [`create`], with these options.
    ///
    /// # Errors
    ///
    /// As [`create`].
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Append> {
        let path = path.as_ref();
        let target = self.begin(path)?;
        Ok(Append::new(self, path, target, 0, Entries::default()))
    }

    /// As [`append_to_existing`], with these options.
    ///
    /// # Errors
    ///
    /// As [`append_to_existing`].
    pub fn append_to_existing(&self, path: impl AsRef<Path>) -> Result<Append> {
        let path = path.as_ref();
        let mut target = self.begin(path)?;
        let (base, entries) = match &mut target {
            Target::Folder(folder) => match folder.old_manifest()? {
                Some(bytes) => {
                    let shown = path.join(swath_plan::segment::manifest::FILE_NAME);
                    let old = opened::decode_manifest(&shown, &bytes)?;
                    folder.adopt(&manifest::names(&old))?;
                    (0, Entries::behind(old))
                }
                None => (0, Entries::default()),
            },
            Target::File(draft) => match draft.existing() {
                Some(facts) if facts.kind == FileKind::File => {
                    (take_over(path, draft)?, Entries::default())
                }
                _ => (0, Entries::default()),
            },
        };
        Ok(Append::new(self, path, target, base, entries))
    }

    fn begin(&self, path: &Path) -> Result<Target> {
        Ok(match self.mode {
            Mode::Plain => Target::File(self.output.begin(path)?),
            Mode::Segments => Target::Folder(Folder::begin(path, &self.output.draft)?),
        })
    }
}

/// Copies the old file into the draft and returns its length.
fn take_over(path: &Path, draft: &mut Draft) -> Result<u64> {
    let told = |error| Error::io(Operation::Read, path, error);
    let old = draft.open_existing().map_err(told)?;
    let before = old.facts().map_err(told)?;
    move_range(&**draft.file(), &*old, 0, 0, before.len).map_err(told)?;
    let after = old.facts().map_err(told)?;
    if after == before {
        draft.build_on(before);
        Ok(before.len)
    } else {
        Err(Error::new(Operation::Read, Reason::Changed, path)
            .detail("it changed while it was taken over"))
    }
}

/// Opens a committed output: a plain file, or a folder of segments.
///
/// # Errors
///
/// If there is none; [`Reason::Corrupt`] for a manifest that is damaged, or made to harm;
/// [`Reason::Truncated`] for a segment that is shorter than the manifest says.
pub fn open(path: impl AsRef<Path>) -> Result<Opened> {
    opened::open_local(path.as_ref())
}
