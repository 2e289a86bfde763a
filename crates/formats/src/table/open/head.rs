//! The start of a table: its delimiter, and the names of its columns.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::layout;
use super::report::{HeaderReason, Renamed};
use super::rules;
use super::sniff::{self, Sample};
use crate::error::{Error, FormatReason, Result};
use crate::foreign;
use crate::input::InputText;
use crate::memory::room_for;
use crate::table::options::choices::Ragged;
use crate::table::options::{BatchOptions, CommentRule, HeaderLines};
use crate::table::text::dialect::{Between, Dialect};
use crate::table::text::faults::{self, Origin, Problem};
use crate::table::text::first_line::excels;
use crate::table::text::fixed::FixedLayout;
use crate::table::text::pass::RecordPass;
use crate::table::text::prefix::{LONG, Prefix};
use crate::table::text::record::{FieldPlace, RecordKind, RecordText};
use crate::table::write::BatchForm;

/// The default start of a comment, if the other lines are numbers.
const NOTE: u8 = b'#';

/// The start of a table.
#[derive(Clone, Debug)]
pub(in crate::table) struct TableHead {
    pub(in crate::table) dialect: Dialect,
    /// The columns of fixed width.
    pub(in crate::table) layout: Option<Arc<FixedLayout>>,
    /// The number of records that name the columns.
    pub(in crate::table) lines: usize,
    pub(in crate::table) reason: HeaderReason,
    /// The unique name of each column.
    pub(in crate::table) names: Vec<String>,
    pub(in crate::table) renamed: Vec<Renamed>,
    /// The start of the first record: that of the names, if there are any.
    pub(in crate::table) named: u64,
    /// The start of the first record after the names.
    pub(in crate::table) data: u64,
    /// Whether that record has one field more than there are names.
    pub(in crate::table) lacks_name: bool,
    /// Comments before the last record of the names.
    pub(in crate::table) comments: u64,
}

/// The decisions of an earlier file of the same table.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct Decided<'d> {
    pub(in crate::table) between: Option<Between>,
    pub(in crate::table) comment: Option<u8>,
    pub(in crate::table) lines: usize,
    pub(in crate::table) layout: Option<&'d Arc<FixedLayout>>,
}

impl<'d> Decided<'d> {
    /// Returns the decisions for the next file, by the heads of the files before it.
    pub(in crate::table) fn by(heads: &'d [TableHead], options: &BatchOptions) -> Self {
        let TableHead { dialect, lines, layout, .. } = &heads[0];
        let (mut between, mut layout) = (Some(dialect.between), layout.as_ref());
        if options.union_by_name {
            // A file of one column has no delimiter, and columns may be at other places.
            let found = heads.iter().map(|head| head.dialect.between);
            (between, layout) = (found.into_iter().find(|it| *it != Between::Nothing), None);
        }
        Self { between, comment: dialect.comment, lines: *lines, layout }
    }
}

/// The text of a file, and the options for it.
pub(in crate::table) struct Opening<'o> {
    pub(in crate::table) input: &'o InputText,
    pub(in crate::table) options: &'o BatchOptions,
    /// The start of the text, after a byte order mark.
    pub(in crate::table) begin: u64,
    pub(in crate::table) origin: Origin,
    pub(in crate::table) decided: Option<Decided<'o>>,
}

