//! Copies the bytes of parts to their places in the output, and compares them with their receipts.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath_os::writeback::start_writeback;
use swath_plan::extent::Extent;

use super::data::{Done, bytes_of};
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::Mutex;
use crate::observe::Observer;
use crate::sink::draft::Draft;
use crate::sink::fs::{FsFile, FsFolder};
use crate::sink::{Durability, OutputOptions, read_exact_at, share_range, write_all_at};
use crate::timeline::Activity;
use crate::together::together;

/// Bytes that one worker copies at a time.
const UNIT: u64 = 16 << 20;
const BUFFER: usize = 256 << 10;

/// How bytes were moved to their places.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlacedBytes {
    pub(super) cloned: u64,
    pub(super) copied: u64,
}

/// The draft of the output, and its options.
pub(super) struct JobOutput<'p> {
    pub(super) draft: &'p Draft,
    pub(super) output: &'p OutputOptions,
}

/// A piece of a segment that one worker copies.
struct Unit<'p> {
    segment: usize,
    done: &'p Done,
    /// Bytes of the segment.
    extent: Extent,
    /// Offset of the first byte in the output.
    place: u64,
}

/// Copies all segments into the draft, several at a time.
pub(super) fn place(
    folder: &Arc<dyn FsFolder>,
    path: &Path,
    chosen: &[Done],
    into: JobOutput<'_>,
) -> Result<PlacedBytes> {
    let units = units(chosen);
    let total = bytes_of(chosen);
    let observer = Observer::new(into.output.hooks.clone(), Some(total));
    let placing = JobPlacing {
        folder: &**folder,
        path,
        into: &into,
        observer: &observer,
        cloned: AtomicU64::new(0),
        sums: Mutex::new(vec![Sum::None; units.len()]),
    };
    let work = |buffer: &mut Vec<u8>, index: usize| placing.unit(&units[index], index, buffer);
    together(units.len(), || vec![0; BUFFER], work)?;
    placing.compare(&units, chosen)?;
    let cloned = placing.cloned.into_inner();
    Ok(PlacedBytes { cloned, copied: total - cloned })
}

fn units(chosen: &[Done]) -> Vec<Unit<'_>> {
    let mut units = Vec::new();
    let mut place = 0;
    for (segment, done) in chosen.iter().enumerate() {
        let mut from = 0;
        while from < done.len {
            let extent = Extent::between(from, (from + UNIT).min(done.len));
            units.push(Unit { segment, done, extent, place: place + from });
            from = extent.end();
        }
        place += done.len;
    }
    units
}

/// Reserves space, so that a full disk is noticed before the first byte is copied.
pub(super) fn reserve(draft: &Draft, total: u64) -> Result<()> {
    match draft.file().allocate(0, total) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(()),
        reserved => reserved.map_err(|error| {
            Error::io(Operation::Write, draft.path(), error).at(Extent::between(0, total))
        }),
    }
}

#[derive(Clone, Copy)]
enum Sum {
    None,
    /// Blocks were shared: no byte was read.
    Shared,
    Crc(u32),
}

struct JobPlacing<'p> {
    folder: &'p dyn FsFolder,
    path: &'p Path,
    into: &'p JobOutput<'p>,
    observer: &'p Observer,
    cloned: AtomicU64,
    sums: Mutex<Vec<Sum>>,
}

