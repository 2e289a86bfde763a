//! The manifest of a file: a checksum of each chunk, to compare copies with.
//!
//! ```
//! use swath::manifest;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let (data, sums) = (folder.path().join("data"), folder.path().join("data.manifest"));
//! # std::fs::write(&data, vec![7; 3 << 20]).unwrap();
//! manifest::save(&sums, &manifest::of(&data)?)?;
//! // Later, or of another copy:
//! let found = manifest::check(&data, &manifest::load(&sums)?)?;
//! assert!(found.is_right());
//! # Ok::<(), swath::Error>(())
//! ```
//!
//! It takes 8 bytes for each MiB. `docs/guide/mirrors.md` describes the format; XXH3 with 64 bits
//! detects damage, not tampering.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

pub use swath_plan::checksums::{CHUNK_SIZE, Checksums, ChecksumsError};
use swath_plan::extent::Extent;
use twox_hash::XxHash3_64;

use crate::error::{Error, Operation, Reason, Result};
use crate::heal::examine::{Copy, Examination};
use crate::options::ReadOptions;
use crate::report::Scanned;
use crate::source::{Source, Verify};
use crate::write::write;

/// The result of comparing a file with a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Chunks that differ or cannot be read, adjacent ones merged.
    pub bad: Vec<Extent>,
    /// Length of the file, in bytes.
    pub len: u64,
    /// Length that the file should have, in bytes.
    pub expected_len: u64,
}

impl Checked {
    /// Whether every byte and the length are right.
    pub fn is_right(&self) -> bool {
        self.bad.is_empty() && self.len == self.expected_len
    }
}

/// Computes the checksums of a whole file, in chunks of [`CHUNK_SIZE`].
///
/// ```
/// let sums = swath::manifest::of("/etc/passwd")?;
/// assert!(swath::manifest::check("/etc/passwd", &sums)?.is_right());
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// As [`scan`](crate::scan).
pub fn of(source: impl Into<Source>) -> Result<Checksums> {
    Ok(ReadOptions::new().checksums(source, CHUNK_SIZE)?.value)
}

/// Writes checksums to `path`, completely or not at all.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("passwd.manifest");
/// let sums = swath::manifest::of("/etc/passwd")?;
/// swath::manifest::save(&path, &sums)?;
/// assert_eq!(swath::manifest::load(&path)?, sums);
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// As [`write`](fn@crate::write).
pub fn save(path: impl AsRef<Path>, sums: &Checksums) -> Result<()> {
    write(path, sums.encode(XxHash3_64::oneshot))?;
    Ok(())
}

/// Loads checksums that [`save`] has written.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("passwd.manifest");
/// swath::manifest::save(&path, &swath::manifest::of("/etc/passwd")?)?;
/// let sums = swath::manifest::load(&path)?;
/// assert_eq!(sums.len(), std::fs::metadata("/etc/passwd").unwrap().len());
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// If the file cannot be read, is damaged, or is not a manifest ([`Reason::Corrupt`]).
pub fn load(path: impl AsRef<Path>) -> Result<Checksums> {
    load_from(path.as_ref())
}

fn load_from(path: &Path) -> Result<Checksums> {
    if let Some(what) = never_ends(path) {
        let error = Error::new(Operation::Read, Reason::Corrupt, path);
        return Err(error.detail(what).hint("pass a file that `swath manifest` has written"));
    }
    let bytes = crate::read::read(path)?;
    Checksums::decode(&bytes, XxHash3_64::oneshot).map_err(|fault| {
        let hint = match fault {
            ChecksumsError::Magic | ChecksumsError::Version(_) | ChecksumsError::Kind(_) => {
                "pass a file that `swath manifest` has written"
            }
            _ => "make the manifest again from a file that is known to be right",
        };
        let error = Error::new(Operation::Read, Reason::Corrupt, path);
        error.detail(fault.to_string()).hint(hint)
    })
}

/// Returns the kind of file at `path`, if reading it may never end.
fn never_ends(path: &Path) -> Option<&'static str> {
    // A shell's pipe has no path that leads to it, and its writer exists already.
    let found = path.canonicalize().and_then(|path| path.metadata()).ok()?.file_type();
    match () {
        () if found.is_char_device() => Some("it is a device"),
        () if found.is_fifo() => Some("it is a named pipe"),
        () => None,
    }
}

/// Compares a file with checksums. Chunks that cannot be read count as different.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("data");
/// std::fs::write(&path, "as it was")?;
/// let sums = swath::manifest::of(&path)?;
/// std::fs::write(&path, "as it is.")?;
/// let found = swath::manifest::check(&path, &sums)?;
/// assert_eq!(found.bad, [swath::Extent::between(0, 9)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the file cannot be opened, or cannot be read by position.
pub fn check(source: impl Into<Source>, sums: &Checksums) -> Result<Checked> {
    ReadOptions::new().check(source, sums)
}

impl ReadOptions {
    /// As [`check`], with the workers, progress, cancellation and timeline of these options.
    /// Their offset and length are ignored.
    ///
    /// # Errors
    ///
    /// As [`check`]; and if it was cancelled.
    pub fn check(&self, source: impl Into<Source>, sums: &Checksums) -> Result<Checked> {
        self.check_against(source.into(), sums)
    }

    fn check_against(&self, source: Source, sums: &Checksums) -> Result<Checked> {
        let copy = Copy::open(source);
        if let Some(error) = copy.error() {
            return Err(error);
        }
        let (expected_len, len) = (sums.len(), copy.len().unwrap_or(0));
        let against = Verify::Manifest(sums.clone().into());
        let mut found = Examination::run(&[copy], &against, self)?;
        let bad = found.bad.pop().unwrap_or_default();
        Ok(Checked { bad, len, expected_len })
    }

    /// Computes the checksum of each chunk of `chunk_size` bytes of a whole file (0:
    /// [`CHUNK_SIZE`]). Offset and length of these options are ignored.
    ///
    /// # Errors
    ///
    /// As [`scan`](crate::scan).
    pub fn checksums(
        &self,
        source: impl Into<Source>,
        chunk_size: u64,
    ) -> Result<Scanned<Checksums>> {
        self.checksums_of(source.into(), chunk_size)
    }

    fn checksums_of(&self, source: Source, chunk_size: u64) -> Result<Scanned<Checksums>> {
        let name = source.name();
        let chunk_size = if chunk_size == 0 { CHUNK_SIZE } else { chunk_size };
        self.check_whole(Operation::Read, &name)?;
        let options = self.clone().with_chunk_size(chunk_size);
        let scanned = options.scan(
            source,
            |chunk| vec![XxHash3_64::oneshot(chunk.bytes)],
            |mut left, mut right| {
                left.append(&mut right);
                left
            },
        )?;
        let sums = scanned.value.unwrap_or_default();
        let value =
            Checksums::new(scanned.report.bytes, chunk_size, sums).map_err(|fault| {
                Error::io(Operation::Read, &name, io::Error::other(fault.to_string()))
            })?;
        Ok(Scanned { value, report: scanned.report })
    }
}
