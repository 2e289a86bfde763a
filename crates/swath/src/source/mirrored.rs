//! Several equal copies, read as one: the chunks of each, those that another one lacks.
//!
//! ```text
//! worker → Group: which copy? ⇄ plan::mirror → Opened of that copy → bytes, looked at → worker
//!                    └── not there, or not right: the next copy
//! ```
//!
//! Every verb reads a mirrored source as it reads a file; only more workers take part, so that
//! each device has its own. What is decided (which copy, fail-over, second reads) is decided in
//! [`swath_plan::mirror`]; here it is done.
//!
//! **What is believed.** Without [`Verify`] the bytes of each copy are believed, as a file's are,
//! as long as the copy stays the file that was opened: that is looked at behind every chunk. Copies
//! whose length is not that of most are then left out. With it, each chunk is believed alone.

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

use super::copies::{Closed, Copies};
use super::{Inner, Source};
use crate::error::Result;
use crate::profile::SharedDevice;

use group::Group;

pub(crate) use steps::{room_for, sum_in_steps};

/// What each chunk of a copy is compared with before it is taken.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Verify {
    /// Nothing: for copies that are known to be equal.
    #[default]
    None,
    /// The checksum that a [manifest](crate::manifest) has of it. The manifest also says how long
    /// the file is.
    Manifest(Arc<Checksums>),
    /// Other copies: more than half of all that were named must have the same bytes, 2 of 2 or 3,
    /// 3 of 4 or 5. Each chunk is read so many times: 1 MiB, counted from the start of the file,
    /// whole also where a part of it is wanted.
    Vote,
}

/// Second reads of chunks that take long, from another copy: whichever comes first is taken.
///
/// A read is made again when it takes longer than all but such a share of those before it, and
/// never more often than that share of all reads, a few at the start apart. Both reads go to
/// memory of their own, so a late one harms nobody; it costs a copy of each chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hedging(pub(crate) Budget);

impl Hedging {
    /// Second reads for at most `permille` of a thousand reads, and eight besides.
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

/// Several equal copies, and how they are read: a [`Source`] to be.
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
    /// These copies, at most 64, the first of which names them all in messages. What is wrong with
    /// them is found when they are opened.
    pub fn new<S: Into<Source>>(copies: impl IntoIterator<Item = S>) -> Self {
        let copies = copies.into_iter().map(Into::into).collect();
        Self {
            copies,
            verify: Verify::None,
            hedging: None,
            shared_device: SharedDevice::OneCopy,
        }
    }

    /// What chunks are compared with. Default: [`Verify::None`].
    #[must_use]
    pub fn with_verify(mut self, verify: Verify) -> Self {
        self.verify = verify;
        self
    }

    /// Makes second reads of what takes long. Default: no. Not done where copies vote.
    #[must_use]
    pub fn with_hedging(mut self, hedging: Hedging) -> Self {
        self.hedging = Some(hedging);
        self
    }

    /// How copies are read that share one device. Default: [`SharedDevice::OneCopy`]; `swath tune`
    /// measures which is faster.
    #[must_use]
    pub fn with_shared_device(mut self, shared: SharedDevice) -> Self {
        self.shared_device = shared;
        self
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
        Self(Inner::Mirrored(Arc::new(mirrored)))
    }
}
