//! The verb `heal`: repairs the bad chunks of the copies of a file from copies that have them.
//!
//! ```text
//! examine    every chunk of every copy, against a manifest or by vote: bad chunks, and sums
//! rewrite    a copy with bad chunks: good runs shared with the old file, or copied;
//!            bad ones from a copy that has them
//! read back  all of it, from the device, compared with the sums
//! commit     in place of the old file, in one step: see `docs/design/commit.md`
//! ```
//!
//! A good copy is not touched, a missing one is created, and one that exists but cannot be opened
//! is left alone. If a chunk is good in no copy, nothing is changed at all. If the run is killed,
//! each copy is either unchanged or healed.

pub(crate) mod examine;
pub(crate) mod rewrite;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use swath_plan::extent::Extent;
use swath_plan::mirror::MOST;
use swath_plan::setters;

use crate::error::{Error, Operation, Reason, Result};
use crate::options::ReadOptions;
use crate::sink::claim::Claim;
use crate::sink::{DraftBase, OutputOptions};
use crate::source::{Mirrored, Source, Verify};

use examine::{Copy, Examination};
use rewrite::Rewrite;

pub use rewrite::Rewritten;

/// How to heal. No setter can fail; 0 means "choose for me".
///
/// ```
/// use swath::heal::HealOptions;
/// use swath::mirror::Verify;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
/// # for path in &paths { std::fs::write(path, "the same in all of them").unwrap(); }
/// std::fs::write(&paths[1], "tHe same in all of them")?; // damaged
/// let healed = HealOptions::new().heal(&paths, &Verify::Vote)?;
/// assert_eq!(healed.copies[1].bad, [swath::Extent::between(0, 23)]);
/// assert_eq!(std::fs::read(&paths[1])?, b"the same in all of them");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct HealOptions {
    read: ReadOptions,
    output: OutputOptions,
}

/// The faults of the copies of a file, and their repairs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Healed {
    /// The copies, in the order in which they were named.
    pub copies: Vec<HealedCopy>,
    /// Length of each copy now, in bytes.
    pub len: u64,
    /// From the call to the last commit.
    pub elapsed: Duration,
}

/// One copy: its bad chunks, and how it was repaired.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HealedCopy {
    /// The path.
    pub path: PathBuf,
    /// Chunks that were bad, adjacent ones merged.
    pub bad: Vec<Extent>,
    /// The length before, in bytes; `None` if the copy could not be opened.
    pub len_before: Option<u64>,
    /// The reason why the copy could not be opened.
    pub trouble: Option<String>,
    /// How the copy was repaired; `None` if it was good, was only examined, or could not be healed.
    pub rewritten: Option<Rewritten>,
    /// The failure that prevented healing; the copy is then unchanged. A copy that exists but cannot
    /// be opened is not touched, because it may be good.
    pub error: Option<Arc<Error>>,
}

impl Healed {
    /// Returns the error of the first copy that could not be healed; `None` if all are good now.
    pub fn failure(&self) -> Option<Error> {
        self.copies.iter().find_map(|copy| copy.error.as_ref()).map(|error| error.again())
    }
}

impl HealedCopy {
    /// Whether the copy was good, given that the file should have `len` bytes.
    pub fn was_good(&self, len: u64) -> bool {
        self.bad.is_empty() && self.len_before == Some(len)
    }
}

/// Repairs the bad chunks of `copies`, against a manifest or by a majority vote.
/// [`Healed::failure`] reports copies that could not be healed.
///
/// ```
/// use swath::mirror::Verify;
/// # let folder = tempfile::tempdir().unwrap();
/// # let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
/// # for path in &paths { std::fs::write(path, "the same in all of them").unwrap(); }
/// std::fs::write(&paths[2], "the sa")?; // cut short
/// let healed = swath::heal::heal(&paths, &Verify::Vote)?;
/// assert!(healed.failure().is_none());
/// assert_eq!(std::fs::read(&paths[2])?, b"the same in all of them");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`HealOptions::heal`].
pub fn heal<P: AsRef<Path>>(copies: &[P], against: &Verify) -> Result<Healed> {
    HealOptions::new().heal(copies, against)
}

impl HealOptions {
    /// The defaults: durable when it returns, everything else chosen for you.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How the copies are read; all of each is read. Progress counts chunks examined in all
        /// copies. After a cancellation the copy that was being rewritten is unchanged.
        fn with_read(read: ReadOptions);

