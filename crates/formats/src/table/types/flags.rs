//! Which values are not what their text says.

/// Which of up to 64 fields have a value that is not what their text says, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::table) struct Flags {
    /// Decimals that have other digits as a double or single.
    pub(in crate::table) rounded: u64,
    /// Numbers that lost zeros before their whole part, or a plus.
    pub(in crate::table) padded: u64,
}

/// Gets the index of the first of some fields, and which of them have such a value.
pub(in crate::table) type Note<'n> = dyn FnMut(usize, Flags) + 'n;

impl Flags {
    /// Whether there is none.
    pub(super) fn is_empty(self) -> bool {
        self.rounded | self.padded == 0
    }

    /// Returns those of one field after the other, as the lowest, and its index.
    pub(in crate::table) fn each(self) -> impl Iterator<Item = (usize, Self)> {
        let all = (0..64).map(move |at| {
            (at, Self { rounded: self.rounded >> at & 1, padded: self.padded >> at & 1 })
        });
        all.filter(|(_, flags)| !flags.is_empty())
    }

    /// Adds those of fields that are these rows.
    pub(super) fn add(&mut self, others: Self, rows: &[u8]) {
        if others.is_empty() {
            return;
        }
        for (at, one) in others.each().take_while(|&(at, _)| at < rows.len()) {
            self.rounded |= one.rounded << rows[at];
            self.padded |= one.padded << rows[at];
        }
    }
}
