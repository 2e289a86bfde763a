//! Decodes one block of a stream as if it were a stream of its own.
//!
//! ```text
//! the bits of the block, from any bit   |mark|checksum|data ..|
//! a stream of this block only     BZh9  |mark|checksum|data ..|end|checksum|
//! ```

use bzip2::{Decompress, Status};
use swath::machine::caught;

use super::bits::{END, align};

/// The most bytes that a block decodes to: 900 kB, in which five bytes stand for runs of up to 255.
const MOST: usize = 64 << 20;
/// Output grows in steps of this size.
const GROWTH: usize = 1 << 20;
/// The header of the stream; the largest block fits it.
const HEADER: [u8; 4] = *b"BZh9";
/// Length in bytes of a mark and a checksum.
pub(crate) const HEAD: u64 = 10;

/// Returns the checksum that follows the mark at the start of `aligned`.
pub(crate) fn checksum(aligned: &[u8]) -> u32 {
    match aligned {
        [_, _, _, _, _, _, c0, c1, c2, c3, ..] => u32::from_be_bytes([*c0, *c1, *c2, *c3]),
        _ => 0,
    }
}

/// Builds the stream of one block from `len` bits of `bytes`, starting at bit `skip`.
fn stream(bytes: &[u8], skip: u64, len: u64) -> Result<Vec<u8>, NoMemory> {
    let mut out = Vec::new();
    out.try_reserve_exact(bytes.len() + 32).map_err(|_| NoMemory)?;
    out.extend_from_slice(&HEADER);
    align(bytes, skip, len, &mut out);
    let sum = checksum(&out[HEADER.len()..]);
    // The end mark follows the last bit directly. The stream's checksum is that of its only block.
    let over = len % 8;
    let last = if over == 0 { 0 } else { out.pop().unwrap_or(0) };
    let end = u128::from(END) << 32 | u128::from(sum);
    let end = u128::from(last) << 120 | end << (48 - over);
    let bytes = usize::try_from((80 + over).div_ceil(8)).unwrap_or(0);
    out.extend_from_slice(&end.to_be_bytes()[..bytes]);
    Ok(out)
}

/// There is no memory for a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoMemory;

/// Appends the decoded block. Returns its checksum if the block ends exactly with these bits and
/// the checksum matches the data; otherwise `out` holds nothing useful.
pub(crate) fn decode(
    bytes: &[u8],
    skip: u64,
    len: u64,
    out: &mut Vec<u8>,
) -> Result<Option<u32>, NoMemory> {
    if len < 8 * HEAD {
        return Ok(None);
    }
    let stream = stream(bytes, skip, len)?;
    let begin = out.len();
    // The library panics if there is no memory.
    let mut decoder = caught(|| Decompress::new(false)).ok_or(NoMemory)?;
    let mut used = 0;
    loop {
        if out.len() == out.capacity() {
            if out.len() - begin >= MOST {
                return Ok(None);
            }
            out.try_reserve(GROWTH).map_err(|_| NoMemory)?;
        }
        let before = (used, out.len());
        let status = decoder.decompress_vec(&stream[used..], out);
        used = usize::try_from(decoder.total_in()).unwrap_or(usize::MAX);
        match status {
            Ok(Status::StreamEnd) => {
                let whole = used == stream.len();
                return Ok(whole.then(|| checksum(&stream[HEADER.len()..])));
            }
            Ok(Status::MemNeeded) => return Err(NoMemory),
            Ok(_) if (used, out.len()) != before => {}
            Ok(_) | Err(_) => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compressed::bzip2::Bzip2Encoder;
    use crate::compressed::frame::Encode;

    #[test]
    fn the_only_block_of_a_stream_is_that_stream_again() {
        let plain = swath_reference::bytes(1, 10_000);
        let mut packed = Vec::new();
        Bzip2Encoder::new(9).unwrap().encode(&plain, &mut packed).unwrap();
        // The end is within the last 11 bytes, and only one length is right.
        let bits = 8 * (packed.len() as u64 - 4);
        let mut found = 0;
        for len in bits - 90..=bits - 80 {
            let mut out = Vec::new();
            if let Some(checksum) = decode(&packed[4..], 0, len, &mut out).unwrap() {
                assert_eq!(out, plain);
                assert_eq!(checksum.to_be_bytes(), packed[10..14]);
                found += 1;
            }
        }
        assert_eq!(found, 1);
        assert_eq!(decode(&packed[4..], 0, 79, &mut Vec::new()), Ok(None));
    }
}
