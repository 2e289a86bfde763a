//! The verb `mirror`: makes equal copies of a file, each of them read back before it appears.
//!
//! ```text
//! checksums of the file → copy → read back from its device → commit, for each target
//! ```
//!
//! The copies share no blocks with the file or each other: a bad block damages only one of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use swath_plan::checksums::Checksums;
use swath_plan::fallback::Fallback;
use swath_plan::setters;

use crate::error::{Error, Operation, Reason, Result};
use crate::heal::examine::Copy;
use crate::heal::rewrite::Rewrite;
use crate::manifest::CHUNK_SIZE;
use crate::options::ReadOptions;
use crate::report::Report;
use crate::sink::{DraftBase, OutputOptions};
use crate::source::{OpenSource, Source};

pub use crate::profile::SharedDevice;
pub use crate::report::{MirrorReport, MirrorState};
pub use crate::source::{Hedging, Mirrored, Verify};

/// How to make copies. No setter can fail; 0 means "choose for me".
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let copy = folder.path().join("copy");
/// let made = swath::mirror::MirrorOptions::new().mirror("/etc/passwd", &[&copy])?;
/// assert!(swath::manifest::check(&copy, &made.checksums)?.is_right());
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MirrorOptions {
    read: ReadOptions,
    output: OutputOptions,
}

/// The copies that were made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Made {
    /// The checksums with which each copy was compared, and can be compared again.
    pub checksums: Arc<Checksums>,
    /// The paths of the copies.
    pub copies: Vec<PathBuf>,
    /// From the call to the last commit.
    pub elapsed: Duration,
    /// Remarks: for example that some copies share one device.
    pub notes: Vec<Fallback>,
}

/// Makes a copy of `source` at each of `targets`, durable and read back.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let targets = [folder.path().join("one"), folder.path().join("two")];
/// let made = swath::mirror::mirror("/etc/passwd", &targets)?;
/// assert_eq!(made.copies, targets);
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// As [`MirrorOptions::mirror`].
pub fn mirror<P: AsRef<Path>>(source: impl Into<Source>, targets: &[P]) -> Result<Made> {
    MirrorOptions::new().mirror(source, targets)
}

impl MirrorOptions {
    /// The defaults: durable when it returns, everything else chosen for you.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How the file is read; all of it is read. Progress counts bytes whose checksums have been
        /// computed. After a cancellation, copies that are complete stay.
        fn with_read(read: ReadOptions);

        /// How each copy is written.
        fn with_output(output: OutputOptions);
    }

    /// Makes a copy of `source` at each of `targets`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or changes during the call; if a target is the file itself, is
    /// another target, cannot be written, or changes before its turn; or if the bytes read back
    /// differ. Copies made before are complete.
    pub fn mirror<P: AsRef<Path>>(
        &self,
        source: impl Into<Source>,
        targets: &[P],
    ) -> Result<Made> {
        self.mirror_to(source.into(), &targets.iter().map(AsRef::as_ref).collect::<Vec<_>>())
    }

    fn mirror_to(&self, source: Source, targets: &[&Path]) -> Result<Made> {
        let started = Instant::now();
        self.read.check_whole(Operation::Read, &source.name())?;
        let read = self.read.joined(&self.output.hooks);
        self.refuse_twins(source.path(), targets)?;
        // Opening a pipe would wait, and a device may never end.
        Copy::open(source.clone()).error().map_or(Ok(()), Err)?;
        let output = self.output.in_same_folders(targets);
        let there: Vec<_> = targets.iter().map(|target| self.there(target)).collect();
        let sums = Arc::new(read.checksums(source.clone(), CHUNK_SIZE)?.value);
        for (target, there) in targets.iter().zip(there) {
            if self.there(target) != there {
                return Err(Error::new(Operation::Create, Reason::Changed, target)
                    .detail(
                        "it has changed since the call began, and may be another name of a copy that was made",
                    )
                    .hint(
                        "choose folders that are not one under two names, as on two mounts",
                    ));
            }
            // Compared with the sums, so a file that changes in between is an error.
            let from = Mirrored::new([source.clone()])
                .with_verify(Verify::Manifest(Arc::clone(&sums)));
            let rewrite = Rewrite {
                output: &output,
                read: &read,
                sums: &sums,
                bad: None,
                judged: DraftBase::Any,
            };
            rewrite.run(target, Source::from(from))?;
        }
        let copies: Vec<PathBuf> = targets.iter().map(|&target| target.to_owned()).collect();
        let all = [source].into_iter().chain(copies.iter().map(Source::from));
        let mut report = Report::serial("", CHUNK_SIZE);
        OpenSource::open(Source::mirrored(all))?.tell(&mut report);
        let notes = report.fallbacks;
        Ok(Made { checksums: sums, copies, elapsed: started.elapsed(), notes })
    }

    /// Length and time of what is there: FUSE numbers one file anew under each of its names.
    fn there(&self, target: &Path) -> Option<(u64, Option<(i64, i64)>)> {
        let at = self.output.draft.fs.locate(target).ok()?;
        let facts = at.folder.facts(&at.name).ok()??;
        Some((facts.len, facts.modified))
    }

    fn refuse_twins(&self, file: Option<&Path>, targets: &[&Path]) -> Result<()> {
        // The identity of a file, and the place where it is or would be created.
        let place = |path: &Path| {
            let at = self.output.draft.fs.locate(path).ok()?;
            let folder = at.folder.own_facts().ok()?.identity;
            let file = at.folder.facts(&at.name).ok().flatten().map(|facts| facts.identity);
            Some((folder, at.name, file))
        };
        for (index, &target) in targets.iter().enumerate() {
            let before = targets[..index].iter().copied();
            let others = file.into_iter().chain(before);
            let is_same = |other: &Path| {
                let (one, other) = (place(target)?, place(other)?);
                let is_one_name = (one.0, &one.1) == (other.0, &other.1);
                Some(is_one_name || one.2.is_some_and(|file| other.2 == Some(file)))
            };
            let is_same = |other: &&Path| is_same(other).unwrap_or(*other == target);
            if let Some(other) = others.into_iter().find(is_same) {
                let error = Error::new(Operation::Create, Reason::Invalid, target);
                let detail = format!("it is the same file as {}", other.display());
                return Err(error.detail(detail).hint("choose another path for this copy"));
            }
        }
        Ok(())
    }
}