impl Opening<'_> {
    /// Reads the start of the table.
    pub(in crate::table) fn head(&self) -> Result<TableHead> {
        let mut prefix = Prefix::new(self.input, self.begin, self.options.skip_footer)?;
        if foreign::is_market(&prefix.bytes) && self.options.comment.given() != Some(b'%') {
            let detail = "this is a Matrix Market file, not a table";
            let error = Error::reading(self.input.path(), FormatReason::Malformed, detail);
            return Err(error.at(prefix.base).on_line(1).hint(foreign::MARKET));
        }
        self.check_room(self.options.fields.unwrap_or(0), self.begin)?;
        self.skip(&mut prefix)?;
        if self.options.form == BatchForm::JsonLines {
            let (names, renamed) = (Vec::new(), Vec::new());
            let (dialect, data) = (Dialect::JSON, prefix.base);
            return Ok(TableHead {
                dialect,
                layout: None,
                lines: 0,
                reason: HeaderReason::Given,
                names,
                renamed,
                named: data,
                data,
                lacks_name: false,
                comments: 0,
            });
        }
        let (dialect, layout, sample) = self.written(&mut prefix)?;
        let written = Written { dialect, layout: layout.as_deref() };
        let (lines, reason) = self.lines(&mut prefix, written, sample)?;
        let mut header = Vec::new();
        let (mut at, mut named) = (0, prefix.base);
        let of_layout = layout.as_ref().map(|layout| layout.columns().len());
        let (mut columns, mut comments) = (self.options.fields.or(of_layout), 0);
        for _ in 0..lines {
            let record = self.next(&mut prefix, written, at)?;
            let columns = *columns.get_or_insert(record.fields.len());
            self.check_room(columns, prefix.base + record.at as u64)?;
            if header.is_empty() {
                named = prefix.base + record.at as u64;
            }
            header.push(self.parts(&prefix, &record, dialect, columns)?);
            (at, comments) = (record.next, comments + record.comments);
        }
        let data = prefix.base + at as u64;
        if header.is_empty() {
            let first = self.next(&mut prefix, written, at)?;
            named = prefix.base + first.at as u64;
            columns = columns.or(Some(first.fields.len()));
        }
        let columns = columns.unwrap_or(0);
        self.check_room(columns, data)?;
        let (names, renamed) = distinct(joined(header, columns));
        let renamed = if lines == 0 { Vec::new() } else { renamed };
        let may_lack = lines > 0 && layout.is_none();
        let lacks_name = may_lack && lacks_name(&prefix.bytes[at..], dialect, names.len());
        Ok(TableHead {
            dialect,
            layout,
            lines,
            reason,
            names,
            renamed,
            named,
            data,
            lacks_name,
            comments,
        })
    }

    /// Skips the lines before the table, as many as the options request.
    fn skip(&self, prefix: &mut Prefix<'_>) -> Result<()> {
        let mut left = self.options.skip_rows;
        let mut at = 0;
        while left > 0 {
            match swath_simd::find(&prefix.bytes[at..], b'\n') {
                Some(len) => (at, left) = (at + len + 1, left - 1),
                None if prefix.is_all() => (at, left) = (prefix.bytes.len(), 0),
                None => {
                    prefix.cut(at);
                    at = 0;
                    prefix.grow()?;
                }
            }
        }
        prefix.cut(at);
        Ok(())
    }

    /// Finds the dialect of the records; also returns the sample taken for it.
    fn written(
        &self,
        prefix: &mut Prefix<'_>,
    ) -> Result<(Dialect, Option<Arc<FixedLayout>>, Option<Sample>)> {
        let sign = match self.options.form {
            BatchForm::Fixed => None,
            _ => excels(&prefix.bytes),
        };
        if let Some((_, len)) = sign {
            prefix.cut(len);
        }
        let sign = sign.map(|(byte, _)| Between::Byte(byte));
        let found = |prefix: &mut Prefix<'_>, comment| {
            let (dialect, sample) = self.dialect(prefix, comment, sign)?;
            Ok((dialect, self.layout(prefix, dialect)?, sample))
        };
        match (self.options.comment, self.decided) {
            (CommentRule::Given(comment), _) => found(prefix, comment),
            (CommentRule::Auto, Some(decided)) => found(prefix, decided.comment),
            (CommentRule::Auto, None) if !rules::may_begin_comments(self.options, NOTE) => {
                found(prefix, None)
            }
            (CommentRule::Auto, None) => {
                let (dialect, layout, sample) = found(prefix, Some(NOTE))?;
                let sample = Sample::or_take(sample, prefix, dialect, layout.as_deref())?;
                if sample.are_numbers(&prefix.bytes, self.options) {
                    return Ok((dialect, layout, Some(sample)));
                }
                if swath_simd::find(&prefix.bytes, NOTE).is_none() {
                    let dialect = Dialect { comment: None, ..dialect };
                    return Ok((dialect, layout, Some(sample.without_comments())));
                }
                found(prefix, None)
            }
        }
    }

    fn dialect(
        &self,
        prefix: &mut Prefix<'_>,
        comment: Option<u8>,
        sign: Option<Between>,
    ) -> Result<(Dialect, Option<Sample>)> {
        if self.options.form == BatchForm::Fixed {
            return Ok((Dialect { between: Between::Fixed, comment, ..Dialect::JSON }, None));
        }
        let quote = self.options.quote;
        let escape = self.options.escape.filter(|&escape| Some(escape) != quote);
        let plain = Dialect { between: Between::Nothing, quote, escape, comment };
        let tab = (self.options.form == BatchForm::Tsv).then_some(Between::Byte(b'\t'));
        let given = self.options.delimiter.map(Between::from).or(tab);
        let known = given.or(self.decided.and_then(|decided| decided.between)).or(sign);
        let (between, sample) = match known {
            Some(between) => (between, None),
            None => sniff::between(prefix, plain, self.options)?,
        };
        Ok((Dialect { between, ..plain }, sample))
    }

    /// Finds the columns of fixed width.
    fn layout(
        &self,
        prefix: &mut Prefix<'_>,
        dialect: Dialect,
    ) -> Result<Option<Arc<FixedLayout>>> {
        if dialect.between != Between::Fixed {
            return Ok(None);
        }
        let has_further = self.options.ragged == Ragged::Drop;
        let told = rules::layout(self.options).map_err(|(detail, hint)| {
            Error::reading(self.input.path(), FormatReason::Invalid, detail).hint(hint)
        })?;
        let found = match (told, self.decided.and_then(|decided| decided.layout)) {
            (Some(told), _) => Arc::new(told.with_further(has_further)),
            (None, Some(decided)) => Arc::clone(decided),
            (None, None) => {
                Arc::new(layout::layout(prefix, dialect)?.with_further(has_further))
            }
        };
        self.check_room(found.columns().len(), prefix.base)?;
        Ok(Some(found))
    }

    /// Returns the number of records that name the columns, and the reason.
    fn lines(
        &self,
        prefix: &mut Prefix<'_>,
        written: Written<'_>,
        sample: Option<Sample>,
    ) -> Result<(usize, HeaderReason)> {
        match (self.options.header, self.decided) {
            (HeaderLines::Lines(lines), _) => Ok((lines, HeaderReason::Given)),
            (HeaderLines::Auto, Some(decided)) if !self.options.union_by_name => {
                Ok((decided.lines, HeaderReason::Given))
            }
            (HeaderLines::Auto, _) => {
                let sample = Sample::or_take(sample, prefix, written.dialect, written.layout)?;
                if let Some((at, odd)) = sample.odd_number(&prefix.bytes, self.options) {
                    let record = prefix.base + sample.begin() as u64;
                    let problem = faults::odd_number(record, prefix.base + at as u64, odd);
                    return Err(problem.into_error(self.input, self.origin));
                }
                let reason = sample.header_reason(&prefix.bytes, self.options);
                Ok((usize::from(reason.has_names()), reason))
            }
        }
    }

    /// Finds the first record with data at or after `at`.
    fn next(
        &self,
        prefix: &mut Prefix<'_>,
        written: Written<'_>,
        at: usize,
    ) -> Result<PrefixRecord> {
        let Written { dialect, layout } = written;
        let (mut at, mut comments) = (at, 0);
        loop {
            let mut fields = Vec::new();
            let records = RecordText { text: &prefix.bytes, dialect, layout };
            let is_over = at >= prefix.bytes.len();
            let split = match is_over {
                true => Ok((RecordKind::Skipped, at)),
                false => records.split(at, |place| fields.push(place)),
            };
            let is_known =
                prefix.is_all() || split.is_ok_and(|(_, next)| next < prefix.bytes.len());
            match split {
                Ok((RecordKind::Data, next)) if is_known => {
                    return Ok(PrefixRecord { at, fields, next, comments });
                }
                Ok((RecordKind::Skipped, next)) if is_known && !is_over => {
                    comments += u64::from(records.is_comment(at));
                    at = next;
                }
                Ok(_) if is_known => return Err(self.empty(prefix)),
                Err(wrong) if is_known || !records.may_end_later(wrong) => {
                    let record = prefix.base + at as u64;
                    let mut problem = faults::split(wrong, record, prefix.base);
                    if dialect.between == Between::Nothing {
                        problem = problem.of_one_column();
                    }
                    return Err(problem.into_error(self.input, self.origin));
                }
                _ => {
                    if prefix.bytes.len() >= LONG {
                        self.check_end(prefix.base + at as u64, dialect)?;
                    }
                    prefix.grow()?;
                }
            }
        }
    }

    /// Returns an error if the record at `from` has an open quote.
    fn check_end(&self, from: u64, dialect: Dialect) -> Result<()> {
        let pass = RecordPass {
            input: self.input,
            read: &self.options.read,
            block_size: 0,
            dialect,
            origin: self.origin,
            data: from,
            wanted: swath::Extent::between(from, from + 1),
        };
        pass.each(&|_| Ok(()))
    }

    /// Returns the texts of a record of the header.
    fn parts(
        &self,
        prefix: &Prefix<'_>,
        record: &PrefixRecord,
        dialect: Dialect,
        columns: usize,
    ) -> Result<Vec<String>> {
        let (found, at) = (record.fields.len(), prefix.base + record.at as u64);
        let is_given = self.options.fields.is_some() && found < columns;
        if !self.options.ragged.takes(found, columns) && !is_given {
            let problem = faults::ragged(at, found, columns, Ragged::Refuse);
            return Err(problem.into_error(self.input, self.origin));
        }
        let quoting = dialect.quoting();
        let mut scratch = Vec::new();
        let mut parts = Vec::with_capacity(columns);
        for place in &record.fields {
            let raw = place.of(&prefix.bytes);
            let field = quoting.field(raw, &mut scratch);
            match std::str::from_utf8(field.bytes) {
                Ok(name) if field.is_quoted => parts.push(name.to_owned()),
                Ok(name) => parts.push(name.trim_matches([' ', '\t']).to_owned()),
                Err(_) => {
                    let problem: Problem =
                        faults::name(at, prefix.base + place.start as u64, raw);
                    return Err(problem.into_error(self.input, self.origin));
                }
            }
        }
        Ok(parts)
    }

    /// Refuses more columns than there is memory for.
    fn check_room(&self, columns: usize, at: u64) -> Result<()> {
        /// Bytes that the name of a column takes while it is made unique.
        const NAME: usize = 256;
        match room_for(columns.saturating_mul(NAME)) {
            Ok(()) => Ok(()),
            Err(_) => Err(faults::no_room(self.input.path(), columns).at(at)),
        }
    }

    fn empty(&self, prefix: &Prefix<'_>) -> Error {
        let detail = match self.options.header {
            HeaderLines::Lines(2..) => "it has fewer records than lines of names",
            _ => "it has no records",
        };
        let error = Error::reading(self.input.path(), FormatReason::Malformed, detail);
        error.at(prefix.base + prefix.bytes.len() as u64).hint(faults::WITHOUT_RECORDS)
    }
}

