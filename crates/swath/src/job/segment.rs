//! The output of an attempt of a part.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use swath_os::access::Access;
use swath_plan::extent::Extent;

use super::data::{Done, Part};
use super::files::{self, NewFile};
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::fs::{Fs, FsFolder, write_all_at};
use crate::sink::{LocalFs, MANIFEST, number_in_order};

/// Bytes that are collected before a write.
const BUFFER: usize = 1 << 20;

/// One attempt to do a part: takes the bytes of its output, in order, and returns a receipt.
///
/// If it is dropped before [`finish`](Self::finish), or its process dies, the attempt does not count.
pub struct SegmentWriter {
    part: Part,
    attempt: String,
    folder: Arc<dyn FsFolder>,
    new: NewFile,
    buffer: Vec<u8>,
    /// Bytes in the file.
    written: u64,
    crc32c: u32,
    has_failed: bool,
}

impl Part {
    /// Begins an attempt. Any process that sees the job's folder can do so, even while another
    /// attempt of the same part is running.
    ///
    /// # Errors
    ///
    /// The errors of opening the folder, `NotFound` if the job is over; [`Reason::Changed`] if an
    /// input of this part has changed since the job was planned; [`Reason::Invalid`] if the part
    /// belongs to no job, or its job is committed.
    pub fn writer(&self) -> Result<SegmentWriter> {
        self.writer_on(&LocalFs)
    }

    /// Returns a writer of the part on another file system.
    ///
    /// # Errors
    ///
    /// As [`writer`](Self::writer).
    pub fn writer_on(&self, fs: &dyn Fs) -> Result<SegmentWriter> {
        if self.job.is_empty() {
            let path = self.pieces.first().map_or(Path::new("part"), |piece| &piece.path);
            return Err(Error::new(Operation::Create, Reason::Invalid, path)
                .detail(format!(
                    "part {} belongs to no job, and is only to be read",
                    self.index
                ))
                .hint("plan a job, and take the writers of its parts"));
        }
        self.check_inputs()?;
        let folder = files::open_folder(fs, &self.folder)?;
        let failed = |error| Error::io(Operation::Create, &self.folder, error);
        if files::is_of_job(&*folder, &self.job).map_err(failed)? != Some(true) {
            return Err(files::not_of_job(&self.folder));
        }
        if is_over(&*folder).map_err(failed)? {
            return Err(too_late(&self.folder));
        }
        let new = NewFile::begin(&folder, &format!("part-{:06}", self.index));
        let mut writer = SegmentWriter {
            part: self.clone(),
            attempt: format!("{:016x}", number_in_order()),
            new: new.map_err(failed)?,
            folder: Arc::clone(&folder),
            buffer: Vec::new(),
            written: 0,
            crc32c: 0,
            has_failed: false,
        };
        if writer.new.is_fixed() {
            writer.open_to_readers().map_err(failed)?;
        }
        Ok(writer)
    }
}

/// Whether the job is committed.
fn is_over(folder: &dyn FsFolder) -> io::Result<bool> {
    for name in [files::COMMITTED, MANIFEST] {
        if folder.facts(name.as_ref())?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn too_late(path: &Path) -> Error {
    Error::new(Operation::Create, Reason::Invalid, path)
        .detail("the job is committed, so another attempt does not count")
        .hint("use the output as it is, or plan the job again")
}

impl SegmentWriter {
    /// The attempt: 16 hexadecimal digits that no other attempt has.
    pub fn attempt(&self) -> &str {
        &self.attempt
    }

    /// Bytes written until now.
    pub fn bytes(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Ends the attempt and returns its receipt. Its bytes are then complete under their name, and
    /// durable if the output is a durable folder of segments.
    ///
    /// The receipt counts if it is passed to the commit, which takes the first of each part. If the
    /// attempt ends while a commit is running, its receipt counts only if that commit fails.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if the job has been committed in the meantime: the attempt does not count,
    /// and its bytes are removed; [`Reason::Changed`] if an input of the part has changed since the
    /// job was planned; [`Reason::Poisoned`] after a failed write; those of writing, with part and
    /// bytes; those of giving the name: `NotFound` if the job's folder has been removed.
    pub fn finish(mut self) -> Result<Done> {
        self.flush_buffer()?;
        let stored = self.new.file().store(self.part.is_synced);
        stored.map_err(|(operation, error)| self.error(operation, error))?;
        self.part.check_inputs()?;
        self.open_to_readers().map_err(|error| self.error(Operation::Create, error))?;
        let done = Done {
            part: self.part.index,
            attempt: self.attempt.clone(),
            len: self.written,
            crc32c: self.crc32c,
        };
        let over = is_over(&*self.folder);
        if over.map_err(|error| self.error(Operation::Inspect, error))? {
            return Err(too_late(&self.part.folder.join(self.name())));
        }
        let named = self.new.name(done.file_name().as_ref());
        match named.map_err(|error| self.error(Operation::Create, error))? {
            true => Ok(done),
            false => Err(self.error(Operation::Create, Errno::EXIST.into())),
        }
    }

    /// Lets in the users who may read both a new file and the inputs of the part.
    fn open_to_readers(&mut self) -> io::Result<()> {
        let all = Access::new(self.new.usual_mode()?, None);
        let all = self.part.pieces.iter().fold(all, |all, piece| all.and(piece.state.access()));
        // This process writes it, and the commit reads it.
        self.new.set_mode(all.in_group(self.new.file().access()?.group()) | 0o600)
    }

    /// Returns a name with part and attempt.
    fn name(&self) -> String {
        format!("part-{:06}.{}", self.part.index, self.attempt)
    }

    /// Returns an error whose path names part and attempt, so that it needs no detail.
    fn error(&self, operation: Operation, error: io::Error) -> Error {
        let is_gone = error.kind() == io::ErrorKind::NotFound;
        let error = Error::io(operation, &self.part.folder.join(self.name()), error);
        match is_gone {
            true => error.hint("plan the job again: its folder has been removed"),
            false => error,
        }
    }

    fn flush_buffer(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let done = self.write_through(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        done
    }

    fn write_through(&mut self, bytes: &[u8]) -> Result<()> {
        if self.has_failed {
            return Err(Error::new(Operation::Write, Reason::Poisoned, &self.part.folder)
                .detail(format!("an earlier write of part {} failed", self.part.index))
                .hint("begin another attempt of this part"));
        }
        let offset = self.written;
        if let Err((error, done)) = write_all_at(&**self.new.file(), bytes, offset) {
            self.has_failed = true;
            let missing = Extent::between(offset + done, offset + bytes.len() as u64);
            return Err(self.error(Operation::Write, error).at(missing));
        }
        self.crc32c = crc32c::crc32c_append(self.crc32c, bytes);
        self.written += bytes.len() as u64;
        Ok(())
    }
}

impl Write for SegmentWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush_buffer()?;
        }
        if bytes.len() >= BUFFER {
            self.write_through(bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.flush_buffer()?)
    }
}

impl fmt::Debug for SegmentWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentWriter")
            .field("part", &self.part.index)
            .field("attempt", &self.attempt)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
