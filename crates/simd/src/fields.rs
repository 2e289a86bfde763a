//! Decimals in the form that programs print in columns: eight bytes at a time, if they are followed
//! by a single blank or a line end. Other forms are left to [`decimal`](crate::decimal).
//!
//! ```text
//! bytes     4 2 . 0 0 ␣ 4 0      in a word, the first one lowest
//! digits    4 2 0 0              the point removed, the rest shifted out at the top
//! number    4200 / 10^2          exact over exact: rounded once, so correctly
//! ```

/// Each character of a number, less its `0`: digits become 0 to 9, all others more.
const ZEROS: u64 = 0x3030_3030_3030_3030;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
/// Moves values of 10 and more to the high bit of a byte of 7 bits.
const TEN_UP: u64 = 0x7676_7676_7676_7676;
/// The value of a point and of a blank, less `0` as above.
const POINT: u64 = 0x1e;
const BLANK: u64 = 0x10;

/// Powers of ten that are exact.
const POWERS: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
];

/// A number, and the offset after the single blank or line end that ends it.
pub type Field = (f64, usize);

/// Returns the eight bytes starting at `at`; `None` near the end.
#[inline(always)]
fn word(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}

/// Sets the high bit of each byte that is not a digit, given bytes less `0`.
#[inline(always)]
fn others(bytes: u64) -> u64 {
    (((bytes & !HIGH_BITS) + TEN_UP) | bytes) & HIGH_BITS
}

/// Returns the number of eight digits, the first one in the lowest byte.
#[inline(always)]
fn number(digits: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let upper = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let lower = (pairs >> 16 & PAIRS).wrapping_mul(1 + (10_000 << 32));
    upper.wrapping_add(lower) >> 32
}

