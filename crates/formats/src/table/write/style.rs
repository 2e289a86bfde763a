//! The settings shared by all columns of an output.

use swath_simd::{RowFrame, Special};

use super::options::Quoting;
use crate::table::text::first_line::MARK;
use crate::table::value::Decimals;

/// The words that readers take for missing by default, besides the empty field.
const USUAL_WORDS: [&[u8]; 4] = [b"NA", b"N/A", b"null", b"NULL"];
/// The delimiters that a reader guesses, most preferred first. The tab is a control byte.
pub(super) const GUESSED: &[u8] = b"\t,;|";

/// The checked settings of an output.
#[derive(Clone, Debug)]
pub(super) struct Style {
    pub(super) syntax: Syntax,
    pub(super) frame: RowFrame,
    /// The word for missing values.
    pub(super) missing: Vec<u8>,
    pub(super) decimals: Decimals,
    /// Bytes of a text that must be quoted or escaped.
    pub(super) special: Special,
}

/// The form of a value.
#[derive(Clone, Debug)]
pub(super) enum Syntax {
    /// Fields with a delimiter between them.
    Separated(Quotes),
    /// JSON.
    Json,
}

/// The rules for quoting fields.
#[derive(Clone, Debug)]
pub(super) struct Quotes {
    pub(super) quoting: Quoting,
    /// First bytes of texts that may need quotes because of the text as a whole.
    suspects: Box<[bool; 256]>,
    /// Words that mean missing values unless they are quoted.
    words: Vec<Vec<u8>>,
    /// Whether times of day contain the delimiter.
    pub(super) cuts_times: bool,
}

/// The number of columns in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    One,
    Several,
    /// Several columns, without a line of names.
    Nameless,
}

impl Style {
    pub(super) fn json(decimals: Decimals) -> Self {
        Self {
            syntax: Syntax::Json,
            frame: RowFrame { open: b"{", separator: b',', close: b"}\n" },
            missing: b"null".to_vec(),
            decimals,
            special: Special::new(b"\"\\"),
        }
    }

    /// `frame` has the delimiter and the end of a line.
    pub(super) fn separated(
        frame: RowFrame,
        quoting: Quoting,
        missing: &[u8],
        decimals: Decimals,
        width: Width,
    ) -> Self {
        Self {
            syntax: Syntax::Separated(Quotes::new(frame.separator, quoting, missing)),
            frame,
            missing: missing.to_vec(),
            decimals,
            special: Special::new(&marks(frame.separator, width)),
        }
    }

    /// Whether fields may be quoted.
    pub(super) fn may_quote(&self) -> bool {
        match &self.syntax {
            Syntax::Separated(quotes) => quotes.quoting != Quoting::Never,
            Syntax::Json => true,
        }
    }

    /// Whether a text needs quotes to be read back unchanged.
    pub(super) fn needs_quotes(&self, text: &[u8]) -> bool {
        let Syntax::Separated(quotes) = &self.syntax else { return true };
        quotes.quoting == Quoting::All
            || text.iter().any(|&byte| self.special.has(byte))
            || quotes.is_mistaken(text)
    }
}

/// Returns the bytes at which a reader ends a field, or that it may guess as the delimiter. It
/// prefers the first candidate that gives every line the same number of fields.
fn marks(delimiter: u8, width: Width) -> Vec<u8> {
    let before = GUESSED.iter().position(|&guessed| guessed == delimiter).unwrap_or(0);
    let rivals = match width {
        // Without a delimiter, any other can be mistaken for one, and so can blanks between
        // numbers.
        Width::One => b",;| ",
        Width::Several => &GUESSED[..before],
        // Names would show that these separate nothing, but there are none.
        Width::Nameless => GUESSED,
    };
    [&[delimiter, b'"'], rivals].concat()
}

impl Quotes {
    fn new(delimiter: u8, quoting: Quoting, missing: &[u8]) -> Self {
        let words: Vec<Vec<u8>> =
            USUAL_WORDS.iter().chain([&missing]).map(|word| word.to_vec()).collect();
        let mut suspects = Box::new([false; 256]);
        let firsts = words.iter().filter_map(|word| word.first());
        for byte in firsts.chain(b" \t#sS").chain(MARK.first()) {
            suspects[usize::from(*byte)] = true;
        }
        Self { quoting, suspects, words, cuts_times: delimiter == b':' }
    }

    /// Whether a text without special bytes would be read as something else: a missing value, a
    /// byte order mark, or a line about the delimiter.
    #[inline(always)]
    pub(super) fn is_mistaken(&self, text: &[u8]) -> bool {
        match text.first() {
            None => true,
            Some(first) => {
                text.last() == Some(&b' ')
                    || (self.suspects[usize::from(*first)] && self.is_word(text))
            }
        }
    }

    fn is_word(&self, text: &[u8]) -> bool {
        let is_blank = |byte: &u8| b" \t".contains(byte);
        let start = text.iter().position(|byte| !is_blank(byte)).unwrap_or(text.len());
        let end = text.iter().rposition(|byte| !is_blank(byte)).map_or(start, |at| at + 1);
        let inner = &text[start..end];
        // Readers skip comments, and trim blanks around numbers.
        inner.len() < text.len()
            || text.starts_with(b"#")
            || inner.is_empty()
            || self.words.iter().any(|word| word == inner)
            || text.starts_with(MARK)
            || ((4..=5).contains(&text.len()) && text[..4].eq_ignore_ascii_case(b"sep="))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(delimiter: u8, width: Width) -> Style {
        let frame = RowFrame { open: b"", separator: delimiter, close: b"\n" };
        Style::separated(frame, Quoting::Minimal, b"-", Decimals::Shortest, width)
    }

    #[test]
    fn texts_are_quoted_only_where_a_reader_would_see_something_else() {
        let style = style(b',', Width::Several);
        for text in
            ["a", "a b", "a#", "it's", "a;b|c", "0", "é", "NAN", "n/a", "sep=12", "sep", "--"]
        {
            assert!(!style.needs_quotes(text.as_bytes()), "{text:?}");
        }
        for text in [
            "",
            " ",
            "a,b",
            "a\"b",
            "a\nb",
            "a\r",
            "a\tb",
            "a\0",
            "NA",
            " NA ",
            " a",
            "a ",
            "#1",
            "N/A",
            "null",
            "NULL",
            "-",
            "\u{feff}a",
            "sep=;",
            "SEP=|",
            // A delimiter may follow, as in `sep=;`.
            "sep=",
        ] {
            assert!(style.needs_quotes(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn delimiters_that_a_reader_would_rather_guess_are_quoted() {
        for (delimiter, width, quoted, plain) in [
            (b'\t', Width::Several, "\t", ",;| "),
            (b',', Width::Several, "\t,", ";| "),
            (b';', Width::Several, "\t,;", "| "),
            (b'|', Width::Several, "\t,;|", " "),
            (b'~', Width::Several, "~\t", ",;| "),
            (b',', Width::One, "\t,;| ", ""),
            (b',', Width::Nameless, "\t,;|", " "),
        ] {
            let style = style(delimiter, width);
            for (signs, wanted) in [(quoted, true), (plain, false)] {
                for sign in signs.chars() {
                    let text = format!("a{sign}b");
                    assert_eq!(style.needs_quotes(text.as_bytes()), wanted, "{text:?}");
                }
            }
        }
    }
}
