//! What is wrong with a manifest, and where.

use core::fmt;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It starts with something else.
    Magic,
    /// A version that this library does not know.
    Version(u32),
    /// Flags that this version does not know.
    Flags(u32),
    /// The bytes end before what they announce.
    Truncated,
    /// Bytes follow the end.
    Trailing,
    /// The checksum of the whole is another.
    Checksum,
    /// The total is not the sum of the extents.
    Total,
    /// The extents add up to more than 64 bits hold.
    TotalOverflow,
    /// More segments than an extent can name.
    SegmentCount,
    /// A name that must not be opened; the text says why.
    Name(&'static str),
    /// Two segments have one name.
    NameTwice,
    /// An extent of a segment that is not there.
    SegmentIndex(u32),
    /// An extent without a byte.
    EmptyExtent,
    /// An extent that ends beyond 64 bits.
    ExtentOverflow,
    /// An extent that ends behind its segment.
    BeyondSegment,
    /// An extent that shares bytes with another one.
    Overlap,
    /// A checksum where the extent says that it has none.
    UnusedChecksum,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Magic => "this is no manifest: it does not start with SWATHMAN",
            Self::Version(version) => {
                return write!(f, "version {version} is not known to this program");
            }
            Self::Flags(flags) => {
                return write!(f, "flags {flags:#x} are not known to this program");
            }
            Self::Truncated => "the bytes end before the segments and extents that they count",
            Self::Trailing => "more bytes follow the end of the manifest",
            Self::Checksum => "the checksum of the manifest is wrong",
            Self::Total => "the total length is not the sum of the extents",
            Self::TotalOverflow => "the extents add up to more than 64 bits hold",
            Self::SegmentCount => "there are more segments than an extent can name",
            Self::Name(why) => return write!(f, "a segment's name {why}"),
            Self::NameTwice => "two segments have the same name",
            Self::SegmentIndex(index) => {
                return write!(f, "an extent is of segment {index}, which is not there");
            }
            Self::EmptyExtent => "an extent has no byte",
            Self::ExtentOverflow => "an extent ends beyond 64 bits",
            Self::BeyondSegment => "an extent ends behind the end of its segment",
            Self::Overlap => "an extent shares bytes with another one",
            Self::UnusedChecksum => "an extent has a checksum and says that it has none",
        })
    }
}

/// A manifest that is damaged, or was made to harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestError {
    fault: Fault,
    offset: u64,
}

impl ManifestError {
    pub(super) const fn new(fault: Fault, offset: usize) -> Self {
        Self { fault, offset: offset as u64 }
    }

    /// What is wrong.
    pub const fn fault(&self) -> Fault {
        self.fault
    }

    /// The offset in the manifest's bytes of what is wrong.
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}

/// `two segments have the same name (byte 51 of the manifest)`.
impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {} of the manifest)", self.fault, self.offset)
    }
}

impl core::error::Error for ManifestError {}
