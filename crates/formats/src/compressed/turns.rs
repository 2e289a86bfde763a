//! Who decoded what, told in order: what comes after a member that lied about its length counts for
//! nothing.
//!
//! Members of gzip that say how long they are go to different workers before anybody knows whether
//! it is true. Whoever is done tells it here. One that is done too early leaves its bytes, and the one
//! whose turn it is hands on those as well, so nobody waits. The first that could not be decoded stops
//! everything, and the stream is decoded in order from there on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

/// Where an item begins, and what was there before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// Its number.
    pub(super) index: u64,
    /// Of its first byte, in the compressed stream.
    pub(super) offset: u64,
    /// Frames before it.
    pub(super) frames: u64,
}

/// How an item ended.
#[derive(Debug)]
pub(super) enum Done {
    /// It is decoded, and ends where the next one begins.
    Decoded { end: u64 },
    /// It is not what it said, if it is not damaged.
    Doubtful,
    /// It cannot be decoded.
    Failed(Error),
}

/// One stream, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Turns {
    state: Mutex<State>,
    /// Bytes of the compressed stream that nobody needs again.
    settled: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct State {
    /// Whose turn it is.
    next: u64,
    /// Done before their turn.
    early: BTreeMap<u64, (Mark, Done, Vec<u8>)>,
    /// The first that is doubtful.
    stopped: Option<Mark>,
}

impl Turns {
    /// How far it is, for whoever keeps bytes until they are not needed any more.
    pub(super) fn settled(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.settled)
    }

    /// Whether everything that is still to come is for nothing.
    pub(super) fn has_stopped(&self) -> bool {
        self.state().stopped.is_some()
    }

    /// Where to go on in order, if it stopped.
    pub(super) fn go_on(&self) -> Option<Mark> {
        self.state().stopped.take()
    }

    /// Tells how an item ended that decoded to `out`; leaves there what is to be written in its
    /// place. `cut` gets the bytes of each item, in order.
    pub(super) fn settle(
        &self,
        mark: Mark,
        done: Done,
        out: &mut Vec<u8>,
        mut cut: impl FnMut(u64, &mut Vec<u8>),
    ) -> Result<()> {
        let mut state = self.state();
        let bytes = std::mem::take(out);
        if state.stopped.is_some() {
            return Ok(());
        }
        state.early.insert(mark.index, (mark, done, bytes));
        while let Some((mark, done, mut bytes)) = state.take_next() {
            match done {
                Done::Decoded { end } => {
                    cut(mark.index, &mut bytes);
                    // Pairs with the load of whoever keeps bytes; nothing else hangs on it.
                    self.settled.store(end, Ordering::Relaxed);
                    match out.is_empty() {
                        true => *out = bytes,
                        false => out.extend_from_slice(&bytes),
                    }
                }
                Done::Doubtful => {
                    state.early.clear();
                    state.next = mark.index;
                    state.stopped = Some(mark);
                    break;
                }
                Done::Failed(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes what ended, if its turn has come.
    fn take_next(&mut self) -> Option<(Mark, Done, Vec<u8>)> {
        let taken = self.early.remove(&self.next)?;
        self.next += 1;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is to be written in the place of an item that decoded to one letter.
    fn settle(turns: &Turns, index: u64, letter: u8, done: Done) -> String {
        let mut out = vec![letter];
        let mark = Mark { index, offset: index * 10, frames: index };
        turns.settle(mark, done, &mut out, |_, _| {}).expect("no error");
        String::from_utf8(out).expect("letters")
    }

    fn decoded(index: u64) -> Done {
        Done::Decoded { end: index * 10 + 10 }
    }

    #[test]
    fn what_is_done_early_is_written_with_the_one_before_it() {
        let turns = Turns::default();
        assert_eq!(settle(&turns, 1, b'b', decoded(1)), "");
        assert_eq!(settle(&turns, 3, b'd', decoded(3)), "");
        assert_eq!(settle(&turns, 0, b'a', decoded(0)), "ab");
        assert_eq!(turns.settled().load(Ordering::Relaxed), 20);
        assert_eq!(settle(&turns, 2, b'c', decoded(2)), "cd");
        assert!(!turns.has_stopped());
    }

    #[test]
    fn nothing_is_written_from_the_first_doubtful_one_on() {
        let turns = Turns::default();
        assert_eq!(settle(&turns, 2, b'c', decoded(2)), "");
        assert_eq!(settle(&turns, 1, b'?', Done::Doubtful), "");
        assert!(!turns.has_stopped(), "the one before may be doubtful too");
        assert_eq!(settle(&turns, 0, b'a', decoded(0)), "a");
        assert!(turns.has_stopped());
        assert_eq!(settle(&turns, 3, b'd', decoded(3)), "");
        assert_eq!(turns.go_on(), Some(Mark { index: 1, offset: 10, frames: 1 }));
        assert_eq!(settle(&turns, 1, b'b', decoded(1)), "b");
    }

    #[test]
    fn an_error_counts_only_if_nothing_before_it_was_doubtful() {
        let error = || Error::from(swath::read("/nonexistent/file").expect_err("not there"));
        let turns = Turns::default();
        settle(&turns, 1, b'x', Done::Failed(error()));
        assert_eq!(settle(&turns, 0, b'?', Done::Doubtful), "");
        let turns = Turns::default();
        settle(&turns, 1, b'x', Done::Failed(error()));
        let mark = Mark::default();
        turns.settle(mark, decoded(0), &mut Vec::new(), |_, _| {}).expect_err("its turn");
    }
}
