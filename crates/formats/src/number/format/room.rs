//! Puts numbers into rooms of fixed length: no capacity is checked, and the next number overwrites
//! surplus digits.

use swath_simd::digits::{ASCII, eight};

use super::{EIGHT, push_f64_shortest};

/// The length of a room; a number has at most 25 bytes.
pub(crate) const ROOM: usize = swath_simd::TEXT_ROOM;

/// The room for one number.
pub(crate) type NumberRoom = [u8; ROOM];

/// Puts a whole number at `at`, at most 1; returns its end.
#[inline(always)]
pub(crate) fn put_u64(room: &mut NumberRoom, at: usize, value: u64) -> usize {
    if value < EIGHT { put_up_to_eight(room, at, value) } else { put_more(room, at, value) }
}

/// Puts a whole number, with `-` in front if it is negative; returns its length.
#[inline(always)]
pub(crate) fn put_i64(room: &mut NumberRoom, value: i64) -> usize {
    room[0] = b'-';
    put_u64(room, usize::from(value < 0), value.unsigned_abs())
}

#[inline(always)]
fn put_up_to_eight(room: &mut NumberRoom, at: usize, value: u64) -> usize {
    let digits = eight(value);
    // The first digit is in the lowest byte. The last digit of 0 is kept.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    let text = (digits | ASCII) >> (8 * zeros);
    room[at..at + 8].copy_from_slice(&text.to_le_bytes());
    at + 8 - zeros as usize
}

#[inline(always)]
fn put_eight(room: &mut NumberRoom, at: usize, value: u64) -> usize {
    room[at..at + 8].copy_from_slice(&(eight(value) | ASCII).to_le_bytes());
    at + 8
}

fn put_more(room: &mut NumberRoom, at: usize, value: u64) -> usize {
    let (high, low) = (value / EIGHT, value % EIGHT);
    let at = if high < EIGHT {
        put_up_to_eight(room, at, high)
    } else {
        let at = put_up_to_eight(room, at, high / EIGHT);
        put_eight(room, at, high % EIGHT)
    };
    put_eight(room, at, low)
}

/// Puts the shortest text of a double; returns its length. Most doubles of tables have few
/// decimals: [`put_short_doubles`](swath_simd::put_short_doubles) puts many of those at a time.
pub(crate) fn put_f64(room: &mut NumberRoom, value: f64) -> usize {
    if value.is_finite() {
        let mut buffer = zmij::Buffer::new();
        return put_text(room, buffer.format_finite(value).as_bytes());
    }
    let mut text = Vec::new();
    push_f64_shortest(&mut text, value);
    put_text(room, &text)
}

/// Puts a text of at most 32 bytes; returns its length. Two copies of a fixed size that overlap
/// are faster than a call.
#[inline(always)]
pub(crate) fn put_text(room: &mut NumberRoom, text: &[u8]) -> usize {
    let len = text.len();
    if let (Some(first), Some(last)) = (text.first_chunk::<16>(), text.last_chunk::<16>()) {
        room[..16].copy_from_slice(first);
        room[len - 16..len].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>())
    {
        room[..8].copy_from_slice(first);
        room[len - 8..len].copy_from_slice(last);
    } else {
        for (slot, byte) in room.iter_mut().zip(text) {
            *slot = *byte;
        }
    }
    len
}

#[cfg(test)]
mod tests {
    use super::super::{push_i64, push_u64};
    use super::*;

    fn pushed(push: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut text = Vec::new();
        push(&mut text);
        text
    }

    #[test]
    fn whole_numbers_are_those_that_are_pushed() {
        let mut next = swath_reference::splitmix(41);
        let mut room = [b'x'; ROOM];
        let powers = (0..20).map(|power| 10_u64.pow(power));
        let edges = powers.flat_map(|it| [it - 1, it, it + 1]).chain([u64::MAX, 1 << 63]);
        let random: Vec<u64> = (0..100_000).map(|_| next() >> (next() % 64)).collect();
        for value in edges.chain(random) {
            let len = put_u64(&mut room, 0, value);
            assert_eq!(room[..len], pushed(|text| push_u64(text, value)));
            for value in [value.cast_signed(), value.cast_signed().wrapping_neg()] {
                let len = put_i64(&mut room, value);
                assert_eq!(room[..len], pushed(|text| push_i64(text, value)));
            }
        }
    }

    #[test]
    fn texts_of_every_length_are_put_whole() {
        for len in 0..=ROOM {
            let text: Vec<u8> = (b'a'..).take(len).collect();
            let mut room = [0; ROOM];
            assert_eq!((put_text(&mut room, &text), &room[..len]), (len, &text[..]));
        }
    }
}
