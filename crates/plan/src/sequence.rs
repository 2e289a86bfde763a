//! Places chunks whose order is known before their sizes.
//!
//! A [`Sequence`] hands out numbers in serial order, takes chunks back in any order, and places
//! each one as soon as possible: when the sizes of all before it are known.
//!
//! ```text
//! taken     0   1   2   3        window 4: number 4 only once one of these is written
//! came back     5 B 2 B
//! placed                         nothing: 0 has no size yet
//! came back 3 B 5 B 2 B
//! placed    0.. 3.. 8..          three at once; 3 only waits for itself
//! ```
//!
//! ```
//! use swath_plan::sequence::Sequence;
//!
//! let mut sequence = Sequence::new(2);
//! let (first, second) = (sequence.take().unwrap(), sequence.take().unwrap());
//! assert_eq!(sequence.take(), None, "the window is full");
//! sequence.deposit(second, 5, "later").unwrap();
//! assert!(sequence.place().is_none());
//! sequence.deposit(first, 3, "sooner").unwrap();
//! assert_eq!(sequence.place().unwrap().extent.end(), 3);
//! assert_eq!(sequence.place().unwrap().extent.offset(), 3);
//! ```

use alloc::collections::VecDeque;

use crate::extent::Extent;

/// A chunk whose place is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed<T> {
    /// Its number in serial order.
    pub index: u64,
    /// Its bytes in the file.
    pub extent: Extent,
    /// The deposited chunk.
    pub chunk: T,
}

/// The reason why a chunk was not taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused<T> {
    /// An earlier chunk was abandoned, so it has no place.
    Abandoned(T),
    /// It would end past `u64::MAX`; no later chunk has a place either.
    TooLong(T),
}

/// Items that arrive in any order, kept until all items before them have arrived.
///
/// ```
/// use swath_plan::sequence::InOrder;
///
/// let mut order = InOrder::default();
/// order.put(1, "later");
/// assert_eq!(order.take(), None);
/// order.put(0, "sooner");
/// assert_eq!((order.take(), order.take()), (Some("sooner"), Some("later")));
/// ```
#[derive(Debug)]
pub struct InOrder<T> {
    /// The number whose turn it is: items before it have been taken.
    next: u64,
    /// Item `next + i`, if it has arrived.
    early: VecDeque<Option<T>>,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self { next: 0, early: VecDeque::new() }
    }
}

impl<T> InOrder<T> {
    /// Returns the number whose turn it is.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Keeps item `number` until its turn; takes memory for all numbers before it. An item whose
    /// turn is over is dropped.
    pub fn put(&mut self, number: u64, item: T) {
        let Some(slot) = number.checked_sub(self.next) else { return };
        let slot = usize::try_from(slot).unwrap_or(usize::MAX);
        while self.early.len() <= slot {
            self.early.push_back(None);
        }
        self.early[slot] = Some(item);
    }

    /// Returns the item whose turn it is, if it has arrived, and passes the turn to the next one.
    pub fn take(&mut self) -> Option<T> {
        let item = self.early.front_mut()?.take()?;
        self.early.pop_front();
        self.next += 1;
        Some(item)
    }

    /// Drops items from number `cut`; returns how many there were.
    pub fn cut_at(&mut self, cut: u64) -> usize {
        let left = usize::try_from(cut.saturating_sub(self.next)).unwrap_or(usize::MAX);
        self.early.drain(left.min(self.early.len())..).flatten().count()
    }
}

/// Numbers handed out, chunks that came back, and the offset of the next chunk to place.
#[derive(Debug)]
pub struct Sequence<T> {
    window: usize,
    /// Numbers `0 .. taken` were handed out.
    taken: u64,
    /// The start of the next chunk to place.
    offset: u64,
    /// Chunks from this number get no place.
    cut: u64,
    /// Numbers that have not come back.
    held: usize,
    /// Chunks that came back and are not written.
    kept: usize,
    /// Chunks that came back and have no offset yet, with their lengths.
    waiting: InOrder<(u64, T)>,
}

impl<T> Sequence<T> {
    /// Returns a sequence with at most `window` numbers out or unwritten; 0 counts as 1.
    pub fn new(window: usize) -> Self {
        Self {
            window: window.max(1),
            taken: 0,
            offset: 0,
            cut: u64::MAX,
            held: 0,
            kept: 0,
            waiting: InOrder::default(),
        }
    }

    /// Widens the window to `window` numbers, if that is more.
    pub fn widen(&mut self, window: usize) {
        self.window = self.window.max(window);
    }

    /// Returns the next number, or `None` while the window is full.
    pub fn take(&mut self) -> Option<u64> {
        if self.held + self.kept >= self.window {
            return None;
        }
        let index = self.taken;
        self.taken += 1;
        self.held += 1;
        Some(index)
    }

    /// Takes back chunk `index`, `len` bytes long. [`place`](Self::place) may now return several.
    ///
    /// # Errors
    ///
    /// Returns the chunk if it can no longer have a place.
    pub fn deposit(&mut self, index: u64, len: u64, chunk: T) -> Result<(), Refused<T>> {
        self.held = self.held.saturating_sub(1);
        if index >= self.cut {
            return Err(Refused::Abandoned(chunk));
        }
        if self.offset.checked_add(len).is_none() {
            self.cut_at(index);
            return Err(Refused::TooLong(chunk));
        }
        // At most `window` numbers are out, so those before it take little memory.
        self.waiting.put(index, (len, chunk));
        self.kept += 1;
        Ok(())
    }

