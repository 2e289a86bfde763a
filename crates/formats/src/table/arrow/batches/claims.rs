//! Checks the claimed lengths of compressed buffers before memory is taken for them.
//!
//! ```text
//! buffer   length after decompression, or -1 for bytes that are not compressed │ LZ4 frame or zstd
//! ```

use arrow_ipc::{CompressionType, Message};

use crate::error::FormatReason;
use crate::memory::room_for;
use crate::table::arrow::read::Refusal;

/// The most bytes that one byte of LZ4 decompresses to: each byte that extends a length adds up to
/// 255.
const MOST_LZ4: u64 = 255;
/// The most bytes that one byte of zstd decompresses to: a run of 128 KiB takes four bytes.
const MOST_ZSTD: u64 = 32 << 10;

/// Checks the buffers of a message in its body, and that their sum fits into memory.
pub(super) fn check(message: Message<'_>, body: &[u8]) -> Result<(), Refusal> {
    let of_dictionary = || message.header_as_dictionary_batch().and_then(|it| it.data());
    let Some(batch) = message.header_as_record_batch().or_else(of_dictionary) else {
        return Ok(());
    };
    let Some(compression) = batch.compression() else { return Ok(()) };
    let most = match compression.codec() {
        CompressionType::LZ4_FRAME => MOST_LZ4,
        CompressionType::ZSTD => MOST_ZSTD,
        _ => {
            let detail = "its values are compressed in an unknown way".to_owned();
            let hint = "write it with LZ4, with zstd or without compression";
            return Err(Refusal { reason: FormatReason::Unsupported, detail, hint });
        }
    };
    let mut sum = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok();
        let part = start.and_then(|start| body.get(start..));
        let part = part.zip(usize::try_from(buffer.length()).ok());
        let part = part.and_then(|(part, len)| part.get(..len));
        let part = part.ok_or_else(|| damaged("a buffer lies outside of its batch"))?;
        let Some((claim, packed)) = part.split_first_chunk() else {
            if part.is_empty() {
                continue;
            }
            return Err(damaged("a compressed buffer has no length"));
        };
        match i64::from_le_bytes(*claim) {
            -1 => {}
            claim => match u64::try_from(claim) {
                Ok(claim) if claim <= (packed.len() as u64).saturating_mul(most) => {
                    sum = sum.saturating_add(claim);
                }
                _ => return Err(damaged("a buffer is compressed to less than is possible")),
            },
        }
    }
    room_for(usize::try_from(sum).unwrap_or(usize::MAX)).map_err(|_| {
        let detail = format!("its buffers become {sum} bytes, and there is not enough memory");
        let hint = "write it in smaller batches";
        Refusal { reason: FormatReason::OutOfMemory, detail, hint }
    })
}

fn damaged(detail: &str) -> Refusal {
    let detail = format!("the Arrow data are damaged: {detail}");
    Refusal { reason: FormatReason::Malformed, detail, hint: "" }
}
