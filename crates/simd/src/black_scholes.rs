//! The price of European options by Black, Scholes and Merton, many contracts at a time.
//!
//! ```text
//! d1 = (ln(S/K) + (r - q + v²/2) T) / (v √T)      d2 = d1 - v √T
//! call = S e^(-qT) N(d1) - K e^(-rT) N(d2)
//! put  = K e^(-rT) (1 - N(d2)) - S e^(-qT) (1 - N(d1))
//! ```
//!
//! N is the normal distribution by the polynomial 26.2.17 of Abramowitz and Stegun, whose error is
//! below 7.5e-8. PARSEC's Blackscholes uses it too, in `f32`; here it is in `f64`.
//!
//! Exponential and logarithm use only additions, multiplications and divisions, none of them fused,
//! so that every lane of every vector rounds like a single number. So the bits of a price depend
//! neither on the level, nor on neighbouring contracts, nor on the machine's library.

use crate::level::{Level, detected};
use crate::masks::{Kernel, Masks, run};

/// Contracts, column by column; all columns are as long as the requested prices.
#[derive(Clone, Copy, Debug)]
pub struct Contracts<'c> {
    /// The current price of the underlying; above 0.
    pub spot: &'c [f64],
    /// The price at which it can be bought or sold; above 0.
    pub strike: &'c [f64],
    /// The risk-free interest rate, continuous, per year.
    pub rate: &'c [f64],
    /// The dividend yield of the underlying, continuous, per year.
    pub dividend_yield: &'c [f64],
    /// The standard deviation of a year's logarithmic return; at least 0.
    pub volatility: &'c [f64],
    /// Years to expiry; at least 0.
    pub years: &'c [f64],
    /// 0 for a call, anything else for a put.
    pub is_put: &'c [u64],
}

/// Stores the price of contract `i` in `prices[i]`.
///
/// Without time or volatility it is the value of the contract if nothing changes. Values outside
/// the ranges of [`Contracts`] give a price that is not a number or is meaningless.
///
/// # Panics
///
/// If a column is shorter than `prices`.
///
/// ```
/// use swath_simd::{Contracts, black_scholes};
///
/// let mut prices = [0.0; 2];
/// let contracts = Contracts {
///     spot: &[100.0; 2],
///     strike: &[100.0; 2],
///     rate: &[0.05; 2],
///     dividend_yield: &[0.0; 2],
///     volatility: &[0.2; 2],
///     years: &[1.0; 2],
///     is_put: &[0, 1],
/// };
/// black_scholes(&contracts, &mut prices);
/// assert!((prices[0] - 10.450584).abs() < 1e-5 && (prices[1] - 5.573526).abs() < 1e-5);
/// ```
pub fn black_scholes(contracts: &Contracts<'_>, prices: &mut [f64]) {
    run(detected(), Price { contracts, prices });
}

/// Like [`black_scholes`], with the kernel of one `level`, to compare levels.
///
/// # Panics
///
/// If `level` is not [available](Level::available); also like [`black_scholes`].
pub fn black_scholes_at(level: Level, contracts: &Contracts<'_>, prices: &mut [f64]) {
    run(level.detected(), Price { contracts, prices });
}

/// The number of contracts that go through all steps together: several vectors, because the
/// compiler vectorises loops over them.
const LANES: usize = 32;

/// One value for each of several adjacent contracts.
type Lanes = [f64; LANES];

/// The prices of all contracts; levels differ only in the number of lanes per instruction.
struct Price<'c> {
    contracts: &'c Contracts<'c>,
    prices: &'c mut [f64],
}

impl Kernel for Price<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, _: M) {
        for (index, prices) in self.prices.chunks_mut(LANES).enumerate() {
            let some = self.contracts.some(index * LANES, prices.len());
            prices.copy_from_slice(&price(&some)[..prices.len()]);
        }
    }
}

