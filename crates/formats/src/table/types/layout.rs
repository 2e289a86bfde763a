//! Formats of dates and timestamps in which every part has a fixed width.
//!
//! ```text
//! %d.%m.%Y %H:%M        29.02.2024 23:59
//! usual form            2024-02-29T23:59:00       digits moved to their places
//! ```
//!
//! A format without such a layout is left to the library that reads all formats.

use chrono::format::{Item, Numeric, Pad};
use swath_simd::{Moment, parse_moment};

/// The usual form; parts that a format lacks are zero.
const USUAL: [u8; 19] = *b"0000-00-00T00:00:00";
const DATE: usize = 10;

/// The bytes of a format.
#[derive(Clone, Debug)]
pub(super) struct FormatLayout {
    bytes: Vec<Byte>,
    /// Bytes used of the usual form.
    usual: usize,
}

/// One byte of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Byte {
    /// A digit, and its place in the usual form.
    Digit(usize),
    Literal(u8),
}

impl FormatLayout {
    /// Returns the layout of a format. `None` if a part has no fixed width or no place in the
    /// usual form, or if the date is incomplete.
    pub(super) fn new(items: &[Item<'_>]) -> Option<Self> {
        let mut bytes = Vec::new();
        for item in items {
            match item {
                Item::Literal(text) | Item::Space(text) => literal(text, &mut bytes),
                Item::OwnedLiteral(text) | Item::OwnedSpace(text) => literal(text, &mut bytes),
                Item::Numeric(part, Pad::Zero) => {
                    let (first, len) = place(part)?;
                    bytes.extend((first..first + len).map(Byte::Digit));
                }
                _ => return None,
            }
        }
        let count = |first| bytes.iter().filter(|&&byte| byte == Byte::Digit(first)).count();
        let firsts = [0, 5, 8, 11, 14, 17].map(count);
        let has_date = firsts[..3] == [1; 3] && firsts.iter().all(|&count| count < 2);
        let usual = if firsts[3..] == [0; 3] { DATE } else { USUAL.len() };
        // Minutes without hours are not a time.
        let has_hours = usual == DATE || firsts[3] == 1;
        let has_minutes = firsts[5] == 0 || firsts[4] == 1;
        (has_date && has_hours && has_minutes).then_some(Self { bytes, usual })
    }

    /// Returns the moment of a token.
    pub(super) fn moment(&self, token: &[u8]) -> Option<Moment> {
        if token.len() != self.bytes.len() {
            return None;
        }
        let mut usual = USUAL;
        for (&found, &wanted) in token.iter().zip(&self.bytes) {
            match wanted {
                Byte::Digit(place) => usual[place] = found,
                Byte::Literal(wanted) if found == wanted => {}
                Byte::Literal(_) => return None,
            }
        }
        parse_moment(&usual, 0, self.usual)
    }
}

fn literal(text: &str, bytes: &mut Vec<Byte>) {
    bytes.extend(text.bytes().map(Byte::Literal));
}

/// The offset of a part in the usual form, and its number of digits.
fn place(part: &Numeric) -> Option<(usize, usize)> {
    match part {
        Numeric::Year => Some((0, 4)),
        Numeric::Month => Some((5, 2)),
        Numeric::Day => Some((8, 2)),
        Numeric::Hour => Some((11, 2)),
        Numeric::Minute => Some((14, 2)),
        Numeric::Second => Some((17, 2)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use chrono::format::StrftimeItems;

    use super::*;

    fn layout(format: &str) -> Option<FormatLayout> {
        FormatLayout::new(&StrftimeItems::new(format).parse_to_owned().expect("directives"))
    }

    #[test]
    fn parts_of_a_fixed_width_are_moved_to_their_places() {
        for (format, token, wanted) in [
            ("%d.%m.%Y", "02.01.1970", Some(86_400)),
            ("%m/%d/%Y %H:%M", "01/02/1970 00:01", Some(86_460)),
            ("%Y%m%d%H%M%S", "19700102000001", Some(86_401)),
            ("%FT%T", "1970-01-02T00:00:01", Some(86_401)),
            ("%d.%m.%Y", "30.02.1970", None),
            ("%d.%m.%Y", "2.1.1970", None),
            ("%d.%m.%Y", "02/01/1970", None),
            ("%d.%m.%Y", "0x.01.1970", None),
            ("%d.%m.%Y", "02.01.1970 ", None),
        ] {
            let layout = layout(format).expect("of fixed width");
            let found = layout.moment(token.as_bytes()).map(|moment| moment.seconds);
            assert_eq!(found, wanted, "{format} of {token}");
        }
        for format in ["%d %b %Y", "%-d.%m.%Y", "%e.%m.%Y", "%Y-%m", "%d.%m.%Y %M", "%d%d%m%Y"]
        {
            assert!(layout(format).is_none(), "{format}");
        }
    }
}
