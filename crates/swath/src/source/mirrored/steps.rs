//! Reads chunks of any length in bounded memory: the length of a chunk comes from a manifest, which an
//! attacker may have written.

use std::hash::Hasher as _;

use swath_plan::extent::Extent;
use twox_hash::XxHash3_64;

/// Maximum bytes of a chunk held at a time.
const STEP: usize = 4 << 20;

/// Returns how many bytes of `chunk` are held at a time.
pub(crate) fn room_for(chunk: Extent) -> usize {
    usize::try_from(chunk.len()).map_or(STEP, |len| len.min(STEP))
}

/// Returns the checksum of `chunk`, which `fill` reads into `room`, in steps if it is longer.
///
/// # Errors
///
/// The errors of `fill`.
pub(crate) fn sum_in_steps<E>(
    chunk: Extent,
    room: &mut [u8],
    mut fill: impl FnMut(&mut [u8], u64) -> Result<(), E>,
) -> Result<u64, E> {
    if let Ok(len) = usize::try_from(chunk.len())
        && let Some(whole) = room.get_mut(..len)
    {
        fill(whole, chunk.offset())?;
        return Ok(XxHash3_64::oneshot(whole));
    }
    let mut sum = XxHash3_64::new();
    let mut at = chunk.offset();
    while at < chunk.end() {
        let left = usize::try_from(chunk.end() - at).unwrap_or(usize::MAX);
        let len = left.min(room.len());
        let step = &mut room[..len];
        fill(step, at)?;
        sum.write(step);
        at += len as u64;
    }
    Ok(sum.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_whole_however_long_the_steps_are() {
        let bytes: Vec<u8> = (0..1000_u32).map(|at| (at % 251).to_le_bytes()[0]).collect();
        let chunk = Extent::between(100, 1000);
        for room in [1, 7, 64, 899, 900, 901, 5000] {
            let mut seen = Vec::new();
            let sum = sum_in_steps(chunk, &mut vec![0; room], |step, at| {
                let at = usize::try_from(at).expect("small");
                step.copy_from_slice(&bytes[at..at + step.len()]);
                seen.extend_from_slice(step);
                Ok::<(), ()>(())
            });
            assert_eq!(sum, Ok(XxHash3_64::oneshot(&bytes[100..])), "{room}");
            assert_eq!(seen, &bytes[100..], "{room}");
        }
        assert_eq!(sum_in_steps(chunk, &mut [0; 16], |_, at| Err(at)), Err(100));
    }
}
