//! Columns of fixed-size values, parsed many fields at a time.
//!
//! ```text
//! fields     1.5,,NA,"2", 3         up to 64 of one column
//! plain      1.5 -   refused        all are parsed as they are; an empty one becomes zero
//! careful    1.5 - - 2 3            if one is refused: without blanks and quotes, words compared
//! alone      …                      if one is refused again: with every rule, or a misfit
//! ```
//!
//! Most columns never get beyond the first step, which parses fields without examining them
//! first.

use swath_simd::{Tokens, not_empty};

use super::field::{RawFields, TextField};
use super::flags::{Flags, Note};
use super::gather::{BATCH, Gathered};
use super::misfit::{Misfit, MisfitAt};
use super::rules::FieldRules;
use super::validity::Validity;

/// Parses values of one type.
pub(super) trait Parse {
    type Value: Copy + Default;

    /// Whether tokens may be parsed as they are, without any check.
    fn is_plain(&self, rules: &FieldRules) -> bool;

    /// Whether tokens must first be [brought into the usual form](super::number::usual_form).
    fn is_rewritten(&self, _: &FieldRules) -> bool {
        false
    }

    /// Whether a string of JSON may be a value.
    fn takes_strings(&self, _: &FieldRules) -> bool {
        true
    }

    /// Parses plain tokens, and empty ones to the default value. Returns how many precede the
    /// first that is neither; flags values that do not match their text.
    fn many(
        &self,
        tokens: Tokens<'_>,
        rules: &FieldRules,
        out: &mut [Self::Value],
        flags: &mut Flags,
    ) -> usize;

    /// Parses a field that is not missing; its flags are the lowest bits.
    fn one(
        &self,
        field: TextField<'_>,
        rules: &FieldRules,
        flags: &mut Flags,
    ) -> Result<Self::Value, Misfit>;
}

/// Appends fields to `values`, and their validity.
pub(super) fn push_all<P: Parse>(
    parse: &P,
    values: &mut Vec<P::Value>,
    fields: RawFields<'_>,
    rules: &FieldRules,
    validity: &mut Validity,
    note: &mut Note<'_>,
) -> Result<(), MisfitAt> {
    let first = values.len();
    values.resize(first + fields.len(), P::Value::default());
    let mut steps = Steps::new(parse, rules);
    let mut rest = &mut values[first..];
    for (number, batch) in fields.batches(BATCH).enumerate() {
        let (out, after) = rest.split_at_mut(batch.len());
        rest = after;
        match steps.take(batch, out) {
            Ok(there) => {
                validity.push_word(there, batch.len());
                steps.note(number * BATCH, note);
            }
            Err((there, MisfitAt { index, misfit })) => {
                validity.push_word(there, index);
                let index = number * BATCH + index;
                values.truncate(first + index);
                return Err(MisfitAt { index, misfit });
            }
        }
    }
    Ok(())
}

/// Parses fields into `out`, which has the same length. `missing` returns the value of a
/// missing field by its index.
pub(super) fn fill<P: Parse>(
    parse: &P,
    fields: RawFields<'_>,
    rules: &FieldRules,
    out: &mut [P::Value],
    missing: &mut dyn FnMut(usize) -> Option<P::Value>,
    note: &mut Note<'_>,
) -> Result<(), MisfitAt> {
    let mut steps = Steps::new(parse, rules);
    let mut rest = out;
    for (number, batch) in fields.batches(BATCH).enumerate() {
        let (now, after) = rest.split_at_mut(batch.len());
        rest = after;
        let at =
            |MisfitAt { index, misfit }| MisfitAt { index: number * BATCH + index, misfit };
        let there = steps.take(batch, now).map_err(|(_, misfit)| at(misfit))?;
        steps.note(number * BATCH, note);
        let mut gone = !there & (u64::MAX >> (BATCH - now.len()));
        while gone != 0 {
            let index = gone.trailing_zeros() as usize;
            let misfit = || at(MisfitAt { index, misfit: Misfit::Missing });
            now[index] = missing(number * BATCH + index).ok_or_else(misfit)?;
            gone &= gone - 1;
        }
    }
    Ok(())
}

