//! Columns of booleans.

use std::sync::Arc;

use arrow_array::BooleanArray;
use swath_simd::Tokens;

use super::field::TextField;
use super::fill::{Fill, ValuesFill};
use super::flags::Flags;
use super::loops::Parse;
use super::misfit::Misfit;
use super::rules::{FieldRules, WordSet};

/// Returns an empty column of booleans.
pub(super) fn column(capacity: usize) -> impl Fill {
    ValuesFill::new(ParseBools, capacity, |_, values, nulls| {
        Arc::new(BooleanArray::new(values.into(), nulls))
    })
}

/// Parses booleans.
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
