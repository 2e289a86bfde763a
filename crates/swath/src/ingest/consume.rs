//! What becomes of pieces: one consumer for each verb.

use std::sync::{Mutex, PoisonError};

use crate::ingest::failures::Failures;
use crate::records::Block;
use crate::records::piece::Piece;

/// Takes pieces, from any worker and in any order.
pub(crate) trait Consume: Sync {
    /// What its closure fails with.
    type Error;

    /// Takes piece `number`; `None` if no record begins in it. Numbers count up without a gap,
    /// over all files.
    fn consume(&self, number: u64, piece: Option<Piece<'_>>);

    /// What failed so far.
    fn failures(&self) -> &Failures<Self::Error>;
}

/// Keeps what a closure makes of each block.
pub(crate) struct Collect<F, R, E> {
    map: F,
    values: Mutex<Vec<(u64, Vec<R>)>>,
    failures: Failures<E>,
}

impl<F, R, E> Collect<F, R, E> {
    pub(crate) fn new(map: F) -> Self {
        Self { map, values: Mutex::default(), failures: Failures::default() }
    }

    /// In file order, when all workers have ended.
    pub(crate) fn into_values(self) -> Vec<R> {
        let mut values = self.values.into_inner().unwrap_or_else(PoisonError::into_inner);
        values.sort_unstable_by_key(|&(number, _)| number);
        values.into_iter().flat_map(|(_, values)| values).collect()
    }
}

impl<F, R, E> Consume for Collect<F, R, E>
where
    F: Fn(Block<'_>) -> Result<R, E> + Sync,
    R: Send,
    E: Send,
{
    type Error = E;

    fn consume(&self, number: u64, piece: Option<Piece<'_>>) {
        let Some(piece) = piece else { return };
        let values: Option<Vec<R>> =
            self.failures.attempt(number, || piece.map(&self.map).collect());
        if let Some(values) = values {
            let mut all = self.values.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((number, values));
        }
    }

    fn failures(&self) -> &Failures<E> {
        &self.failures
    }
}
