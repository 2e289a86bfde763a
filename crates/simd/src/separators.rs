//! The ends of lines and of their fields.
//!
//! ```text
//! text    1.5,2.25\n-3,4\n
//! bits    ···1····1··1·1      one for each byte, 64 at a time
//! ends    3, 8, 11, 13        the positions of the ones
//! ```

mod words;

use crate::level::{Level, detected};
use crate::masks::{CHUNK, Kernel, Masks, run};
pub use words::{WordLines, WordPlaces};

/// The byte that ends fields, and one that starts a comment at the beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// The byte between the fields of a line.
    pub delimiter: u8,
    /// The byte that begins a line without data.
    pub comment: Option<u8>,
    /// Bytes that make a text odd at any position, such as quotes.
    pub anywhere: [Option<u8>; 2],
}

/// The kind of lines in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The number of `\n`.
    pub newlines: u64,
    /// Whether a line begins with a comment, a space or any lower byte that is not a delimiter: it
    /// may be empty, or not contain data. Also whether a byte of `anywhere` occurs.
    pub odd: bool,
}

impl Lines {
    /// Inspects the lines of `text`, which starts at the beginning of a line.
    ///
    /// ```
    /// use swath_simd::{Lines, Marks};
    ///
    /// let marks = Marks { delimiter: b',', comment: Some(b'#'), anywhere: [Some(b'"'), None] };
    /// assert_eq!(Lines::of(b"1,2\n3,4\n", marks), Lines { newlines: 2, odd: false });
    /// assert_eq!(Lines::of(b"1,2\n\n3,4\n", marks), Lines { newlines: 3, odd: true });
    /// assert_eq!(Lines::of(b"1,\"2\"\n", marks), Lines { newlines: 1, odd: true });
    /// ```
    #[must_use]
    pub fn of(text: &[u8], marks: Marks) -> Self {
        run(detected(), LineScan { text, marks })
    }

    /// Like [`of`](Self::of), with the kernel of one `level`, to compare levels.
    ///
    /// # Panics
    ///
    /// If `level` is not [available](Level::available).
    #[must_use]
    pub fn of_at(level: Level, text: &[u8], marks: Marks) -> Self {
        run(level.detected(), LineScan { text, marks })
    }
}

/// The ends of fields, in order; the memory is reused from one text to the next.
#[derive(Clone, Debug, Default)]
pub struct FieldEnds {
    /// At least the length of the longest text, plus one chunk.
    slots: Vec<u32>,
    len: usize,
}

impl FieldEnds {
    /// Removes all positions.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a position at the end.
    pub fn push(&mut self, position: u32) {
        self.reserve(1);
        self.slots[self.len] = position;
        self.len += 1;
    }

    /// Adds the positions of `delimiter` and of `
    /// ` in `text`, starting at `from`.
    ///
    /// # Panics
    ///
    /// If `text` has 4 GiB or more.
    pub fn find(&mut self, text: &[u8], from: usize, delimiter: u8) {
        run(detected(), EndSearch { positions: self, text, from, delimiter });
    }

    /// Like [`find`](Self::find), with the kernel of one `level`, to compare levels.
    ///
    /// # Panics
    ///
    /// If `level` is not [available](Level::available).
    pub fn find_at(&mut self, level: Level, text: &[u8], from: usize, delimiter: u8) {
        run(level.detected(), EndSearch { positions: self, text, from, delimiter });
    }

    /// Adds the positions of set bits.
    #[inline(always)]
    pub(crate) fn push_all(&mut self, masks: impl Masks, mask: u64, base: u32) {
        let room = self.slots[self.len..].first_chunk_mut::<CHUNK>();
        masks.places(mask, base, room.expect("there is always a chunk more"));
        self.len += mask.count_ones() as usize;
    }

    /// Adds the positions of set bits, mostly one or none.
    #[inline(always)]
    pub(crate) fn push_few(&mut self, mask: u64, base: u32) {
        let mut left = mask;
        while left != 0 {
            self.slots[self.len] = base + left.trailing_zeros();
            self.len += 1;
            left &= left - 1;
        }
    }

    /// Makes room for `count` more, followed by a whole chunk.
    pub(crate) fn reserve(&mut self, count: usize) {
        let wanted = self.len + count + CHUNK;
        if self.slots.len() < wanted {
            self.slots.resize(wanted, 0);
        }
    }

    /// Returns the positions.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.slots[..self.len]
    }

    /// Returns the positions, to be shifted.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u32] {
        &mut self.slots[..self.len]
    }
}

/// Inspects the lines of a text.
struct LineScan<'t> {
    text: &'t [u8],
    marks: Marks,
}

impl Kernel for LineScan<'_> {
    type Output = Lines;

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> Lines {
        // A line that begins with a delimiter is data even if the delimiter is a space or a tab.
        let comment = self.marks.comment.unwrap_or(b'\n');
        let [one, other] = self.marks.anywhere;
        // If both are equal, or there is only one, the second search is redundant.
        let is_any = if one.or(other).is_some() { u64::MAX } else { 0 };
        let one = one.or(other).unwrap_or(0);
        let other = other.unwrap_or(one);
        let look = |chunk: &[u8; CHUNK]| {
            let blank = masks.at_most(chunk, b' ') & !masks.equal(chunk, self.marks.delimiter);
            let anywhere = (masks.equal(chunk, one) | masks.equal(chunk, other)) & is_any;
            (masks.equal(chunk, b'\n'), blank | masks.equal(chunk, comment), anywhere)
        };
        let (mut newlines, mut odd, mut begins) = (0, 0, 1);
        let (chunks, rest) = self.text.as_chunks::<CHUNK>();
        for chunk in chunks {
            let (ends, other, anywhere) = look(chunk);
            newlines += u64::from(ends.count_ones());
            odd |= (ends << 1 | begins) & other | anywhere;
            begins = ends >> (CHUNK - 1);
        }
        let (ends, other, anywhere) = look(&padded(rest));
        let there = (1_u64 << rest.len()) - 1;
        newlines += u64::from((ends & there).count_ones());
        odd |= ((ends << 1 | begins) & other | anywhere) & there;
        Lines { newlines, odd: odd != 0 }
    }
}

/// Finds the ends of fields and lines starting at a position.
struct EndSearch<'t> {
    positions: &'t mut FieldEnds,
    text: &'t [u8],
    from: usize,
    delimiter: u8,
}

impl Kernel for EndSearch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { positions, text, from, delimiter } = self;
        assert!(u32::try_from(text.len()).is_ok(), "positions have 32 bits");
        let text = &text[from..];
        positions.reserve(text.len());
        let mut base = u32::try_from(from).unwrap_or(u32::MAX);
        let look =
            |chunk: &[u8; CHUNK]| masks.equal(chunk, delimiter) | masks.equal(chunk, b'\n');
        let (chunks, rest) = text.as_chunks::<CHUNK>();
        for chunk in chunks {
            positions.push_all(masks, look(chunk), base);
            base += 64;
        }
        let there = (1_u64 << rest.len()) - 1;
        positions.push_all(masks, look(&padded(rest)) & there, base);
    }
}

/// Returns a chunk that starts with the remaining bytes, which are fewer.
#[inline(always)]
fn padded(rest: &[u8]) -> [u8; CHUNK] {
    let mut chunk = [0; CHUNK];
    chunk[..rest.len()].copy_from_slice(rest);
    chunk
}
