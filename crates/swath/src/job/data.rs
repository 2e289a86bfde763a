//! The data that travel between the processes of a job: parts and receipts.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swath_plan::extent::Extent;
use swath_plan::parts::{Division, Piece};
use swath_plan::words;

use crate::error::{Error, Operation, Reason, Result};
use crate::sink::path_text;

/// The form of a job's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Form {
    /// One ordinary file. The commit copies the bytes of the parts to their places, sharing blocks
    /// where the file system can, and gives the file its name in one step.
    #[default]
    File,
    /// The job's folder itself is the output: the commit adds a manifest and moves nothing.
    /// [`append::open`](crate::append::open) reads it as one stream, and so do `swath cat` and
    /// `swath cp`.
    Segments,
}

words!(Form { File = "file", Segments = "segments" });

/// The data that one process needs to do a part: the bytes to read, and the place to write.
///
/// Small for a job of any size: it can be sent to a worker with each task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub(super) job: String,
    #[serde(with = "path_text")]
    pub(super) folder: PathBuf,
    pub(super) index: u64,
    pub(super) is_synced: bool,
    #[serde(with = "DivisionText")]
    pub(super) division: Division,
    pub(super) pieces: Vec<PartPiece>,
}

impl Part {
    /// Returns a part that belongs to no job.
    pub(super) fn only_read(index: u64, division: Division, pieces: Vec<PartPiece>) -> Self {
        let (job, folder) = (String::new(), PathBuf::new());
        Self { job, folder, index, is_synced: false, division, pieces }
    }

    /// The index of the part in the order of the output, from 0.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Where the inputs were divided, which decides which records or bytes of its pieces a part has.
    pub fn division(&self) -> Division {
        self.division
    }

    /// The extents that were divided among the parts, in order; none for a job without inputs.
    ///
    /// With [`Division::Records`] the part has the records that *begin* in each of them:
    /// [`with_starting_in`](crate::Records::with_starting_in) finds these. With every other
    /// division it has exactly these bytes, see [`contents`](Self::contents).
    pub fn pieces(&self) -> &[PartPiece] {
        &self.pieces
    }

    /// The bytes that the part consists of, in order. All parts, one after the other, are the bytes
    /// of all inputs. With [`Division::Lines`] they are whole lines; a line that continues in the
    /// next input is then the end of one piece and the beginning of the next.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] with [`Division::Records`], unless the job has no inputs: only a reader
    /// that knows the records finds where they end.
    ///
    /// ```
    /// use swath::job::{Division, JobOptions};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let input = folder.path().join("in.txt");
    /// std::fs::write(&input, "one\ntwo\nthree\n")?;
    /// let options = JobOptions::new().with_parts(2).with_division(Division::Lines);
    /// let parts = options.divide([&input])?;
    /// let lens: Vec<u64> = parts[0].contents()?.iter().map(|piece| piece.len).collect();
    /// assert_eq!(lens, [8]); // "one\ntwo\n": the second line begins in the first 7 bytes
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contents(&self) -> Result<&[PartPiece]> {
        match (self.division, self.pieces.first()) {
            (Division::Records, Some(first)) => Err(Error::new(
                Operation::Read,
                Reason::Invalid,
                &first.path,
            )
            .at(first.extent())
            .detail(format!(
                "part {} has the records that begin in these bytes, and where they end is \
                         known only to the program that planned the job",
                self.index
            ))
            .hint("read them with `starting_in`, or divide by lines, bytes or a width")),
            _ => Ok(&self.pieces),
        }
    }

    /// The folder of the job; empty if it belongs to no job.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// An extent of an input, and the state of this input when the job was planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPiece {
    /// The input, as an absolute path.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
    #[serde(rename = "exact")]
    pub(super) is_exact: bool,
    pub(super) state: InputState,
}

impl PartPiece {
    /// The bytes. [`Part::division`] decides which of them the part has.
    pub fn extent(&self) -> Extent {
        Extent::between(self.offset, self.offset.saturating_add(self.len))
    }

    /// Whether the part has exactly these bytes: with [`Division::Bytes`], [`Division::Lines`] and
    /// [`Division::Width`]. Otherwise it has the records that begin in them, which is the same for
    /// whole inputs.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }
}

/// Whether a part of this division must not be read past its bytes.
pub(super) fn is_exact(division: Division) -> bool {
    !matches!(division, Division::Records | Division::Inputs | Division::Groups)
}

/// The facts that reveal a change of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InputState {
    pub(super) input_len: u64,
    pub(super) modified_s: i64,
    pub(super) modified_ns: i64,
    /// The inode number on this machine, if the file is on a disk of this machine: network file systems may number
    /// files differently on each machine, and each may have a copy.
    #[serde(default)]
    pub(super) inode: Option<LocalInode>,
    /// The permissions: the readers of the output are those who could read the inputs then.
    pub(super) mode: u32,
    /// The group of the permissions; `None`: any.
    pub(super) group: Option<u32>,
}