impl JobPlacing<'_> {
    fn unit(&self, unit: &Unit<'_>, index: usize, buffer: &mut [u8]) -> Result<()> {
        let (draft, end) = (self.into.draft, unit.place + unit.extent.len());
        let place = Extent::between(unit.place, end);
        self.observer.hooks().check(Operation::Write, draft.path(), place)?;
        // Opened for each unit: a job may have more segments than a process may have files.
        let name = unit.done.file_name();
        let opened = self.folder.open(name.as_ref());
        let from = opened
            .map_err(|error| Error::io(Operation::Open, &self.path.join(&name), error))?;
        let hooks = self.observer.hooks();
        let sum = hooks
            .record(Activity::Write, draft.path(), place, || self.copy(unit, &*from, buffer))?;
        let mut sums = self.sums.lock();
        sums[index] = sum;
        drop(sums);
        if let (Durability::Full, Some(file)) =
            (self.into.output.draft.durability, draft.file().descriptor())
        {
            // A failure is reported again when the file is synced.
            let _ = start_writeback(file, place.offset(), place.len());
        }
        self.observer.delivered(place.len());
        Ok(())
    }

    fn copy(&self, unit: &Unit<'_>, from: &dyn FsFile, buffer: &mut [u8]) -> Result<Sum> {
        let file = &**self.into.draft.file();
        let (offset, len) = (unit.extent.offset(), unit.extent.len());
        let written = |error| Error::io(Operation::Write, self.into.draft.path(), error);
        if let Some(moved) =
            share_range(file, from, offset, unit.place, len).map_err(written)?
        {
            // Relaxed: a count, read when all workers have ended.
            self.cloned.fetch_add(moved.cloned, Ordering::Relaxed);
            return Ok(Sum::Shared);
        }
        let (mut done, mut sum) = (0, 0);
        while done < len {
            let part = usize::try_from(len - done).unwrap_or(BUFFER).min(buffer.len());
            let bytes = &mut buffer[..part];
            read_exact_at(from, bytes, offset + done)
                .map_err(|error| self.cannot_read(unit, offset + done, error))?;
            sum = crc32c::crc32c_append(sum, bytes);
            write_all_at(file, bytes, unit.place + done).map_err(|error| {
                let missing = Extent::between(unit.place + done, unit.place + len);
                written(error).at(missing)
            })?;
            done += part as u64;
        }
        Ok(Sum::Crc(sum))
    }

    fn cannot_read(&self, unit: &Unit<'_>, offset: u64, error: io::Error) -> Error {
        let path = self.path.join(unit.done.file_name());
        let extent = Extent::between(offset, unit.extent.end());
        let text = format!("what part {} wrote", unit.done.part);
        match error.kind() {
            ErrorKind::UnexpectedEof => {
                Error::new(Operation::Read, Reason::Truncated, &path).at(extent).detail(text)
            }
            _ => Error::io(Operation::Read, &path, error).at(extent).detail(text),
        }
        .hint("do this part again, then commit with its new receipt")
    }

    /// Fails if copied bytes do not match their receipt.
    fn compare(&self, units: &[Unit<'_>], chosen: &[Done]) -> Result<()> {
        let sums = self.sums.lock();
        let mut found = vec![Some(0); chosen.len()];
        for (unit, sum) in units.iter().zip(sums.iter()) {
            let all = &mut found[unit.segment];
            *all = match (*all, sum) {
                (Some(all), Sum::Crc(sum)) => {
                    Some(swath_simd::crc32c_combine(all, *sum, unit.extent.len()))
                }
                _ => None,
            };
        }
        for (done, found) in chosen.iter().zip(found) {
            if found.is_some_and(|found| found != done.crc32c) {
                return Err(other_bytes(&self.path.join(done.file_name()), done));
            }
        }
        Ok(())
    }
}

/// Returns the error of a segment whose bytes do not match its receipt.
pub(super) fn other_bytes(path: &Path, done: &Done) -> Error {
    let Done { part, attempt, crc32c, .. } = done;
    let text = format!(
        "what attempt {attempt} of part {part} wrote does not have the CRC-32C {crc32c:08x}"
    );
    Error::new(Operation::Read, Reason::Corrupt, path)
        .at(Extent::between(0, done.len))
        .detail(text)
        .hint("do this part again, then commit with its new receipt")
}

/// Returns the CRC-32C of the first bytes of a file.
pub(super) fn sum_of(file: &dyn FsFile, len: u64) -> io::Result<u32> {
    let (mut buffer, mut done, mut sum) = (vec![0; BUFFER], 0, 0);
    while done < len {
        let part = usize::try_from(len - done).unwrap_or(BUFFER).min(BUFFER);
        read_exact_at(file, &mut buffer[..part], done)?;
        sum = crc32c::crc32c_append(sum, &buffer[..part]);
        done += part as u64;
    }
    Ok(sum)
}

/// Whether a file has exactly the bytes of the chosen attempts. Compares the bytes, since another user could forge some
/// with the same CRC-32C; only the CRC-32C where a power cut has destroyed an attempt's segment.
pub(super) fn is_placed(
    folder: &dyn FsFolder,
    chosen: &[Done],
    file: &dyn FsFile,
) -> io::Result<bool> {
    let (mut ours, mut there) = (vec![0; BUFFER], vec![0; BUFFER]);
    let mut place = 0;
    for done in chosen.iter().filter(|done| done.len > 0) {
        let mut segment = folder.open(done.file_name().as_ref()).ok();
        let (mut from, mut is_same) = (0, true);
        let (mut sum_there, mut sum_ours) = (0, 0);
        while from < done.len {
            let part = usize::try_from(done.len - from).unwrap_or(BUFFER).min(BUFFER);
            let (ours, there) = (&mut ours[..part], &mut there[..part]);
            read_exact_at(file, there, place + from)?;
            sum_there = crc32c::crc32c_append(sum_there, there);
            segment = segment.filter(|segment| read_exact_at(&**segment, ours, from).is_ok());
            sum_ours = crc32c::crc32c_append(sum_ours, ours);
            is_same &= ours == there;
            from += part as u64;
        }
        let is_whole = segment.is_some() && sum_ours == done.crc32c;
        if sum_there != done.crc32c || (is_whole && !is_same) {
            return Ok(false);
        }
        place += done.len;
    }
    Ok(true)
}