/// The columns of some contracts.
struct Side {
    spot: Lanes,
    strike: Lanes,
    rate: Lanes,
    dividend_yield: Lanes,
    volatility: Lanes,
    years: Lanes,
    is_put: [u64; LANES],
}

impl Contracts<'_> {
    /// Returns at most `len` contracts starting at `from`, padded with zeros.
    #[inline(always)]
    fn some(&self, from: usize, len: usize) -> Side {
        #[inline(always)]
        fn lanes<T: Copy + Default>(column: &[T], from: usize, len: usize) -> [T; LANES] {
            let column = &column[from..];
            if let (Some(lanes), LANES) = (column.first_chunk(), len) {
                return *lanes;
            }
            let mut lanes = [T::default(); LANES];
            lanes[..len].copy_from_slice(&column[..len]);
            lanes
        }
        Side {
            spot: lanes(self.spot, from, len),
            strike: lanes(self.strike, from, len),
            rate: lanes(self.rate, from, len),
            dividend_yield: lanes(self.dividend_yield, from, len),
            volatility: lanes(self.volatility, from, len),
            years: lanes(self.years, from, len),
            is_put: lanes(self.is_put, from, len),
        }
    }
}

#[inline(always)]
fn each(f: impl Fn(usize) -> f64) -> Lanes {
    let mut lanes = [0.0; LANES];
    for (lane, value) in lanes.iter_mut().enumerate() {
        *value = f(lane);
    }
    lanes
}

#[inline(always)]
fn price(c: &Side) -> Lanes {
    let spread = each(|i| c.volatility[i] * c.years[i].sqrt());
    let moneyness = ln(&each(|i| c.spot[i] / c.strike[i]));
    let variance = each(|i| c.volatility[i] * c.volatility[i] * 0.5);
    let drift = each(|i| (c.rate[i] - c.dividend_yield[i] + variance[i]) * c.years[i]);
    let d1 = each(|i| {
        let d1 = (moneyness[i] + drift[i]) / spread[i];
        // 0/0: the contract expires exactly at the strike, and is worth 0 for any value.
        if d1.is_nan() { 0.0 } else { d1 }
    });
    let d2 = each(|i| d1[i] - spread[i]);
    let (n1, n2) = (normal(&d1), normal(&d2));
    let discount = exp(&each(|i| -c.rate[i] * c.years[i]));
    let forgone = exp(&each(|i| -c.dividend_yield[i] * c.years[i]));
    each(|i| {
        let spot = c.spot[i] * forgone[i];
        let strike = c.strike[i] * discount[i];
        let call = spot * n1[i] - strike * n2[i];
        let put = strike * (1.0 - n2[i]) - spot * (1.0 - n1[i]);
        if c.is_put[i] == 0 { call } else { put }
    })
}

/// Returns the probability that a normal variable is below `x`; the error is below 7.5e-8.
#[inline(always)]
fn normal(x: &Lanes) -> Lanes {
    const ONE_OVER_ROOT_TWO_PI: f64 = 0.398_942_280_401_432_7;
    let density = exp(&each(|i| -0.5 * x[i] * x[i]));
    each(|i| {
        let k = 1.0 / (1.0 + 0.231_641_9 * x[i].abs());
        let sum = 1.330_274_429 * k - 1.821_255_978;
        let sum = sum * k + 1.781_477_937;
        let sum = sum * k - 0.356_563_782;
        let sum = (sum * k + 0.319_381_530) * k;
        let above = ONE_OVER_ROOT_TWO_PI * density[i] * sum;
        if x[i] < 0.0 { above } else { 1.0 - above }
    })
}