    /// Returns the next chunk in serial order, if it and those before it came back.
    ///
    /// It counts as open until [`written`](Self::written) is called for it.
    pub fn place(&mut self) -> Option<Placed<T>> {
        let index = self.waiting.next();
        let (len, chunk) = self.waiting.take()?;
        let Some(extent) = Extent::new(self.offset, len) else {
            self.kept -= 1;
            self.cut_at(index);
            return None;
        };
        self.offset = extent.end();
        Some(Placed { index, extent, chunk })
    }

    /// Records that a placed chunk has been written and its memory is free.
    pub fn written(&mut self) {
        self.kept = self.kept.saturating_sub(1);
    }

    /// Records that number `index` will not come back: chunks from it get no place.
    pub fn abandon(&mut self, index: u64) {
        self.held = self.held.saturating_sub(1);
        self.cut_at(index);
    }

    /// Denies a place to chunks from number `index` that have none yet.
    pub fn cut_at(&mut self, index: u64) {
        self.cut = self.cut.min(index);
        self.kept -= self.waiting.cut_at(self.cut);
    }

    /// Returns the start of the next chunk to place: the total length of the placed ones.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the count of numbers handed out.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the count of numbers that have not come back.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Returns the count of chunks that came back and are not written yet.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Returns the first number without a place, if one was abandoned.
    pub fn cut(&self) -> Option<u64> {
        (self.cut < u64::MAX).then_some(self.cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn places(sequence: &mut Sequence<u64>) -> Vec<(u64, u64, u64)> {
        let placed = core::iter::from_fn(|| sequence.place());
        placed.map(|it| (it.index, it.extent.offset(), it.extent.len())).collect()
    }

    #[test]
    fn a_chunk_has_a_place_once_all_before_it_have_a_size() {
        let mut sequence = Sequence::new(4);
        let taken: Vec<_> = core::iter::from_fn(|| sequence.take()).collect();
        assert_eq!(taken, [0, 1, 2, 3]);
        sequence.deposit(3, 7, 3).expect("open");
        sequence.deposit(1, 0, 1).expect("open");
        assert_eq!(places(&mut sequence), []);
        sequence.deposit(0, 5, 0).expect("open");
        assert_eq!(places(&mut sequence), [(0, 0, 5), (1, 5, 0)]);
        sequence.deposit(2, 1, 2).expect("open");
        assert_eq!(places(&mut sequence), [(2, 5, 1), (3, 6, 7)]);
        assert_eq!((sequence.offset(), sequence.held(), sequence.kept()), (13, 0, 4));
    }

    #[test]
    fn the_window_counts_what_is_out_and_what_is_unwritten() {
        let mut sequence = Sequence::new(1);
        assert_eq!((sequence.take(), sequence.take()), (Some(0), None));
        sequence.deposit(0, 1, 0).expect("open");
        assert_eq!(sequence.take(), None, "came back, not placed");
        sequence.place().expect("the first");
        assert_eq!(sequence.take(), None, "placed, not written");
        sequence.written();
        assert_eq!(sequence.take(), Some(1));
        sequence.widen(2);
        assert_eq!((sequence.take(), sequence.take()), (Some(2), None));
        sequence.widen(1);
        sequence.deposit(1, 1, 1).expect("open");
        sequence.place().expect("the second");
        sequence.written();
        assert_eq!(sequence.take(), Some(3), "a window never shrinks");
        assert_eq!(Sequence::<u64>::new(0).take(), Some(0));
    }

    #[test]
    fn what_stands_before_an_abandoned_number_is_placed_and_nothing_behind() {
        let mut sequence = Sequence::new(5);
        (0..5).for_each(|_| assert!(sequence.take().is_some()));
        sequence.deposit(4, 1, 4).expect("open");
        sequence.deposit(1, 1, 1).expect("open");
        sequence.abandon(2);
        assert_eq!((sequence.cut(), sequence.kept(), sequence.held()), (Some(2), 1, 2));
        assert_eq!(sequence.deposit(3, 1, 3), Err(Refused::Abandoned(3)));
        sequence.deposit(0, 1, 0).expect("stands before it");
        assert_eq!(places(&mut sequence), [(0, 0, 1), (1, 1, 1)]);
        assert_eq!((sequence.held(), sequence.offset()), (0, 2));
        sequence.cut_at(0);
        assert_eq!(sequence.cut(), Some(0));
    }

    #[test]
    fn a_chunk_beyond_the_last_offset_cuts() {
        let mut sequence = Sequence::new(3);
        (0..3).for_each(|_| assert!(sequence.take().is_some()));
        sequence.deposit(1, u64::MAX, 1).expect("alone it fits");
        sequence.deposit(2, 1, 2).expect("alone it fits");
        sequence.deposit(0, 1, 0).expect("fits");
        assert_eq!(places(&mut sequence), [(0, 0, 1)]);
        assert_eq!((sequence.cut(), sequence.kept()), (Some(1), 1));
        let mut sequence = Sequence::new(2);
        (0..2).for_each(|_| assert!(sequence.take().is_some()));
        sequence.deposit(0, 1, 0).expect("fits");
        assert_eq!(places(&mut sequence).len(), 1);
        assert_eq!(sequence.deposit(1, u64::MAX, 1), Err(Refused::TooLong(1)));
    }
}
