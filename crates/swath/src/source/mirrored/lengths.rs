//! The message if too few copies have the same length.

use std::collections::BTreeMap;
use std::error::Error as _;

use crate::error::Error;

/// Maximum number of listed reasons.
const TOLD: usize = 3;

/// Returns the kernel's own message, or that of the error.
pub(crate) fn cause(error: &Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Returns a message with the number of copies of each length, and the number of those without one,
/// with reasons. Each copy is given as its length and its fault.
pub(crate) fn differ(
    quorum: usize,
    copies: impl Iterator<Item = (Option<u64>, String)>,
) -> String {
    let (mut lens, mut troubles) = (BTreeMap::<u64, usize>::new(), Vec::new());
    for copy in copies {
        match copy {
            (Some(len), _) => *lens.entry(len).or_default() += 1,
            (None, trouble) => troubles.push(trouble),
        }
    }
    let all = lens.values().sum::<usize>() + troubles.len();
    let mut lens: Vec<_> = lens.into_iter().collect();
    lens.sort_by_key(|&(len, count)| (std::cmp::Reverse(count), len));
    let have = |count| if count == 1 { "has" } else { "have" };
    let unit = |len| if len == 1 { "byte" } else { "bytes" };
    let mut parts: Vec<String> = lens
        .iter()
        .take(TOLD)
        .map(|&(len, count)| format!("{count} {} {len} {}", have(count), unit(len)))
        .collect();
    if let rest @ 1.. = lens.iter().skip(TOLD).map(|it| it.1).sum::<usize>() {
        parts.push(format!("{rest} {} other lengths", have(rest)));
    }
    if !troubles.is_empty() {
        let more = match troubles.len().saturating_sub(TOLD) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let some = troubles[..troubles.len().min(TOLD)].join("; ");
        parts.push(format!("{} cannot be opened ({some}{more})", troubles.len()));
    }
    format!("of {all} copies {quorum} must be equally long, but {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_counted_and_what_cannot_be_opened_is_named() {
        let copies = [(Some(10), ""), (None, "b: gone"), (Some(10), ""), (Some(7), "")];
        let copies = copies.map(|(len, trouble)| (len, String::from(trouble)));
        assert_eq!(
            differ(3, copies.into_iter()),
            "of 4 copies 3 must be equally long, but 2 have 10 bytes, 1 has 7 bytes, 1 cannot be \
             opened (b: gone)"
        );
    }
}
