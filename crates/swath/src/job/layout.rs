//! Checks that a plan from a file is valid.

use swath_plan::parts::Division;

use super::data::PlanPiece;
use super::input::JobInput;
use crate::error::counted;

/// A folder with more names is slow on most file systems.
pub(super) const MOST_PARTS: usize = 1_000_000;

/// Fails unless the parts have each byte of the inputs once, in order.
///
/// # Errors
///
/// The fault.
pub(super) fn check(
    inputs: &[JobInput],
    parts: &[Vec<PlanPiece>],
    division: Division,
) -> Result<(), String> {
    if parts.is_empty() || parts.len() > MOST_PARTS {
        let count = counted(parts.len() as u64, "part");
        return Err(format!("it has {count}, and a job has 1 to {MOST_PARTS}"));
    }
    let mut at = Position { inputs, input: 0, offset: 0 };
    for (index, part) in parts.iter().enumerate() {
        let wrong = |what: &str| format!("part {index} {what}");
        for &piece in part {
            at.read(piece).map_err(wrong)?;
            may_begin(piece, division).map_err(wrong)?;
        }
        if division == Division::Inputs && part.len() > 1 {
            return Err(wrong("has several inputs, which are divided into one for each part"));
        }
    }
    at.skip_empty(inputs.len());
    match inputs.get(at.input) {
        None => Ok(()),
        Some(input) => {
            Err(format!("no part reads {} from byte {} on", input.path.display(), at.offset))
        }
    }
}

/// The next byte that no part has read.
struct Position<'p> {
    inputs: &'p [JobInput],
    input: usize,
    offset: u64,
}

impl Position<'_> {
    /// Moves to the next input at the end of one, but not past `input`.
    fn skip_empty(&mut self, input: usize) {
        while self.input < input
            && self.inputs.get(self.input).is_some_and(|it| it.state.input_len == self.offset)
        {
            (self.input, self.offset) = (self.input + 1, 0);
        }
    }

    fn read(&mut self, piece: PlanPiece) -> Result<(), &'static str> {
        const NOT_THERE: &str = "reads bytes that no input has";
        let input = self.inputs.get(piece.input()).ok_or(NOT_THERE)?;
        let extent = piece.extent().ok_or(NOT_THERE)?;
        if extent.end() > input.state.input_len {
            return Err(NOT_THERE);
        }
        if extent.is_empty() && input.state.input_len > 0 {
            return Err("reads no bytes of an input that has some");
        }
        self.skip_empty(piece.input());
        if (self.input, self.offset) != (piece.input(), extent.offset()) {
            return Err("does not begin where the part before it ends");
        }
        self.offset = extent.end();
        Ok(())
    }
}

fn may_begin(piece: PlanPiece, division: Division) -> Result<(), &'static str> {
    let offset = piece.extent().map_or(0, |it| it.offset());
    match division {
        Division::Width(width) if offset % width != 0 => Err("begins inside a record"),
        Division::Inputs | Division::Groups if offset != 0 => Err("begins inside an input"),
        _ => Ok(()),
    }
}
