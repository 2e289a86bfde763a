//! Contracts in memory, column by column, and their prices.

use anyhow::Result;
use swath::Array;
use swath_formats::contracts::TOLERANCE;
use swath_simd::{Contracts, black_scholes};

use super::row::Row;
use crate::threads::each;

/// A column for each field.
pub(super) struct Columns {
    numbers: [Array<f64>; 6],
    is_put: Array<u64>,
    reference: Array<f64>,
}

/// The deviation of prices from the reference prices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Difference {
    /// The number of prices that are off by the tolerance or more.
    pub(super) off: u64,
    pub(super) largest: f64,
}

/// Neighbouring contracts that one thread fills.
pub(super) struct ColumnPart<'c> {
    numbers: [&'c mut [f64]; 6],
    is_put: &'c mut [u64],
    reference: &'c mut [f64],
}

impl Columns {
    pub(super) fn zeroed(len: usize) -> Result<Self> {
        let column = || Array::<f64>::zeroed(len);
        Ok(Self {
            numbers: [column()?, column()?, column()?, column()?, column()?, column()?],
            is_put: Array::zeroed(len)?,
            reference: column()?,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.reference.len()
    }

    /// Divides the columns into parts of `size` contracts, in order; the last part may be shorter.
    pub(super) fn parts_mut(&mut self, size: usize) -> Vec<ColumnPart<'_>> {
        let mut columns = self.numbers.each_mut().map(|column| column.chunks_mut(size));
        let mut is_put = self.is_put.chunks_mut(size);
        let rest = self.reference.chunks_mut(size).map(|reference| ColumnPart {
            numbers: columns.each_mut().map(|parts| parts.next().unwrap_or_default()),
            is_put: is_put.next().unwrap_or_default(),
            reference,
        });
        rest.collect()
    }

    /// Prices all contracts, with an equal share for each thread.
    pub(super) fn prices(&self, workers: usize) -> Result<(Array<f64>, Difference)> {
        let mut prices = Array::zeroed(self.len())?;
        let size = self.len().div_ceil(workers).max(1);
        let parts: Vec<_> = prices.chunks_mut(size).enumerate().collect();
        let priced = each(parts, |(index, prices)| self.price(index * size, prices)).results;
        let whole = priced.into_iter().fold(Difference::default(), |all, part| Difference {
            off: all.off + part.off,
            largest: all.largest.max(part.largest),
        });
        Ok((prices, whole))
    }

    /// Prices the contracts from index `from` on, one for each element of `prices`.
    fn price(&self, from: usize, prices: &mut [f64]) -> Difference {
        let [spot, strike, rate, dividend_yield, volatility, years] =
            self.numbers.each_ref().map(|column| &column[from..]);
        let is_put = &self.is_put[from..];
        let contracts =
            Contracts { spot, strike, rate, dividend_yield, volatility, years, is_put };
        black_scholes(&contracts, prices);
        let (mut off, mut largest) = (0, 0);
        for (price, reference) in prices.iter().zip(&self.reference[from..]) {
            let apart = (price - reference).abs();
            off += u64::from(apart >= TOLERANCE);
            // Non-negative doubles are ordered as their bits are.
            largest = apart.to_bits().max(largest);
        }
        Difference { off, largest: f64::from_bits(largest) }
    }
}

impl ColumnPart<'_> {
    pub(super) fn set(&mut self, index: usize, row: &Row) {
        for (column, number) in self.numbers.iter_mut().zip(row.numbers) {
            column[index] = number;
        }
        self.is_put[index] = u64::from(row.is_put);
        self.reference[index] = row.reference;
    }
}
