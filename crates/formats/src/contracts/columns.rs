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

/// What is done to every column alike.
macro_rules! columns {
    ($($column:ident: $type:ty),+) => {
        /// Contracts, each field in a column of its own: 64 bytes for each.
        #[derive(Debug, Default, PartialEq)]
        pub struct Contracts {
            $($column: Array<$type>,)+
        }

        impl Contracts {
            /// Makes room for `len` contracts, all zeros.
            pub(super) fn zeroed(len: usize) -> Result<Self> {
                Ok(Self { $($column: Array::zeroed(len)?,)+ })
            }

            /// All of these, one behind the other.
            pub(super) fn concat(parts: &[Self]) -> Result<Self> {
                let mut all = Self::zeroed(parts.iter().map(Self::len).sum())?;
                let mut rest = all.part_mut();
                for part in parts {
                    let to = rest.take(part.len());
                    $(to.$column.copy_from_slice(&part.$column);)+
                }
                Ok(all)
            }

            /// All of them, to be filled.
            pub(super) fn part_mut(&mut self) -> Part<'_> {
                Part { $($column: &mut self.$column,)+ }
            }
        }

        /// Neighbouring contracts that one worker fills.
        pub(super) struct Part<'c> {
            $($column: &'c mut [$type],)+
        }

        impl<'c> Part<'c> {
            /// The first `len`, which leave this one.
            pub(super) fn take(&mut self, len: usize) -> Part<'c> {
                Part { $($column: self.$column.split_off_mut(..len).expect("as many are left"),)+ }
            }
        }
    };
}

columns!(
    spot: f64, strike: f64, rate: f64, dividend_yield: f64, volatility: f64, years: f64,
    is_put: u64, reference: f64
);

impl Contracts {
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
}

impl Part<'_> {
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
