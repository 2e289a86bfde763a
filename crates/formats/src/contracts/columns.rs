//! Contracts in memory, column by column.

use std::fmt;

use swath::Array;

use crate::error::Result;

/// The right to buy or sell an asset at a price, and its reference price.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contract {
    /// S: the current price of the underlying; above 0.
    pub spot: f64,
    /// K: the price of the right; above 0.
    pub strike: f64,
    /// r: the risk-free rate, continuous, per year.
    pub rate: f64,
    /// q: the dividend yield, continuous, per year.
    pub dividend_yield: f64,
    /// The standard deviation of the logarithmic return per year; not negative.
    pub volatility: f64,
    /// T: years to expiry; not negative.
    pub years: f64,
    /// Call or put.
    pub kind: ContractKind,
    /// The price in the file, for comparison.
    pub reference: f64,
}

/// The right that a contract gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContractKind {
    /// The right to buy.
    Call,
    /// The right to sell.
    Put,
}

/// The contents of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ContractRow {
    /// The first six fields.
    pub(super) numbers: [f64; 6],
    pub(super) is_put: bool,
    pub(super) reference: f64,
}

impl ContractRow {
    /// Whether no intermediate result of its price is infinite. This is true of the short decimals
    /// in most lines.
    pub(super) fn has_a_price(&self) -> bool {
        let [spot, strike, rate, dividend_yield, volatility, years] = self.numbers;
        let growth = rate - dividend_yield + volatility * volatility / 2.0;
        let moneyness = spot / strike;
        let present = spot * (-dividend_yield * years).exp() + strike * (-rate * years).exp();
        let all = [moneyness, growth * years, volatility * years.sqrt(), present];
        moneyness > 0.0 && all.into_iter().all(f64::is_finite)
    }
}

/// Defines the code that is the same for every column.
macro_rules! columns {
    ($($column:ident: $type:ty),+) => {
        /// Contracts, with each field in its own column; 64 bytes per contract.
        #[derive(Debug, Default, PartialEq)]
        pub struct Contracts {
            $($column: Array<$type>,)+
        }

        impl Contracts {
            /// Returns `len` contracts, all zeros.
            pub(super) fn zeroed(len: usize) -> Result<Self> {
                Ok(Self { $($column: Array::zeroed(len)?,)+ })
            }

            /// Concatenates contracts.
            pub(super) fn concat(parts: &[Self]) -> Result<Self> {
                let mut all = Self::zeroed(parts.iter().map(Self::len).sum())?;
                let mut rest = all.part_mut();
                for part in parts {
                    let to = rest.take(part.len());
                    $(to.$column.copy_from_slice(&part.$column);)+
                }
                Ok(all)
            }

            /// Returns all contracts, to be filled.
            pub(super) fn part_mut(&mut self) -> Part<'_> {
                Part { $($column: &mut self.$column,)+ }
            }
        }

        /// Consecutive contracts that a worker fills.
        pub(super) struct Part<'c> {
            $($column: &'c mut [$type],)+
        }

        impl<'c> Part<'c> {
            /// Splits off the first `len` contracts.
            pub(super) fn take(&mut self, len: usize) -> Part<'c> {
                Part { $($column: self.$column.split_off_mut(..len).expect("enough are left"),)+ }
            }
        }
    };
}

columns!(
    spot: f64, strike: f64, rate: f64, dividend_yield: f64, volatility: f64, years: f64,
    is_put: u64, reference: f64
);

impl Contracts {
    /// Returns the number of contracts.
    pub fn len(&self) -> usize {
        self.spot.len()
    }

    /// Whether there are no contracts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns contract `index`, in the order of the file; `None` for [`len`](Self::len) and above.
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

    /// Returns the reference prices.
    pub fn references(&self) -> &[f64] {
        &self.reference
    }

    /// Returns all columns, for the kernel.
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
}

impl Part<'_> {
    pub(super) fn len(&self) -> usize {
        self.spot.len()
    }

    #[inline(always)]
    pub(super) fn set(&mut self, index: usize, row: &ContractRow) {
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
