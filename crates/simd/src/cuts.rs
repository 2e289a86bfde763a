//! The ends of fields and records, if quotes may contain delimiters and newlines.
//!
//! ```text
//! text      a,"b,""c¶",d¶
//! quotes    ··1···11··1···          an odd number up to here: inside
//! inside    ··1111·111····
//! ends      ·1·········1·1          delimiters and newlines that are not inside
//! ```
//!
//! A byte after an odd number of quotes is inside, if quotes occur only at their usual places:
//! around fields, and doubled inside them. The search stops before the first 64 bytes in which a
//! quote is elsewhere, or a carriage return is not followed by a newline. The caller processes
//! those byte by byte.

use std::ops::Range;

use crate::find::{find, running_parity};
use crate::level::{Detected, Level, detected};
use crate::masks::{CHUNK, Kernel, Masks, run};
use crate::separators::FieldEnds;

/// The most bytes of a delimiter.
pub const LONGEST_DELIMITER: usize = 16;

/// The bytes with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutMarks<'d> {
    /// Ends a field that is not the last of its record; empty if there is one field. None of its
    /// bytes ends a line or is another mark, and if it has several, none is 0.
    pub delimiter: &'d [u8],
    /// Surrounds fields, and is doubled inside them.
    pub quote: Option<u8>,
    /// Does not occur in the searched text: the search stops before it.
    pub escape: Option<u8>,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// The end of the searched part.
    pub end: usize,
    /// Whether the search stopped because of the following bytes.
    pub is_stopped: bool,
    /// Whether a record ends in a carriage return and a newline.
    pub has_returns: bool,
}

/// The ends of fields and records, in order; the memory is reused.
#[derive(Clone, Debug, Default)]
pub struct Cuts {
    /// Positions of delimiters, that is, of their first bytes, and newlines outside quotes.
    pub ends: FieldEnds,
    /// Positions of newlines outside quotes.
    pub newlines: FieldEnds,
}

impl Cuts {
    /// Finds the ends of fields and records of `text` between `from`, where a record begins, and
    /// `to`. Replaces the previous result.
    ///
    /// ```
    /// use swath_simd::{CutMarks, Cuts};
    ///
    /// let mut cuts = Cuts::default();
    /// let marks = CutMarks { delimiter: b",", quote: Some(b'"'), escape: None };
    /// let searched = cuts.find(b"a,\"b,\n\"\nc\n", 0, 10, marks);
    /// assert_eq!(cuts.ends.as_slice(), [1, 7, 9]);
    /// assert_eq!(cuts.newlines.as_slice(), [7, 9]);
    /// assert_eq!((searched.end, searched.is_stopped), (10, false));
    /// ```
    ///
    /// # Panics
    ///
    /// If `text` has 4 GiB or more, `from` and `to` are not in order, or past its end, or the
    /// delimiter is too long.
    pub fn find(
        &mut self,
        text: &[u8],
        from: usize,
        to: usize,
        marks: CutMarks<'_>,
    ) -> Searched {
        self.search(detected(), text, from..to, marks)
    }

    /// Like [`find`](Self::find), with the kernel of one `level`, to compare levels.
    ///
    /// # Panics
    ///
    /// Like [`find`](Self::find), and if `level` is not [available](Level::available).
    pub fn find_at(
        &mut self,
        level: Level,
        text: &[u8],
        from: usize,
        to: usize,
        marks: CutMarks<'_>,
    ) -> Searched {
        self.search(level.detected(), text, from..to, marks)
    }

    fn search(
        &mut self,
        level: Detected,
        text: &[u8],
        range: Range<usize>,
        marks: CutMarks<'_>,
    ) -> Searched {
        match marks.delimiter.len() {
            0 | 1 => run(level, Search::<false> { cuts: self, text, range, marks }),
            _ => run(level, Search::<true> { cuts: self, text, range, marks }),
        }
    }
}

/// The state of the quotes of some lines, if they are at their usual places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoting {
    /// Whether the number of quotes is odd.
    pub is_odd: bool,
    /// Whether all are at usual places if the first line begins a record.
    pub is_plain: bool,
    /// Whether all are at usual places if the first line begins inside quotes.
    pub is_inverse: bool,
}