/// Added to a number below 2^51, it leaves the nearest integer in the low bits of the sum.
const MAGIC: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, the first with so few bits that its multiples are exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// Returns e to the power of `x`, within 2 units in the last place; infinite above 709, 0 far
/// below.
#[inline(always)]
fn exp(x: &Lanes) -> Lanes {
    // 1/k! for k from 13 down: the next term is below 2^-57 of the sum for |rest| <= ln 2 / 2.
    const TERMS: [f64; 12] = [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
    ];
    each(|i| {
        // Beyond that, two factors of 2^1000 would not suffice; but the result is already 0 or
        // infinite.
        let x = if x[i] > -1300.0 { x[i] } else { -1300.0 };
        let x = if x < 1300.0 { x } else { 1300.0 };
        let shifted = x * std::f64::consts::LOG2_E + MAGIC;
        let count = shifted - MAGIC;
        let rest = (x - count * LN_2_HIGH) - count * LN_2_LOW;
        let mut sum = 1.0 / 6_227_020_800.0;
        for term in TERMS {
            sum = sum * rest + term;
        }
        let power = sum * rest + 1.0;
        // 2^count in two steps, because one step may leave the range of the result.
        let doubled = shifted.to_bits().wrapping_add(2 * 4096);
        let half = (doubled & 0x3fff) >> 1;
        let other = (doubled & 0x3fff) - half;
        let scale = |exponent: u64| f64::from_bits((exponent + 1023 - 4096) << 52);
        power * scale(half) * scale(other)
    })
}

