//! The verb `heal`: what is bad in the copies of a file is made good from those that have it.
//!
//! ```text
//! examine   every chunk of every copy, against a manifest or by vote: what is bad, and its sum
//! rewrite   of a copy with bad chunks: good runs shared with the old file, or copied;
//!           bad ones from a copy that has them
//! read back all of it, from the device, compared with the sums
//! commit    in place of the old file, in one step: see `docs/design/commit.md`
//! ```
//!
//! A copy that is good is not touched, one that is missing is made. If a chunk is good nowhere,
//! nothing is changed at all. A killed run leaves each copy as it was, or healed.

pub(crate) mod examine;
pub(crate) mod rewrite;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, Operation, Reason, Result};
use crate::observe::{CancelToken, Progress};
use crate::options::ReadOptions;
use crate::sink::draft::{DraftOptions, target_setters};
use crate::source::{Mirrored, Source, Verify};

use examine::{Copy, Examination};
use rewrite::{Rewrite, Rewritten};

/// How to heal. Every setter returns the options, none can fail; 0 means "choose for me".
///
/// ```
/// use swath::{HealOptions, Verify};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
/// # for path in &paths { std::fs::write(path, "the same in all of them").unwrap(); }
/// std::fs::write(&paths[1], "tHe same in all of them")?; // damaged
/// let healed = HealOptions::new().heal(&paths, &Verify::Vote)?;
/// assert_eq!(healed.copies[1].bad, [(0, 23)]);
/// assert_eq!(std::fs::read(&paths[1])?, b"the same in all of them");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct HealOptions {
    draft: DraftOptions,
    reading: ReadOptions,
}

/// What was wrong with the copies of a file, and what was done about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Healed {
    /// In the order in which they were named.
    pub copies: Vec<HealedCopy>,
    /// Bytes that each of them has now.
    pub len: u64,
    /// From the call to the last commit.
    pub elapsed: Duration,
}

/// One copy: what was bad, and how it was made good.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HealedCopy {
    /// Its name.
    pub path: PathBuf,
    /// Chunks that were bad, neighbours merged: `(offset, len)`.
    pub bad: Vec<(u64, u64)>,
    /// Bytes that it had; none if it could not be opened.
    pub len_before: Option<u64>,
    /// Why it could not be opened.
    pub trouble: Option<String>,
    /// How it was made good; none if it was good, or was only looked at.
    pub rewritten: Option<Rewritten>,
}

impl HealedCopy {
    /// Whether nothing was wrong with it, when its file should have `len` bytes.
    pub fn was_good(&self, len: u64) -> bool {
        self.bad.is_empty() && self.len_before == Some(len)
    }
}

/// Makes the bad chunks of `copies` good: against a manifest, or by the vote of more than half.
///
/// # Errors
///
/// As [`HealOptions::heal`].
pub fn heal<P: AsRef<Path>>(copies: &[P], against: &Verify) -> Result<Healed> {
    HealOptions::new().heal(copies, against)
}

impl HealOptions {
    /// Durable when it returns, everything else chosen for it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Threads, the caller's included. Default 0: chosen for these copies.
    #[must_use]
    pub fn with_workers(mut self, workers: usize) -> Self {
        self.reading = self.reading.with_workers(workers);
        self
    }

    target_setters!();

    /// Calls `progress` for each chunk that was looked at in all copies.
    #[must_use]
    pub fn with_progress(
        mut self,
        progress: impl Fn(Progress) + Send + std::marker::Sync + 'static,
    ) -> Self {
        self.reading = self.reading.with_progress(progress);
        self
    }

    /// Lets `token` cancel it; the copy that is being rewritten is then what it was.
    #[must_use]
    pub fn with_cancel(mut self, token: CancelToken) -> Self {
        self.reading = self.reading.with_cancel(token);
        self
    }

    /// Only says what is bad.
    ///
    /// # Errors
    ///
    /// As [`heal`](Self::heal), but for writing.
    pub fn examine<P: AsRef<Path>>(&self, copies: &[P], against: &Verify) -> Result<Healed> {
        let started = Instant::now();
        let (healed, _) = self.look(copies, against, started)?;
        Ok(healed)
    }

    /// Makes the bad chunks of `copies` good: against a manifest, or by the vote of more than half
    /// of them.
    ///
    /// Bad is what cannot be read, what differs, and what is missing; a copy that is too long is
    /// cut. Each rewritten copy is read back from its device before it takes the place of the old
    /// one, whose mode, owner (where allowed) and attributes it keeps. A missing copy gets the mode
    /// of another one.
    ///
    /// # Errors
    ///
    /// [`Reason::Corrupt`] if a chunk is good in no copy, or no majority agrees on it: then nothing
    /// has been changed. Else what kept a copy from being written; it is then what it was, and
    /// copies named before it are healed.
    pub fn heal<P: AsRef<Path>>(&self, copies: &[P], against: &Verify) -> Result<Healed> {
        let started = Instant::now();
        let (mut healed, found) = self.look(copies, against, started)?;
        if let Some(error) = found.hopeless(copies[0].as_ref()) {
            return Err(error);
        }
        let sums = found.into_sums(copies[0].as_ref())?;
        let all: Vec<PathBuf> = healed.copies.iter().map(|copy| copy.path.clone()).collect();
        let len = healed.len;
        for copy in healed.copies.iter_mut().filter(|copy| !copy.was_good(len)) {
            let from = Mirrored::new(&all).with_verify(Verify::Manifest(Arc::clone(&sums)));
            let rewrite = Rewrite {
                draft: &self.draft,
                reading: &self.reading,
                sums: &sums,
                bad: copy.len_before.map(|_| &copy.bad[..]),
            };
            copy.rewritten = Some(rewrite.run(&copy.path, Source::from(from))?);
        }
        healed.elapsed = started.elapsed();
        Ok(healed)
    }

    fn look<P: AsRef<Path>>(
        &self,
        copies: &[P],
        against: &Verify,
        started: Instant,
    ) -> Result<(Healed, Examination)> {
        let Some(first) = copies.first() else {
            let error = Error::new(Operation::Open, Reason::Invalid, Path::new(""));
            return Err(error.detail("no copy is named"));
        };
        if matches!(against, Verify::None) {
            let error = Error::new(Operation::Read, Reason::Invalid, first.as_ref());
            return Err(error
                .detail("nothing says what is right")
                .hint("heal against a manifest, or let three copies vote"));
        }
        let opened: Vec<Copy> =
            copies.iter().map(|path| Copy::open(Source::from(path.as_ref()))).collect();
        let found = Examination::run(&opened, against, &self.reading)?;
        let told =
            copies.iter().zip(&opened).zip(&found.bad).map(|((path, copy), bad)| HealedCopy {
                path: path.as_ref().to_owned(),
                bad: bad.iter().map(|extent| (extent.offset(), extent.len())).collect(),
                len_before: copy.len(),
                trouble: copy.error().map(|error| format!("{error:?}")),
                rewritten: None,
            });
        let healed =
            Healed { copies: told.collect(), len: found.len, elapsed: started.elapsed() };
        Ok((healed, found))
    }
}