/// The dialect and layout of a text.
#[derive(Clone, Copy)]
struct Written<'l> {
    dialect: Dialect,
    layout: Option<&'l FixedLayout>,
}

/// A record of the prefix, and the start of the next one.
struct PrefixRecord {
    at: usize,
    fields: Vec<FieldPlace>,
    next: usize,
    /// Comments before it.
    comments: u64,
}

/// Whether the first record of a text has one field more than there are names. An empty one after a
/// delimiter at the end of the line does not count.
fn lacks_name(text: &[u8], dialect: Dialect, names: usize) -> bool {
    let mut at = 0;
    while at < text.len() {
        let (mut count, mut is_empty) = (0, false);
        let split = RecordText { text, dialect, layout: None }.split(at, |place| {
            count += 1;
            is_empty = place.start == place.end;
        });
        match split {
            Ok((RecordKind::Skipped, next)) => at = next,
            Ok((RecordKind::Data, _)) => return count == names + 1 && !is_empty,
            Err(_) => return false,
        }
    }
    false
}

/// Joins the parts of each name.
fn joined(header: Vec<Vec<String>>, columns: usize) -> Vec<String> {
    let mut lines = header.into_iter();
    let mut names = lines.next().unwrap_or_default();
    names.resize(columns, String::new());
    for parts in lines {
        for (name, part) in names.iter_mut().zip(parts) {
            if !name.is_empty() && !part.is_empty() {
                name.push('_');
            }
            name.push_str(&part);
        }
    }
    names
}

