//! Contracts in memory, column by column.

use std::fmt;

use swath::Array;

use crate::error::Result;

/// A right to buy or to sell something at a price, and what it is said to be worth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contract {
    /// S: what the underlying costs now; above 0.
    pub spot: f64,
    /// K: what it can be bought or sold for; above 0.
    pub strike: f64,
    /// r: interest without risk, continuous, a year.
    pub rate: f64,
    /// q: what the underlying pays, continuous, a year.
    pub dividend_yield: f64,
    /// The standard deviation of a year's logarithmic return; not negative.
    pub volatility: f64,
    /// T: years to expiry; not negative.
    pub years: f64,
    /// To buy or to sell.
    pub kind: ContractKind,
    /// The price that the file gives, to compare with.
    pub reference: f64,
}

/// What a contract is a right to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContractKind {
    /// To buy.
    Call,
    /// To sell.
    Put,
}

/// What a line says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Row {
    /// The first six fields.
    pub(super) numbers: [f64; 6],
    pub(super) is_put: bool,
    pub(super) reference: f64,
}

impl Row {
    /// Whether nothing on the way to its price is infinite. Of the short decimals that most lines
    /// have, nothing is.
    pub(super) fn has_a_price(&self) -> bool {
        let [spot, strike, rate, dividend_yield, volatility, years] = self.numbers;
        let growth = rate - dividend_yield + volatility * volatility / 2.0;
        let moneyness = spot / strike;
        let present = spot * (-dividend_yield * years).exp() + strike * (-rate * years).exp();
        let all = [moneyness, growth * years, volatility * years.sqrt(), present];
        moneyness > 0.0 && all.into_iter().all(f64::is_finite)
    }
}

/// Contracts, each field in a column of its own: 64 bytes for each.
#[derive(Debug, Default, PartialEq)]
pub struct Contracts {
    spot: Array<f64>,
    strike: Array<f64>,
    rate: Array<f64>,
    dividend_yield: Array<f64>,
    volatility: Array<f64>,
    years: Array<f64>,
    is_put: Array<u64>,
    reference: Array<f64>,
}

impl Contracts {
    /// Makes room for `len` contracts, all zeros.
    pub(super) fn zeroed(len: usize) -> Result<Self> {
        Ok(Self {
            spot: Array::zeroed(len)?,
            strike: Array::zeroed(len)?,
            rate: Array::zeroed(len)?,
            dividend_yield: Array::zeroed(len)?,
            volatility: Array::zeroed(len)?,
            years: Array::zeroed(len)?,
            is_put: Array::zeroed(len)?,
            reference: Array::zeroed(len)?,
        })
    }

    /// All of these, one behind the other.
    pub(super) fn concat(parts: &[Self]) -> Result<Self> {
        let mut all = Self::zeroed(parts.iter().map(Self::len).sum())?;
        let mut rest = all.part_mut();
        for part in parts {
            let to = rest.take(part.len());
            to.spot.copy_from_slice(&part.spot);
            to.strike.copy_from_slice(&part.strike);
            to.rate.copy_from_slice(&part.rate);
            to.dividend_yield.copy_from_slice(&part.dividend_yield);
            to.volatility.copy_from_slice(&part.volatility);
            to.years.copy_from_slice(&part.years);
            to.is_put.copy_from_slice(&part.is_put);
            to.reference.copy_from_slice(&part.reference);
        }
        Ok(all)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.spot.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Contract `index`, in file order; `None` from [`len`](Self::len) on.
    pub fn get(&self, index: usize) -> Option<Contract> {
        Some(Contract {
            spot: *self.spot.get(index)?,
            strike: self.strike[index],
            rate: self.rate[index],
            dividend_yield: self.dividend_yield[index],
            volatility: self.volatility[index],
            years: self.years[index],
            kind: if self.is_put[index] == 0 { ContractKind::Call } else { ContractKind::Put },
            reference: self.reference[index],
        })
    }

    /// The reference prices.
    pub fn references(&self) -> &[f64] {
        &self.reference
    }

    /// All of them, for the kernel.
    pub(super) fn columns(&self) -> swath_simd::Contracts<'_> {
        swath_simd::Contracts {
            spot: &self.spot,
            strike: &self.strike,
            rate: &self.rate,
            dividend_yield: &self.dividend_yield,
            volatility: &self.volatility,
            years: &self.years,
            is_put: &self.is_put,
        }
    }

    /// All of them, to be filled.
    pub(super) fn part_mut(&mut self) -> Part<'_> {
        Part {
            spot: &mut self.spot,
            strike: &mut self.strike,
            rate: &mut self.rate,
            dividend_yield: &mut self.dividend_yield,
            volatility: &mut self.volatility,
            years: &mut self.years,
            is_put: &mut self.is_put,
            reference: &mut self.reference,
        }
    }
}

/// Neighbouring contracts that one worker fills.
pub(super) struct Part<'c> {
    spot: &'c mut [f64],
    strike: &'c mut [f64],
    rate: &'c mut [f64],
    dividend_yield: &'c mut [f64],
    volatility: &'c mut [f64],
    years: &'c mut [f64],
    is_put: &'c mut [u64],
    reference: &'c mut [f64],
}

impl<'c> Part<'c> {
    pub(super) fn len(&self) -> usize {
        self.spot.len()
    }

    #[inline(always)]
    pub(super) fn set(&mut self, index: usize, row: &Row) {
        let [spot, strike, rate, dividend_yield, volatility, years] = row.numbers;
        self.spot[index] = spot;
        self.strike[index] = strike;
        self.rate[index] = rate;
        self.dividend_yield[index] = dividend_yield;
        self.volatility[index] = volatility;
        self.years[index] = years;
        self.is_put[index] = u64::from(row.is_put);
        self.reference[index] = row.reference;
    }

    /// The first `len`, which leave this one.
    pub(super) fn take(&mut self, len: usize) -> Part<'c> {
        fn cut<'c, T>(column: &mut &'c mut [T], len: usize) -> &'c mut [T] {
            let (first, rest) = std::mem::take(column).split_at_mut(len);
            *column = rest;
            first
        }
        Part {
            spot: cut(&mut self.spot, len),
            strike: cut(&mut self.strike, len),
            rate: cut(&mut self.rate, len),
            dividend_yield: cut(&mut self.dividend_yield, len),
            volatility: cut(&mut self.volatility, len),
            years: cut(&mut self.years, len),
            is_put: cut(&mut self.is_put, len),
            reference: cut(&mut self.reference, len),
        }
    }
}

/// `C` or `P`, as in the file.
impl fmt::Display for ContractKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Call => "C",
            Self::Put => "P",
        })
    }
}
