//! From contracts to prices to lines of text.

use swath_simd::black_scholes;

use super::columns::Contracts;
use crate::number::format::push_f64_fixed;

/// The allowed difference between a price and the one in the file, as in PARSEC: its normal
/// distribution has seven digits.
pub const TOLERANCE: f64 = 1e-4;

/// Digits after the point, as in study C.
const DECIMALS: usize = 18;
/// The length of most lines.
const LINE: usize = 24;

/// The difference between prices and reference prices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Difference {
    /// Number of prices beyond the tolerance.
    pub(super) off: u64,
    pub(super) largest: f64,
}

impl Difference {
    pub(super) fn and(self, other: Self) -> Self {
        Self { off: self.off + other.off, largest: self.largest.max(other.largest) }
    }
}

/// Prices the first contracts: as many as `prices` has room for.
pub(super) fn price(contracts: &Contracts, prices: &mut [f64]) -> Difference {
    black_scholes(&contracts.columns(), prices);
    let (mut off, mut largest) = (0, 0);
    for (price, reference) in prices.iter().zip(contracts.references()) {
        let apart = (price - reference).abs();
        off += u64::from(apart >= TOLERANCE);
        // Non-negative doubles sort like their bits.
        largest = apart.to_bits().max(largest);
    }
    Difference { off, largest: f64::from_bits(largest) }
}

/// Appends a line for each price, as in a file of prices: with 18 decimals, like C's `%.18f`.
///
/// ```
/// let mut text = Vec::new();
/// swath_formats::contracts::format_prices(&[0.5], &mut text);
/// assert_eq!(text, b"0.500000000000000000\n");
/// ```
pub fn format_prices(prices: &[f64], out: &mut Vec<u8>) {
    out.reserve(prices.len() * LINE + 64);
    for &price in prices {
        push_f64_fixed(out, price, DECIMALS);
        out.push(b'\n');
    }
}
