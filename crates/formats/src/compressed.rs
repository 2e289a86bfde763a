//! Compressed streams: written and read by all cores, and read from anywhere.
//!
//! ```text
//! input   |block    |block    |block |          cut at fixed sizes
//! frames  |frame|frame  |frame|index|           each stands alone; written in order
//! ```
//!
//! A frame (zstd), member (gzip) or stream (bzip2) that stands alone can be made and read by any
//! worker, and standard tools read one behind the other as one file. What they cannot do is find
//! the frames: zstd has an index for it (the *seekable format*), for gzip there is one of our own
//! in fields that other tools skip, and bzip2's blocks are found by their marks.
//!
//! The output does not depend on the count of workers, nor on how the input comes.
//!
//! ```
//! use swath_formats::compressed::{self, Format};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("passwd.zst");
//! let packed = compressed::compress("/etc/passwd", &path)?;
//! assert_eq!(packed.bytes_in, std::fs::metadata("/etc/passwd")?.len());
//!
//! let plain = folder.path().join("passwd");
//! let unpacked = compressed::decompress(&path, &plain)?;
//! assert_eq!(std::fs::read(plain)?, std::fs::read("/etc/passwd")?);
//! assert_eq!(unpacked.format, Format::Zstd);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | Input that goes on behind the last frame | What is done, as the standard tool does |
//! | --- | --- |
//! | zstd | an error |
//! | gzip | zeros are skipped; anything else is skipped and noted |
//! | bzip2 | skipped and noted |
//!
//! BGZF ends with an empty block. Where that is missing, the file may have been cut off after a block:
//! [`Decompressed::lacks_end`] says so, and readers of text refuse it.

mod bzip2;
mod codec;
mod decode;
mod encode;
mod frame;
mod gzip;
mod room;
mod seekable;
mod supply;
mod trim;
mod turns;
mod work;
mod zstd;

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

pub use decode::{DecompressOptions, Decompressed, decompress};
pub use encode::{CompressOptions, Compressed, compress};
pub use seekable::Seekable;

/// The most bytes of one block. Whatever is written here can be read by several workers.
pub const MOST_BLOCK: u64 = 32 << 20;
/// The fewest bytes of one block, so that frames are not all headers.
pub const LEAST_BLOCK: u64 = 4 << 10;

/// How a stream is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Independent frames with checksums, and the standard seek table behind them.
    Zstd,
    /// Independent members that carry their size, and an index in empty members behind them.
    Gzip,
    /// Blocked gzip, as genome tools use it: members of at most 64 KiB.
    Bgzf,
    /// Independent streams of one block.
    Bzip2,
}

impl Format {
    /// All of them, with the words of the command line.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("zstd", Self::Zstd),
        ("gzip", Self::Gzip),
        ("bgzf", Self::Bgzf),
        ("bzip2", Self::Bzip2),
    ];

    /// Tells the format from the first bytes of a stream; 18 are enough, and 4 for all but BGZF.
    pub fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // A skippable frame.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [0x1f, 0x8b, ..] => Some(match gzip::is_bgzf(head) {
                true => Self::Bgzf,
                false => Self::Gzip,
            }),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// The format that a name ends with: `.zst` or `.zstd`, `.gz`, `.bgz` or `.bz2`,
    /// in small or capital letters.
    pub fn of_name(name: &Path) -> Option<Self> {
        let end = name.extension()?.to_str()?.to_ascii_lowercase();
        match &end[..] {
            "zst" | "zstd" => Some(Self::Zstd),
            "gz" => Some(Self::Gzip),
            "bgz" => Some(Self::Bgzf),
            "bz2" => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// What its files' names end with, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Zstd => "zst",
            Self::Gzip | Self::Bgzf => "gz",
            Self::Bzip2 => "bz2",
        }
    }

    /// The levels it has. gzip's are libdeflate's: higher ones take longer for a smaller file.
    /// bzip2's are hundreds of kB of its block.
    pub fn levels(self) -> RangeInclusive<i32> {
        match self {
            Self::Zstd => 1..=22,
            Self::Gzip | Self::Bgzf => 1..=12,
            Self::Bzip2 => 1..=9,
        }
    }

    /// The level unless told otherwise.
    pub fn default_level(self) -> i32 {
        match self {
            Self::Zstd => 3,
            Self::Gzip | Self::Bgzf => 6,
            Self::Bzip2 => 9,
        }
    }

    /// Bytes of input in one frame unless told otherwise.
    ///
    /// Larger ones pack better, smaller ones are found faster: measured on archives of text and of
    /// programs, frames of 8 MiB with a window as large are smaller than one stream of `zstd -3`,
    /// and gzip members of 1 MiB cost less than 0.1 %.
    pub fn default_block_size(self, level: i32) -> u64 {
        match self {
            Self::Zstd => 8 << 20,
            Self::Gzip => 1 << 20,
            Self::Bgzf => gzip::MOST_BGZF as u64,
            Self::Bzip2 => bzip2::block_len(level) as u64,
        }
    }

    /// Sizes of a block that it can have.
    pub fn block_sizes(self) -> RangeInclusive<u64> {
        match self {
            Self::Bgzf => LEAST_BLOCK..=gzip::MOST_BGZF as u64,
            Self::Zstd | Self::Gzip | Self::Bzip2 => LEAST_BLOCK..=MOST_BLOCK,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(_, format)| format == self);
        f.write_str(word.map_or("compressed", |(word, _)| word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart_by_their_first_bytes() {
        for (head, format) in [
            (&b"\x28\xb5\x2f\xfd"[..], Some(Format::Zstd)),
            (b"\x5e\x2a\x4d\x18", Some(Format::Zstd)),
            (b"\x1f\x8b\x08\x00", Some(Format::Gzip)),
            (b"\x1f\x8b", Some(Format::Gzip)),
            (b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0", Some(Format::Bgzf)),
            (b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x08\0IG\x04\0\x1b\0\0\0", Some(Format::Gzip)),
            (b"BZh9", Some(Format::Bzip2)),
            (b"BZh0", None),
            (b"BZh", None),
            (b"plain", None),
            (b"", None),
        ] {
            assert_eq!(Format::detect(head), format, "{head:?}");
        }
    }

    #[test]
    fn what_is_chosen_unless_told_otherwise_is_allowed() {
        for &(word, format) in Format::WORDS {
            assert_eq!(format.to_string(), word);
            let level = format.default_level();
            assert!(format.levels().contains(&level), "{word}");
            for level in format.levels() {
                let size = format.default_block_size(level);
                assert!(format.block_sizes().contains(&size), "{word} {level}");
            }
        }
    }
}
