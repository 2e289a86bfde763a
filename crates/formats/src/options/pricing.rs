//! From contracts to prices to lines.

use std::hint::black_box;

use swath::Array;
use swath_simd::black_scholes;

use super::contracts::Contracts;
use crate::error::Result;
use crate::number::format::push_f64_fixed;
use crate::share::share;

/// How far a price may be from the one in the file, as in PARSEC: the normal distribution that it
/// is computed with has seven digits.
pub const TOLERANCE: f64 = 1e-4;

/// Digits behind the point, as study C prints them.
const DECIMALS: usize = 18;
/// Of most lines.
const LINE: usize = 24;

/// How far prices are from the right ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Difference {
    /// How many are off by more than allowed.
    pub(super) off: u64,
    pub(super) largest: f64,
}

impl Difference {
    pub(super) fn and(self, other: Self) -> Self {
        Self { off: self.off + other.off, largest: self.largest.max(other.largest) }
    }
}

/// Prices the contracts from `from` on, `runs` times, as many as there are places.
pub(super) fn price(
    contracts: &Contracts,
    from: usize,
    runs: u64,
    prices: &mut [f64],
) -> Difference {
    for _ in 0..runs {
        // Nobody is to find out that all runs give the same.
        black_scholes(black_box(&contracts.columns(from)), black_box(prices));
    }
    let (mut off, mut largest) = (0, 0);
    for (price, reference) in prices.iter().zip(&contracts.references()[from..]) {
        let apart = (price - reference).abs();
        off += u64::from(apart >= TOLERANCE);
        // Doubles that are not negative are in the order of their bits.
        largest = apart.to_bits().max(largest);
    }
    Difference { off, largest: f64::from_bits(largest) }
}

/// The prices of all contracts, each worker an equal share of them.
pub(super) fn price_all(
    contracts: &Contracts,
    workers: usize,
    runs: u64,
) -> Result<(Array<f64>, Difference)> {
    let mut prices = Array::zeroed(contracts.len())?;
    let size = contracts.len().div_ceil(workers).max(1);
    let parts = prices.chunks_mut(size).enumerate();
    let differences =
        share(parts, workers, |(index, prices)| price(contracts, index * size, runs, prices));
    let difference = differences.into_iter().fold(Difference::default(), Difference::and);
    Ok((prices, difference))
}

/// Appends a line for each price.
pub(super) fn format(prices: &[f64], out: &mut Vec<u8>) {
    out.reserve(prices.len() * LINE + 64);
    for &price in prices {
        push_f64_fixed(out, price, DECIMALS);
        out.push(b'\n');
    }
}