/// Returns the natural logarithm of a non-negative number, within 4 units in the last place.
#[inline(always)]
fn ln(x: &Lanes) -> Lanes {
    /// Bits of the square root of one half.
    const ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    // 1/(2k+1) for k from 11 down: the terms left out are below 2^-56 of the sum.
    const TERMS: [f64; 11] = [
        1.0 / 21.0,
        1.0 / 19.0,
        1.0 / 17.0,
        1.0 / 15.0,
        1.0 / 13.0,
        1.0 / 11.0,
        1.0 / 9.0,
        1.0 / 7.0,
        1.0 / 5.0,
        1.0 / 3.0,
        1.0,
    ];
    each(|i| {
        let is_small = x[i] < f64::MIN_POSITIVE;
        let scaled = if is_small { x[i] * 18_014_398_509_481_984.0 } else { x[i] };
        // The power of 2 to remove, so that the rest is near 1.
        let bits = scaled.to_bits().wrapping_sub(ROOT).wrapping_add(2048 << 52);
        let exponent = f64::from_bits(bits >> 52 | TWO_52) - f64::from_bits(TWO_52);
        let exponent = exponent - if is_small { 2048.0 + 54.0 } else { 2048.0 };
        let left = f64::from_bits((bits & ((1 << 52) - 1)).wrapping_add(ROOT)) - 1.0;
        let s = left / (2.0 + left);
        let square = s * s;
        let mut sum = 1.0 / 23.0;
        for term in TERMS {
            sum = sum * square + term;
        }
        let small = 2.0 * s * sum + exponent * LN_2_LOW;
        let result = exponent * LN_2_HIGH + small;
        let result = if x[i] == f64::INFINITY { f64::INFINITY } else { result };
        if x[i] == 0.0 { f64::NEG_INFINITY } else { result }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::level;

    /// Returns values from `least` to `most`, equal for equal seeds.
    fn column(seed: u64, len: usize, least: f64, most: f64) -> Vec<f64> {
        let mut next = swath_reference::splitmix(seed);
        let mut part = || (next() >> 11) as f64 / (1_u64 << 53) as f64;
        (0..len).map(|_| least + (most - least) * part()).collect()
    }

    #[test]
    fn exponentials_are_within_two_units_of_the_last_place() {
        let many = column(1, 200_000, -745.0, 710.0);
        let edges = [0.0, -0.0, 1e-300, -1e-20, 709.78, 709.79, -708.5, -745.2, 1e9, -1e9];
        for x in many.into_iter().chain(edges) {
            let (ours, theirs) = (exp(&[x; LANES])[0], x.exp());
            let apart = ours.to_bits().abs_diff(theirs.to_bits());
            // Subnormal results lose bits: the second scaling rounds again.
            assert!(apart <= 2, "e^{x}: {ours} is not {theirs}");
        }
    }

    #[test]
    fn logarithms_are_within_four_units_of_the_last_place() {
        let near = column(2, 100_000, 0.5, 2.0);
        let far = column(3, 100_000, -700.0, 700.0).into_iter().map(f64::exp);
        let edges = [1.0, 0.0, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e-310];
        for x in near.into_iter().chain(far).chain(edges) {
            let (ours, theirs) = (ln(&[x; LANES])[0], x.ln());
            let apart = ours.to_bits().abs_diff(theirs.to_bits());
            assert!(apart <= 4, "ln {x}: {ours} is not {theirs}");
        }
    }

    fn random(seed: u64, len: usize) -> [Vec<f64>; 6] {
        [(1.0, 200.0), (1.0, 200.0), (-0.05, 0.2), (0.0, 0.1), (0.0, 1.0), (0.0, 5.0)]
            .map(|(least, most): (f64, f64)| column(seed ^ most.to_bits(), len, least, most))
    }

    fn priced(level: Level, columns: &[Vec<f64>; 6], is_put: &[u64]) -> Vec<u64> {
        let [spot, strike, rate, dividend_yield, volatility, years] =
            columns.each_ref().map(Vec::as_slice);
        let contracts =
            Contracts { spot, strike, rate, dividend_yield, volatility, years, is_put };
        let mut prices = vec![f64::NAN; is_put.len()];
        black_scholes_at(level, &contracts, &mut prices);
        prices.into_iter().map(f64::to_bits).collect()
    }

    #[test]
    fn every_level_gives_the_same_bits_wherever_a_contract_stands() {
        for level in Level::ALL.into_iter().filter(|level| level.available()) {
            for len in (0..=40).chain([1000, 4099]) {
                let columns = random(len as u64, len);
                let is_put: Vec<u64> = (0..len as u64).map(|index| index % 3).collect();
                let all = priced(level, &columns, &is_put);
                assert_eq!(all, priced(Level::Portable, &columns, &is_put), "{level} {len}");
                for from in [1, 2, 7] {
                    let Some(is_put) = is_put.get(from..) else { continue };
                    let later = columns.each_ref().map(|column| column[from..].to_vec());
                    assert_eq!(priced(level, &later, is_put), all[from..], "{level} {len}");
                }
            }
        }
    }

    #[test]
    fn prices_are_those_of_the_reference() {
        let len = 100_000;
        let columns = random(7, len);
        let is_put: Vec<u64> = (0..len as u64).map(|index| index % 2).collect();
        let all = priced(level(), &columns, &is_put);
        for (index, price) in all.into_iter().map(f64::from_bits).enumerate() {
            let contract = swath_reference::options::Contract {
                spot: columns[0][index],
                strike: columns[1][index],
                rate: columns[2][index],
                dividend_yield: columns[3][index],
                volatility: columns[4][index],
                years: columns[5][index],
                is_put: is_put[index] != 0,
            };
            let right = contract.price();
            assert!((price - right).abs() < 1e-9, "{contract:?}: {price} is not {right}");
        }
    }

    #[test]
    fn without_time_or_risk_an_option_is_worth_what_it_would_bring_now() {
        for (spot, strike, volatility, years, call, put) in [
            (110.0, 100.0, 0.2, 0.0, 10.0, 0.0),
            (90.0, 100.0, 0.2, 0.0, 0.0, 10.0),
            (100.0, 100.0, 0.2, 0.0, 0.0, 0.0),
            (110.0, 100.0, 0.0, 1.0, 10.0, 0.0),
            (100.0, 100.0, 0.0, 0.0, 0.0, 0.0),
        ] {
            let columns = [spot, strike, 0.0, 0.0, volatility, years].map(|x: f64| vec![x; 2]);
            let prices = priced(level(), &columns, &[0, 1]);
            assert_eq!(prices.into_iter().map(f64::from_bits).collect::<Vec<_>>(), [call, put]);
        }
    }
}
