//! Powers of five, 128 bits of each.
//!
//! For 5^q, the bits starting at the highest: truncated if q is not negative; rounded up if q is at
//! least -27, because the reciprocal is then known to be exact; truncated again below that.

/// The power of ten of the first entry: a smaller one makes nineteen digits zero.
pub(super) const FIRST: i32 = -342;
/// The power of ten of the last entry: a larger one makes one digit infinite.
pub(super) const LAST: i32 = 308;

/// The number of entries.
pub(super) const COUNT: usize = 651;
/// The number of entries before 5^0.
const NEGATIVE: usize = 342;

/// The upper and lower half of each power.
pub(super) static POWERS: [[u64; 2]; COUNT] = powers();

/// Limbs of 32 bits, the lowest first: 2^1087 and 5^308 fit.
const LIMBS: usize = 34;

type Wide = [u64; LIMBS];

const fn powers() -> [[u64; 2]; COUNT] {
    let mut powers = [[0, 0]; COUNT];
    let mut wide = [0; LIMBS];
    wide[0] = 1;
    let mut index = NEGATIVE;
    while index < COUNT {
        let (high, low) = highest(&wide);
        powers[index] = [high, low];
        wide = times_five(wide);
        index += 1;
    }
    // Dividing and truncating step by step is the same as doing so once.
    let mut wide = [0; LIMBS];
    wide[LIMBS - 1] = 1 << 31;
    let mut index = NEGATIVE;
    while index > 0 {
        index -= 1;
        wide = by_five(wide);
        let (high, low) = highest(&wide);
        let up = if index + 27 >= NEGATIVE { 1 } else { 0 };
        // Cannot overflow: in these few entries no lower half is all ones.
        powers[index] = [high, low + up];
    }
    powers
}

const fn times_five(mut wide: Wide) -> Wide {
    let (mut carry, mut limb) = (0, 0);
    while limb < LIMBS {
        let product = wide[limb] * 5 + carry;
        wide[limb] = product & 0xffff_ffff;
        carry = product >> 32;
        limb += 1;
    }
    wide
}

const fn by_five(mut wide: Wide) -> Wide {
    let (mut rest, mut limb) = (0, LIMBS);
    while limb > 0 {
        limb -= 1;
        let part = rest << 32 | wide[limb];
        wide[limb] = part / 5;
        rest = part % 5;
    }
    wide
}

/// Returns the 128 bits starting at the highest one.
const fn highest(wide: &Wide) -> (u64, u64) {
    let mut top = LIMBS - 1;
    while wide[top] == 0 {
        top -= 1;
    }
    let high = pair(wide, top, 0);
    let low = pair(wide, top, 2);
    let zeros = high.leading_zeros();
    if zeros == 0 {
        return (high, low);
    }
    let rest = pair(wide, top, 4);
    (high << zeros | low >> (64 - zeros), low << zeros | rest >> (64 - zeros))
}

/// Returns the two limbs at position `below` under the `top` one; zeros below the lowest.
const fn pair(wide: &Wide, top: usize, below: usize) -> u64 {
    let high = if top >= below { wide[top - below] } else { 0 };
    let low = if top > below { wide[top - below - 1] } else { 0 };
    high << 32 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_powers_are_there() {
        let at = |power: i32| POWERS[usize::try_from(power - FIRST).expect("in the table")];
        assert_eq!(at(0), [1 << 63, 0]);
        assert_eq!(at(1), [0xa000_0000_0000_0000, 0]);
        assert_eq!(at(-1), [0xcccc_cccc_cccc_cccc, 0xcccc_cccc_cccc_cccd]);
        assert_eq!(at(FIRST), [0xeef4_53d6_923b_d65a, 0x113f_aa29_06a1_3b3f]);
        assert_eq!(at(LAST), [0x8e67_9c2f_5e44_ff8f, 0x570f_09ea_a7ea_7648]);
    }
}
