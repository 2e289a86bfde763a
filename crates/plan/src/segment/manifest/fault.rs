//! The faults of a manifest, and their places.

use core::fmt;

/// The fault of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It does not start with the magic number.
    Magic,
    /// A version unknown to this library.
    Version(u32),
    /// Flags unknown to this version.
    Flags(u32),
    /// It ends before its announced contents.
    Truncated,
    /// Bytes follow its end.
    Trailing,
    /// The checksum over all bytes is wrong.
    Checksum,
    /// The total differs from the sum of the extents.
    Total,
    /// The sum of the extents does not fit 64 bits.
    TotalOverflow,
    /// More segments than an extent can refer to.
    SegmentCount,
    /// A name that must not be opened, and the reason.
    Name(&'static str),
    /// Two segments have the same name.
    NameTwice,
    /// An extent refers to a segment that does not exist.
    SegmentIndex(u32),
    /// An extent is empty.
    EmptyExtent,
    /// An extent ends past 64 bits.
    ExtentOverflow,
    /// An extent ends after the end of its segment.
    BeyondSegment,
    /// An extent shares bytes with another one.
    Overlap,
    /// An extent without a checksum has a value in that field.
    UnusedChecksum,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Magic => "not a manifest: it does not start with SWATHMAN",
            Self::Version(version) => {
                return write!(f, "this program does not know version {version}");
            }
            Self::Flags(flags) => {
                return write!(f, "this program does not know flags {flags:#x}");
            }
            Self::Truncated => "it ends before the segments and extents that it announces",
            Self::Trailing => "more bytes follow the end of the manifest",
            Self::Checksum => "the checksum of the manifest is wrong",
            Self::Total => "the total length is not the sum of the extents",
            Self::TotalOverflow => "the sum of the extents does not fit 64 bits",
            Self::SegmentCount => "there are more segments than an extent can refer to",
            Self::Name(why) => return write!(f, "a segment's name {why}"),
            Self::NameTwice => "two segments have the same name",
            Self::SegmentIndex(index) => {
                return write!(f, "an extent refers to segment {index}, which does not exist");
            }
            Self::EmptyExtent => "an extent is empty",
            Self::ExtentOverflow => "an extent ends past 64 bits",
            Self::BeyondSegment => "an extent ends after the end of its segment",
            Self::Overlap => "an extent shares bytes with another one",
            Self::UnusedChecksum => {
                "an extent has a checksum, although it says that it has none"
            }
        })
    }
}

/// A manifest that is damaged or malicious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestError {
    fault: Fault,
    offset: u64,
}

impl ManifestError {
    pub(super) const fn new(fault: Fault, offset: usize) -> Self {
        Self { fault, offset: offset as u64 }
    }

    /// Returns the fault.
    pub const fn fault(&self) -> Fault {
        self.fault
    }

    /// Returns the offset of the fault in the manifest's encoding.
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}

/// For example `two segments have the same name (byte 51 of the manifest)`.
impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {} of the manifest)", self.fault, self.offset)
    }
}

impl core::error::Error for ManifestError {}