/// A file's inode number, and the place where it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LocalInode {
    /// A hash of this machine's boot and the mounts that the process sees.
    pub(super) place: u64,
    pub(super) number: u64,
}

/// An extent of an input: `[input, offset, length]` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlanPiece(usize, u64, u64);

impl From<&Piece> for PlanPiece {
    fn from(piece: &Piece) -> Self {
        Self(piece.input, piece.extent.offset(), piece.extent.len())
    }
}

impl PlanPiece {
    /// Returns the index of its input.
    pub(super) fn input(self) -> usize {
        self.0
    }

    /// Returns its bytes; `None` if they end past the longest possible file: the data may come from anywhere.
    pub(super) fn extent(self) -> Option<Extent> {
        Extent::new(self.1, self.2)
    }
}

/// The receipt of a finished attempt: the part, the attempt, and its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Done {
    /// The part.
    pub part: u64,
    /// The attempt: 16 hexadecimal digits.
    pub attempt: String,
    /// Bytes that the attempt wrote.
    pub len: u64,
    /// The CRC-32C of the bytes.
    pub crc32c: u32,
}

const PREFIX: &str = "part-";

/// Whether `id` can be the number of a job or an attempt: 16 hexadecimal digits.
pub(super) fn is_number(id: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    id.len() == 16 && id.bytes().all(is_digit)
}

impl Done {
    /// Returns the name of the file that holds the bytes.
    pub(super) fn file_name(&self) -> String {
        let Self { part, attempt, len, crc32c } = self;
        format!("{PREFIX}{part:06}.{attempt}.{len}.{crc32c:08x}")
    }

    /// Reads a receipt from the name of a file; `None` if the name has none.
    pub(super) fn of_file_name(name: &str) -> Option<Self> {
        let mut fields = name.strip_prefix(PREFIX)?.split('.');
        let part = fields.next()?.parse().ok()?;
        let attempt = fields.next()?.to_owned();
        let len = fields.next()?.parse().ok()?;
        let crc32c = u32::from_str_radix(fields.next()?, 16).ok()?;
        let done = Self { part, attempt, len, crc32c };
        // Exactly the form of `file_name`: one receipt has one name.
        (fields.next().is_none() && done.is_well_formed() && done.file_name() == name)
            .then_some(done)
    }

    /// Whether an attempt can have this number: the receipt may come from anywhere.
    pub(super) fn is_well_formed(&self) -> bool {
        is_number(&self.attempt)
    }
}

/// The JSON form of a [`Division`].
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Division")]
#[non_exhaustive]
pub(super) enum DivisionText {
    Records,
    Bytes,
    Lines,
    Width(NonZeroU64),
    Inputs,
    Groups,
}

/// Returns the length of the output.
pub(super) fn bytes_of(chosen: &[Done]) -> u64 {
    chosen.iter().map(|done| done.len).sum()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn done() -> Done {
        Done { part: 12, attempt: "5f3a9c0e12345678".into(), len: 1_048_576, crc32c: 0x9ae }
    }

    #[test]
    fn a_receipt_is_a_name_and_a_name_is_a_receipt() {
        let name = "part-000012.5f3a9c0e12345678.1048576.000009ae";
        assert_eq!(done().file_name(), name);
        assert_eq!(Done::of_file_name(name), Some(done()));
        let many = Done { part: 12_345_678, len: u64::MAX, ..done() };
        assert_eq!(Done::of_file_name(&many.file_name()), Some(many));
    }

    #[test]
    fn other_names_are_not_receipts() {
        for name in [
            "JOB",
            "part-",
            "part-12.5f3a9c0e12345678.1048576.000009ae",
            "part-000012.5f3a9c0e12345678.1048576.9ae",
            "part-000012.5f3a9c0e12345678.01.000009ae",
            "part-000012.5f3a9c0e1234567.1.000009ae",
            "part-000012.5F3A9C0E12345678.1.000009ae",
            "part-000012.5f3a9c0e12345678.1.000009ae.x",
            "part-000012.../etc/passwd_xx.1.000009ae",
            "part-+00012.5f3a9c0e12345678.1.000009ae",
            ".part-000012.5f3a9c0e12345678.swath-tmp",
        ] {
            assert_eq!(Done::of_file_name(name), None, "{name}");
        }
    }

    #[test]
    fn paths_that_are_not_text_survive_json() {
        for bytes in [&b"/data/in"[..], b"/data/\xff\xfe"] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            let state = InputState {
                input_len: 1,
                modified_s: 2,
                modified_ns: 3,
                inode: Some(LocalInode { place: 5, number: 6 }),
                mode: 4,
                group: None,
            };
            let piece = PartPiece { path, offset: 0, len: 1, is_exact: true, state };
            let json = serde_json::to_string(&piece).expect("plain data");
            assert_eq!(serde_json::from_str::<PartPiece>(&json).expect("its own"), piece);
        }
    }
}
