//! Compressed streams, written and read by all cores, and readable from any position.
//!
//! ```text
//! input   |block    |block    |block |          cut at fixed sizes
//! frames  |frame|frame  |frame|index|           each is independent; written in order
//! ```
//!
//! Any worker can write and read an independent frame (zstd), member (gzip) or stream (bzip2), and
//! standard tools read a sequence of them as one file. Those tools cannot find the frames, though:
//! zstd has an index for that (the *seekable format*), gzip gets an index of our own in fields that
//! other tools skip, and bzip2's blocks are found by their marks.
//!
//! The output depends on neither the number of workers nor the way the input arrives.
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
//! | Bytes after the last frame | What happens, as with the standard tool |
//! | --- | --- |
//! | zstd | an error |
//! | gzip | zeros are skipped; anything else is skipped and noted |
//! | bzip2 | skipped and noted |
//!
//! BGZF ends with an empty block. If that is missing, the file may have been cut off after a block:
//! [`Decompressed::lacks_end`] reports it, and readers of text refuse the file.

mod ahead;
mod bzip2;
mod codec;
mod decode;
mod encode;
mod frame;
pub(crate) mod framing;
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

/// The largest block size: several workers can read whatever is written here.
pub const MOST_BLOCK: u64 = 32 << 20;
/// The smallest block size, so that a file does not consist of headers.
pub const LEAST_BLOCK: u64 = 4 << 10;

/// The format of a compressed stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Independent frames with checksums, followed by the standard seek table.
    Zstd,
    /// Independent members that record their size, followed by an index in empty members.
    Gzip,
    /// Blocked gzip, as used for genomes: members of at most 64 KiB.
    Bgzf,
    /// Independent streams of one block each.
    Bzip2,
}

impl Format {
    /// All formats, with their names on the command line.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("zstd", Self::Zstd),
        ("gzip", Self::Gzip),
        ("bgzf", Self::Bgzf),
        ("bzip2", Self::Bzip2),
    ];

    /// Detects the format from the first bytes of a stream. 18 bytes are enough; 4 suffice for all
    /// but BGZF.
    ///
    /// ```
    /// use swath_formats::compressed::Format;
    ///
    /// assert_eq!(Format::detect(b"\x28\xb5\x2f\xfd"), Some(Format::Zstd));
    /// assert_eq!(Format::detect(b"plain text"), None);
    /// ```
    pub fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // A skippable frame.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [0x1f, 0x8b, ..] => Some(if gzip::is_bgzf(head) { Self::Bgzf } else { Self::Gzip }),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// Whether a compressed file can begin like this and no text does. The letters of bzip2 alone
    /// are not enough.
    pub(crate) fn is_certain(head: &[u8]) -> bool {
        match Self::detect(head) {
            Some(Self::Bzip2) => {
                matches!(head.get(4..10), Some(b"1AY&SY" | b"\x17\x72\x45\x38\x50\x90"))
            }
            other => other.is_some(),
        }
    }

    /// Whether files of this format may begin with these few bytes.
    pub(crate) fn begins_with(self, bytes: &[u8]) -> bool {
        let signs: &[&[u8]] = match self {
            Self::Zstd => &[b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"],
            Self::Gzip | Self::Bgzf => &[b"\x1f\x8b"],
            Self::Bzip2 => &[b"BZh91AY&SY", b"BZh9\x17\x72\x45\x38\x50\x90"],
        };
        // The digit is the level, or a part of the number of a skippable frame.
        let is_same = |(at, (is, wanted)): (usize, (&u8, &u8))| match (self, at) {
            (Self::Bzip2, 3) => is.is_ascii_digit(),
            (Self::Zstd, 0) if *wanted == b'\x50' => is & 0xf0 == *wanted,
            _ => is == wanted,
        };
        let fits = |sign: &&[u8]| bytes.iter().zip(sign.iter()).enumerate().all(is_same);
        signs.iter().any(fits)
    }

    /// Whether a stream with these first bytes begins with a frame that must be decoded in order,
    /// like those of the usual tools: more workers would only pass it around.
    #[cfg(feature = "arrow")]
    pub(crate) fn is_in_order(head: &[u8]) -> bool {
        match Self::detect(head) {
            Some(Self::Zstd) => zstd::frame::is_long(head),
            Some(Self::Gzip | Self::Bgzf) => gzip::split::sized(head).is_none(),
            Some(Self::Bzip2) | None => false,
        }
    }

    /// Returns the format for the extension of a name: `.zst` or `.zstd`, `.gz`, `.bgz` or `.bz2`,
    /// in any case.
    ///
    /// ```
    /// use swath_formats::compressed::Format;
    ///
    /// assert_eq!(Format::of_name("a.csv.GZ".as_ref()), Some(Format::Gzip));
    /// assert_eq!(Format::of_name("a.csv".as_ref()), None);
    /// ```
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

    /// Returns the extension of its files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Zstd => "zst",
            Self::Gzip | Self::Bgzf => "gz",
            Self::Bzip2 => "bz2",
        }
    }

    /// Returns the levels of the format. gzip's are libdeflate's: higher ones take longer and give
    /// a smaller file. bzip2's are hundreds of kB of block size.
    pub fn levels(self) -> RangeInclusive<i32> {
        match self {
            Self::Zstd => 1..=22,
            Self::Gzip | Self::Bgzf => 1..=12,
            Self::Bzip2 => 1..=9,
        }
    }

    /// Returns the level that is used by default.
    pub fn default_level(self) -> i32 {
        match self {
            Self::Zstd => 3,
            Self::Gzip | Self::Bgzf => 6,
            Self::Bzip2 => 9,
        }
    }

    /// Returns the default number of input bytes per frame at `level`.
    ///
    /// Larger frames compress better; smaller ones give faster random access. Measured on archives
    /// of text and of programs: zstd frames of 8 MiB with a window of the same size are smaller
    /// than one stream of `zstd -3`, and gzip members of 1 MiB cost less than 0.1 %.
    pub fn default_block_size(self, level: i32) -> u64 {
        match self {
            Self::Zstd => 8 << 20,
            Self::Gzip => 1 << 20,
            Self::Bgzf => gzip::MOST_BGZF as u64,
            Self::Bzip2 => bzip2::block_len(level) as u64,
        }
    }

    /// Returns the block sizes that the format supports, in bytes.
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

    #[cfg(feature = "arrow")]
    #[test]
    fn a_stream_of_one_frame_is_told_by_its_first_bytes() {
        let known = b"\x28\xb5\x2f\xfd\xa4\0\0\0\x02rest";
        let long = b"\x28\xb5\x2f\xfd\xa4\x01\0\0\x02rest";
        let unknown = b"\x28\xb5\x2f\xfd\x04\x58rest of it";
        assert!(Format::is_in_order(long) && Format::is_in_order(unknown));
        assert!(Format::is_in_order(b"\x1f\x8b\x08\0\0\0\0\0\0\x03rest"));
        let bgzf = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0";
        for head in
            [&known[..], bgzf, b"BZh91AY&SY", b"\x5e\x2a\x4d\x18\x04\0\0\0rest", b"plain"]
        {
            assert!(!Format::is_in_order(head), "{head:?}");
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
