//! The positions of the ones of a byte, for which AVX2 has no instruction.

/// For each byte, the positions of its ones.
pub(crate) static PLACES: [[u8; 8]; 256] = places();

const fn places() -> [[u8; 8]; 256] {
    let mut all = [[0; 8]; 256];
    let mut at = 0;
    while at < 8 * all.len() {
        let (byte, place) = (at / 8, at % 8);
        if byte >> place & 1 == 1 {
            let before = (byte & ((1 << place) - 1)).count_ones() as usize;
            all[byte][before] = place.to_le_bytes()[0];
        }
        at += 1;
    }
    all
}
