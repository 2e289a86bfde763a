//! Records, byte by byte.

/// The rule that separates records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After each byte of this value.
    Byte(u8),
    /// After this many bytes.
    Fixed(usize),
    /// After each delimiter that is not between two quotes.
    Quoted {
        /// The byte that opens and closes quotes.
        quote: u8,
        /// The byte that ends a record.
        delimiter: u8,
    },
}

/// Returns the records of `bytes`, each with its delimiter, if it has one.
///
/// # Errors
///
/// The offset of an unclosed quote, or of a last record that is too short.
pub fn split(bytes: &[u8], cut: Cut) -> Result<Vec<&[u8]>, usize> {
    let mut records = Vec::new();
    let mut start = 0;
    let mut opened = None;
    for at in 0..bytes.len() {
        let ends = match cut {
            Cut::Byte(delimiter) => bytes[at] == delimiter,
            Cut::Fixed(width) => at + 1 - start == width,
            Cut::Quoted { quote, .. } if bytes[at] == quote => {
                opened = if opened.is_none() { Some(at) } else { None };
                false
            }
            Cut::Quoted { delimiter, .. } => opened.is_none() && bytes[at] == delimiter,
        };
        if ends {
            records.push(&bytes[start..=at]);
            start = at + 1;
        }
    }
    if let Some(opened) = opened {
        return Err(opened);
    }
    if start < bytes.len() {
        if let Cut::Fixed(_) = cut {
            return Err(start);
        }
        records.push(&bytes[start..]);
    }
    Ok(records)
}

/// Adjacent records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The number of the block, from 0; blocks in which no record begins are skipped.
    pub index: u64,
    /// The offset of its first byte.
    pub offset: u64,
    /// The bytes of whole records.
    pub bytes: Vec<u8>,
}

/// Returns the records of `bytes` in blocks of `size` bytes: each record belongs to the block in
/// which it begins.
///
/// # Errors
///
/// Like [`split`].
pub fn blocks(bytes: &[u8], cut: Cut, size: usize) -> Result<Vec<Block>, usize> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut offset = 0;
    for record in split(bytes, cut)? {
        let index = (offset / size) as u64;
        match blocks.last_mut() {
            Some(last) if last.index == index => last.bytes.extend_from_slice(record),
            _ => blocks.push(Block { index, offset: offset as u64, bytes: record.to_vec() }),
        }
        offset += record.len();
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: Cut = Cut::Byte(b'\n');
    const CSV: Cut = Cut::Quoted { quote: b'"', delimiter: b'\n' };

    #[test]
    fn records_are_those_found_by_hand() {
        let split = |text: &'static str, cut| {
            let records = split(text.as_bytes(), cut)?;
            Ok(records.into_iter().map(|record| record.escape_ascii().to_string()).collect())
        };
        let is = |records: &[&str]| Ok(records.iter().map(|&record| record.into()).collect());
        assert_eq!(split("", LINES), is(&[]));
        assert_eq!(split("a\n\nb", LINES), is(&["a\\n", "\\n", "b"]));
        assert_eq!(split("a\nb\n", LINES), is(&["a\\n", "b\\n"]));
        assert_eq!(split("abcd", Cut::Fixed(2)), is(&["ab", "cd"]));
        assert_eq!(split("abc", Cut::Fixed(2)), Err::<Vec<String>, _>(2));
        assert_eq!(split("a,x\nb\n", CSV), is(&["a,x\\n", "b\\n"]));
        let quoted = is(&["a,\\\"x\\n\\\"\\\"\\n\\\"\\n", "b"]);
        assert_eq!(split("a,\"x\n\"\"\n\"\nb", CSV), quoted);
        assert_eq!(split("ab\"\"\"\n", CSV), Err(4));
    }

    #[test]
    fn a_record_belongs_to_the_block_in_which_it_begins() {
        let block =
            |index, offset, bytes: &[u8]| Block { index, offset, bytes: bytes.to_vec() };
        let found = blocks(b"aa\nbbbbbb\n\nc", LINES, 3).expect("whole");
        assert_eq!(
            found,
            [block(0, 0, b"aa\n"), block(1, 3, b"bbbbbb\n"), block(3, 10, b"\nc")]
        );
    }
}
