//! The bytes that a part consists of, for a function or a program that reads a stream.
//!
//! ```text
//! inputs   |one\ntw|  |o\nthree\nfo|  |ur\n|     seen as one text
//! parts    |-----------|-------------------|
//! lines    |one\ntwo\n |three\nfour\n |
//! ```

use std::fs::File;
use std::os::unix::fs::FileExt;

use swath_plan::extent::Extent;
use swath_plan::parts::Division;

use super::data::PartPiece;
use super::input::JobInput;
use super::plan::Plan;
use crate::error::{Error, Operation, Result};

/// Bytes of the first look for the end of a line, and of later ones.
const LOOK: usize = 64 << 10;
const FAR_LOOK: usize = 4 << 20;

impl Plan {
    /// Returns the bytes that part `index` consists of, in order: with [`Division::Lines`] the
    /// lines that begin in its pieces, each to its end; otherwise the pieces themselves. All parts,
    /// one after the other, are the bytes of all inputs.
    ///
    /// A part in which no line begins, because one is longer than a part, has none.
    ///
    /// Cost: with [`Division::Lines`], two short reads, or as much as the longest line has.
    ///
    /// # Errors
    ///
    /// Those of reading; [`Reason::Changed`](crate::Reason::Changed) if an input has become
    /// shorter since the job was planned.
    ///
    /// # Panics
    ///
    /// If there is no part `index`.
    ///
    /// ```
    /// use swath::job::{Division, JobOptions};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let (input, output) = (folder.path().join("in.txt"), folder.path().join("out.txt"));
    /// std::fs::write(&input, "one\ntwo\nthree\n")?;
    /// let options = JobOptions::new().with_parts(2).with_division(Division::Lines);
    /// let plan = options.plan([&input], &output)?;
    /// let lens: Vec<u64> = plan.contents(0)?.iter().map(|piece| piece.len).collect();
    /// assert_eq!(lens, [8]); // "one\ntwo\n": the second line begins in the first 7 bytes
    /// # plan.abort()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contents(&self, index: usize) -> Result<Vec<PartPiece>> {
        let part = self.part(index).expect("an index of a part");
        match (self.division, part.pieces()) {
            (Division::Lines, [first, .., last]) => self.lines(index, [first, last]),
            (Division::Lines, [only]) => self.lines(index, [only, only]),
            _ => Ok(part.pieces),
        }
    }

    fn lines(&self, index: usize, [first, last]: [&PartPiece; 2]) -> Result<Vec<PartPiece>> {
        let text = self.text();
        let inputs = &self.parts[index];
        let from = text.starts[inputs[0].input()] + u128::from(first.offset);
        let end = text.starts[inputs[inputs.len() - 1].input()]
            + u128::from(last.offset)
            + u128::from(last.len);
        let Some(from) = text.line_from(from, end)? else { return Ok(Vec::new()) };
        let to = text.line_from(end, text.len())?.unwrap_or(text.len());
        Ok(text.pieces(from, to))
    }

    fn text(&self) -> Text<'_> {
        let starts = self.starts.get_or_init(|| {
            let mut starts = vec![0];
            let mut at = 0;
            for input in &self.inputs {
                at += u128::from(input.state.input_len);
                starts.push(at);
            }
            starts
        });
        Text { inputs: &self.inputs, starts }
    }
}

/// All inputs, one after the other.
struct Text<'p> {
    inputs: &'p [JobInput],
    /// Where each begins; then the end of the last.
    starts: &'p [u128],
}

impl Text<'_> {
    fn len(&self) -> u128 {
        self.starts[self.inputs.len()]
    }

    /// Where the first line begins from `at` on, `None` if none begins before `end`.
    fn line_from(&self, at: u128, end: u128) -> Result<Option<u128>> {
        if at == 0 {
            return Ok((end > 0).then_some(0));
        }
        // The byte before may be the end of a line; that of the last line in reach is not.
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
            look.resize(FAR_LOOK, 0);
        }
        Ok(None)
    }

    /// The input that a byte is in, and its offset there.
    fn place_of(&self, at: u128) -> (usize, u64) {
        let input = self.starts.partition_point(|&start| start <= at) - 1;
        (input, u64::try_from(at - self.starts[input]).unwrap_or(u64::MAX))
    }

    fn pieces(&self, from: u128, to: u128) -> Vec<PartPiece> {
        let mut pieces = Vec::new();
        let mut at = from;
        while at < to {
            let (input, offset) = self.place_of(at);
            let end = to.min(self.starts[input + 1]);
            let JobInput { path, state } = &self.inputs[input];
            let len = u64::try_from(end - at).unwrap_or(u64::MAX);
            pieces.push(PartPiece { path: path.clone(), offset, len, state: *state });
            at = end;
        }
        pieces
    }
}

fn read(input: &JobInput, offset: u64, bytes: &mut [u8]) -> Result<()> {
    let file = File::open(&input.path)
        .map_err(|error| Error::io(Operation::Open, &input.path, error))?;
    file.read_exact_at(bytes, offset).map_err(|error| match input.check() {
        Err(changed) => changed,
        Ok(()) => Error::io(Operation::Read, &input.path, error)
            .at(Extent::between(offset, offset + bytes.len() as u64)),
    })
}
