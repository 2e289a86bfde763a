//! Reads large or unusual files: at once, part after part, or shared by all workers.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use swath_os::file_system::is_remote;

use super::super::claims::Large;
use super::super::destination::Destination;
use super::super::file_reader::{Call, SMALL, Wait};
use super::super::options::Content;
use super::super::second_look::{FileNature, refused};
use super::super::utf8;
use super::{Worker, check_text};
use crate::error::Result;
use crate::locks::AtomicUsize;
use crate::source::{Identity, Source};
use crate::timeline::Activity;

impl<'e, P: Destination + 'e> Worker<'_, 'e, P> {
    /// Reads a file that is large or unusual.
    pub(super) fn careful(&mut self, index: usize, file: OwnedFd) -> Result<()> {
        if !P::SHARED && self.has_files_left() {
            // This may wait for room that is held by threads waiting for earlier files, some of
            // which may be in flight on this worker.
            self.drain();
        }
        let path = self.claims.listing.path(index);
        let (file, stat) = self.reader.settle(file, path)?;
        let done = match self.reader.inspect(&file, &stat, path) {
            Ok(FileNature::Made(before)) => self.made(index, &file, &before),
            Ok(FileNature::Sized(before)) => {
                let part_len = self.claims.options.part_len();
                let is_large = before.len > part_len as u64;
                // Reading a whole file keeps this thread busy, so another thread takes the other
                // files. Parts only exist once they are shared out, below.
                let is_shared = is_large && P::SHARED && !is_remote(&file);
                if before.len > SMALL as u64 && !is_shared {
                    self.call_for_help(before.len);
                }
                if !is_large {
                    self.at_once(index, &file, &before)
                } else if is_shared {
                    return self.share_out(index, file, before);
                } else if P::SHARED {
                    return self.through_one(index, file, &before);
                } else {
                    self.in_parts(index, &file, &before, part_len)
                }
            }
            Err(error) => Err(error),
        };
        self.reader.done_with(file);
        done
    }

    /// Reads a file of at most one part like a small file; the last inspection must equal the first.
    fn at_once(&mut self, index: usize, file: &OwnedFd, before: &Identity) -> Result<()> {
        let path = self.claims.listing.path(index);
        let len = usize::try_from(before.len).unwrap_or(usize::MAX);
        let Some(room) = self.to.room(index, len, path)? else { return Ok(()) };
        let room = &mut room[..len];
        self.reader.fill(file, path, 0, room)?;
        self.reader.check(file, path, before)?;
        check_text(self.claims.options.shape, path, room)?;
        self.kept(index, len);
        Ok(())
    }

    /// Reads part after part, each passed on before the next; parts of text are whole characters.
    fn in_parts(
        &mut self,
        index: usize,
        file: &OwnedFd,
        before: &Identity,
        part_len: usize,
    ) -> Result<()> {
        let path = self.claims.listing.path(index);
        let (mut begun, mut held) = ([0; 4], 0);
        let mut offset = 0;
        while offset < before.len {
            let left = usize::try_from(before.len - offset).unwrap_or(usize::MAX);
            let len = left.min(part_len - held);
            let Some(room) = self.to.room(index, held + len, path)? else { return Ok(()) };
            let part = &mut room[..held + len];
            part[..held].copy_from_slice(&begun[..held]);
            self.reader.fill(file, path, offset, &mut part[held..])?;
            let (start, is_last) = (offset - held as u64, len == left);
            held = match self.claims.options.shape {
                Content::Bytes => 0,
                Content::Text => utf8::check_part(path, start, part, is_last)?,
            };
            let whole = part.len() - held;
            begun[..held].copy_from_slice(&part[whole..]);
            if is_last {
                // Before the last part is passed on: with it, the caller may rely on the file.
                self.reader.check(file, path, before)?;
            }
            self.to.keep(index, start, whole, is_last);
            self.reader.tally.bytes += len as u64;
            offset += len as u64;
        }
        self.reader.tally.files += 1;
        self.reader.tally.large_files += 1;
        Ok(())
    }