/// The steps of one column, and whether it needs care.
struct Steps<'p, P: Parse> {
    parse: &'p P,
    rules: &'p FieldRules,
    gathered: Gathered,
    parsed: [P::Value; BATCH],
    /// Whether the next fields are gathered with care; `None` to do so for all.
    is_careful: Option<bool>,
    /// The flags of the current batch.
    flags: Flags,
}

/// The bits of present fields; in an error, of those before the misfit.
type There = Result<u64, (u64, MisfitAt)>;

impl<'p, P: Parse> Steps<'p, P> {
    fn new(parse: &'p P, rules: &'p FieldRules) -> Self {
        let is_json = rules.quoting.is_json;
        // No field of JSON is empty, but values of a format may have quotes.
        let may_be_plain = parse.is_plain(rules)
            && if is_json { rules.format.is_none() } else { rules.nulls.has_empty() };
        let gathered = Gathered::new(rules, parse.is_rewritten(rules));
        let parsed = [P::Value::default(); BATCH];
        let is_careful = may_be_plain.then_some(false);
        Self { parse, rules, gathered, parsed, is_careful, flags: Flags::default() }
    }

    fn note(&self, first: usize, note: &mut Note<'_>) {
        if !self.flags.is_empty() {
            note(first, self.flags);
        }
    }

    /// Parses a batch into `out`, which is filled with the default value.
    fn take(&mut self, batch: RawFields<'_>, out: &mut [P::Value]) -> There {
        self.flags = Flags::default();
        if self.is_careful == Some(false) {
            if let Some(there) = self.plain(batch, out) {
                return Ok(there);
            }
            out.fill(P::Value::default());
            self.flags = Flags::default();
        }
        let takes_strings = self.parse.takes_strings(self.rules);
        let (there, is_odd) = self.gathered.carefully(batch, self.rules, takes_strings);
        let there = self.careful(batch, there, out);
        if self.is_careful.is_some() {
            self.is_careful = Some(is_odd);
        }
        there
    }

    /// Parses the batch as plain tokens; `None` if it has others than plain and empty ones.
    fn plain(&mut self, batch: RawFields<'_>, out: &mut [P::Value]) -> Option<u64> {
        let count = self.parse.many(batch.tokens(), self.rules, out, &mut self.flags);
        (count == out.len()).then(|| not_empty(batch.starts, batch.ends))
    }

    /// Parses gathered tokens; reads refused ones as fields, one by one.
    fn careful(&mut self, batch: RawFields<'_>, mut there: u64, out: &mut [P::Value]) -> There {
        let mut done = 0;
        let mut scratch = Vec::new();
        loop {
            let tokens = self.gathered.tokens(batch.text, done);
            let count = tokens.starts.len();
            // Here an empty token, such as one without a usual form, is not missing.
            let full = not_empty(tokens.starts, tokens.ends).trailing_ones() as usize;
            let tokens =
                Tokens { starts: &tokens.starts[..full], ends: &tokens.ends[..full], ..tokens };
            let (parsed, mut flags) = (&mut self.parsed[..full], Flags::default());
            let found = self.parse.many(tokens, self.rules, parsed, &mut flags);
            let rows = &self.gathered.rows()[done..];
            self.flags.add(flags, &rows[..found]);
            for (&row, &value) in rows.iter().zip(&self.parsed[..found]) {
                out[usize::from(row)] = value;
            }
            if found == count {
                return Ok(there);
            }
            let index = usize::from(rows[found]);
            flags = Flags::default();
            match self.alone(batch, index, &mut scratch, &mut flags) {
                Ok(Some(value)) => out[index] = value,
                Ok(None) => there &= !(1 << index),
                Err(misfit) => return Err((there, MisfitAt { index, misfit })),
            }
            self.flags.add(flags, &rows[found..=found]);
            done += found + 1;
        }
    }

    /// Parses one field with every rule; `None` if it is missing.
    fn alone(
        &self,
        batch: RawFields<'_>,
        index: usize,
        scratch: &mut Vec<u8>,
        flags: &mut Flags,
    ) -> Result<Option<P::Value>, Misfit> {
        let Some(raw) = batch.raw(index) else { return Ok(None) };
        let field = self.rules.quoting.field(raw, scratch);
        if self.rules.is_missing(field) {
            return Ok(None);
        }
        self.parse.one(field, self.rules, flags).map(Some)
    }
}
