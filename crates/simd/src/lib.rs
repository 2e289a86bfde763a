//! Byte kernels, such as the sum of bytes and the number of occurrences of one byte.
//!
//! Each kernel except [`Inflater`], which is libdeflate's (feature `inflate`), exists three times:
//! portable (words of eight bytes, on any machine), AVX2 and AVX-512. The widest that this
//! processor supports is chosen at run time; [`level`] returns it. The portable ones are public in
//! [`portable`], and the tests compare the others with them. Processors other than `x86_64` use
//! them too: there is no NEON version.
//!
//! ```text
//! bytes   |head|vector|vector|vector|vector| … |vector|tail|
//!        up to an aligned address   four sums in parallel     less than a vector
//! ```
//!
//! The caller chooses the source of the bytes: plain slices go to [`sum`] and [`count`]; memory
//! that another process may store to at any moment, a mapped file, goes as [`Cells`] to
//! [`sum_cells`] and [`count_cells`], which never make a `&[u8]` of it.
//!
//! ```
//! let text = b"one\ntwo\nthree\n";
//! assert_eq!(swath_simd::count(text, b'\n'), 3);
//! assert_eq!(swath_simd::sum(&[255; 1000]), 255_000);
//! ```

mod black_scholes;
mod cells;
mod count;
mod crc;
mod cuts;
mod decimals;
pub mod digits;
pub mod fields;
mod find;
mod gaps;
#[cfg(feature = "inflate")]
mod inflate;
mod integers;
mod level;
mod masks;
#[cfg(target_arch = "x86_64")]
mod places;
pub mod portable;
mod rows;
mod separators;
mod short_doubles;
mod special;
mod sum;
mod times;
mod tokens;

pub use black_scholes::{Contracts, black_scholes, black_scholes_at};
pub use cells::Cells;
pub use count::{count, count_at, count_cells};
pub use crc::crc32c_combine;
pub use cuts::{CutMarks, Cuts, LONGEST_DELIMITER, Quoting, Searched};
pub use decimals::{
    Decimal, Padding, Tokens, append_digits, column_doubles, column_doubles_at,
    column_integers, column_integers_at, decimal, nearest_double, parse_doubles,
    parse_doubles_at, parse_integers, parse_integers_at,
};
pub use find::{Positions, find};
pub use gaps::{not_empty, not_empty_at};
#[cfg(feature = "inflate")]
pub use inflate::{InflateTrouble, Inflater};
pub use integers::{eight_digits, leading_digits};
pub use level::{Level, level, limit_level};
pub use rows::{RowFrame, Span, Values, push_rows, push_rows_at};
pub use separators::{FieldEnds, Lines, Marks, WordLines, WordPlaces};
pub use short_doubles::{TEXT_ROOM, put_short_doubles, put_short_doubles_at};
pub use special::Special;
pub use sum::{sum, sum_at, sum_cells};
pub use times::{Moment, parse_dates, parse_moment, parse_moments};
pub use tokens::{Bounds, Taken, pairs, pairs_at};
