//! Several copies of a file, some bytes of which cannot be read: the expected result.

/// A copy: the byte at each offset, `None` if it cannot be read. A missing copy is empty.
pub type Copy = Vec<Option<u8>>;

/// Returns the bytes of one chunk of a copy, if all of them can be read.
fn chunk_of(copy: &Copy, start: usize, end: usize) -> Option<Vec<u8>> {
    if end > copy.len() {
        return None;
    }
    copy[start..end].iter().copied().collect()
}

/// Whether `copies`, compared with the right bytes chunk by chunk, provide them: each chunk is
/// right in at least one copy.
#[must_use]
pub fn is_readable_by_manifest(right: &[u8], copies: &[Copy], chunk_size: usize) -> bool {
    let mut start = 0;
    while start < right.len() {
        let end = right.len().min(start + chunk_size);
        let is_right = |copy: &&Copy| {
            chunk_of(copy, start, end).is_some_and(|bytes| bytes == right[start..end])
        };
        if !copies.iter().any(|copy| is_right(&copy)) {
            return false;
        }
        start = end;
    }
    true
}

/// Returns the bytes that more than half of all copies agree on in each chunk, or `None` if
/// there is no such majority. `len` is the length of the file.
#[must_use]
pub fn by_vote(copies: &[Copy], len: usize, chunk_size: usize) -> Option<Vec<u8>> {
    let quorum = copies.len() / 2 + 1;
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let (start, end) = (bytes.len(), len.min(bytes.len() + chunk_size));
        let chunks: Vec<_> =
            copies.iter().filter_map(|copy| chunk_of(copy, start, end)).collect();
        let votes = |chunk: &Vec<u8>| chunks.iter().filter(|other| *other == chunk).count();
        let winner = chunks.iter().find(|chunk| votes(chunk) >= quorum)?;
        bytes.extend_from_slice(winner);
    }
    Some(bytes)
}

/// Returns the indices of the chunks of `copy` that differ from the right bytes.
#[must_use]
pub fn bad_chunks(right: &[u8], copy: &Copy, chunk_size: usize) -> Vec<usize> {
    let mut bad = Vec::new();
    for (index, chunk) in right.chunks(chunk_size).enumerate() {
        let start = index * chunk_size;
        if chunk_of(copy, start, start + chunk.len()).as_deref() != Some(chunk) {
            bad.push(index);
        }
    }
    bad
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(bytes: &[u8]) -> Copy {
        bytes.iter().map(|&byte| (byte != b'.').then_some(byte)).collect()
    }

    #[test]
    fn examples_done_by_hand() {
        let copies = [copy(b"abcdef"), copy(b"ab.def"), copy(b"abXd")];
        assert_eq!(by_vote(&copies, 6, 2).as_deref(), None, "one readable c, one X");
        let copies = [copy(b"abcdef"), copy(b"abcdXf"), copy(b"..cdef")];
        assert_eq!(by_vote(&copies, 6, 2).as_deref(), Some(&b"abcdef"[..]));
        assert!(is_readable_by_manifest(b"abcdef", &copies[1..], 2));
        assert!(!is_readable_by_manifest(b"abcdef", &copies[1..], 6));
        assert_eq!(bad_chunks(b"abcdef", &copies[1], 2), [2]);
        assert_eq!(bad_chunks(b"abcdef", &copy(b"abc"), 2), [1, 2]);
        assert_eq!(bad_chunks(b"", &copy(b""), 2), []);
    }
}
