//! The measured cases, by name.

/// Bytes of a short file: enough for four workers.
pub(super) const SHORT: u64 = 16 << 20;
/// Lengths that may count as small.
pub(super) const SMALL: [u64; 4] = [128 << 10, 256 << 10, 512 << 10, 1 << 20];

/// A case to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TuneCase {
    Warm,
    WarmShort,
    WarmStream,
    Cold,
    ColdShort,
    ColdStream,
    ColdSum,
    Direct,
    DirectShort,
    Once,
    OnceShort,
    OnceSum,
    /// Reads of this many bytes.
    Small(u64),
    /// Reads of this many bytes from the device.
    SmallCold(u64),
    FilesWarm,
    FilesCold,
    Copies,
    CopiesWarm,
}
