//! Columns of dates and of timestamps.

use std::sync::Arc;

use arrow_array::PrimitiveArray;
use arrow_array::types::{
    Date32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_schema::TimeUnit;
use swath_simd::{Moment, Tokens, parse_dates, parse_moments};

use super::field::TextField;
use super::fill::{Fill, ValuesFill};
use super::flags::Flags;
use super::loops::Parse;
use super::misfit::Misfit;
use super::rules::FieldRules;
use super::time;

/// Returns an empty column of days since 1970.
pub(super) fn dates(capacity: usize) -> impl Fill {
    ValuesFill::new(ParseDates, capacity, |_, values, nulls| {
        Arc::new(PrimitiveArray::<Date32Type>::new(values.into(), nulls))
    })
}

/// Parses dates.
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

/// Returns an empty column of timestamps.
pub(super) fn moments(unit: TimeUnit, is_zoned: bool, capacity: usize) -> impl Fill {
    let parse = ParseMoments { unit, is_zoned };
    ValuesFill::new(parse, capacity, |parse, values, nulls| {
        let values = PrimitiveArray::<Int64Type>::new(values.into(), nulls);
        let zone = parse.is_zoned.then_some("UTC");
        macro_rules! counted {
            ($arrow:ty) => {
                Arc::new(values.reinterpret_cast::<$arrow>().with_timezone_opt(zone))
            };
        }
        match parse.unit {
            TimeUnit::Second => counted!(TimestampSecondType),
            TimeUnit::Millisecond => counted!(TimestampMillisecondType),
            TimeUnit::Microsecond => counted!(TimestampMicrosecondType),
            TimeUnit::Nanosecond => counted!(TimestampNanosecondType),
        }
    })
}

/// Parses timestamps.
#[derive(Clone, Copy)]
struct ParseMoments {
    unit: TimeUnit,
    is_zoned: bool,
}

impl ParseMoments {
    /// Returns the value of a moment in this column.
    #[inline]
    fn value(self, moment: Moment, rules: &FieldRules) -> Result<i64, Misfit> {
        // A seventh digit, even a zero, makes a column of nanoseconds.
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
