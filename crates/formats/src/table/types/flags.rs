//! Which values are not what their text says.

use super::field::TextField;
use super::rules::FieldRules;

/// Something for each way in which values are not what their text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::table) struct Losses<T> {
    /// Decimals that have other digits as a double or single.
    pub(in crate::table) rounded: T,
    /// Numbers that lost zeros before their whole part, a plus, or the minus of a whole zero.
    pub(in crate::table) padded: T,
    /// Objects and arrays that are texts.
    pub(in crate::table) as_text: T,
}

/// Which of up to 64 fields have such a value, one bit each.
pub(in crate::table) type Flags = Losses<u64>;

/// Gets the index of the first of some fields, and which of them have such a value.
pub(in crate::table) type Note<'n> = dyn FnMut(usize, Flags) + 'n;

impl<T: Copy> Losses<T> {
    /// Returns all, in their order.
    pub(in crate::table) fn all(self) -> [T; 3] {
        [self.rounded, self.padded, self.as_text]
    }

    /// As [`all`](Self::all), to be changed.
    pub(in crate::table) fn all_mut(&mut self) -> [&mut T; 3] {
        [&mut self.rounded, &mut self.padded, &mut self.as_text]
    }

    /// Makes something of each.
    pub(in crate::table) fn map<U>(self, make: impl Fn(T) -> U) -> Losses<U> {
        let [rounded, padded, as_text] = self.all().map(make);
        Losses { rounded, padded, as_text }
    }
}

impl Flags {
    /// Whether there is none.
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns those of one field after the other, as the lowest, and its index.
    pub(in crate::table) fn each(self) -> impl Iterator<Item = (usize, Self)> {
        let all = (0..64).map(move |at| (at, self.map(|bits| bits >> at & 1)));
        all.filter(|(_, flags)| !flags.is_empty())
    }

    /// Adds those of fields that are these rows.
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

/// Notes a text that is an object or an array, with index 0.
pub(super) fn note_nested(field: TextField<'_>, rules: &FieldRules, note: &mut Note<'_>) {
    if rules.has_nested(field.raw) {
        note(0, Flags { as_text: 1, ..Flags::default() });
    }
}
