//! Where the inputs of a job are divided.

use swath::job;

/// Where inputs may be divided, and so what a part has.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Division {
    /// At any byte; a part has the records that begin in its pieces, and each input stands alone.
    /// Read them with the option `starting_in` of `swath_records`. Only a reader knows where
    /// records end, so all parts must be done with the same one. The command `swath job` cannot do
    /// such parts.
    #[default]
    Records = 0,
    /// At any byte; a part has exactly the bytes of its pieces.
    Bytes = 1,
    /// Where a line begins: a part has exactly the bytes of its pieces, which are whole lines. The
    /// inputs are one text: if one does not end with a newline, its last line continues in the
    /// next.
    Lines = 2,
    /// At multiples of a width from the start of each input, for records of one length: a part has exactly
    /// the bytes of its pieces. Set with the option `width`.
    Width = 3,
    /// Each input that has bytes is one part.
    Inputs = 4,
    /// Between inputs only; a part may have several.
    Groups = 5,
}

impl Division {
    /// Converts a division of the library; one without a name in C is of bytes, as its pieces are.
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
