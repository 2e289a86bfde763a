//! Cuts decoded items down to the requested bytes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use swath::machine::{Condvar, Mutex};

use crate::error::{Error, FormatReason, Result};

/// Finds the position of each item once all items before it are decoded; an item waits for that.
///
/// Items are handed out in order, each to a free worker, so the first unfinished item never waits.
#[derive(Debug)]
pub(super) struct Trim {
    from: u64,
    len: Option<u64>,
    state: Mutex<TrimState>,
    turn: Condvar,
    enough: AtomicBool,
}

#[derive(Debug)]
struct TrimState {
    /// The item whose turn it is.
    next: u64,
    /// Number of decoded bytes before that item.
    position: u64,
    failed: bool,
}

impl Trim {
    /// Keeps `len` bytes, starting at `from`.
    pub(super) fn new(from: u64, len: Option<u64>) -> Self {
        let state = Mutex::new(TrimState { next: 0, position: 0, failed: false });
        let enough = AtomicBool::new(len == Some(0));
        Self { from, len, state, turn: Condvar::new(), enough }
    }

    fn end(&self) -> u64 {
        self.len.map_or(u64::MAX, |len| self.from.saturating_add(len))
    }

    /// Waits until all items before `index` are cut, then cuts it.
    pub(super) fn cut(&self, index: u64, bytes: &mut Vec<u8>) {
        let waiting = |state: &mut TrimState| state.next < index && !state.failed;
        let state = self.turn.wait_while(self.state.lock(), waiting);
        let mut state = state;
        if state.failed {
            // An earlier item has failed, so this one is not used.
            bytes.clear();
            return;
        }
        let start = state.position;
        let end = start.saturating_add(bytes.len() as u64);
        (state.next, state.position) = (index + 1, end);
        drop(state);
        if end >= self.end() {
            // Relaxed: only a hint to stop reading.
            self.enough.store(true, Ordering::Relaxed);
        }
        self.turn.notify_all();
        let within = |position: u64| {
            let position = position.clamp(start, end) - start;
            usize::try_from(position).unwrap_or(usize::MAX)
        };
        bytes.truncate(within(self.end()));
        bytes.drain(..within(self.from).min(bytes.len()));
    }

    /// Wakes the waiting threads: an item will never come.
    pub(super) fn fail(&self) {
        self.state.lock().failed = true;
        self.turn.notify_all();
    }

    /// Whether all requested bytes have been decoded.
    pub(super) fn has_enough(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }

    /// Fails if the stream ended before the requested bytes.
    pub(super) fn check_end(&self, path: &Path) -> Result<()> {
        let position = self.state.lock().position;
        match self.has_enough() || (self.len.is_none() && position >= self.from) {
            true => Ok(()),
            false => Err(too_short(path, position)),
        }
    }
}

/// Returns the error for a stream that is shorter than the request; it decompresses to `len` bytes.
pub(super) fn too_short(path: &Path, len: u64) -> Error {
    let what = format!("it decompresses to {len} bytes only");
    Error::decompressing(path, FormatReason::Truncated, what)
        .hint("request bytes before that end")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(trim: &Trim, index: u64, len: usize) -> usize {
        let mut bytes = vec![0; len];
        trim.cut(index, &mut bytes);
        bytes.len()
    }

    #[test]
    fn items_are_cut_at_both_ends() {
        let trim = Trim::new(15, Some(12));
        assert_eq!([cut(&trim, 0, 10), cut(&trim, 1, 10)], [0, 5]);
        assert!(!trim.has_enough());
        trim.check_end(Path::new("x")).expect_err("seven are missing");
        assert_eq!([cut(&trim, 2, 10), cut(&trim, 3, 10)], [7, 0]);
        assert!(trim.has_enough());
        trim.check_end(Path::new("x")).expect("all there");
    }

    #[test]
    fn the_bytes_are_those_between_the_ends() {
        let trim = Trim::new(1, Some(2));
        let mut bytes = b"abcd".to_vec();
        trim.cut(0, &mut bytes);
        assert_eq!(bytes, b"bc");
    }

    #[test]
    fn an_offset_behind_the_end_is_too_far() {
        let trim = Trim::new(11, None);
        assert_eq!(cut(&trim, 0, 10), 0);
        let error = trim.check_end(Path::new("x")).expect_err("there are only ten");
        assert_eq!(error.reason(), FormatReason::Truncated);
        let trim = Trim::new(10, None);
        assert_eq!(cut(&trim, 0, 10), 0);
        trim.check_end(Path::new("x")).expect("nothing was requested");
    }

    #[test]
    fn later_items_wait_for_their_turn_and_are_let_go_by_an_error() {
        let trim = Trim::new(4, None);
        std::thread::scope(|scope| {
            let later = scope.spawn(|| cut(&trim, 1, 3));
            assert_eq!(cut(&trim, 0, 3), 0);
            assert_eq!(later.join().expect("no panic"), 2);
            let never = scope.spawn(|| cut(&trim, 7, 3));
            trim.fail();
            assert_eq!(never.join().expect("no panic"), 0);
        });
    }
}
