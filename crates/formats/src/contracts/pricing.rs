//! From contracts to prices to lines.

use swath_simd::black_scholes;

use super::columns::Contracts;
use crate::number::format::push_f64_fixed;

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

/// Prices the first contracts, as many as there are places.
pub(super) fn price(contracts: &Contracts, prices: &mut [f64]) -> Difference {
    black_scholes(&contracts.columns(), prices);
    let (mut off, mut largest) = (0, 0);
    for (price, reference) in prices.iter().zip(contracts.references()) {
        let apart = (price - reference).abs();
        off += u64::from(apart >= TOLERANCE);
        // Doubles that are not negative are in the order of their bits.
        largest = apart.to_bits().max(largest);
    }
    Difference { off, largest: f64::from_bits(largest) }
}

/// Appends a line for each price, as files of prices have them: with 18 decimals, as C's `%.18f`
/// prints it.
pub fn format_prices(prices: &[f64], out: &mut Vec<u8>) {
    out.reserve(prices.len() * LINE + 64);
    for &price in prices {
        push_f64_fixed(out, price, DECIMALS);
        out.push(b'\n');
    }
}