impl Quoting {
    /// Examines the quotes of `text`; uses only the quote and the delimiter of `marks`, at most one
    /// byte.
    ///
    /// ```
    /// use swath_simd::{CutMarks, Quoting};
    ///
    /// let marks = CutMarks { delimiter: b",", quote: Some(b'"'), escape: None };
    /// let found = Quoting::of(b"a,\"b\n", marks);
    /// assert_eq!((found.is_odd, found.is_plain, found.is_inverse), (true, true, false));
    /// let found = Quoting::of(b"b\",c\n", marks);
    /// assert_eq!((found.is_odd, found.is_plain, found.is_inverse), (true, false, true));
    /// ```
    #[must_use]
    pub fn of(text: &[u8], marks: CutMarks<'_>) -> Self {
        // Most texts have no quotes: then nothing has to be checked.
        let quote = marks.quote.filter(|&quote| find(text, quote).is_some());
        run(detected(), LookAtQuotes { text, marks: CutMarks { quote, ..marks } })
    }

    /// Like [`of`](Self::of), with the kernel of one `level`, to compare levels.
    ///
    /// # Panics
    ///
    /// If `level` is not [available](Level::available).
    #[must_use]
    pub fn of_at(level: Level, text: &[u8], marks: CutMarks<'_>) -> Self {
        run(level.detected(), LookAtQuotes { text, marks })
    }
}

struct LookAtQuotes<'t> {
    text: &'t [u8],
    marks: CutMarks<'t>,
}

/// The state of the quotes of the chunks so far.
struct Quotes {
    quote: u8,
    delimiter: u8,
    /// All bits if the next byte is inside quotes.
    inside: u64,
    /// Whether the previous byte ended a field, and whether it is a quote.
    ended: u64,
    quoted: u64,
    is_plain: bool,
    is_inverse: bool,
    care: Care,
}

/// Whether the next chunks are treated as if they had quotes. If only some chunks have quotes, a
/// branch on that would be mispredicted.
#[derive(Clone, Copy, Default)]
struct Care(u32);

impl Care {
    /// The number of chunks after the last one with quotes.
    const CHUNKS: u32 = 16;

    /// Whether a chunk needs no care; `is_special` means that it has quotes.
    #[inline(always)]
    fn is_free(&mut self, is_special: bool) -> bool {
        let is_free = self.0 == 0 && !is_special;
        self.0 = if is_special { Self::CHUNKS } else { self.0.saturating_sub(1) };
        is_free
    }
}

impl Quotes {
    /// Examines a chunk; `there` marks the bytes that belong to the text.
    #[inline(always)]
    fn take(&mut self, masks: impl Masks, chunk: &[u8; CHUNK], there: u64) {
        let quotes = masks.equal(chunk, self.quote) & there;
        if self.care.is_free(quotes | self.quoted != 0) {
            let last = chunk[CHUNK - 1];
            self.ended = u64::from(last == self.delimiter || last == b'\n');
            return;
        }
        let ends = masks.equal(chunk, self.delimiter) | masks.equal(chunk, b'\n');
        let follows = ends | quotes | masks.equal(chunk, b'\r');
        let here = running_parity(quotes) ^ self.inside;
        let precedes = ends << 1 | self.ended | quotes << 1 | self.quoted;
        // The quotes that open and those that close; then the other way round.
        let (opens, closes) = (quotes & here, quotes & !here);
        let (opened, closed) = (self.quoted & self.inside, self.quoted & !self.inside);
        let loose = |closes: u64, closed: u64| (closes << 1 | closed) & there & !follows;
        self.is_plain &= (opens & !precedes) | loose(closes, closed) == 0;
        self.is_inverse &= (closes & !precedes) | loose(opens, opened) == 0;
        self.inside = 0_u64.wrapping_sub(here >> 63);
        (self.ended, self.quoted) = (ends >> 63, quotes >> 63);
    }
}

