//! Bytes in several places in memory that are adjacent in a file.

use swath_plan::extent::Extent;

/// Shorter pieces are joined, so that one write takes many of them.
const SMALL: usize = 4 << 10;
/// Maximum bytes of joined pieces.
const TOGETHER: usize = 64 << 10;

/// Parts, and the offset of each in the file.
pub(super) struct Parts<'w> {
    parts: &'w [&'w [u8]],
    starts: Vec<u64>,
    len: u64,
}

impl<'w> Parts<'w> {
    pub(super) fn new(parts: &'w [&'w [u8]]) -> Self {
        let mut len = 0;
        let start = |part: &&[u8]| {
            let start = len;
            len += part.len() as u64;
            start
        };
        let starts = parts.iter().map(start).collect();
        Self { parts, starts, len }
    }

    /// Total length of the parts.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Calls `write` with the bytes of `chunk` and their offset, in order, with many small parts
    /// joined.
    pub(super) fn each<E>(
        &self,
        chunk: Extent,
        mut write: impl FnMut(&[u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut together = Vec::new();
        let mut offset = chunk.offset();
        let first = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        for (part, &start) in self.parts.iter().zip(&self.starts).skip(first) {
            if start >= chunk.end() {
                break;
            }
            // Both ends are within the part.
            let at = |place: u64| usize::try_from(place - start).unwrap_or(part.len());
            let from = at(offset + together.len() as u64).min(part.len());
            let bytes = &part[from..at(chunk.end()).min(part.len())];
            if bytes.len() < SMALL && together.len() + bytes.len() <= TOGETHER {
                together.extend_from_slice(bytes);
                continue;
            }
            for bytes in [&together[..], bytes] {
                write_some(bytes, &mut offset, &mut write)?;
            }
            together.clear();
        }
        write_some(&together, &mut offset, &mut write)
    }
}

fn write_some<E>(
    bytes: &[u8],
    offset: &mut u64,
    write: &mut impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    if !bytes.is_empty() {
        write(bytes, *offset)?;
        *offset += bytes.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_parts_are_the_chunks_of_all_bytes() {
        let bytes: Vec<u8> = (0..=255_u8).cycle().take(300_000).collect();
        for lens in [&[][..], &[0, 0], &[1, 0, 2, 3], &[5000, 1, 0, 100_000], &[10; 9000]] {
            let mut rest = &bytes[..];
            let cut = |&len: &usize| {
                let (part, after) = rest.split_at(len);
                rest = after;
                part
            };
            let parts: Vec<&[u8]> = lens.iter().map(cut).collect();
            let (parts, all) = (Parts::new(&parts), parts.concat());
            assert_eq!(parts.len(), all.len() as u64);
            for (from, to) in [(0, 0), (0, all.len()), (all.len() / 3, all.len() / 2), (1, 4)] {
                let (from, to) = (from.min(all.len()), to.min(all.len()));
                let (mut came, mut calls) = (vec![0; all.len()], 0);
                let written =
                    parts.each(Extent::between(from as u64, to as u64), |some, at| {
                        let at = usize::try_from(at).expect("small");
                        came[at..at + some.len()].copy_from_slice(some);
                        calls += 1;
                        Ok::<(), ()>(())
                    });
                assert_eq!(written, Ok(()));
                assert_eq!(came[from..to], all[from..to], "{from}..{to} of {lens:?}");
                assert!(came[..from].iter().chain(&came[to..]).all(|&byte| byte == 0));
                assert!(calls <= 8, "{calls} calls for {from}..{to}");
            }
        }
    }

    #[test]
    fn the_first_failure_ends_it() {
        let big = vec![1; SMALL];
        let parts = [&big[..], &big, &big];
        let mut calls = 0;
        let written = Parts::new(&parts).each(Extent::between(0, 3 * SMALL as u64), |_, at| {
            calls += 1;
            if at > 0 { Err(at) } else { Ok(()) }
        });
        assert_eq!((written, calls), (Err(SMALL as u64), 2));
    }
}
