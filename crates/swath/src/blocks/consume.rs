//! The consumers of pieces, one for each verb.

use swath_plan::sequence::InOrder;

use crate::error::Error;
use crate::failures::{Failing, FailureLog};
use crate::locks::Mutex;
use crate::records::Block;
use crate::records::piece::RecordPiece;
use crate::records::turns::Turns;

/// Consumes pieces, from any worker and in any order.
///
/// Called once for each piece, through a pointer: the reading code is compiled once, not for
/// each closure.
pub(crate) trait Consume: Sync {
    /// Consumes piece `number`; `None` if no record begins in it. Numbers count up without a gap,
    /// over all files. A consumer that waits for earlier pieces gives up if one of them was lost
    /// and `is_over`.
    fn consume(&self, number: u64, piece: Option<RecordPiece<'_>>, is_over: &dyn Fn() -> bool);

    /// Records that piece `number` could not be read; it may be retried.
    fn lost(&self, _number: u64) {}

    /// Returns the log of failures.
    fn failures(&self) -> &dyn Failing;
}

/// The results of a closure: for every piece, those of its blocks.
struct Values<R>(Mutex<Vec<(u64, Vec<R>)>>);

impl<R> Default for Values<R> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<R> Values<R> {
    fn put(&self, number: u64, values: Vec<R>) {
        let mut all = self.0.lock();
        all.push((number, values));
    }

    fn in_order(self) -> Vec<R> {
        let mut values = self.0.into_inner();
        values.sort_unstable_by_key(|&(number, _)| number);
        values.into_iter().flat_map(|(_, values)| values).collect()
    }
}

/// Keeps a closure's result for each block.
pub(crate) struct Collect<F, R, E> {
    map: F,
    values: Values<R>,
    failures: FailureLog<E>,
}

impl<F, R, E> Collect<F, R, E> {
    pub(crate) fn new(map: F) -> Self {
        Self { map, values: Values::default(), failures: FailureLog::default() }
    }

