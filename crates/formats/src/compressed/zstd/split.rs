//! Finds the frames of a zstd stream, and decodes those that are too long for one worker.

use zstd::zstd_safe::{DCtx, InBuffer, OutBuffer};

use super::frame::{FrameHeader, FrameWalk, MOST_HEADER, Start, Walked, start};
use super::wrong;
use crate::compressed::supply::{PackedSupply, no_memory};
use crate::compressed::work::{
    EncodedFrames, MOST_DECODED, MOST_ENCODED, STEP_IN_ORDER, StreamSplit, Work, WorkTally,
};
use crate::error::{Error, FormatReason, Result};
use crate::spare::Spare;

pub(crate) struct ZstdSplitter<'s> {
    supply: PackedSupply,
    spare: &'s Spare<Vec<u8>>,
    context: Option<DCtx<'static>>,
    /// The start of the frame being decoded here.
    long: Option<u64>,
    frames: u64,
}

impl<'s> ZstdSplitter<'s> {
    pub(crate) fn new(supply: PackedSupply, spare: &'s Spare<Vec<u8>>) -> Self {
        Self { supply, spare, context: None, long: None, frames: 0 }
    }

    /// Returns the header of the next frame; `None` at the end of the stream.
    fn header(&mut self) -> Result<Option<FrameHeader>> {
        loop {
            let offset = self.supply.offset();
            let head = self.supply.peek(MOST_HEADER)?;
            if head.is_empty() {
                return Ok(None);
            }
            let what = match start(head) {
                Start::Frame(header) if header.dictionary == 0 => return Ok(Some(header)),
                Start::Frame(header) => return Err(self.needs_dictionary(header.dictionary)),
                Start::Short => return Err(self.supply.truncated(offset, "frame")),
                Start::Skippable(len) if self.supply.skip(len)? == len => continue,
                Start::Skippable(_) => {
                    return Err(self.supply.truncated(offset, "skippable frame"));
                }
                Start::Foreign => "this is not the start of a zstd frame",
                Start::Reserved => "the frame's header has reserved bits set",
            };
            return Err(self.supply.corrupt(offset, what));
        }
    }

    fn needs_dictionary(&self, dictionary: u32) -> Error {
        let what = format!("the frame needs the dictionary {dictionary}");
        Error::decompressing(self.supply.path(), FormatReason::Unsupported, what)
            .at(self.supply.offset())
            .hint("decompress it with `zstd -d -D DICTIONARY`")
    }

    /// Walks to the end of the frame; returns its length and the most bytes it decodes to. `None`
    /// if it is too long for one worker.
    fn walk(&mut self, header: FrameHeader) -> Result<Option<(usize, u64)>> {
        let offset = self.supply.offset();
        let mut walk = FrameWalk::new(header);
        let mut needs = header.len;
        while needs <= MOST_ENCODED && walk.decoded() <= MOST_DECODED as u64 {
            let frame = self.supply.peek(needs)?;
            if frame.len() < needs {
                return Err(self.supply.truncated(offset, "frame"));
            }
            match walk.go_on(frame) {
                Walked::Needs(more) => needs = more,
                Walked::Whole { len, decoded } if decoded <= MOST_DECODED as u64 => {
                    return Ok(Some((len, decoded)));
                }
                Walked::Whole { .. } => break,
                Walked::Corrupt(at) => {
                    let at = offset + at as u64;
                    return Err(self
                        .supply
                        .corrupt(at, "this is not the start of a zstd block"));
                }
            }
        }
        Ok(None)
    }

    /// Decodes the next bytes of the long frame at `offset`.
    fn go_on(&mut self, offset: u64) -> Result<Work> {
        let mut bytes = self.spare.buffer();
        let no_memory = || no_memory(self.supply.path());
        bytes.try_reserve(STEP_IN_ORDER).map_err(|_| no_memory())?;
        if self.context.is_none() {
            self.context = DCtx::try_create();
        }
        let Some(context) = &mut self.context else { return Err(no_memory()) };
        while self.long.is_some() && bytes.len() < STEP_IN_ORDER {
            let packed = self.supply.some()?;
            if packed.is_empty() {
                return Err(self.supply.truncated(offset, "frame"));
            }
            let before = bytes.len();
            let mut input = InBuffer::around(packed);
            let mut output = OutBuffer::around_pos(&mut bytes, before);
            let outcome = context.decompress_stream(&mut output, &mut input);
            let used = input.pos();
            match outcome {
                Ok(0) => self.long = None,
                Ok(_) => {}
                Err(code) => return Err(wrong(code).into_error(self.supply.path(), offset)),
            }
            self.supply.consume(used);
        }
        Ok(Work::Decoded(bytes))
    }
}

impl StreamSplit for ZstdSplitter<'_> {
    fn next(&mut self) -> Result<Option<Work>> {
        if let Some(offset) = self.long {
            return self.go_on(offset).map(Some);
        }
        let Some(header) = self.header()? else { return Ok(None) };
        let offset = self.supply.offset();
        self.frames += 1;
        let Some((len, most)) = self.walk(header)? else {
            self.long = Some(offset);
            return self.go_on(offset).map(Some);
        };
        let mut bytes = self.spare.buffer();
        self.supply.take(len, &mut bytes)?;
        // The size in the header counts only as far as the blocks confirm it.
        let most = header.content.unwrap_or(most).min(most);
        let most = usize::try_from(most).unwrap_or(MOST_DECODED);
        Ok(Some(Work::Encoded(EncodedFrames { offset, bytes, most, cut: None })))
    }

    fn tally(&self) -> WorkTally {
        let bytes_in = self.supply.offset();
        WorkTally { bytes_in, frames: self.frames, ..WorkTally::default() }
    }
}
