//! One field of a line: short decimals eight bytes at a time, everything else by the shared parser.
//!
//! ```text
//! bytes     4 2 . 0 0 ␣ 4 0      as they lie in a word, the first one lowest
//! digits    4 2 0 0              the point taken out, the rest pushed out at the top
//! number    4200 / 10^2          exact over exact: rounded once, so correctly
//! ```

/// Each character of a number, less its `0`: digits become 0 to 9, everything else is more.
const ZEROS: u64 = 0x3030_3030_3030_3030;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
/// Brings 10 and more to the high bit of a byte of 7 bits.
const TEN_UP: u64 = 0x7676_7676_7676_7676;
/// What a point and a blank are, less `0` as above.
const POINT: u64 = 0x1e;
const BLANK: u64 = 0x10;

/// Powers of ten that are exact.
const POWERS: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
];

/// A number, and the byte behind the single blank, or line end, that ends it.
pub(super) type Field = (f64, usize);

/// Returns the eight bytes from `at` on; `None` near the end.
#[inline(always)]
fn word(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}

/// Has the high bit of each byte that is no digit, given bytes less `0`.
#[inline(always)]
fn others(bytes: u64) -> u64 {
    (((bytes & !HIGH_BITS) + TEN_UP) | bytes) & HIGH_BITS
}

/// The number of eight digits, the first one in the lowest byte.
#[inline(always)]
fn number(digits: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let upper = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let lower = (pairs >> 16 & PAIRS).wrapping_mul(1 + (10_000 << 32));
    upper.wrapping_add(lower) >> 32
}

/// Parses `digits.digits` of at most 7 bytes at `at`, with a blank behind it; `None` for everything
/// else, be it a number or not.
#[inline(always)]
pub(super) fn short(text: &[u8], at: usize) -> Option<Field> {
    let bytes = word(text, at)? ^ ZEROS;
    let others = others(bytes);
    let point = others.trailing_zeros() & 0x38;
    let behind = others & others.wrapping_sub(1);
    let end = behind.trailing_zeros() & 0x78;
    // Two signs among the eight: a point behind a digit, then a blank.
    if behind == 0
        || point == 0
        || bytes >> point & 0xff != POINT
        || bytes >> end & 0xff != BLANK
    {
        return None;
    }
    let whole = (1 << point) - 1;
    let digits = (bytes & whole | bytes >> 8 & !whole) << (72 - end);
    let decimals = (end - point) / 8 - 1;
    let value = exact(number(digits), decimals as usize);
    Some((value, at + end as usize / 8 + 1))
}

/// `digits / 10^decimals`, of numbers that a double can hold.
#[inline(always)]
fn exact(digits: u64, decimals: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "callers have no more than 53 bits")]
    let digits = digits.cast_signed() as f64;
    digits / POWERS[decimals]
}

/// Parses `digits.digits` with at most 7 digits before the point and a newline behind it; `None`
/// for everything else.
#[inline(always)]
pub(super) fn last(text: &[u8], start: usize) -> Option<Field> {
    let bytes = word(text, start)? ^ ZEROS;
    let point = others(bytes).trailing_zeros() & 0x78;
    if point == 0 || point == 64 || bytes >> point & 0xff != POINT {
        return None;
    }
    let mut digits = number(bytes << (64 - point));
    let first = start + point as usize / 8 + 1;
    let mut at = first;
    loop {
        let bytes = word(text, at)? ^ ZEROS;
        let count = others(bytes).trailing_zeros() & 0x78;
        at += count as usize / 8;
        if count == 64 {
            digits = digits.wrapping_mul(100_000_000).wrapping_add(number(bytes));
            continue;
        }
        if count > 0 {
            digits = digits.wrapping_mul(POWERS_OF_TEN[count as usize / 8]);
            digits = digits.wrapping_add(number(bytes << (64 - count)));
        }
        if text[at] != b'\n' {
            return None;
        }
        let is_exact = at - start <= 20 && digits >> 53 == 0;
        let value = match is_exact {
            true => exact(digits, at - first),
            false => double(&text[start..at])?,
        };
        return Some((value, at + 1));
    }
}

const POWERS_OF_TEN: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Returns the double that a whole token means; `None` if it is none, or too large for one.
pub(super) fn double(token: &[u8]) -> Option<f64> {
    let is_plain = token.iter().all(|byte| b"0123456789+-.eE".contains(byte));
    let value = std::str::from_utf8(token).ok()?.parse().ok();
    value.filter(|value: &f64| is_plain && value.is_finite())
}
