//! Eight decimal digits of a number at a time, in one word.
//!
//! ```text
//! 12345678   →   1234 | 5678   →   12|34|56|78   →   1|2|3|4|5|6|7|8
//!                32-bit lanes      16-bit lanes      bytes, the first digit lowest
//! ```
//!
//! Each step divides all lanes at once: by a multiplication that is exact for lanes of that size
//! and leaves the quotient in some upper bits of the lane.

/// Turns eight digits into their characters, with `|`.
pub const ASCII: u64 = 0x3030_3030_3030_3030;

/// Returns the eight digits of a number below 10^8, with leading zeros, the first one in the
/// lowest byte.
#[inline(always)]
pub fn eight(value: u64) -> u64 {
    debug_assert!(value < 100_000_000);
    eight_of_any(value)
}

/// Returns the eight digits of a number, and unspecified ones for larger numbers. The products have
/// 32 bits, like those of vectors.
#[inline(always)]
pub(crate) fn eight_of_any(value: u64) -> u64 {
    const LOW: u64 = 0xffff_ffff;
    let value = value & LOW;
    // 109,951,163 / 2^40 exceeds 1/10,000 by so little that the quotient is exact below 10^8.
    let high = ((value * 109_951_163) >> 40) & LOW;
    let fours = high | value.wrapping_sub(10_000 * high) << 32;
    // 10486 / 2^20 exceeds 1/100 by so little that the quotient is exact below 43,699.
    let hundreds = (fours.wrapping_mul(10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | fours.wrapping_sub(100 * hundreds) << 16;
    // 103 / 2^10 exceeds 1/10 by so little that the quotient is exact below 179.
    let tens = (twos.wrapping_mul(103) >> 10) & 0x000f_000f_000f_000f;
    tens | twos.wrapping_sub(10 * tens) << 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_digits_are_those_of_the_library() {
        let all = (0..100_000_000).step_by(if cfg!(debug_assertions) { 997 } else { 1 });
        for value in all.chain(0..20_000).chain(99_980_000..100_000_000) {
            let text = (eight(value) | ASCII).to_le_bytes();
            assert_eq!(text.as_slice(), format!("{value:08}").as_bytes());
        }
    }
}
