//! The values that do not match their text.

use super::field::TextField;
use super::rules::FieldRules;

/// One item for each way in which a value does not match its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::table) struct Losses<T> {
    /// Decimals that a double or single rounded to other digits.
    pub(in crate::table) rounded: T,
    /// Numbers that lost leading zeros, a plus, or the minus of a whole zero.
    pub(in crate::table) padded: T,
    /// Objects and arrays stored as texts.
    pub(in crate::table) as_text: T,
}

/// For each way, a bit for each of up to 64 fields, set if the value does not match its text.
pub(in crate::table) type Flags = Losses<u64>;

/// Receives the index of the first of up to 64 fields, and their flags.
pub(in crate::table) type Note<'n> = dyn FnMut(usize, Flags) + 'n;

impl<T: Copy> Losses<T> {
    /// Returns the three items in order.
    pub(in crate::table) fn all(self) -> [T; 3] {
        [self.rounded, self.padded, self.as_text]
    }

    /// Returns the three items in order, mutable.
    pub(in crate::table) fn all_mut(&mut self) -> [&mut T; 3] {
        [&mut self.rounded, &mut self.padded, &mut self.as_text]
    }

    /// Applies `make` to each item.
    pub(in crate::table) fn map<U>(self, make: impl Fn(T) -> U) -> Losses<U> {
        let [rounded, padded, as_text] = self.all().map(make);
        Losses { rounded, padded, as_text }
    }
}

impl Flags {
    /// Whether no flag is set.
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns the index of each field with a flag, and its flags in the lowest bit.
    pub(in crate::table) fn each(self) -> impl Iterator<Item = (usize, Self)> {
        let all = (0..64).map(move |at| (at, self.map(|bits| bits >> at & 1)));
        all.filter(|(_, flags)| !flags.is_empty())
    }

    /// Adds the flags of gathered fields: the field of bit `i` is in row `rows[i]`.
    pub(super) fn add(&mut self, others: Self, rows: &[u8]) {
        if others.is_empty() {
            return;
        }
        for (at, one) in others.each().take_while(|&(at, _)| at < rows.len()) {
            self.all_mut()
                .into_iter()
                .zip(one.all())
                .for_each(|(own, bit)| *own |= bit << rows[at]);
        }
    }
}

/// Notes, with index 0, a text that is an object or an array.
pub(super) fn note_nested(field: TextField<'_>, rules: &FieldRules, note: &mut Note<'_>) {
    if rules.has_nested(field.raw) {
        note(0, Flags { as_text: 1, ..Flags::default() });
    }
}
