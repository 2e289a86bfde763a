//! Digits to numbers and back, eight at a time, in a word or in vectors.
//!
//! ```text
//! "12345678"   1 2 3 4 5 6 7 8     bytes less `0`, the first digit lowest
//!              12  34  56  78      times 10, plus its neighbour
//!              1234    5678        times 100
//!              12345678            times 10,000
//! ```
//!
//! A shorter number is moved to the end of the eight bytes, with zeros before it.

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Returns the number of leading digits among the eight bytes, the first one lowest, and the number
/// they represent.
///
/// ```
/// let word = u64::from_le_bytes(*b"1234 678");
/// assert_eq!(swath_simd::leading_digits(word), (4, 1234));
/// ```
#[must_use]
#[inline(always)]
pub fn leading_digits(word: u64) -> (usize, u64) {
    const TOP: u64 = 0x8080_8080_8080_8080;
    const TO_TOP: u64 = 0x7676_7676_7676_7676;
    let digits = word ^ ZEROS;
    // Ten and more reach the top bit. A carry may change the next byte, but only after a byte that
    // is not a digit itself, and only the first of those counts.
    let others = (digits.wrapping_add(TO_TOP) | digits) & TOP;
    let bits = (others.trailing_zeros() & !7).min(64);
    if bits == 0 {
        return (0, 0);
    }
    (bits as usize / 8, eight_digits(digits << (64 - bits)))
}

/// Returns the number that eight digits represent, each less `0`, the first one lowest.
#[must_use]
#[inline(always)]
pub fn eight_digits(digits: u64) -> u64 {
    const BYTES: u64 = 0x0000_00ff_0000_00ff;
    // 100 and 1,000,000; 1 and 10,000.
    const EVEN: u64 = 100 + (1_000_000 << 32);
    const ODD: u64 = 1 + (10_000 << 32);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let even = (pairs & BYTES).wrapping_mul(EVEN);
    let odd = ((pairs >> 16) & BYTES).wrapping_mul(ODD);
    even.wrapping_add(odd) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_of_digits_is_found_whatever_stands_behind() {
        for number in
            ["", "0", "7", "42", "123", "9999", "10000", "123456", "0000001", "99999999"]
        {
            for after in 0..=255_u8 {
                if after.is_ascii_digit() {
                    continue;
                }
                let mut bytes = [after; 8];
                bytes[..number.len()].copy_from_slice(number.as_bytes());
                let expected = (number.len(), number.parse().unwrap_or(0));
                assert_eq!(
                    leading_digits(u64::from_le_bytes(bytes)),
                    expected,
                    "{number} {after}"
                );
            }
        }
    }

    #[test]
    fn every_byte_that_is_no_digit_ends_the_digits() {
        for at in 0..8 {
            for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_digit()) {
                let mut bytes = *b"98765432";
                bytes[at] = byte;
                assert_eq!(leading_digits(u64::from_le_bytes(bytes)).0, at, "{byte} at {at}");
            }
        }
    }
}
