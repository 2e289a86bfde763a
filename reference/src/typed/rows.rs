//! The records of data, and the treatment of those with a different number of fields.

use super::fault::{Fault, Wrong};
use super::options::{Options, Ragged};
use super::records::{Dialect, Field, Record, TextPlace};

/// Lines of records that were set aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetAside {
    /// The number of records.
    pub count: usize,
    /// The lines of the first thousand.
    pub lines: Vec<usize>,
}

impl SetAside {
    /// Adds those of the next text.
    pub(super) fn join(&mut self, others: Self) {
        self.count += others.count;
        let room = 1000 - self.lines.len();
        self.lines.extend(others.lines.into_iter().take(room));
    }

    pub(super) fn add(&mut self, line: usize) {
        self.count += 1;
        if self.lines.len() < 1000 {
            self.lines.push(line);
        }
    }
}

/// Returns the field of a column; `None` if the record lacks it or it is ignored.
#[must_use]
pub(super) fn field<'r>(
    record: &'r Record,
    column: usize,
    columns: usize,
    options: &Options,
) -> Option<&'r Field> {
    match options.ragged {
        Ragged::Pad if record.fields.len() <= columns => record.fields.get(column),
        Ragged::Drop if column < columns => record.fields.get(column),
        _ if record.fields.len() == columns => record.fields.get(column),
        _ => None,
    }
}

/// Whether a record belongs to a table with this many columns, by the number of its fields.
///
/// # Errors
///
/// The number differs, and the options make that an error.
pub(super) fn belongs(record: &Record, columns: usize, ragged: Ragged) -> Result<bool, Fault> {
    let found = record.fields.len();
    match ragged {
        _ if found == columns => Ok(true),
        Ragged::Pad if found < columns => Ok(true),
        Ragged::Drop => Ok(true),
        Ragged::SetAside => Ok(false),
        Ragged::Error | Ragged::Pad => {
            let wrong = Wrong::Ragged { found, expected: columns };
            Err(Fault::new(wrong, record.line, record.at))
        }
    }
}

/// Returns the options with an end before the records that are skipped at the end, counted from
/// `place`, if one of them could be read.
fn before_footer(
    place: &TextPlace<'_>,
    dialect: &Dialect,
    columns: usize,
    options: &Options,
) -> Result<Options, Fault> {
    let mut options = options.clone();
    let records = place.records(dialect);
    let (start, end) = options.starting_in.unwrap_or((0, usize::MAX));
    // As if none were skipped. A skipped record may have a fault.
    let stop = read(place.clone(), dialect, columns, &options, |_| Ok(()));
    let stop = stop.map_or(end, |(_, stop)| stop);
    let after = records.iter().filter(|record| record.at >= stop).count();
    if after >= options.skip_footer {
        return Ok(options);
    }
    if let Some(last) = records.last()
        && !last.clone().pass(dialect)
    {
        // The last records are unknown.
        return if after == 0 {
            Ok(options)
        } else {
            last.clone().next(dialect).map(|_| options)
        };
    }
    if let Some(first) = records.get(records.len().saturating_sub(options.skip_footer)) {
        options.starting_in = Some((start, end.min(first.at)));
    }
    Ok(options)
}

/// The treatment of records whose width differs from the table.
#[derive(Default)]
pub(super) struct RaggedRecords {
    pub set_aside: SetAside,
    /// The number of records with surplus fields, which are ignored.
    pub dropped: usize,
}

/// Calls `take` for each record of the result, in order.
///
/// # Errors
///
/// The first fault: of the text, or of `take`. Bytes count from the start of the text.
pub(super) fn each(
    place: TextPlace<'_>,
    dialect: &Dialect,
    columns: usize,
    options: &Options,
    take: impl FnMut(&Record) -> Result<(), Fault>,
) -> Result<RaggedRecords, Fault> {
    let options = before_footer(&place, dialect, columns, options)?;
    read(place, dialect, columns, &options, take).map(|(odd, _)| odd)
}

/// Reads records and returns the place where it stopped, without examining the end of the text.
fn read(
    mut place: TextPlace<'_>,
    dialect: &Dialect,
    columns: usize,
    options: &Options,
    mut take: impl FnMut(&Record) -> Result<(), Fault>,
) -> Result<(RaggedRecords, usize), Fault> {
    let mut odd = RaggedRecords::default();
    let mut count = 0;
    let (start, end) = options.starting_in.unwrap_or((0, usize::MAX));
    // Records before the first selected one are not examined.
    while place.at < start && !place.is_at_end() {
        place.pass(dialect);
    }
    while place.at < end && options.rows.is_none_or(|most| count < most) {
        if place.skip(dialect)? {
            continue;
        }
        let (line, next) = (place.line, place.next(dialect));
        let is_outside = next.as_ref().is_err_and(|fault| fault.wrong == Wrong::Outside);
        if is_outside && options.ragged == Ragged::SetAside {
            odd.set_aside.add(line);
            continue;
        }
        let Some(record) = next? else { break };
        if belongs(&record, columns, options.ragged)? {
            take(&record)?;
            count += 1;
            odd.dropped += usize::from(record.fields.len() > columns);
        } else {
            odd.set_aside.add(record.line);
        }
    }
    Ok((odd, place.at))
}
