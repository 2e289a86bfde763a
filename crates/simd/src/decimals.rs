//! Decimal text to numbers.

mod nearest;
mod powers;

pub use nearest::nearest_double;