impl Kernel for LookAtQuotes<'_> {
    type Output = Quoting;

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> Quoting {
        let Self { text, marks } = self;
        let Some(quote) = marks.quote else {
            return Quoting { is_odd: false, is_plain: true, is_inverse: true };
        };
        let mut quotes = Quotes {
            quote,
            delimiter: marks.delimiter.first().copied().unwrap_or(b'\n'),
            inside: 0,
            ended: 1,
            quoted: 0,
            is_plain: true,
            is_inverse: true,
            care: Care::default(),
        };
        let (chunks, rest) = text.as_chunks::<CHUNK>();
        for chunk in chunks {
            quotes.take(masks, chunk, u64::MAX);
        }
        if !rest.is_empty() {
            let mut chunk = [0; CHUNK];
            chunk[..rest.len()].copy_from_slice(rest);
            quotes.take(masks, &chunk, (1 << rest.len()) - 1);
        }
        let Quotes { inside, is_plain, is_inverse, .. } = quotes;
        Quoting { is_odd: inside != 0, is_plain, is_inverse }
    }
}

/// A search; `LONG` delimiters have several bytes.
struct Search<'c, const LONG: bool> {
    cuts: &'c mut Cuts,
    text: &'c [u8],
    range: Range<usize>,
    marks: CutMarks<'c>,
}

/// The state at the first byte of a chunk, as a mask of one bit or of all bits.
#[derive(Clone, Copy)]
struct Before {
    /// All bits if the first byte is inside quotes.
    inside: u64,
    /// The bit of a field that begins because the previous chunk ended one.
    begins: u64,
    /// The previous byte closed a quote.
    closed: u64,
    /// The previous byte is a carriage return outside quotes.
    returned: u64,
}

/// Masks of a chunk.
struct CutMasks {
    ends: u64,
    newlines: u64,
    is_wrong: bool,
    has_returns: bool,
}

/// A scan through the chunks of a text.
struct CutScan<'t, const LONG: bool> {
    text: &'t [u8],
    marks: CutMarks<'t>,
    /// The length of a delimiter in bytes.
    len: u32,
    /// The bytes of the next chunk that belong to a delimiter of the previous one.
    covered: u64,
    before: Before,
    care: Care,
}

impl<const LONG: bool> CutScan<'_, LONG> {
    /// Returns the starts of delimiters in `chunk`, which is at `at`, from left to right without
    /// overlaps.
    #[inline(always)]
    fn delimiters(&mut self, masks: impl Masks, chunk: &[u8; CHUNK], at: usize) -> u64 {
        if !LONG {
            return self.marks.delimiter.first().map_or(0, |&byte| masks.equal(chunk, byte));
        }
        let mut padded = [0; CHUNK + LONGEST_DELIMITER];
        let rest = &self.text[at..];
        let bytes = rest.first_chunk().unwrap_or_else(|| {
            padded[..rest.len()].copy_from_slice(rest);
            &padded
        });
        let mut left = !self.covered;
        for (window, &byte) in bytes.windows(CHUNK).zip(self.marks.delimiter) {
            left &= window.first_chunk().map_or(0, |window| masks.equal(window, byte));
        }
        let (mut apart, mut after) = (0, 0);
        while left != 0 {
            apart |= left & left.wrapping_neg();
            after = left.trailing_zeros() + self.len;
            left &= u64::MAX.checked_shl(after).unwrap_or(0);
        }
        self.covered = !(u64::MAX << after.saturating_sub(u64::BITS));
        apart
    }

    /// Processes a chunk; `there` marks the bytes that belong to the text.
    #[inline(always)]
    fn take(
        &mut self,
        masks: impl Masks,
        chunk: &[u8; CHUNK],
        at: usize,
        there: u64,
    ) -> CutMasks {
        const LAST: u32 = 63;
        let len = if LONG { self.len } else { 1 };
        let before = self.before;
        let equal = |byte: Option<u8>| byte.map_or(0, |byte| masks.equal(chunk, byte) & there);
        let newlines = masks.equal(chunk, b'\n') & there;
        let delimiters = self.delimiters(masks, chunk, at) & there;
        let returns = masks.equal(chunk, b'\r') & there;
        let quotes = equal(self.marks.quote);
        let escapes = equal(self.marks.escape);
        let ends = newlines | delimiters;
        let special =
            quotes | before.inside | before.closed | returns | before.returned | escapes;
        let begins_next =
            |newlines: u64, delimiters: u64| newlines >> LAST | delimiters >> (64 - len);
        if self.care.is_free(special != 0) {
            let begins = begins_next(newlines, delimiters);
            self.before = Before { inside: 0, begins, closed: 0, returned: 0 };
            return CutMasks { ends, newlines, is_wrong: false, has_returns: false };
        }
        let inside = running_parity(quotes) ^ before.inside;
        let (openers, closers) = (quotes & inside, quotes & !inside);
        let (ends, newlines, returns) = (ends & !inside, newlines & !inside, returns & !inside);
        let delimiters = delimiters & !inside;
        let begins = newlines << 1 | delimiters << len | before.begins;
        let after_closer = closers << 1 | before.closed;
        let after_return = returns << 1 | before.returned;
        let wrong_openers = openers & !(begins | after_closer);
        let wrong_closers = after_closer & !(ends | openers | returns);
        let wrong_returns = after_return & !newlines;
        let wrong = (wrong_openers | wrong_closers | wrong_returns) & there | escapes;
        self.before = Before {
            inside: 0_u64.wrapping_sub(inside >> LAST),
            begins: begins_next(newlines, delimiters),
            closed: closers >> LAST,
            returned: returns >> LAST,
        };
        let has_returns = (returns | before.returned) != 0;
        CutMasks { ends, newlines, is_wrong: wrong != 0, has_returns }
    }
}

