//! Columns of dates and of timestamps.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::NullBuffer;
use arrow_schema::TimeUnit;

use super::field::Field;
use super::fill::Fill;
use super::misfit::Misfit;
use super::rules::Rules;
use super::time::{self, Moment};

/// A column of days since 1970.
pub(super) struct Dates(Vec<i32>);

impl Dates {
    pub(super) fn new(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }
}

impl Fill for Dates {
    fn push(&mut self, field: Field<'_>, rules: &Rules) -> Result<(), Misfit> {
        let token = field.trimmed();
        let days = match &rules.format {
            None => time::date(token),
            Some(format) => format.moment(token).and_then(Moment::day),
        };
        self.0.push(days.ok_or(Misfit::Form)?);
        Ok(())
    }

    fn push_missing(&mut self) {
        self.0.push(0);
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        let values = std::mem::take(&mut self.0);
        Arc::new(PrimitiveArray::<Date32Type>::new(values.into(), nulls))
    }
}

/// A column of timestamps.
pub(super) struct Moments {
    values: Vec<i64>,
    unit: TimeUnit,
    is_zoned: bool,
}

impl Moments {
    pub(super) fn new(unit: TimeUnit, is_zoned: bool, capacity: usize) -> Self {
        Self { values: Vec::with_capacity(capacity), unit, is_zoned }
    }

    /// Returns the moment that a field is, whatever its unit.
    fn moment(&self, token: &[u8], rules: &Rules) -> Option<Moment> {
        let moment = match &rules.format {
            Some(format) => format.moment(token),
            None => match time::date(token) {
                Some(days) => Some(Moment::midnight(days)),
                None => time::moment(token),
            },
        };
        moment.filter(|moment| moment.is_zoned == self.is_zoned)
    }
}

impl Fill for Moments {
    fn push(&mut self, field: Field<'_>, rules: &Rules) -> Result<(), Misfit> {
        let moment = self.moment(field.trimmed(), rules).ok_or(Misfit::Form)?;
        self.values.push(moment.exactly(self.unit)?);
        Ok(())
    }

    fn push_missing(&mut self) {
        self.values.push(0);
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        let values = std::mem::take(&mut self.values);
        let values = PrimitiveArray::<Int64Type>::new(values.into(), nulls);
        let zone = self.is_zoned.then_some("UTC");
        macro_rules! counted {
            ($arrow:ty) => {
                Arc::new(values.reinterpret_cast::<$arrow>().with_timezone_opt(zone))
            };
        }
        match self.unit {
            TimeUnit::Second => counted!(TimestampSecondType),
            TimeUnit::Millisecond => counted!(TimestampMillisecondType),
            TimeUnit::Microsecond => counted!(TimestampMicrosecondType),
            TimeUnit::Nanosecond => counted!(TimestampNanosecondType),
        }
    }
}
