//! Determines which blocks begin between quotes.
//!
//! A quote changes the meaning of all later bytes, so the state at the start of a block depends on
//! the number of quotes in all earlier blocks. But finding out whether that number is odd is fast
//! and does not need the state. So each worker counts the quotes it has read, waits for its turn
//! to learn the state, and passes on the next state: it waits for the reads of earlier blocks,
//! never for the processing of their records.
//!
//! ```text
//! quotes in      odd      even     odd
//! block      |-- " ---|-- "" --|- """ --|
//! begins     outside  inside   inside   outside
//! ```

use std::collections::BTreeMap;

use crate::records::turns::Turns;

/// The states at the starts of one file's leases.
#[derive(Debug, Default)]
pub(crate) struct Quotes {
    turns: Turns<QuoteState>,
}

#[derive(Debug, Default)]
struct QuoteState {
    inside: bool,
    /// States of leases whose turn is over, in case they are retried.
    known: BTreeMap<u64, bool>,
}

impl Quotes {
    /// Returns whether lease `number` begins between quotes; `odd`: it contains an odd number of
    /// them. `None` if that will never be known.
    pub(crate) fn is_inside(
        &self,
        number: u64,
        odd: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Option<bool> {
        let mut line = self.turns.wait(number, 0, is_over)?;
        if number < line.next {
            return line.state.known.get(&number).copied();
        }
        let inside = line.state.inside;
        line.state.inside ^= odd;
        line.state.known.insert(number, inside);
        line.next += 1;
        self.turns.moved(line);
        Some(inside)
    }

    /// Records that lease `number` is being tried.
    pub(crate) fn begun(&self, number: u64) -> Trying<'_> {
        self.turns.found(number);
        Trying { quotes: self, number, is_done: false }
    }
}

/// A lease that is being read; if the read fails, its drop notifies the workers that wait for its
/// quotes.
pub(crate) struct Trying<'q> {
    quotes: &'q Quotes,
    number: u64,
    is_done: bool,
}

impl Trying<'_> {
    /// Records that the lease will not be retried.
    pub(crate) fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        match self.is_done {
            true => {
                self.quotes.turns.line().state.known.remove(&self.number);
            }
            false => self.quotes.turns.lost(self.number),
        }
    }
}
