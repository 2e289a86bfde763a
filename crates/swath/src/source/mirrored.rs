//! Several equal copies, read as one source: each copy provides chunks, also those that another lacks.
//!
//! ```text
//! worker → Group: which copy? ⇄ plan::mirror → Opened of that copy → bytes, checked → worker
//!                    └── missing or wrong: the next copy
//! ```
//!
//! Every verb reads a mirrored source like a file, but with more workers, so that each device has
//! its own. [`swath_plan::mirror`] decides (copy, fail-over, second reads); this module carries the
//! decisions out.
//!
//! **Trust.** Without [`Verify`], the bytes of each copy are trusted like those of a file, as long as
//! the copy stays the file that was opened: this is checked after every chunk. Copies whose length
//! differs from that of the majority are then left out. With it, each chunk is checked on its own.

mod fetch;
mod group;
pub(crate) mod lengths;
mod race;
mod readers;
mod steps;

use std::path::PathBuf;
use std::sync::Arc;

use swath_plan::checksums::Checksums;
use swath_plan::mirror::Hedging as Budget;
use swath_plan::setters;

use super::copies::{Closed, Copies};
use super::{Source, SourceForm};
use crate::error::Result;
use crate::profile::SharedDevice;

use group::Group;

pub(crate) use steps::{room_for, sum_in_steps};

/// The reference with which each chunk of a copy is compared before it is used.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Verify {
    /// No reference: for copies that are known to be equal.
    #[default]
    None,
    /// Its checksum in a [manifest](crate::manifest), which also has the length of the file.
    Manifest(Arc<Checksums>),
    /// The other copies: more than half of all named copies must have the same bytes, 2 of 2 or 3, 3
    /// of 4 or 5. Each chunk is read that many times: 1 MiB, counted from the start of the file,
    /// completely even if only a part of it is wanted.
    Vote,
}

/// Second reads of slow chunks, from another copy: the first to finish is used.
///
/// A read is repeated when it takes longer than all but this share of earlier reads, and at most for
/// that share of all reads, except for a few at the start. Each of the two reads has memory of its
/// own, so a late one does no harm; the cost is a copy of each chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hedging(pub(crate) Budget);

impl Hedging {
    /// Allows second reads for `permille` of a thousand reads, and eight more.
    pub fn permille(permille: u32) -> Self {
        Self(Budget { permille: permille.min(1000), burst: 8 })
    }
}

impl Default for Hedging {
    /// 20 of a thousand.
    fn default() -> Self {
        Self::permille(20)
    }
}

/// Several equal copies, and the options for reading them; converts into a [`Source`].
///
/// ```
/// use swath::ReadOptions;
/// use swath::mirror::{Mirrored, Verify};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
/// # for path in &paths { std::fs::write(path, "the same in all of them").unwrap(); }
/// std::fs::write(&paths[1], "tHe same in all of them")?; // damaged
/// let copies = Mirrored::new(&paths).with_verify(Verify::Vote);
/// let loaded = ReadOptions::new().read(copies)?;
/// assert_eq!(&loaded.buffer[..], b"the same in all of them");
/// assert_eq!(loaded.report.mirrors.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mirrored {
    pub(super) copies: Vec<Source>,
    pub(super) verify: Verify,
    pub(super) hedging: Option<Hedging>,
    pub(super) shared_device: SharedDevice,
}

impl Mirrored {
    /// Returns a source of these copies, at most 64; messages use the name of the first. Problems with
    /// copies are found when they are opened.
    pub fn new<S: Into<Source>>(copies: impl IntoIterator<Item = S>) -> Self {
        let copies = copies.into_iter().map(Into::into).collect();
        Self {
            copies,
            verify: Verify::None,
            hedging: None,
            shared_device: SharedDevice::OneCopy,
        }
    }

    setters! {
        /// The reference for comparing chunks. Default: [`Verify::None`].
        fn with_verify(verify: Verify);

        /// Reads slow chunks a second time, from another copy. Default: no. Not done if copies vote.
        fn with_hedging(hedging: Hedging);

        /// How to read copies that share one device. Default: [`SharedDevice::OneCopy`];
        /// `swath tune` measures which is faster.
        fn with_shared_device(shared_device: SharedDevice);
    }
}

impl Closed for Mirrored {
    fn name(&self) -> PathBuf {
        self.copies.first().map_or_else(PathBuf::new, Source::name)
    }

    fn open(&self) -> Result<Box<dyn Copies>> {
        Ok(Box::new(Group::open(self)?))
    }
}

impl From<Mirrored> for Source {
    fn from(mirrored: Mirrored) -> Self {
        Self(SourceForm::Mirrored(Arc::new(mirrored)))
    }
}