impl<const LONG: bool> Kernel for Search<'_, LONG> {
    type Output = Searched;

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> Searched {
        let Self { cuts, text, range, marks } = self;
        assert!(u32::try_from(text.len()).is_ok(), "positions have 32 bits");
        assert!(marks.delimiter.len() <= LONGEST_DELIMITER, "this is not a delimiter");
        let from = range.start;
        let part = &text[range];
        cuts.ends.clear();
        cuts.newlines.clear();
        cuts.ends.reserve(part.len());
        cuts.newlines.reserve(part.len());
        let mut base = u32::try_from(from).unwrap_or(u32::MAX);
        let before = Before { inside: 0, begins: 1, closed: 0, returned: 0 };
        let mut look = CutScan::<LONG> {
            text: part,
            marks,
            len: u32::try_from(marks.delimiter.len()).unwrap_or(u32::MAX),
            covered: 0,
            before,
            care: Care::default(),
        };
        let mut searched = Searched { end: from, ..Searched::default() };
        let (chunks, rest) = part.as_chunks::<CHUNK>();
        for chunk in chunks {
            let seen = look.take(masks, chunk, searched.end - from, u64::MAX);
            if seen.is_wrong {
                searched.is_stopped = true;
                return searched;
            }
            cuts.ends.push_all(masks, seen.ends, base);
            cuts.newlines.push_few(seen.newlines, base);
            searched.has_returns |= seen.has_returns;
            base += 64;
            searched.end += CHUNK;
        }
        if !rest.is_empty() {
            let mut chunk = [0; CHUNK];
            chunk[..rest.len()].copy_from_slice(rest);
            let there = (1_u64 << rest.len()) - 1;
            let seen = look.take(masks, &chunk, searched.end - from, there);
            if seen.is_wrong {
                searched.is_stopped = true;
                return searched;
            }
            cuts.ends.push_all(masks, seen.ends, base);
            cuts.newlines.push_few(seen.newlines, base);
            searched.has_returns |= seen.has_returns;
            searched.end += rest.len();
        }
        searched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches byte by byte: the positions up to the byte that the fast search must reach.
    fn slowly(text: &[u8], marks: CutMarks<'_>) -> (Vec<u32>, Vec<u32>, bool) {
        let (mut ends, mut newlines) = (Vec::new(), Vec::new());
        let (mut at, mut begins) = (0, true);
        let is_delimiter =
            |at: usize| !marks.delimiter.is_empty() && text[at..].starts_with(marks.delimiter);
        while at < text.len() {
            let byte = text[at];
            let position = u32::try_from(at).expect("short");
            if Some(byte) == marks.escape {
                return (ends, newlines, true);
            } else if Some(byte) == marks.quote {
                if !begins {
                    return (ends, newlines, true);
                }
                at += 1;
                loop {
                    match text.get(at) {
                        None => return (ends, newlines, false),
                        Some(&byte) if Some(byte) == marks.escape => {
                            return (ends, newlines, true);
                        }
                        Some(&byte) if Some(byte) != marks.quote => at += 1,
                        Some(_) if text.get(at + 1).copied() == marks.quote => at += 2,
                        Some(_) => break,
                    }
                }
                at += 1;
                match text.get(at) {
                    None | Some(b'\n' | b'\r') => {}
                    Some(_) if is_delimiter(at) => {}
                    Some(_) => return (ends, newlines, true),
                }
                begins = false;
                continue;
            } else if byte == b'\r' && text.get(at + 1).is_some_and(|&next| next != b'\n') {
                return (ends, newlines, true);
            }
            begins = byte == b'\n' || is_delimiter(at);
            if begins {
                ends.push(position);
            }
            if byte == b'\n' {
                newlines.push(position);
            }
            at += if is_delimiter(at) { marks.delimiter.len() } else { 1 };
        }
        (ends, newlines, false)
    }

    #[test]
    fn cuts_are_those_of_a_plain_loop_up_to_the_first_odd_byte() {
        let mut bits = swath_reference::splitmix(3);
        let mut passed = 0;
        let delimiters = [",", ",", ",", "", ",,", ",a,", ",bcd,bcd,bcd,bcd"];
        for round in 0..9000_u64 {
            let delimiter = delimiters[usize::try_from(bits() % 7).unwrap_or(0)];
            let marks = CutMarks {
                delimiter: delimiter.as_bytes(),
                quote: (round % 5 != 0).then_some(b'"'),
                escape: (round % 3 == 0).then_some(b'\\'),
            };
            let mut text = Vec::new();
            let len = bits() % 400;
            while (text.len() as u64) < len {
                let odd = ["\"", "\r", "\\", "a\"", "\"\"a"];
                let usual = ["a", "bcd", ",", "\n", "\r\n", ",\"x,\n\"\"\"\n", ",\"\","];
                let drawn = usize::try_from(bits() >> 8).unwrap_or(0);
                let is_odd = round % 2 == 0 && bits().is_multiple_of(60);
                let all = if is_odd { &odd[..] } else { &usual };
                let comma = if bits().is_multiple_of(4) { "," } else { delimiter };
                text.extend(all[drawn % all.len()].replace(',', comma).bytes());
            }
            let (ends, newlines, is_stopped) = slowly(&text, marks);
            for level in Level::ALL.into_iter().filter(|level| level.available()) {
                let mut cuts = Cuts::default();
                let searched = cuts.find_at(level, &text, 0, text.len(), marks);
                let shown = String::from_utf8_lossy(&text);
                if searched.is_stopped {
                    // Only whole chunks, all of them before the odd byte.
                    let before = |all: &[u32]| {
                        all.iter().take_while(|&&at| (at as usize) < searched.end).count()
                    };
                    assert_eq!(cuts.ends.as_slice(), &ends[..before(&ends)], "{shown:?}");
                    assert_eq!(cuts.newlines.as_slice(), &newlines[..before(&newlines)]);
                    assert!(is_stopped, "{shown:?}");
                } else {
                    assert!(!is_stopped, "{shown:?} {marks:?}");
                    assert_eq!(cuts.ends.as_slice(), ends, "{shown:?}");
                    assert_eq!(cuts.newlines.as_slice(), newlines, "{shown:?}");
                    assert_eq!(searched.end, text.len());
                    passed += 1;
                }
            }
        }
        assert!(passed > 1000, "{passed}");
    }

    #[test]
    fn quotes_say_the_same_at_every_level() {
        let mut bits = swath_reference::splitmix(4);
        let marks = CutMarks { delimiter: b",", quote: Some(b'"'), escape: None };
        let mut seen = [0; 4];
        for _ in 0..3000 {
            let parts: &[&[u8]] =
                &[b"a", b"bcdefgh", b",", b"\n", b",\"x,\n\"\"\"\n", b"\n\"a\","];
            let mut text =
                if bits().is_multiple_of(2) { b"a\"\n".to_vec() } else { Vec::new() };
            for _ in 0..bits() % 60 {
                text.extend_from_slice(parts[usize::try_from(bits() % 6).unwrap_or(0)]);
            }
            if bits().is_multiple_of(4) {
                text.push(b'"');
            }
            let portable = Quoting::of_at(Level::Portable, &text, marks);
            for level in Level::ALL.into_iter().filter(|level| level.available()) {
                assert_eq!(Quoting::of_at(level, &text, marks), portable);
            }
            assert_eq!(portable.is_odd, crate::count(&text, b'"') % 2 == 1);
            seen[usize::from(portable.is_plain) * 2 + usize::from(portable.is_inverse)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
    }
}
