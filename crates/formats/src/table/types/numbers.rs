//! Columns of numbers.

use std::sync::Arc;

use arrow_array::PrimitiveArray;
use arrow_array::types::ArrowPrimitiveType;
use swath_simd::{Padding, Tokens};

use super::field::{RawFields, TextField};
use super::fill::{Fill, ValuesFill};
use super::flags::{Flags, Note};
use super::loops::{self, Parse};
use super::misfit::{Misfit, MisfitAt};
use super::number::{self, NumberForm};
use super::rules::FieldRules;
use crate::table::value::sealed::SealedNumber;

/// Returns an empty column of numbers.
pub(super) fn column<T: ArrowPrimitiveType<Native: SealedNumber>>(
    capacity: usize,
) -> impl Fill {
    ValuesFill::new(ParseNumbers::<T::Native>::NEW, capacity, |_, values, nulls| {
        Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
    })
}

/// Parses fields into `out`, which has the same length. `missing` returns the value of a
/// missing field by its index.
pub(in crate::table) fn fill<T: SealedNumber>(
    fields: RawFields<'_>,
    rules: &FieldRules,
    out: &mut [T],
    missing: &mut dyn FnMut(usize) -> Option<T>,
    note: &mut Note<'_>,
) -> Result<(), MisfitAt> {
    loops::fill(&ParseNumbers::<T>::NEW, fields, rules, out, missing, note)
}

/// Parses numbers of one type.
struct ParseNumbers<T>(std::marker::PhantomData<T>);

impl<T: SealedNumber> ParseNumbers<T> {
    const NEW: Self = Self(std::marker::PhantomData);

    fn form() -> NumberForm {
        if T::IS_WHOLE { NumberForm::Whole } else { NumberForm::Any }
    }
}

impl<T: SealedNumber> Parse for ParseNumbers<T> {
    type Value = T;

    fn is_plain(&self, rules: &FieldRules) -> bool {
        !self.is_rewritten(rules) && !rules.has_odd_words()
    }

    fn is_rewritten(&self, rules: &FieldRules) -> bool {
        !rules.has_usual_numbers()
    }

    fn takes_strings(&self, rules: &FieldRules) -> bool {
        !rules.quoting.is_json || rules.is_told
    }

    fn many(
        &self,
        tokens: Tokens<'_>,
        rules: &FieldRules,
        out: &mut [T],
        flags: &mut Flags,
    ) -> usize {
        if !rules.is_told && rules.has_odd_booleans() {
            return 0;
        }
        let count = T::parse_column(tokens, Padding::Refused, out, &mut flags.rounded);
        if !rules.is_told || count == tokens.starts.len() {
            return count;
        }
        *flags = Flags::default();
        let count = T::parse_column(tokens, Padding::Taken, out, &mut flags.rounded);
        let count = without_minus_zero::<T>(tokens, &out[..count]);
        flags.padded = number::bits_of_lost(tokens, &out[..count]);
        count
    }

    fn one(
        &self,
        field: TextField<'_>,
        rules: &FieldRules,
        flags: &mut Flags,
    ) -> Result<T, Misfit> {
        if rules.is_refused(field) || (field.is_quoted && !self.takes_strings(rules)) {
            return Err(Misfit::Form);
        }
        let token = field.trimmed();
        let form = Self::form();
        let parse = |token: &[u8]| {
            let value = T::parse(token)?;
            flags.rounded = value.is_rounded(token).into();
            flags.padded = number::has_lost(token, value).into();
            Some(value)
        };
        number::parse(token, rules, form, parse)
            .ok_or_else(|| number::refusal(token, rules, T::NAME))
    }
}

/// Returns the number of values before the first `-0`, which unsigned types refuse.
fn without_minus_zero<T: SealedNumber>(tokens: Tokens<'_>, values: &[T]) -> usize {
    if !T::IS_UNSIGNED || !values.contains(&T::default()) {
        return values.len();
    }
    let is_wrong = |(&value, (&start, &end)): (&T, (&u32, &u32))| {
        let token = tokens.text.get(start as usize..end as usize);
        token.is_some_and(|token| number::is_minus_zero(token, value))
    };
    let places = tokens.starts.iter().zip(tokens.ends);
    let wrong = values.iter().zip(places).position(is_wrong);
    wrong.unwrap_or(values.len())
}
