//! Columns of dates and of timestamps.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::NullBuffer;
use arrow_schema::TimeUnit;
use swath_simd::{Moment, Tokens, parse_dates, parse_moments};

use super::field::{RawFields, TextField};
use super::fill::{Fill, taken};
use super::flags::{Flags, Note};
use super::loops::{self, Parse};
use super::misfit::{FieldFit, Misfit, MisfitAt};
use super::rules::FieldRules;
use super::time;
use super::validity::Validity;

/// A column of days since 1970.
pub(super) struct Dates(Vec<i32>);

impl Dates {
    pub(super) fn new(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }
}

/// How dates are parsed.
struct ParseDates;

impl Parse for ParseDates {
    type Value = i32;

    fn is_plain(&self, rules: &FieldRules) -> bool {
        !rules.has_odd_words()
    }

    fn many(
        &self,
        tokens: Tokens<'_>,
        rules: &FieldRules,
        out: &mut [i32],
        _: &mut Flags,
    ) -> usize {
        if rules.has_odd_booleans() {
            return 0;
        }
        match &rules.format {
            None => parse_dates(tokens, out),
            Some(format) => format.plain(tokens, |index, moment| {
                time::day(moment).map(|day| out[index] = day).is_some()
            }),
        }
    }

    fn one(
        &self,
        field: TextField<'_>,
        rules: &FieldRules,
        _: &mut Flags,
    ) -> Result<i32, Misfit> {
        if rules.is_refused(field) {
            return Err(Misfit::Form);
        }
        let token = field.trimmed();
        let days = match &rules.format {
            None => time::date(token),
            Some(format) => format.moment(token).and_then(time::day),
        };
        days.ok_or_else(|| Misfit::of(token))
    }
}

impl Fill for Dates {
    fn push(&mut self, field: TextField<'_>, rules: &FieldRules, _: &mut Note<'_>) -> FieldFit {
        self.0.push(ParseDates.one(field, rules, &mut Flags::default())?);
        Ok(())
    }

    fn push_missing(&mut self) {
        self.0.push(0);
    }

    fn push_all(
        &mut self,
        fields: RawFields<'_>,
        rules: &FieldRules,
        validity: &mut Validity,
        note: &mut Note<'_>,
    ) -> Result<(), MisfitAt> {
        loops::push_all(&ParseDates, &mut self.0, fields, rules, validity, note)
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        let values = taken(&mut self.0);
        Arc::new(PrimitiveArray::<Date32Type>::new(values.into(), nulls))
    }
}

/// A column of timestamps.
pub(super) struct Moments {
    values: Vec<i64>,
    parse: ParseMoments,
}

/// How timestamps are parsed.
#[derive(Clone, Copy)]
struct ParseMoments {
    unit: TimeUnit,
    is_zoned: bool,
}

impl Moments {
    pub(super) fn new(unit: TimeUnit, is_zoned: bool, capacity: usize) -> Self {
        let parse = ParseMoments { unit, is_zoned };
        Self { values: Vec::with_capacity(capacity), parse }
    }
}

impl ParseMoments {
    /// Returns the value of a moment in this column.
    #[inline]
    fn value(self, moment: Moment, rules: &FieldRules) -> Result<i64, Misfit> {
        // Seven digits of which the last is a zero make a column of nanoseconds.
        let most = if self.unit == TimeUnit::Nanosecond || rules.is_told { 9 } else { 6 };
        if moment.is_zoned != self.is_zoned {
            Err(Misfit::Form)
        } else if moment.digits > most {
            Err(Misfit::Inexact)
        } else {
            time::exactly(moment, self.unit)
        }
    }
}

impl Parse for ParseMoments {
    type Value = i64;

    fn is_plain(&self, rules: &FieldRules) -> bool {
        !rules.has_odd_words()
    }

    fn many(
        &self,
        tokens: Tokens<'_>,
        rules: &FieldRules,
        out: &mut [i64],
        _: &mut Flags,
    ) -> usize {
        if rules.has_odd_booleans() {
            return 0;
        }
        let take = |index: usize, moment| {
            self.value(moment, rules).map(|value| out[index] = value).is_ok()
        };
        match &rules.format {
            None => parse_moments(tokens, take),
            Some(format) => format.plain(tokens, take),
        }
    }

    fn one(
        &self,
        field: TextField<'_>,
        rules: &FieldRules,
        _: &mut Flags,
    ) -> Result<i64, Misfit> {
        if rules.is_refused(field) {
            return Err(Misfit::Form);
        }
        let token = field.trimmed();
        let moment = match &rules.format {
            Some(format) => format.moment(token),
            None => time::date_or_moment(token),
        };
        self.value(moment.ok_or_else(|| Misfit::of(token))?, rules)
    }
}

impl Fill for Moments {
    fn push(&mut self, field: TextField<'_>, rules: &FieldRules, _: &mut Note<'_>) -> FieldFit {
        self.values.push(self.parse.one(field, rules, &mut Flags::default())?);
        Ok(())
    }

    fn push_missing(&mut self) {
        self.values.push(0);
    }

    fn push_all(
        &mut self,
        fields: RawFields<'_>,
        rules: &FieldRules,
        validity: &mut Validity,
        note: &mut Note<'_>,
    ) -> Result<(), MisfitAt> {
        loops::push_all(&self.parse, &mut self.values, fields, rules, validity, note)
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        let values = taken(&mut self.values);
        let values = PrimitiveArray::<Int64Type>::new(values.into(), nulls);
        let zone = self.parse.is_zoned.then_some("UTC");
        macro_rules! counted {
            ($arrow:ty) => {
                Arc::new(values.reinterpret_cast::<$arrow>().with_timezone_opt(zone))
            };
        }
        match self.parse.unit {
            TimeUnit::Second => counted!(TimestampSecondType),
            TimeUnit::Millisecond => counted!(TimestampMillisecondType),
            TimeUnit::Microsecond => counted!(TimestampMicrosecondType),
            TimeUnit::Nanosecond => counted!(TimestampNanosecondType),
        }
    }
}