/// Makes the names unique. A name stays with the first column that has it.
fn distinct(names: Vec<String>) -> (Vec<String>, Vec<Renamed>) {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen: HashSet<&str> = HashSet::with_capacity(names.len());
    let mut renamed = Vec::new();
    let mut own: Vec<Option<String>> = Vec::with_capacity(names.len());
    // For each name, the first number that may be free.
    let mut next: HashMap<&str, u64> = HashMap::new();
    for (index, name) in names.iter().enumerate() {
        if !name.is_empty() && seen.insert(name) {
            own.push(None);
            continue;
        }
        let base = if name.is_empty() { format!("column_{}", index + 1) } else { name.clone() };
        let mut first = 2;
        let number = if name.is_empty() { &mut first } else { next.entry(name).or_insert(2) };
        let mut to = base.clone();
        while taken.contains(&to) {
            to = format!("{base}_{number}");
            *number += 1;
        }
        taken.insert(to.clone());
        renamed.push(Renamed { index, from: name.clone(), to: to.clone() });
        own.push(Some(to));
    }
    drop(seen);
    let names = names.into_iter().zip(own).map(|(name, own)| own.unwrap_or(name)).collect();
    (names, renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_name_that_no_other_one_has() {
        let own = |names: &[&str]| distinct(names.iter().map(|&it| it.to_owned()).collect()).0;
        assert_eq!(own(&["a", "b"]), ["a", "b"]);
        assert_eq!(own(&["a", "a", "a_2", ""]), ["a", "a_3", "a_2", "column_4"]);
        assert_eq!(own(&["", "column_1"]), ["column_1_2", "column_1"]);
    }
}