        /// How a copy is rewritten.
        fn with_output(output: OutputOptions);
    }

    /// Reports bad chunks and changes nothing.
    ///
    /// # Errors
    ///
    /// As [`heal`](Self::heal), except those of writing.
    pub fn examine<P: AsRef<Path>>(&self, copies: &[P], against: &Verify) -> Result<Healed> {
        self.examine_all(&copies.iter().map(AsRef::as_ref).collect::<Vec<_>>(), against)
    }

    fn examine_all(&self, copies: &[&Path], against: &Verify) -> Result<Healed> {
        let started = Instant::now();
        let (mut healed, _) =
            self.look(copies, &open(copies, against)?, against, &self.joined())?;
        healed.elapsed = started.elapsed();
        Ok(healed)
    }

    /// Repairs the bad chunks of `copies`: against a manifest, or by a majority vote.
    ///
    /// A chunk is bad if it cannot be read, differs, or is missing; a copy that is too long is
    /// truncated. Each rewritten copy is read back from its device before it replaces the old
    /// one, whose mode, owner (where allowed) and attributes it keeps. A missing copy gets the
    /// mode of another one.
    ///
    /// # Errors
    ///
    /// If nothing was changed: [`Reason::Corrupt`] if a chunk is good in no copy, if no majority
    /// agrees on it, or if every copy has another length than the manifest and one is longer;
    /// the error if this process cannot open more files.
    ///
    /// A failure to open or write a single copy is the [`error`](HealedCopy::error) of that copy,
    /// which is then unchanged; the others are healed. [`Healed::failure`] returns the first such
    /// error. Cancelling ends the call: copies already healed stay healed.
    pub fn heal<P: AsRef<Path>>(&self, copies: &[P], against: &Verify) -> Result<Healed> {
        self.heal_all(&copies.iter().map(AsRef::as_ref).collect::<Vec<_>>(), against)
    }

    fn heal_all(&self, copies: &[&Path], against: &Verify) -> Result<Healed> {
        let started = Instant::now();
        let read = self.joined();
        let output = self.output.in_same_folders(copies);
        let opened = open(copies, against)?;
        // Good copies are not written, which would remove the strays of a killed run.
        copies.iter().for_each(|copy| Claim::sweep(copy, &*output.draft.fs));
        refuse_to_cut(&opened, copies, against)?;
        let before: Vec<_> = opened.iter().map(Copy::facts).collect();
        let (mut healed, found) = self.look(copies, &opened, against, &read)?;
        drop(opened);
        if let Some(error) = found.hopeless(copies[0]) {
            return Err(error);
        }
        let sums = found.into_sums(copies[0])?;
        let all: Vec<PathBuf> = healed.copies.iter().map(|copy| copy.path.clone()).collect();
        let len = healed.len;
        let is_bad = |copy: &HealedCopy| !copy.was_good(len) && copy.error.is_none();
        let all_copies = healed.copies.iter_mut().zip(before);
        for (copy, judged) in all_copies.filter(|(copy, _)| is_bad(copy)) {
            // Other bytes may have the same checksums as those that won a vote.
            let by = match against {
                Verify::Manifest(_) => Verify::Manifest(Arc::clone(&sums)),
                Verify::Vote | Verify::None => Verify::Vote,
            };
            let from = Mirrored::new(&all).with_verify(by);
            let rewrite = Rewrite {
                output: &output,
                read: &read,
                sums: &sums,
                bad: copy.len_before.map(|_| &copy.bad[..]),
                judged: judged.map_or(DraftBase::Nothing, DraftBase::File),
            };
            match rewrite.run(&copy.path, Source::from(from)) {
                Ok(rewritten) => copy.rewritten = Some(rewritten),
                Err(error) if error.reason() == Reason::Cancelled => return Err(error),
                Err(error) => copy.error = Some(Arc::new(error)),
            }
        }
        healed.elapsed = started.elapsed();
        Ok(healed)
    }

    fn joined(&self) -> ReadOptions {
        self.read.joined(&self.output.hooks)
    }

    fn look(
        &self,
        copies: &[&Path],
        opened: &[Copy],
        against: &Verify,
        read: &ReadOptions,
    ) -> Result<(Healed, Examination)> {
        read.check_whole(Operation::Read, copies[0])?;
        let found = Examination::run(opened, against, read)?;
        let told = copies.iter().zip(opened).zip(&found.bad).map(|((&path, copy), bad)| {
            let blocked = copy.error().filter(|_| !copy.is_missing());
            let bad = if blocked.is_some() { &[][..] } else { &bad[..] };
            HealedCopy {
                path: path.to_owned(),
                bad: bad.to_vec(),
                len_before: copy.len(),
                trouble: copy.error().map(|error| format!("{error:?}")),
                rewritten: None,
                error: blocked.map(Arc::new),
            }
        });
        let healed = Healed { copies: told.collect(), len: found.len, elapsed: Duration::ZERO };
        Ok((healed, found))
    }
}

/// Opens every copy that can be opened.
fn open(copies: &[&Path], against: &Verify) -> Result<Vec<Copy>> {
    let Some(first) = copies.first() else {
        let error = Error::new(Operation::Open, Reason::Invalid, Path::new("<copies>"));
        return Err(error.detail("no copies given").hint("pass at least one path"));
    };
    if matches!(against, Verify::None) {
        let error = Error::new(Operation::Read, Reason::Invalid, first);
        return Err(error
            .detail("neither a manifest nor a majority vote decides which copy is right")
            .hint("pass a manifest, or at least three copies that can vote"));
    }
    if copies.len() > MOST {
        let error = Error::new(Operation::Open, Reason::Invalid, first);
        return Err(error
            .detail(format!("{} copies given, at most {MOST} allowed", copies.len()))
            .hint("heal them in several calls, each with a good copy"));
    }
    let opened: Vec<Copy> = copies.iter().map(|&path| Copy::open(Source::from(path))).collect();
    let lacking = opened.iter().find(|copy| copy.lacks_resources());
    lacking.and_then(Copy::error).map_or(Ok(opened), Err)
}

/// Refuses the manifest of an older, shorter file, which would truncate every copy.
fn refuse_to_cut(opened: &[Copy], paths: &[&Path], against: &Verify) -> Result<()> {
    let Verify::Manifest(sums) = against else { return Ok(()) };
    let lens = || opened.iter().map(|copy| copy.len());
    let longest = lens().zip(paths).max_by_key(|(len, _)| *len);
    let Some((Some(len), path)) = longest else { return Ok(()) };
    if len <= sums.len() || lens().any(|len| len == Some(sums.len())) {
        return Ok(());
    }
    let expected = sums.len();
    Err(Error::new(Operation::Open, Reason::Corrupt, path)
        .detail(format!(
            "it has {len} bytes, the manifest says {expected}, and no copy has that length; nothing \
             was changed"
        ))
        .hint("make the manifest again from the right file, or pass the manifest of this file"))
}
