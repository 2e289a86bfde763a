//! Where the inputs of a job are divided.

use swath::job;

/// Where inputs may be divided, and so what a part has.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Division {
    /// At any byte, and a part has the records that begin in its pieces; each input is taken alone.
    /// Read them with the option `starting_in` of `swath_records`. Only their reader knows where they end, so
    /// all parts must be done with the same reader. The command `swath job` does none of them.
    #[default]
    Records = 0,
    /// At any byte, and a part has exactly the bytes of its pieces.
    Bytes = 1,
    /// Where a line begins: a part has exactly the bytes of its pieces, which are whole lines. The inputs
    /// are seen as one text: where one does not end with a newline, its last line goes on in the next.
    Lines = 2,
    /// At multiples of a width from the start of each input, for records of one length: a part has exactly
    /// the bytes of its pieces. Set with the option `width`.
    Width = 3,
    /// Each input that has bytes is one part.
    Inputs = 4,
    /// Between inputs only, and a part may have several.
    Groups = 5,
}

impl Division {
    /// A division of the library; one that C has no name for is of bytes, which its pieces say.
    pub(super) fn of(division: job::Division) -> Self {
        match division {
            job::Division::Records => Self::Records,
            job::Division::Lines => Self::Lines,
            job::Division::Width(_) => Self::Width,
            job::Division::Inputs => Self::Inputs,
            job::Division::Groups => Self::Groups,
            _ => Self::Bytes,
        }
    }
}
