//! Option contracts for tests and measurements.

use std::fmt::Write;

use swath::Result;
use swath::append::{Ordered, OrderedReport};

use super::write_each;
use swath_plan::random::SplitMix64;

/// The number of distinct contracts that a generated file repeats, as the generator of PARSEC does.
pub const BASE: u64 = 1000;

/// Writes `count` contracts to `output`, in the format of [`read`](swath_formats::contracts::read) and
/// [`PriceOptions`](swath_formats::contracts::PriceOptions), and commits it.
///
/// They repeat [`BASE`] contracts. The bytes depend on `seed` alone, not on the number of workers (0: one
/// for each core). The last field of a contract is its right price, to 15 digits, by the series of the
/// normal distribution. A line has about 63 bytes.
///
/// # Errors
///
/// The errors of writing.
pub fn generate(
    count: u64,
    seed: u64,
    threads: usize,
    output: Ordered,
) -> Result<OrderedReport> {
    let lines: Vec<String> = contracts(seed).collect();
    write_each(output, threads, &format!("{count}\n"), count, |index, out| {
        let at = usize::try_from(index % BASE).unwrap_or_default();
        out.extend_from_slice(lines[at].as_bytes());
    })
}

/// Returns the lines of the base set.
fn contracts(seed: u64) -> impl Iterator<Item = String> {
    let mut bits = SplitMix64::new(seed);
    let mut from = move |least: u64, most: u64| least + bits.next_word() % (most - least + 1);
    (0..BASE).map(move |_| {
        // Cents, hundredths of a percent, percent, and hundredths of a year.
        let spot = from(2_000, 20_000);
        let strike = spot * from(70, 130) / 100;
        let (rate, volatility, years) = (from(100, 1_000), from(5, 70), from(5, 200));
        let is_put = from(0, 1) == 1;
        let part = |number: u64, of: f64| f64::from(u32::try_from(number).unwrap_or(0)) / of;
        let (spot, strike) = (part(spot, 100.0), part(strike, 100.0));
        let (rate, volatility, years) =
            (part(rate, 10_000.0), part(volatility, 100.0), part(years, 100.0));
        let price = right_price(spot, strike, rate, volatility * years.sqrt(), years);
        let discounted = strike * (-rate * years).exp();
        // By put-call parity.
        let price = if is_put { price - spot + discounted } else { price };
        let kind = if is_put { 'P' } else { 'C' };
        let mut line = String::new();
        let written = writeln!(
            line,
            "{spot:.2} {strike:.2} {rate:.4} 0.00 {volatility:.2} {years:.2} {kind} 0.00 {price:.18}"
        );
        written.expect("a string takes everything");
        line
    })
}

/// Returns the price of a call; `spread` is the volatility to expiry.
fn right_price(spot: f64, strike: f64, rate: f64, spread: f64, years: f64) -> f64 {
    let d1 = ((spot / strike).ln() + rate * years) / spread + spread / 2.0;
    spot * normal(d1) - strike * (-rate * years).exp() * normal(d1 - spread)
}

/// Returns the normal distribution function. Its series around 0, divided by the density, has only positive
/// terms.
fn normal(x: f64) -> f64 {
    if x.abs() > 9.0 {
        // The tail is too small for a double near 1.
        return if x < 0.0 { 0.0 } else { 1.0 };
    }
    let (mut term, mut sum, mut odd) = (x, x, 3.0);
    while term.abs() > 1e-20 {
        term *= x * x / odd;
        sum += term;
        odd += 2.0;
    }
    0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}