    /// The results in file order, when all workers have ended, or what ended them.
    ///
    /// # Panics
    ///
    /// If the caller's code panicked.
    pub(crate) fn end(self) -> Result<Vec<R>, E> {
        self.failures.end()?;
        Ok(self.values.in_order())
    }
}

impl<F, R, E> Consume for Collect<F, R, E>
where
    F: Fn(Block<'_>) -> Result<R, E> + Sync,
    R: Send,
    E: From<Error> + Send,
{
    fn consume(&self, number: u64, piece: Option<RecordPiece<'_>>, _: &dyn Fn() -> bool) {
        let Some(piece) = piece else { return };
        let values = self.failures.attempt(number, || piece.map(&self.map).collect());
        if let Some(values) = values {
            self.values.put(number, values);
        }
    }

    fn failures(&self) -> &dyn Failing {
        &self.failures
    }
}

/// Keeps a closure's result for each block and the value that `turn` returned for it.
pub(crate) struct InTurn<L, T, M, R, E> {
    look: L,
    turns: Turns<T>,
    map: M,
    values: Values<R>,
    failures: FailureLog<E>,
}

impl<L, T, M, R, E> InTurn<L, T, M, R, E> {
    pub(crate) fn new(look: L, turn: T, map: M) -> Self {
        let (turns, values) = (Turns::new(0, turn), Values::default());
        Self { look, turns, map, values, failures: FailureLog::default() }
    }

    /// The results in file order, when all workers have ended, or what ended them.
    ///
    /// # Panics
    ///
    /// If the caller's code panicked.
    pub(crate) fn end(self) -> Result<Vec<R>, E> {
        self.failures.end()?;
        Ok(self.values.in_order())
    }
}

impl<L, T, M, A, B, R, E> Consume for InTurn<L, T, M, R, E>
where
    L: Fn(Block<'_>) -> Result<A, E> + Sync,
    T: FnMut(A) -> Result<B, E> + Send,
    M: Fn(Block<'_>, B) -> Result<R, E> + Sync,
    R: Send,
    E: From<Error> + Send,
{
    fn consume(&self, number: u64, piece: Option<RecordPiece<'_>>, is_over: &dyn Fn() -> bool) {
        self.turns.found(number);
        let look = || piece.into_iter().flatten().map(&self.look).collect();
        let Some(found) = self.failures.attempt::<Vec<A>>(number, look) else {
            return self.turns.lost(number);
        };
        let Some(mut line) = self.turns.wait(number, 0, is_over) else { return };
        let turn = || found.into_iter().map(&mut line.state).collect();
        let Some(given) = self.failures.attempt::<Vec<B>>(number, turn) else {
            drop(line);
            return self.turns.lost(number);
        };
        line.next += 1;
        self.turns.moved(line);
        let Some(piece) = piece else { return };
        let map = || piece.zip(given).map(|(block, given)| (self.map)(block, given)).collect();
        if let Some(values) = self.failures.attempt(number, map) {
            self.values.put(number, values);
        }
    }

    fn lost(&self, number: u64) {
        self.turns.lost(number);
    }

    fn failures(&self) -> &dyn Failing {
        &self.failures
    }
}

/// Calls a closure for each block and keeps nothing.
pub(crate) struct Each<F, E> {
    f: F,
    failures: FailureLog<E>,
}

impl<F, E> Each<F, E> {
    pub(crate) fn new(f: F) -> Self {
        Self { f, failures: FailureLog::default() }
    }

    /// As [`Collect::end`].
    pub(crate) fn end(self) -> Result<(), E> {
        self.failures.end()
    }
}

impl<F, E> Consume for Each<F, E>
where
    F: Fn(Block<'_>) -> Result<(), E> + Sync,
    E: From<Error> + Send,
{
    fn consume(&self, number: u64, piece: Option<RecordPiece<'_>>, _: &dyn Fn() -> bool) {
        let Some(mut piece) = piece else { return };
        self.failures.attempt(number, || piece.try_for_each(&self.f));
    }

    fn failures(&self) -> &dyn Failing {
        &self.failures
    }
}

/// Pieces that may be ahead of the first one not combined yet, in total and for each worker: the larger number
/// counts. Limits the memory for values, yet a worker that is not scheduled for a while does not block the others.
const AHEAD: u64 = 64;
const AHEAD_OF_EACH: u64 = 16;

/// Combines a closure's results for all blocks, from left to right.
pub(crate) struct Reduce<F, C, T, E> {
    map: F,
    combine: C,
    ahead: u64,
    turns: Turns<Combined<T>>,
    failures: FailureLog<E>,
}

/// The combined value, and values that arrived before their turn.
struct Combined<T> {
    value: Option<T>,
    early: InOrder<Vec<T>>,
}

impl<F, C, T, E> Reduce<F, C, T, E> {
    /// Returns a consumer for this many workers; 0 if their number is not known.
    pub(crate) fn new(map: F, combine: C, workers: u64) -> Self {
        let turns = Turns::new(0, Combined { value: None, early: InOrder::default() });
        let ahead = AHEAD.max(workers.saturating_mul(AHEAD_OF_EACH));
        Self { map, combine, ahead, turns, failures: FailureLog::default() }
    }

    /// As [`Collect::end`].
    pub(crate) fn end(self) -> Result<Option<T>, E> {
        self.failures.end()?;
        Ok(self.turns.line().state.value.take())
    }
}

impl<F, C, T, E> Reduce<F, C, T, E>
where
    C: Fn(T, T) -> T,
{
    /// Combines the values whose turn has come.
    fn put(&self, number: u64, values: Vec<T>) {
        let mut line = self.turns.line();
        line.state.early.put(number, values);
        while let Some(values) = line.state.early.take() {
            line.next += 1;
            let values = line.state.value.take().into_iter().chain(values);
            line.state.value = values.reduce(&self.combine);
        }
        self.turns.moved(line);
    }
}

impl<F, C, T, E> Consume for Reduce<F, C, T, E>
where
    F: Fn(Block<'_>) -> Result<T, E> + Sync,
    C: Fn(T, T) -> T + Sync,
    T: Send,
    E: From<Error> + Send,
{
    fn consume(&self, number: u64, piece: Option<RecordPiece<'_>>, is_over: &dyn Fn() -> bool) {
        self.turns.found(number);
        let Some(line) = self.turns.wait(number, self.ahead, is_over) else { return };
        drop(line);
        let map = || {
            let values =
                piece.into_iter().flatten().map(&self.map).collect::<Result<_, E>>()?;
            self.put(number, values);
            Ok(())
        };
        if self.failures.attempt(number, map).is_none() {
            self.turns.lost(number);
        }
    }

    fn lost(&self, number: u64) {
        self.turns.lost(number);
    }

    fn failures(&self) -> &dyn Failing {
        &self.failures
    }
}

/// Folds blocks into one value for each running worker, for the caller to combine.
pub(crate) struct Fold<I, F, T, E> {
    init: I,
    fold: F,
    /// Values that no worker holds at the moment.
    idle: Mutex<Vec<T>>,
    failures: FailureLog<E>,
}

impl<I, F, T, E> Fold<I, F, T, E> {
    pub(crate) fn new(init: I, fold: F) -> Self {
        Self { init, fold, idle: Mutex::default(), failures: FailureLog::default() }
    }

    /// Returns all folded values; otherwise as [`Collect::end`].
    pub(crate) fn end(self) -> Result<Vec<T>, E> {
        self.failures.end()?;
        Ok(self.idle.into_inner())
    }
}

impl<I, F, T, E> Consume for Fold<I, F, T, E>
where
    I: Fn() -> T + Sync,
    F: Fn(&mut T, Block<'_>) -> Result<(), E> + Sync,
    T: Send,
    E: From<Error> + Send,
{
    fn consume(&self, number: u64, piece: Option<RecordPiece<'_>>, _: &dyn Fn() -> bool) {
        let Some(mut piece) = piece else { return };
        let idle = self.idle.lock().pop();
        let folded = self.failures.attempt(number, || {
            let mut value = idle.unwrap_or_else(&self.init);
            piece.try_for_each(|block| (self.fold)(&mut value, block))?;
            Ok(value)
        });
        self.idle.lock().extend(folded);
    }

    fn failures(&self) -> &dyn Failing {
        &self.failures
    }
}
