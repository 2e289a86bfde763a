//! A block of whole records.

/// Some neighbouring records.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Block<'b> {
    /// Counted from the start of the extent; the same in every run over the same file with the
    /// same block size. Numbers in which no record begins are left out.
    pub index: u64,
    /// Of its first byte, in the file.
    pub offset: u64,
    /// Whole records, each with its delimiter, if it has one.
    pub bytes: &'b [u8],
}