/// Parses `digits.digits` of at most 7 bytes at `at`, followed by a blank; `None` for all other
/// forms, whether numbers or not.
#[inline(always)]
pub fn short(text: &[u8], at: usize) -> Option<Field> {
    let bytes = word(text, at)? ^ ZEROS;
    let others = others(bytes);
    let point = others.trailing_zeros() & 0x38;
    let after = others & others.wrapping_sub(1);
    let end = after.trailing_zeros() & 0x78;
    // Two non-digits among the eight: a point after a digit, then a blank.
    if after == 0
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

/// Like [`short`], for one digit before the point and `DECIMALS` (2 or 4) after it, the usual form
/// of many columns; falls back to [`short`].
///
/// Guesses this form, mostly correctly: then the start of the next field is known at once, while
/// `short` has to wait for the length of this one.
#[inline(always)]
pub fn usual<const DECIMALS: u32>(text: &[u8], at: usize) -> Option<Field> {
    let bytes = word(text, at)? ^ ZEROS;
    let end = 8 * (DECIMALS + 2);
    let signs = 0x80 << 8 | 0x80 << end;
    let both = 0xff << 8 | 0xff << end;
    if others(bytes) << (56 - end) == signs << (56 - end)
        && bytes & both == POINT << 8 | BLANK << end
    {
        let digits = (bytes & 0xff | bytes >> 8 & !0xff) << (72 - end);
        return Some((exact(number(digits), DECIMALS as usize), at + DECIMALS as usize + 3));
    }
    short(text, at)
}

/// Returns `digits / 10^decimals`, for digits below 2^52.
#[inline(always)]
fn exact(digits: u64, decimals: usize) -> f64 {
    // As the lowest bits of a double of at least 2^52. The converting instruction would wait for
    // the previous content of its register: the quotient of the previous field.
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    let digits = f64::from_bits(digits | TWO_52) - f64::from_bits(TWO_52);
    digits / POWERS[decimals]
}

/// Parses `digits.digits` with at most 7 digits before the point and a line end after it; `None`
/// for all other forms.
#[inline(always)]
pub fn last(text: &[u8], start: usize) -> Option<Field> {
    let bytes = word(text, start)? ^ ZEROS;
    let point = others(bytes).trailing_zeros() & 0x78;
    if point == 0 || point == 64 || bytes >> point & 0xff != POINT {
        return None;
    }
    let mut digits = number(bytes << (64 - point));
    let first = start + point as usize / 8 + 1;
    if let Some(found) = eighteen(text, start, first, digits) {
        return Some(found);
    }
    let mut at = first;
    let most = MOST_DIGITS - point as usize / 8;
    let (mut decimals, mut is_cut) = (0, false);
    loop {
        let bytes = word(text, at)? ^ ZEROS;
        let count = others(bytes).trailing_zeros() as usize / 8;
        let kept = count.min(most - decimals);
        if kept > 0 {
            digits = digits * TENS[kept] + number(bytes << (64 - 8 * kept));
        }
        decimals += kept;
        is_cut |= kept < count;
        at += count;
        if count < 8 {
            break;
        }
    }
    let next = match text.get(at..at + 2)? {
        [b'\n', _] => at + 1,
        b"\r\n" => at + 2,
        _ => return None,
    };
    let value = match digits >> 52 == 0 && !is_cut {
        true => exact(digits, decimals),
        false => nearest(digits, decimals, is_cut).or_else(|| double(&text[start..at]))?,
    };
    Some((value, next))
}

/// Like [`last`], for 18 digits after the point, which begin at `first`, and a newline: a form that
/// programs print. `digits` are those before the point, at most 3.
#[inline(always)]
fn eighteen(text: &[u8], start: usize, first: usize, digits: u64) -> Option<Field> {
    let [a, b, c] = [word(text, first)?, word(text, first + 8)?, word(text, first + 16)?];
    let [a, b, c] = [a ^ ZEROS, b ^ ZEROS, c ^ ZEROS];
    let newline = u64::from(b'\n' ^ b'0');
    let is_it = others(a) | others(b) == 0 && others(c) & 0x80_8080 == 0x80_0000;
    if !is_it || c >> 16 & 0xff != newline || first - start > 4 {
        return None;
    }
    let digits = digits * 10_000_000_000_000_000 + number(a) * 100_000_000 + number(b);
    // One more digit for each digit that is missing before the point.
    let kept = 4 - (first - start);
    let more = [0, c & 0xff, 10 * (c & 0xff) + (c >> 8 & 0xff)][kept];
    let digits = digits * TENS[kept] + more;
    let found = nearest(digits, 16 + kept, kept < 2);
    let value = found.or_else(|| double(&text[start..first + 18]))?;
    Some((value, first + 19))
}

/// The number of digits that always fit 64 bits.
const MOST_DIGITS: usize = 19;

const TENS: [u64; MOST_DIGITS] = {
    let mut tens = [1; MOST_DIGITS];
    let mut index = 1;
    while index < tens.len() {
        tens[index] = 10 * tens[index - 1];
        index += 1;
    }
    tens
};

/// Returns the double nearest to `digits / 10^decimals`, and, if it `is_cut`, to all numbers
/// between that and one digit more; `None` if that is not certain.
///
/// The quotient of two rounded numbers is off by at most two places. Integers give the exact error:
/// `digits * 2^shift - mantissa * 10^decimals`, which must be less than half of 10^decimals. Since
/// it is at most a few times that, its lower 64 bits suffice.
#[inline(always)]
fn nearest(digits: u64, decimals: usize, is_cut: bool) -> Option<f64> {
    // The loss of precision is corrected below.
    let guess = digits as f64 / POWERS[decimals];
    let bits = guess.to_bits();
    let shift = 1075_u64.wrapping_sub(bits >> 52);
    if shift > 60 {
        return None;
    }
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let power = TENS[decimals];
    let apart = (digits << shift).wrapping_sub(mantissa.wrapping_mul(power)).cast_signed();
    let power = power.cast_signed();
    let step = i64::from(2 * apart > power) - i64::from(2 * apart < -power);
    let apart = apart - step * power;
    let cut = i64::from(is_cut) << shift;
    let is_sure = -power < 2 * apart && 2 * (apart + cut) < power;
    // Below a power of two, the places are half as far apart.
    let is_plain = bits & ((1 << 52) - 1) > 2;
    (is_sure && is_plain).then(|| f64::from_bits(bits.wrapping_add_signed(step)))
}

/// Returns the double that a whole token represents; `None` if it is not a number, or too large for
/// a double.
pub fn double(token: &[u8]) -> Option<f64> {
    let value = std::str::from_utf8(token).ok()?.parse().ok();
    // `inf` and `nan` are rejected too.
    value.filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text after the field.
    const AFTER: &str = "\n42.00 40.00";

    fn random(bits: &mut impl FnMut() -> u64, digits: u64) -> String {
        (0..digits)
            .map(|_| char::from(b'0' + u8::try_from(bits() % 10).expect("one")))
            .collect()
    }

    #[test]
    fn short_fields_are_those_of_the_library() {
        let mut bits = swath_reference::splitmix(1);
        for _ in 0..100_000 {
            let (before, after) = (bits() % 6, bits() % 6);
            let text = format!("{}.{}", random(&mut bits, before), random(&mut bits, after));
            let found = short(format!("{text} 0.00 0.00").as_bytes(), 0);
            if before > 0 && text.len() < 7 {
                let right = text.parse().expect("a number");
                assert_eq!(found, Some((right, text.len() + 1)), "{text}");
            } else if let Some((value, end)) = found {
                assert_eq!((value, end), (text.parse().expect("a number"), text.len() + 1));
            }
        }
    }

    #[test]
    fn usual_fields_are_short_ones() {
        let mut bits = swath_reference::splitmix(4);
        for _ in 0..200_000 {
            let (before, after) = (1 + bits() % 2, 1 + bits() % 5);
            let mut text =
                format!("{}.{} ", random(&mut bits, before), random(&mut bits, after));
            if bits().is_multiple_of(4) {
                let at = usize::try_from(bits()).unwrap_or(0) % text.len();
                text.replace_range(
                    at..=at,
                    ["", "x", "."][usize::try_from(before).unwrap_or(0)],
                );
            }
            let text = format!("{text}0.00 0.00");
            let right = short(text.as_bytes(), 0);
            assert_eq!(usual::<2>(text.as_bytes(), 0), right, "{text}");
            assert_eq!(usual::<4>(text.as_bytes(), 0), right, "{text}");
        }
    }

    #[test]
    fn last_fields_are_those_of_the_library() {
        let mut bits = swath_reference::splitmix(2);
        let mut sure = 0;
        for _ in 0..1_000_000 {
            let (before, after) = (1 + bits() % 3, bits() % 25);
            let text = format!("{}.{}", random(&mut bits, before), random(&mut bits, after));
            let right: f64 = text.parse().expect("a number");
            let found = last(format!("{text}{AFTER}").as_bytes(), 0);
            assert_eq!(found, Some((right, text.len() + 1)), "{text}");
            let digits: u64 =
                text.replace('.', "").get(..18).map_or(0, |it| it.parse().expect("18"));
            let decimals = 18_u64.saturating_sub(before);
            let quick =
                nearest(digits, usize::try_from(decimals).expect("few"), after > decimals);
            if let Some(value) = quick.filter(|_| after >= decimals) {
                assert_eq!(value, right, "{text}");
                sure += 1;
            }
        }
        assert!(sure > 100_000, "{sure}");
    }

    #[test]
    fn hard_fields_are_those_of_the_library() {
        // Halfway between two doubles, or one digit off; powers of two, and their neighbours.
        let mut bits = swath_reference::splitmix(3);
        for round in 0..200_000_u64 {
            let exponent = 1023 + round % 9;
            let fraction = match round % 3 {
                0 => bits() & 3,
                1 => (1 << 52) - 1 - (bits() & 3),
                _ => bits() >> 12,
            };
            let low = f64::from_bits(exponent << 52 | fraction);
            let high = f64::from_bits((exponent << 52 | fraction) + 1);
            // Both have at most 53 decimals; the middle has one more.
            let (low, high) = (format!("{low:.53}"), format!("{high:.53}"));
            let middle = middle(&low, &high);
            for len in [middle.len(), 18, 19, 20, 21, 22] {
                let text = &middle[..len.min(middle.len())];
                let right: f64 = text.parse().expect("a number");
                let found = last(format!("{text}{AFTER}").as_bytes(), 0);
                assert_eq!(found, Some((right, text.len() + 1)), "{text}");
            }
        }
    }

    /// Returns the number halfway between two that have the same number of digits.
    fn middle(low: &str, high: &str) -> String {
        let point = low.find('.').expect("there is one");
        fn digits(text: &str) -> impl Iterator<Item = u8> {
            text.bytes().filter(u8::is_ascii_digit).map(|it| it - b'0')
        }
        let sums: Vec<u8> = digits(low).zip(digits(high)).map(|(a, b)| a + b).collect();
        // Half of the sum, digit by digit; then one more decimal.
        let (mut text, mut rest) = (String::new(), 0);
        let mut carried = sums.clone();
        for index in (1..carried.len()).rev() {
            if carried[index] > 9 {
                carried[index] -= 10;
                carried[index - 1] += 1;
            }
        }
        for digit in carried.into_iter().chain([0]) {
            let value = rest * 10 + digit;
            text.push(char::from(b'0' + value / 2));
            rest = value % 2;
        }
        text.insert(point, '.');
        text
    }

    #[test]
    fn what_is_not_plain_is_left_to_others() {
        for text in
            ["", "1", "1 ", ".5 ", "-1.0 ", "1.0\t", "1.0\n", "1..0 ", "1e5 ", "1234.567 "]
        {
            assert_eq!(short(format!("{text} 0.00 0.00").as_bytes(), 0), None, "{text}");
        }
        for text in
            ["", "1", ".5", "-1.0", "1.0 ", "1.0\rx", "1.0.0", "1.0e5", "12345678.0", "1.x"]
        {
            assert_eq!(last(format!("{text}{AFTER}").as_bytes(), 0), None, "{text}");
        }
        // There are fewer than eight bytes.
        assert_eq!(short(b"1.0 2.0", 0), None);
        assert_eq!(last(b"1.0\n", 0), None);
    }
}
