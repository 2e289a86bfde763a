//! Words between runs of blanks: spaces, tabs and carriage returns.
//!
//! ```text
//! text     ··1.5···2\r\n·-3··4\n
//! words    ··###···#····##··#·      one bit for each byte that is neither a blank nor a newline
//! starts     2     8     13  17     ones after a zero
//! ends          5   9      15 18    zeros after a one
//! ```

use super::{FieldEnds, padded};
use crate::level::{Level, detected};
use crate::masks::{CHUNK, Kernel, Masks, run};

/// The kind of lines in a text of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordLines {
    /// The number of `\n`.
    pub newlines: u64,
    /// Whether a line has no word, or one whose first word begins with a comment.
    pub odd: bool,
    /// Whether words are separated by anything but one space, or there is a blank before or after
    /// the words of a line.
    pub loose: bool,
    /// Whether there is a carriage return elsewhere than at the end of a line.
    pub lone_return: bool,
}

impl WordLines {
    /// Inspects the lines of `text`, which starts at the beginning of a line.
    ///
    /// ```
    /// use swath_simd::WordLines;
    ///
    /// let lines = WordLines::of(b" 1  2\n 3 \t4\n", Some(b'#'));
    /// assert_eq!((lines.newlines, lines.odd, lines.loose), (2, false, true));
    /// assert!(WordLines::of(b"1 2\n  # 3\n", Some(b'#')).odd);
    /// ```
    #[must_use]
    pub fn of(text: &[u8], comment: Option<u8>) -> Self {
        run(detected(), WordScan { text, comment })
    }

    /// Like [`of`](Self::of), with the kernel of one `level`, to compare levels.
    ///
    /// # Panics
    ///
    /// If `level` is not [available](Level::available).
    #[must_use]
    pub fn of_at(level: Level, text: &[u8], comment: Option<u8>) -> Self {
        run(level.detected(), WordScan { text, comment })
    }
}

/// The positions of words and of line ends, in order; the memory is reused from one text to the
/// next.
#[derive(Clone, Debug, Default)]
pub struct WordPlaces {
    /// The first bytes of words.
    pub starts: FieldEnds,
    /// The bytes after their last bytes.
    pub ends: FieldEnds,
    /// The newlines.
    pub newlines: FieldEnds,
}

impl WordPlaces {
    /// Removes all positions.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.ends.clear();
        self.newlines.clear();
    }

    /// Adds the positions in `text`, starting at `from`. A word that began before `from` has an end
    /// and no start; a word that continues after the text has a start and no end.
    ///
    /// # Panics
    ///
    /// If `text` has 4 GiB or more.
    pub fn find(&mut self, text: &[u8], from: usize) {
        run(detected(), WordSearch { places: self, text, from });
    }

    /// Like [`find`](Self::find), with the kernel of one `level`, to compare levels.
    ///
    /// # Panics
    ///
    /// If `level` is not [available](Level::available).
    pub fn find_at(&mut self, level: Level, text: &[u8], from: usize) {
        run(level.detected(), WordSearch { places: self, text, from });
    }
}

/// The state that one chunk passes to the next.
struct Carry {
    /// 1 if a line begins there.
    begins: u64,
    /// 1 if the blanks before the first word of a line continue there.
    leads: u64,
    /// 1 if its last byte was a blank.
    blank: u64,
    /// 1 if that byte was a carriage return.
    returned: u64,
}

/// One bit per byte of a chunk for each finding.
#[derive(Default)]
struct WordMasks {
    newlines: u64,
    odd: u64,
    /// The class of the byte after the blanks before the first word of a line.
    after: u64,
    loose: u64,
    lone: u64,
}