    /// Reads a file without a length.
    fn made(&mut self, index: usize, file: &OwnedFd, before: &Identity) -> Result<()> {
        let path = self.claims.listing.path(index);
        let made =
            self.reader.read_made(file, path, before, || self.claims.options.most_made());
        let len = made.as_ref().map_or(0, Vec::len) as u64;
        self.reader.recorder.lap(Activity::Read, 0, len);
        let bytes = made?;
        check_text(self.claims.options.shape, path, &bytes)?;
        let part_len = if P::SHARED { bytes.len() } else { self.claims.options.part_len() };
        let mut offset = 0;
        loop {
            let part = &bytes[offset..][..part_len.min(bytes.len() - offset)];
            let Some(room) = self.to.room(index, part.len(), path)? else { return Ok(()) };
            room[..part.len()].copy_from_slice(part);
            let is_last = offset + part.len() == bytes.len();
            self.to.keep(index, offset as u64, part.len(), is_last);
            offset += part.len();
            if is_last {
                break;
            }
        }
        self.reader.tally.files += 1;
        self.reader.tally.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Reads a large file through the one open descriptor: workers would open it by name, which may lead to another
    /// file by now.
    fn through_one(&mut self, index: usize, file: OwnedFd, before: &Identity) -> Result<()> {
        let path = self.claims.listing.path(index);
        let file = Arc::new(File::from(file));
        let source = Source::file(Arc::clone(&file), path);
        let (base, len) = (self.to.set_aside(before.len, path)?, before.len);
        let read = self.claims.options.of_one_file(self.claims.listing.len());
        let wanted = usize::try_from(len).unwrap_or(usize::MAX);
        let read = self.to.part(base, wanted, path, &mut |target| {
            read.read_into(source.clone(), target).map(drop)
        });
        self.reader.recorder.lap_if(&read, Activity::Read, 0, len);
        read.and_then(|()| self.reader.check(&file, path, before))?;
        self.completed(index, base, len)?;
        self.reader.tally.files += 1;
        self.reader.tally.large_files += 1;
        self.reader.tally.bytes += len;
        Ok(())
    }

    /// Lets all workers read the parts of a large file.
    fn share_out(&mut self, index: usize, file: OwnedFd, before: Identity) -> Result<()> {
        let path = self.claims.listing.path(index);
        let base = match self.to.set_aside(before.len, path) {
            Ok(base) => base,
            Err(error) => {
                self.reader.done_with(file);
                return Err(error);
            }
        };
        let part_len = self.claims.options.part_len();
        let parts = before.len.div_ceil(part_len as u64);
        let left = AtomicUsize::new(usize::try_from(parts).unwrap_or(usize::MAX));
        let failed = AtomicBool::new(false);
        self.remember(index, file);
        let large = Arc::new(Large { index, before, base, left, failed });
        self.claims.share_out(&large, part_len);
        // A second thread pays from the second part on.
        while self.call_for_help(part_len as u64) {}
        Ok(())
    }

    /// Starts another thread, if one is missing; returns whether it did.
    fn call_for_help(&self, len: u64) -> bool {
        self.claims.met_large(len) && self.start.more()
    }

    fn remember(&mut self, index: usize, file: OwnedFd) {
        if let Some((_, former)) = self.large.replace((index, file)) {
            self.reader.done_with(former);
        }
    }

    /// Reads a part of a large file; the thread that reads the last part checks that the file is
    /// unchanged.
    pub(super) fn part(&mut self, large: &Arc<Large>, offset: u64, len: usize) {
        let index = large.index;
        self.reader.recorder.turn_to(self.claims.source(index));
        let mut done = Ok(());
        let wanted = !self.claims.is_stopped() && !self.claims.is_beyond(index);
        if wanted && !large.failed.load(Ordering::Relaxed) {
            done = self.sparing(|own| own.read_part(large, offset, len));
            self.claims.came(len as u64);
        }
        if let Err(error) = done
            // Relaxed: any of several failures may be reported.
            && !large.failed.swap(true, Ordering::Relaxed)
        {
            self.failed(index, error);
        }
        // AcqRel: the last thread to finish sees the writes of the others.
        let is_last = large.left.fetch_sub(1, Ordering::AcqRel) == 1;
        if wanted && is_last && !large.failed.load(Ordering::Relaxed) {
            match self.sparing(|own| own.shared_out(large)) {
                Ok(()) => {
                    self.reader.tally.files += 1;
                    self.reader.tally.large_files += 1;
                    self.reader.tally.bytes += large.before.len;
                    // Counted part by part already.
                    self.counted += large.before.len;
                }
                Err(error) => self.failed(index, error),
            }
        }
    }

    fn read_part(&mut self, large: &Large, offset: u64, len: usize) -> Result<()> {
        let path = self.claims.listing.path(large.index);
        self.open_large(large, path)?;
        let (reader, Some((_, file))) = (&mut self.reader, &self.large) else { return Ok(()) };
        let at = large.base + usize::try_from(offset).unwrap_or(usize::MAX);
        self.to.part(at, len, path, &mut |target| reader.fill(file, path, offset, target))
    }

    /// Opens a large file for this worker, and checks that it is the same file.
    fn open_large(&mut self, large: &Large, path: &Path) -> Result<()> {
        if self.large.as_ref().is_some_and(|&(open, _)| open == large.index) {
            return Ok(());
        }
        let file = self.reader.open(large.index, Wait::ForDevice);
        let file = file.map_err(|error| refused(Call::Open, error, path))?;
        let checked = self.reader.check(&file, path, &large.before);
        self.remember(large.index, file);
        checked
    }

    /// Ends a shared file whose parts have all been read.
    fn shared_out(&mut self, large: &Large) -> Result<()> {
        let path = self.claims.listing.path(large.index);
        self.open_large(large, path)?;
        if let Some((_, file)) = &self.large {
            self.reader.check(file, path, &large.before)?;
        }
        self.completed(large.index, large.base, large.before.len)
    }

    fn completed(&mut self, index: usize, base: usize, len: u64) -> Result<()> {
        let bytes = self.to.complete(index, base, len);
        if self.claims.options.shape == Content::Text
            && let Some(bytes) = bytes
        {
            return utf8::check(self.claims.listing.path(index), 0, bytes);
        }
        Ok(())
    }
}
