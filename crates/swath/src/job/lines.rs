//! Parts of whole lines: moves each cut between parts to the start of the next line.
//!
//! This is done once, when the job is planned. So the plan has the bytes of each part, and every
//! process, in any language, reads the same ones.
//!
//! ```text
//! inputs   |one\ntw|  |o\nthree\nfo|  |ur\n|     seen as one text
//! cut      |-----------|-------------------|    at any byte
//! parts    one\ntw  o\n|three\nfo       ur\n
//! ```

use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use swath_plan::extent::Extent;
use swath_plan::parts::Piece;

use super::files;
use super::input::JobInput;
use crate::error::{Error, Operation, Result};

/// Bytes of the first look for the end of a line, and of the longest look.
const LOOK: usize = 4 << 10;
const FAR_LOOK: usize = 4 << 20;
/// Ratio of the lengths of successive looks.
const LONGER: usize = 16;

/// Returns the parts with their cuts moved. A part in which no line begins, because a line is longer
/// than the part, is left out: its bytes belong to that line.
///
/// Cost: a short read for each part, longer only for long lines.
///
/// # Errors
///
/// The errors of reading; [`Reason::Changed`](crate::Reason::Changed) if an input has become shorter.
pub(super) fn of_whole_lines(
    inputs: &[JobInput],
    parts: Vec<Vec<Piece>>,
) -> Result<Vec<Vec<Piece>>> {
    let text = Text::of(inputs);
    let firsts = parts.iter().filter_map(|pieces| pieces.first());
    let mut cuts: Vec<u128> = firsts.map(|piece| text.place(piece)).collect();
    if cuts.is_empty() {
        return Ok(parts);
    }
    cuts.push(text.len());
    let begins = |index: usize| text.line_from(cuts[index], cuts[index + 1]);
    let begun = files::at_once(cuts.len() - 1, begins)?;
    let begun: Vec<u128> = begun.into_iter().flatten().collect();
    let ends = begun.iter().skip(1).copied().chain([text.len()]);
    Ok(begun.iter().zip(ends).map(|(&from, to)| text.pieces(from, to)).collect())
}

/// All inputs, one after the other.
struct Text<'p> {
    inputs: &'p [JobInput],
    /// The start of each input, then the end of the last.
    starts: Vec<u128>,
}

impl<'p> Text<'p> {
    fn of(inputs: &'p [JobInput]) -> Self {
        let mut starts = vec![0];
        let mut at = 0;
        for input in inputs {
            at += u128::from(input.state.input_len);
            starts.push(at);
        }
        Self { inputs, starts }
    }

    fn len(&self) -> u128 {
        self.starts[self.inputs.len()]
    }

    /// Returns the start of a piece among all bytes.
    fn place(&self, piece: &Piece) -> u128 {
        self.starts[piece.input] + u128::from(piece.extent.offset())
    }

    /// Returns the start of the first line at or after `at`; `None` if none begins before `end`.
    fn line_from(&self, at: u128, end: u128) -> Result<Option<u128>> {
        if at == 0 {
            return Ok((end > 0).then_some(0));
        }
        // The byte before `at` may end a line; the last byte before `end` begins none before `end`.
        let (mut at, end) = (at - 1, end.saturating_sub(1));
        let mut look = vec![0; LOOK];
        while at < end {
            let (input, offset) = self.place_of(at);
            let end_here = end.min(self.starts[input + 1]);
            let len = usize::try_from(end_here - at).unwrap_or(usize::MAX).min(look.len());
            let bytes = &mut look[..len];
            read(&self.inputs[input], offset, bytes)?;
            if let Some(newline) = swath_simd::find(bytes, b'\n') {
                return Ok(Some(at + newline as u128 + 1));
            }
            at += len as u128;
            look.resize((look.len() * LONGER).min(FAR_LOOK), 0);
        }
        Ok(None)
    }

    /// Returns the input of a byte, and its offset there.
    fn place_of(&self, at: u128) -> (usize, u64) {
        let input = self.starts.partition_point(|&start| start <= at) - 1;
        (input, u64::try_from(at - self.starts[input]).unwrap_or(u64::MAX))
    }

    fn pieces(&self, from: u128, to: u128) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut at = from;
        while at < to {
            let (input, offset) = self.place_of(at);
            let end = to.min(self.starts[input + 1]);
            let len = u64::try_from(end - at).unwrap_or(u64::MAX);
            let extent = Extent::between(offset, offset.saturating_add(len));
            pieces.push(Piece { input, extent });
            at = end;
        }
        pieces
    }
}

fn read(input: &JobInput, offset: u64, bytes: &mut [u8]) -> Result<()> {
    let extent = Extent::between(offset, offset + bytes.len() as u64);
    // The name may lead to another file by now.
    let opened = input.open(extent)?;
    let file = opened.file().ok_or(ErrorKind::InvalidInput.into());
    file.and_then(|file| file.read_exact_at(bytes, offset)).map_err(|error| {
        match input.check() {
            Err(changed) => changed,
            Ok(()) => Error::io(Operation::Read, &input.path, error).at(extent),
        }
    })
}
