//! The places of columns of fixed width: given by the options, or found in a sample.

use super::fault::Fault;
use super::options::{Fixed, Form, Meaning, Options};
use super::records::{Dialect, TextPlace};
use super::widths::{Columns, Span, characters, is_blank};

/// Returns the options adapted to columns of fixed width: an empty field is always missing, and
/// quotes have no meaning.
#[must_use]
pub(super) fn meant(options: &Options) -> Options {
    let mut options = options.clone();
    if options.form == Form::Fixed {
        options.quote = None;
        options.nulls.push(String::new());
        for (_, meaning, words) in &mut options.words_of {
            if *meaning == Meaning::Missing {
                words.push(String::new());
            }
        }
    }
    options
}

/// Returns the places of columns, given their first line `start`.
///
/// # Errors
///
/// The options are contradictory.
pub(super) fn columns(
    start: &TextPlace<'_>,
    dialect: &Dialect,
    options: &Options,
) -> Result<Columns, Fault> {
    let (spans, passes_others) = match &options.fixed {
        Fixed::Found => return Ok(found(start, dialect)),
        Fixed::Widths(widths) => {
            let starts = (0..widths.len()).map(|at| widths[..at].iter().sum::<usize>());
            let spans = starts.zip(widths).map(|(start, width)| (start, Some(start + width)));
            (spans.collect::<Vec<Span>>(), false)
        }
        Fixed::Positions(spans) => (spans.clone(), true),
    };
    let is_something = |&(start, end): &Span| end.is_none_or(|end| start < end);
    let are_apart = |two: &[Span]| two[0].1.is_some_and(|end| end <= two[1].0);
    match !spans.is_empty() && spans.iter().all(is_something) && spans.windows(2).all(are_apart)
    {
        true => Ok(Columns { passes_others, ..Columns::new(spans) }),
        false => Err(Fault::of_options()),
    }
}

/// Finds runs of positions at which not all lines of the sample are blank.
fn found(start: &TextPlace<'_>, dialect: &Dialect) -> Columns {
    /// The maximum number of records of a sample, besides the first.
    const RECORDS: usize = 1000;
    /// A record is in the sample if it begins at most this many bytes after the end of the first.
    const BYTES: usize = 1 << 20;
    let mut place = start.clone();
    let mut lines: Vec<Vec<char>> = Vec::new();
    let mut end = start.sample_end(dialect);
    while lines.len() <= RECORDS {
        match place.skip(dialect) {
            Ok(true) => continue,
            Ok(false) if !place.is_at_end() && place.at < end => {}
            _ => break,
        }
        let (characters, flaw) = characters(place.take_whole_line());
        if flaw.is_some() {
            break;
        }
        lines.push(characters.into_iter().map(|(_, character)| character).collect());
        end = end.min(place.at + BYTES);
    }
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0);
    let has_text = |position: usize| {
        let is_text = |line: &Vec<char>| line.get(position).is_some_and(|&it| !is_blank(it));
        lines.iter().any(is_text)
    };
    let mut spans = Vec::new();
    let mut begin = None;
    for position in 0..=longest {
        match (has_text(position), begin) {
            (true, None) => begin = Some(position),
            (false, Some(start)) => {
                spans.push((start, Some(position)));
                begin = None;
            }
            _ => {}
        }
    }
    if spans.is_empty() {
        spans.push((0, None));
    }
    Columns::new(spans)
}
