//! Columns of booleans.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::NullBuffer;
use swath_simd::Tokens;

use super::field::{RawFields, TextField};
use super::fill::Fill;
use super::flags::{Flags, Note};
use super::loops::{self, Parse};
use super::misfit::{FieldFit, Misfit, MisfitAt};
use super::rules::{FieldRules, WordSet};
use super::validity::Validity;

/// A column of booleans.
pub(super) struct Bools(Vec<bool>);

impl Bools {
    pub(super) fn new(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }
}

/// How booleans are parsed.
struct ParseBools;

impl Parse for ParseBools {
    type Value = bool;

    fn is_plain(&self, rules: &FieldRules) -> bool {
        let is_null = |word: &[u8]| rules.nulls.has(word);
        !rules.nulls.meets(&rules.trues)
            && !rules.nulls.meets(&rules.falses)
            && !(rules.quoting.is_json && (is_null(b"true") || is_null(b"false")))
    }

    fn takes_strings(&self, rules: &FieldRules) -> bool {
        !rules.quoting.is_json
    }

    fn many(
        &self,
        tokens: Tokens<'_>,
        rules: &FieldRules,
        out: &mut [bool],
        _: &mut Flags,
    ) -> usize {
        let places = tokens.starts.iter().zip(tokens.ends).zip(out);
        let mut count = 0;
        for ((&start, &end), slot) in places {
            let (start, end) = (start as usize, end as usize);
            let is_word = |words: &WordSet, json: &[u8]| {
                let is_json =
                    rules.quoting.is_json && tokens.text.get(start..end) == Some(json);
                start < end && (is_json || words.has_at(tokens.text, start, end))
            };
            *slot = is_word(&rules.trues, b"true");
            if !*slot && start < end && !is_word(&rules.falses, b"false") {
                return count;
            }
            count += 1;
        }
        count
    }

    fn one(
        &self,
        field: TextField<'_>,
        rules: &FieldRules,
        _: &mut Flags,
    ) -> Result<bool, Misfit> {
        rules.boolean(field).ok_or_else(|| Misfit::of(field.bytes))
    }
}

impl Fill for Bools {
    fn push(&mut self, field: TextField<'_>, rules: &FieldRules, _: &mut Note<'_>) -> FieldFit {
        self.0.push(ParseBools.one(field, rules, &mut Flags::default())?);
        Ok(())
    }

    fn push_missing(&mut self) {
        self.0.push(false);
    }

    fn push_all(
        &mut self,
        fields: RawFields<'_>,
        rules: &FieldRules,
        validity: &mut Validity,
        note: &mut Note<'_>,
    ) -> Result<(), MisfitAt> {
        loops::push_all(&ParseBools, &mut self.0, fields, rules, validity, note)
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(BooleanArray::new(std::mem::take(&mut self.0).into(), nulls))
    }
}
