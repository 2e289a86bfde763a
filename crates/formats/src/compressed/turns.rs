//! Settles decoded items in order: after a member with a false length, everything decoded ahead is
//! discarded.
//!
//! Gzip members that record their length go to different workers before anything shows whether that
//! length is true. Each worker reports here when it has finished. A worker that is early leaves its
//! bytes, and the one whose turn it is passes them on, so no thread waits. The first item that
//! could not be decoded stops everything, and the stream is decoded in order from there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::machine::Mutex;

use crate::error::Error;

/// The start of an item in the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// Index of the item.
    pub(super) index: u64,
    /// Offset of its first byte in the compressed stream.
    pub(super) offset: u64,
    /// Number of frames before it.
    pub(super) frames: u64,
}

/// The outcome of an item.
#[derive(Debug)]
pub(super) enum ItemOutcome {
    /// It was decoded, and ends where the next one begins.
    Decoded { end: u64 },
    /// Either its length is wrong or it is damaged.
    Doubtful,
    /// It cannot be decoded.
    Failed(Error),
}

/// One stream, and its settled part.
#[derive(Debug, Default)]
pub(super) struct Turns {
    state: Mutex<TurnState>,
    /// Bytes of the compressed stream before this offset are not needed again.
    settled: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct TurnState {
    /// The item whose turn it is.
    next: u64,
    /// Items that finished before their turn.
    early: BTreeMap<u64, (Mark, ItemOutcome, Vec<u8>)>,
    /// The first doubtful item.
    stopped: Option<Mark>,
    /// The error of the first item that could not be decoded, if no doubtful one comes before it.
    failed: Option<Error>,
}

impl Turns {
    /// Returns the settled offset, for a supply that keeps bytes until they are no longer needed.
    pub(super) fn settled(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.settled)
    }

    /// Whether all later items will be discarded.
    pub(super) fn has_stopped(&self) -> bool {
        self.state.lock().has_stopped()
    }

    /// Returns the error of the item that could not be decoded, once those before it are written.
    pub(super) fn failure(&self) -> Option<Error> {
        self.state.lock().failed.take()
    }

    /// Returns the place at which to continue in order, if this has stopped.
    pub(super) fn go_on(&self) -> Option<Mark> {
        self.state.lock().stopped.take()
    }

    /// Records the outcome of an item that decoded to `out`, and leaves in `out` the bytes to write
    /// in its place. `cut` gets the bytes of each item, in order.
    pub(super) fn settle(
        &self,
        mark: Mark,
        done: ItemOutcome,
        out: &mut Vec<u8>,
        mut cut: impl FnMut(u64, &mut Vec<u8>),
    ) {
        let mut state = self.state.lock();
        let bytes = std::mem::take(out);
        if state.has_stopped() {
            return;
        }
        state.early.insert(mark.index, (mark, done, bytes));
        while let Some((mark, done, mut bytes)) = state.take_next() {
            match done {
                ItemOutcome::Decoded { end } => {
                    cut(mark.index, &mut bytes);
                    // Pairs with the load in `Kept`; nothing else depends on it.
                    self.settled.store(end, Ordering::Relaxed);
                    if out.is_empty() { *out = bytes } else { out.extend_from_slice(&bytes) }
                }
                ItemOutcome::Doubtful => {
                    state.early.clear();
                    state.next = mark.index;
                    state.stopped = Some(mark);
                    break;
                }
                ItemOutcome::Failed(error) => {
                    state.early.clear();
                    state.failed = Some(error);
                    break;
                }
            }
        }
    }
}

impl TurnState {
    fn has_stopped(&self) -> bool {
        self.stopped.is_some() || self.failed.is_some()
    }

    /// Takes the next finished item, if its turn has come.
    fn take_next(&mut self) -> Option<(Mark, ItemOutcome, Vec<u8>)> {
        let taken = self.early.remove(&self.next)?;
        self.next += 1;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes written in the place of an item that decoded to one letter.
    fn settle(turns: &Turns, index: u64, letter: u8, done: ItemOutcome) -> String {
        let mut out = vec![letter];
        let mark = Mark { index, offset: index * 10, frames: index };
        turns.settle(mark, done, &mut out, |_, _| {});
        String::from_utf8(out).expect("letters")
    }

    fn decoded(index: u64) -> ItemOutcome {
        ItemOutcome::Decoded { end: index * 10 + 10 }
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
        assert_eq!(settle(&turns, 1, b'?', ItemOutcome::Doubtful), "");
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
        settle(&turns, 1, b'x', ItemOutcome::Failed(error()));
        assert_eq!(settle(&turns, 0, b'?', ItemOutcome::Doubtful), "");
        assert!(turns.failure().is_none());
        let turns = Turns::default();
        settle(&turns, 1, b'x', ItemOutcome::Failed(error()));
        assert!(!turns.has_stopped(), "the one before may be doubtful");
        assert_eq!(settle(&turns, 0, b'a', decoded(0)), "a", "what comes before it is written");
        assert!(turns.has_stopped());
        assert_eq!(settle(&turns, 2, b'c', decoded(2)), "");
        assert!(turns.failure().is_some());
    }
}