#[inline(always)]
fn look(masks: impl Masks, chunk: &[u8; CHUNK], comment: u8, carry: &mut Carry) -> WordMasks {
    const TOP: usize = CHUNK - 1;
    let (newlines, returns) = (masks.equal(chunk, b'\n'), masks.equal(chunk, b'\r'));
    let spaces = masks.equal(chunk, b' ');
    let others = masks.equal(chunk, b'\t') | returns;
    let blanks = spaces | others;
    let begins = newlines << 1 | carry.begins;
    // Carries run through the blanks at the beginning of a line, to the byte after them.
    let (sum, leads) = blanks.overflowing_add(begins & blanks | carry.leads);
    let after = sum & !blanks;
    let first = begins & !blanks | after;
    let after_blank = blanks << 1 | carry.blank;
    let after_return = returns << 1 | carry.returned;
    *carry = Carry {
        begins: newlines >> TOP,
        leads: u64::from(leads),
        blank: blanks >> TOP,
        returned: returns >> TOP,
    };
    WordMasks {
        newlines,
        odd: first & (newlines | masks.equal(chunk, comment)),
        after,
        loose: others | spaces & begins | (spaces | newlines) & after_blank,
        lone: after_return & !(newlines | returns),
    }
}

/// Inspects the lines of a text.
struct WordScan<'t> {
    text: &'t [u8],
    comment: Option<u8>,
}

impl Kernel for WordScan<'_> {
    type Output = WordLines;

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> WordLines {
        let Self { text, comment } = self;
        let comment = comment.unwrap_or(b'\n');
        let mut carry = Carry { begins: 1, leads: 0, blank: 0, returned: 0 };
        let mut all = WordMasks::default();
        let mut newlines = 0;
        let (chunks, rest) = text.as_chunks::<CHUNK>();
        for chunk in chunks {
            let seen = look(masks, chunk, comment, &mut carry);
            newlines += u64::from(seen.newlines.count_ones());
            all.odd |= seen.odd;
            all.loose |= seen.loose;
            all.lone |= seen.lone;
        }
        // The last line may consist of blanks only.
        let ends_blank = text.last().is_some_and(|last| b" \t\r".contains(last));
        let end = 1_u64 << rest.len();
        let there = end - 1;
        let seen = look(masks, &padded(rest), comment, &mut carry);
        newlines += u64::from((seen.newlines & there).count_ones());
        WordLines {
            newlines,
            odd: all.odd | seen.odd & there | seen.after & end != 0,
            loose: all.loose | seen.loose & there != 0 || ends_blank,
            lone_return: all.lone | seen.lone & there != 0,
        }
    }
}

/// Finds words and newlines starting at a position.
struct WordSearch<'t> {
    places: &'t mut WordPlaces,
    text: &'t [u8],
    from: usize,
}

impl Kernel for WordSearch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { places, text, from } = self;
        assert!(u32::try_from(text.len()).is_ok(), "positions have 32 bits");
        let is_word = |byte: &u8| !b" \t\r\n".contains(byte);
        let mut inside = u64::from(from > 0 && is_word(&text[from - 1]));
        let text = &text[from..];
        for list in [&mut places.starts, &mut places.ends, &mut places.newlines] {
            list.reserve(text.len());
        }
        let mut base = u32::try_from(from).unwrap_or(u32::MAX);
        let mut step = |chunk: &[u8; CHUNK], there: u64| {
            let newlines = masks.equal(chunk, b'\n');
            let blanks = masks.equal(chunk, b' ')
                | masks.equal(chunk, b'\t')
                | masks.equal(chunk, b'\r');
            let words = !(blanks | newlines);
            let after_word = words << 1 | inside;
            places.starts.push_all(masks, words & !after_word & there, base);
            places.ends.push_all(masks, !words & after_word & there, base);
            places.newlines.push_all(masks, newlines & there, base);
            inside = words >> (CHUNK - 1);
            base += 64;
        };
        let (chunks, rest) = text.as_chunks::<CHUNK>();
        for chunk in chunks {
            step(chunk, u64::MAX);
        }
        step(&padded(rest), (1 << rest.len()) - 1);
    }
}
