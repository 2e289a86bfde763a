//! The CRC-32C of two adjacent pieces, computed from their CRCs without reading a byte.
//!
//! A CRC is the remainder of its bytes as a polynomial over the field of two elements. So the
//! left one is multiplied by *x* to the power of the number of bits of the right piece, and
//! added. A table holds the powers of *x* by powers of two, like zlib since 1.2.12 (Adler): one
//! multiplication for each bit that is set in the length, about 50 ns each.

/// Castagnoli's polynomial, with the lowest power in the highest bit.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// *x* to the power of 2^n, for each n. The next one would equal the first: this polynomial is *x*
/// + 1 times one whose powers repeat after 2^31 - 1.
const POWERS: [u32; 31] = {
    let mut powers = [1 << 30; 31];
    let mut n = 1;
    while n < powers.len() {
        powers[n] = product(powers[n - 1], powers[n - 1]);
        n += 1;
    }
    powers
};

/// Returns the product of two remainders.
const fn product(left: u32, right: u32) -> u32 {
    let (mut left, mut shifted, mut sum) = (left, right, 0);
    // Starts at the lowest power; `shifted` is `right` times that power.
    while left != 0 {
        // All ones if the power is present, and if a bit is shifted out.
        sum ^= shifted & 0_u32.wrapping_sub(left >> 31);
        shifted = (shifted >> 1) ^ (POLYNOMIAL & 0_u32.wrapping_sub(shifted & 1));
        left <<= 1;
    }
    sum
}

/// Returns the CRC-32C of two pieces, the right one of `right_len` bytes, from the CRC of each.
///
/// ```
/// // Of `123456789`, of `1234` and of `56789`.
/// assert_eq!(swath_simd::crc32c_combine(0xf63a_f4ee, 0x83b5_65d8, 5), 0xe306_9283);
/// ```
#[must_use]
pub fn crc32c_combine(left: u32, right: u32, right_len: u64) -> u32 {
    // Zero stays zero when shifted: callers without checksums pay nothing.
    if left == 0 {
        return right;
    }
    // Eight bits for each byte.
    let (mut rest, mut n, mut shifted) = (right_len, 3, left);
    while rest > 0 {
        if rest & 1 == 1 {
            shifted = product(POWERS[n % POWERS.len()], shifted);
        }
        (rest, n) = (rest >> 1, n + 1);
    }
    shifted ^ right
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the CRC bit by bit.
    fn crc32c(bytes: &[u8]) -> u32 {
        let mut crc = !0_u32;
        for &byte in bytes {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            }
        }
        !crc
    }

    #[test]
    fn the_check_string_has_the_published_checksum_wherever_it_is_cut() {
        let text = b"123456789";
        assert_eq!(crc32c(text), 0xe306_9283);
        for cut in 0..=text.len() {
            let (left, right) = text.split_at(cut);
            let whole = crc32c_combine(crc32c(left), crc32c(right), right.len() as u64);
            assert_eq!(whole, 0xe306_9283, "cut at {cut}");
        }
    }

    #[test]
    fn pieces_of_all_lengths_give_the_checksum_of_the_whole() {
        let bytes: Vec<u8> =
            (0..70_000_u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
        for len in [0, 1, 7, 8, 255, 4096, 10_240, 65_536, 65_537, 69_999] {
            let (left, right) = bytes.split_at(bytes.len() - len);
            let whole = crc32c_combine(crc32c(left), crc32c(right), len as u64);
            assert_eq!(whole, crc32c(&bytes), "{len} bytes on the right");
        }
    }

    #[test]
    fn the_powers_go_round() {
        let last = POWERS[POWERS.len() - 1];
        assert_eq!(product(last, last), POWERS[0]);
    }

    #[test]
    fn lengths_that_no_memory_has_are_shifted_by_too() {
        // Zeros appended in two steps or in one: more than any memory can hold.
        let shift = |crc, len| crc32c_combine(crc, 0, len);
        for len in [1 << 29, 1 << 40, u64::MAX / 2, (1 << 62) - 3] {
            assert_eq!(
                shift(shift(0xe306_9283, len), len),
                shift(0xe306_9283, 2 * len),
                "{len}"
            );
            assert_eq!(shift(shift(0xe306_9283, len), 5), shift(0xe306_9283, len + 5), "{len}");
        }
    }
}
