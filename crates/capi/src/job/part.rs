//! A part of a job, and an attempt to do it.

use std::ffi::{CString, c_char, c_void};
use std::io::Write;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use super::division::Division;
use super::path_text;
use crate::append::owned::Exclusive;
use crate::draft::json;
use crate::failure::{Failure, Result};
use crate::guard::{guard, quietly};
use crate::pointer::{self, given, handle};
use crate::status::Status;

/// A part of a job: which bytes to read, and where to write.
#[derive(Debug)]
pub struct Part {
    part: swath::job::Part,
    pieces: Vec<PartPiece>,
    /// The strings that the pieces point to.
    _paths: Vec<CString>,
}

// SAFETY: the pointers lead to strings that the part owns and that never change.
unsafe impl Send for Part {}
// SAFETY: as above.
unsafe impl Sync for Part {}

/// An extent of an input. If `swath_part_division` returns SWATH_DIVISION_RECORDS, the part has the
/// records that begin in it: see the option `starting_in`. Otherwise it has exactly these bytes:
/// see the options `offset` and `len`. Fields may be added at the end.
#[repr(C)]
#[derive(Debug)]
pub struct PartPiece {
    /// The input, as an absolute path; it belongs to the part.
    pub path: *const c_char,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
}

/// One attempt to do a part. One thread at a time may use it; another gets SWATH_STATUS_BUSY.
#[derive(Debug)]
pub struct Segment {
    writer: Exclusive<swath::job::SegmentWriter>,
    receipt: OnceLock<CString>,
}

impl Part {
    pub(super) fn new(part: swath::job::Part) -> Result<Self> {
        let paths = part.pieces().iter().map(|piece| path_text(&piece.path));
        let paths = paths.collect::<Result<Vec<_>>>()?;
        let pieces = part.pieces().iter().zip(&paths).map(|(piece, path)| PartPiece {
            path: path.as_ptr(),
            offset: piece.offset,
            len: piece.len,
        });
        Ok(Self { pieces: pieces.collect(), part, _paths: paths })
    }
}

/// Returns the number of pieces; 0 for a job without inputs, or if `part` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_part_piece_count(part: Option<&Part>) -> usize {
    part.map_or(0, |part| part.pieces.len())
}

/// Returns where the inputs were divided, and so what of its pieces the part has;
/// SWATH_DIVISION_RECORDS if `part` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_part_division(part: Option<&Part>) -> Division {
    part.map_or(Division::Records, |part| Division::of(part.part.division()))
}

/// Returns piece `index` of a part, from 0, which belongs to the part; NULL if it has no such piece.
#[unsafe(no_mangle)]
pub extern "C" fn swath_part_piece(part: Option<&Part>, index: usize) -> *const PartPiece {
    let piece = part.and_then(|part| part.pieces.get(index));
    piece.map_or(std::ptr::null(), std::ptr::from_ref)
}

/// Begins an attempt to do a part, also while another one is running. Free it with
/// `swath_segment_free`, after `swath_segment_finish` too.
///
/// SWATH_STATUS_NOT_FOUND if the job is over; SWATH_STATUS_CHANGED if an input of the part has
/// changed since the job was planned.
#[unsafe(no_mangle)]
pub extern "C" fn swath_part_begin(
    part: Option<&Part>,
    segment: Option<&mut MaybeUninit<Option<Box<Segment>>>>,
) -> Status {
    guard(|| {
        let place = handle(segment, "segment")?;
        let writer = Exclusive::new(given(part, "part")?.part.writer()?, "attempt");
        *place = Some(Box::new(Segment { writer, receipt: OnceLock::new() }));
        Ok(())
    })
}

/// Frees the part; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_part_free(part: Option<Box<Part>>) {
    quietly(|| drop(part));
}

/// Writes after everything written to this attempt before.
///
/// SWATH_STATUS_POISONED after a failed write: begin another attempt.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_segment_write(
    segment: Option<&Segment>,
    data: *const c_void,
    len: usize,
) -> Status {
    guard(|| {
        let segment = given(segment, "segment")?;
        // SAFETY: the contract of the header.
        let bytes = unsafe { pointer::items(data.cast::<u8>(), len, "data") }?;
        segment.writer.with(|writer| Ok(writer.write_all(bytes)?))
    })
}

/// Ends the attempt. Its bytes are then complete, and `swath_segment_receipt` returns the receipt
/// that the commit needs.
///
/// SWATH_STATUS_CHANGED if an input of the part has changed since the job was planned;
/// SWATH_STATUS_NOT_FOUND if the job is over; SWATH_STATUS_POISONED after a failed write.
#[unsafe(no_mangle)]
pub extern "C" fn swath_segment_finish(segment: Option<&Segment>) -> Status {
    guard(|| {
        let segment = given(segment, "segment")?;
        let done = segment.writer.take()?.finish()?;
        let text = serde_json::to_string(&done)
            .map_err(|error| Failure::new(Status::Panic, error.to_string()))?;
        // The writer was taken once, so this is the first receipt.
        let _ = segment.receipt.set(json(text)?);
        Ok(())
    })
}

/// Returns the receipt of the attempt's bytes: one line of JSON for the process that commits, which
/// belongs to the handle. NULL before `swath_segment_finish` has succeeded.
#[unsafe(no_mangle)]
pub extern "C" fn swath_segment_receipt(segment: Option<&Segment>) -> *const c_char {
    let receipt = segment.and_then(|segment| segment.receipt.get());
    receipt.map_or(std::ptr::null(), |text| text.as_ptr())
}

/// Frees the attempt; NULL is ignored. Without a receipt, nothing of it remains.
#[unsafe(no_mangle)]
pub extern "C" fn swath_segment_free(segment: Option<Box<Segment>>) {
    quietly(|| drop(segment));
}
