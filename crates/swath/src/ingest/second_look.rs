//! Files that are large or out of the ordinary: looked at before and after, read to the last byte.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use swath_os::file_system::{FileSystem, file_system};
use swath_plan::extent::Extent;

use super::file_reader::{Call, FileReader, Wait};
use crate::error::{Error, Operation, Reason, Result};
use crate::source::Identity;
use crate::timeline::Activity;

/// What a file turned out to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// So many bytes, by position; what is to be the same afterwards.
    Sized(Identity),
    /// It says that it is empty, or its length means nothing: read until it ends.
    Made(Identity),
}

/// A file of the kernel's that goes on for longer than this is no file to keep in memory.
const MOST_MADE: usize = 1 << 30;

impl FileReader<'_> {
    /// Looks at an open file.
    ///
    /// # Errors
    ///
    /// If it is no regular file.
    pub(super) fn inspect(&mut self, file: &OwnedFd, path: &Path) -> Result<Kind> {
        self.tally.calls.stat += 1;
        let stat = fstat(file).map_err(|error| refused(Call::Inspect, error, path))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => {
                return Err(refused(Call::Read, Errno::ISDIR, path).hint(
                    "list files alone (`find -type f`), or name a folder that is to be walked",
                ));
            }
            _ => {
                let error = Error::new(Operation::Read, Reason::Invalid, path);
                return Err(error
                    .detail("it is a pipe, a device or a socket")
                    .hint("read it alone, by `read`"));
            }
        }
        let identity = Identity::of(&stat);
        // The kernel's own files claim nothing, or a page.
        let is_made = identity.len <= 4096 && {
            self.tally.calls.stat += 1;
            matches!(file_system(file), Ok(FileSystem::Pseudo))
        };
        Ok(if is_made || identity.len == 0 {
            Kind::Made(identity)
        } else {
            Kind::Sized(identity)
        })
    }

    /// Fills `target` from `offset` on.
    ///
    /// # Errors
    ///
    /// The kernel's, and [`Reason::Truncated`] if the file ends before.
    pub(super) fn fill(
        &mut self,
        file: &OwnedFd,
        path: &Path,
        offset: u64,
        target: &mut [u8],
    ) -> Result<()> {
        let len = target.len() as u64;
        let filled = self.fill_all(file, path, offset, target);
        self.recorder.lap_if(&filled, Activity::Read, offset, len);
        filled
    }

    fn fill_all(
        &mut self,
        file: &OwnedFd,
        path: &Path,
        offset: u64,
        target: &mut [u8],
    ) -> Result<()> {
        let extent = Extent::between(offset, offset + target.len() as u64);
        let mut filled = 0;
        while filled < target.len() {
            let at = offset + filled as u64;
            match self.read(file.as_fd(), &mut target[filled..], at, Wait::ForDevice) {
                Ok(0) => {
                    return Err(Error::new(Operation::Read, Reason::Truncated, path)
                        .at(extent)
                        .detail(format!("the file ends at byte {at}"))
                        .hint("it may have been truncated while it was read"));
                }
                Ok(more) => filled += more,
                Err(error) => return Err(refused(Call::Read, error, path).at(extent)),
            }
        }
        Ok(())
    }

    /// Reads until the end of a file whose length means nothing.
    ///
    /// # Errors
    ///
    /// The kernel's, and [`Reason::OutOfMemory`] if it does not end.
    pub(super) fn read_made(
        &mut self,
        file: &OwnedFd,
        path: &Path,
        before: &Identity,
    ) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut step = vec![0; 64 << 10];
        loop {
            let at = bytes.len() as u64;
            match self.read(file.as_fd(), &mut step, at, Wait::ForDevice) {
                Ok(0) => break,
                Ok(more) if bytes.len() + more <= MOST_MADE => {
                    bytes.extend_from_slice(&step[..more]);
                }
                Ok(_) => {
                    let error = Error::new(Operation::Read, Reason::OutOfMemory, path);
                    return Err(error.detail("it has no length, and does not end"));
                }
                Err(error) => {
                    let extent = Extent::between(at, at + step.len() as u64);
                    return Err(refused(Call::Read, error, path).at(extent));
                }
            }
        }
        // What says that it is empty, and has bytes now, was written meanwhile.
        self.tally.calls.stat += 1;
        let after = fstat(file).map_err(|error| refused(Call::Inspect, error, path))?;
        let after = Identity::of(&after);
        if before.len == 0 && after.len > 0 {
            return Err(changed(path, before.len, after.len));
        }
        Ok(bytes)
    }

    /// Whether the file is what it was before.
    ///
    /// # Errors
    ///
    /// [`Reason::Changed`] if not.
    pub(super) fn check(
        &mut self,
        file: &OwnedFd,
        path: &Path,
        before: &Identity,
    ) -> Result<()> {
        self.tally.calls.stat += 1;
        let after = fstat(file).map_err(|error| refused(Call::Inspect, error, path))?;
        let after = Identity::of(&after);
        if after == *before { Ok(()) } else { Err(changed(path, before.len, after.len)) }
    }
}

/// The error for what the kernel refused.
pub(super) fn refused(call: Call, error: Errno, path: &Path) -> Error {
    let operation = match call {
        Call::Open => Operation::Open,
        Call::Inspect => Operation::Inspect,
        Call::Read => Operation::Read,
    };
    let refused = Error::io(operation, path, error.into());
    let name = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    if error == Errno::NOENT && name.ends_with(b"\r") {
        return refused
            .hint("its name ends in a carriage return: give the list line feeds alone");
    }
    refused
}

/// The error for a file that was written meanwhile.
pub(super) fn changed(path: &Path, before: u64, after: u64) -> Error {
    let error =
        Error::new(Operation::Read, Reason::Changed, path).at(Extent::between(0, before));
    let detail = if before == after {
        String::from("it was written to or replaced while it was read")
    } else {
        format!("its length went from {before} to {after} while it was read")
    };
    error.detail(detail).hint("read it when its writer is done")
}
