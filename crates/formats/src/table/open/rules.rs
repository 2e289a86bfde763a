//! The rules for fields that the options set, and checks that options agree.

use std::path::Path;

use crate::error::{Error, FormatReason, Result};
use crate::table::options::choices::Delimiter;
use crate::table::options::choices::Ragged;
use crate::table::options::{BatchOptions, HeaderLines, WordMeaning};
use crate::table::text::dialect::{Between, Dialect};
use crate::table::text::fixed::FixedLayout;
use crate::table::text::footer;
use crate::table::types::{FieldRules, WordSet};
use crate::table::write::BatchForm;

/// Returns the rules of a column without a given type.
pub(in crate::table) fn rules(options: &BatchOptions, dialect: Dialect) -> FieldRules {
    // Values of JSON need no words.
    let is_json = dialect.between == Between::Json;
    let usual = |words: &'static [&'static str]| if is_json { &[] } else { words };
    FieldRules {
        nulls: match &options.nulls {
            Some(given) => nulls(given, dialect),
            None => WordSet::new(usual(&NULLS)),
        },
        trues: words(&options.trues, usual(&TRUES)),
        falses: words(&options.falses, usual(&FALSES)),
        quoting: dialect.quoting(),
        decimal: options.decimal,
        thousands: options.thousands,
        format: None,
        is_told: false,
        is_nested: options.json_nested,
    }
}

/// Returns the rules of a column with a given type.
pub(in crate::table) fn told(options: &BatchOptions, rules: &FieldRules) -> FieldRules {
    FieldRules {
        trues: words(&options.trues, &TRUES),
        falses: words(&options.falses, &FALSES),
        is_told: true,
        ..rules.clone()
    }
}

/// Sets words for a single column.
pub(in crate::table) fn give(
    rules: &mut FieldRules,
    meaning: WordMeaning,
    given: &[Vec<u8>],
    dialect: Dialect,
) {
    match meaning {
        WordMeaning::Missing => rules.nulls = nulls(given, dialect),
        WordMeaning::True => rules.trues = WordSet::new(given),
        WordMeaning::False => rules.falses = WordSet::new(given),
    }
}

fn nulls(given: &[Vec<u8>], dialect: Dialect) -> WordSet {
    // An editor may trim blanks at the end of a line, so these mean nothing.
    let empty = (dialect.between == Between::Fixed).then_some(&b""[..]);
    WordSet::new(given.iter().map(Vec::as_slice).chain(empty))
}

const NULLS: [&str; 5] = ["", "NA", "N/A", "null", "NULL"];
const TRUES: [&str; 3] = ["true", "True", "TRUE"];
const FALSES: [&str; 3] = ["false", "False", "FALSE"];

fn words(given: &Option<Vec<Vec<u8>>>, usual: &[&str]) -> WordSet {
    given.as_ref().map_or_else(|| WordSet::new(usual), WordSet::new)
}

/// Whether a byte may begin comments by default: it has no other meaning.
pub(in crate::table) fn may_begin_comments(options: &BatchOptions, byte: u8) -> bool {
    let BatchOptions { nulls, trues, falses, words_of, .. } = options;
    let of_columns = words_of.iter().flat_map(|(.., words)| words);
    let mut words = [nulls, trues, falses].into_iter().flatten().flatten().chain(of_columns);
    options.thousands != Some(byte)
        && !marks(options).contains(&byte)
        && !words.any(|word| word.first() == Some(&byte))
}

/// Returns the bytes with a meaning between values.
fn marks(options: &BatchOptions) -> Vec<u8> {
    let mut delimiter = match &options.delimiter {
        Some(Delimiter::Byte(byte)) => vec![*byte],
        // Bytes of multi-byte characters have no other meaning.
        Some(Delimiter::Text(long)) => {
            long.as_bytes().iter().copied().filter(u8::is_ascii).collect()
        }
        Some(Delimiter::Blanks) => vec![b' '],
        None => Vec::new(),
    };
    delimiter.sort_unstable();
    delimiter.dedup();
    let quote = options.quote.filter(|_| options.form != BatchForm::Fixed);
    let escape = options.escape.filter(|&escape| Some(escape) != quote);
    // A comma can be both: in quotes a decimal point, between fields the delimiter.
    let is_both = options.decimal == b',' && delimiter == *b",";
    let decimal = Some(options.decimal).filter(|_| !is_both);
    let marks = [quote, escape, options.comment.given(), decimal];
    delimiter.into_iter().chain(marks.into_iter().flatten()).collect()
}

/// Refuses options without a meaning in JSON Lines.
fn check_json(path: &Path, options: &BatchOptions) -> Result<()> {
    let set = [
        (options.delimiter.is_some(), "delimiter"),
        (options.header != HeaderLines::Auto, "header"),
        (options.comment.given().is_some(), "comment"),
        (options.quote != Some(b'"'), "quote"),
        (options.escape.is_some(), "escape"),
        (options.decimal != b'.', "decimal"),
        (options.thousands.is_some(), "thousands"),
        (options.ragged == Ragged::Pad, "pad` of `ragged"),
        (options.ragged == Ragged::Drop, "drop` of `ragged"),
        (options.fields.is_some(), "fields"),
    ];
    match set.iter().find(|(is_set, _)| *is_set) {
        Some((_, name)) => {
            let detail = format!("`{name}` has no meaning in JSON Lines");
            let error = Error::reading(path, FormatReason::Invalid, detail);
            Err(error.hint("remove it, or read another form"))
        }
        None => Ok(()),
    }
}

/// Refuses options without a meaning for columns of fixed width.
fn check_fixed(path: &Path, options: &BatchOptions) -> Result<()> {
    let set = [
        (options.delimiter.is_some(), "delimiter"),
        (!matches!(options.quote, None | Some(b'"')), "quote"),
        (options.escape.is_some(), "escape"),
        (options.fields.is_some(), "fields"),
    ];
    let invalid = |(detail, hint): (String, &'static str)| {
        Err(Error::reading(path, FormatReason::Invalid, detail).hint(hint))
    };
    if let Some((_, name)) = set.iter().find(|(is_set, _)| *is_set) {
        let detail = format!("`{name}` has no meaning in text of fixed width");
        return invalid((detail, "remove it, or read another form"));
    }
    layout(options).map(drop).or_else(invalid)
}

/// Returns the layout of fixed-width columns, if the options give one.
pub(in crate::table) fn layout(
    options: &BatchOptions,
) -> std::result::Result<Option<FixedLayout>, (String, &'static str)> {
    match (&options.widths, &options.positions) {
        (Some(widths), None) => FixedLayout::of_widths(widths).map(Some),
        (None, Some(positions)) => FixedLayout::of_positions(positions).map(Some),
        (None, None) => Ok(None),
        (Some(_), Some(_)) => {
            let detail = "columns are given by widths and by positions".to_owned();
            Err((detail, "pass `widths` or `positions`, not both"))
        }
    }
}

/// Refuses options that contradict each other.
pub(in crate::table) fn check(path: &Path, options: &BatchOptions) -> Result<()> {
    let refuse = |detail: &str, hint: &'static str| {
        Err(Error::reading(path, FormatReason::Invalid, detail.to_owned()).hint(hint))
    };
    let has_columns = options.widths.is_some() || options.positions.is_some();
    if has_columns && options.form != BatchForm::Fixed {
        return refuse(
            "widths and positions only have a meaning in text of fixed width",
            "remove them, or read the form `fixed`",
        );
    }
    if options.fields == Some(0) {
        return refuse("a record has no fields", "pass a number of at least 1 as `fields`");
    }
    if options.skip_footer > footer::MOST {
        let detail = format!("more than {} records are skipped at the end", footer::MOST);
        return refuse(&detail, "pass a smaller number as `skip_footer`");
    }
    let of_json = [(options.json_nan, "json_nan"), (options.json_nested, "json_nested")];
    if let Some((_, name)) = of_json.into_iter().find(|&(is_set, _)| is_set)
        && options.form != BatchForm::JsonLines
    {
        let detail = format!("`{name}` only has a meaning in JSON Lines");
        return refuse(&detail, "remove it, or read JSON Lines");
    }
    let mut given = options.types.iter().map(|&(_, kind)| kind).chain(options.all_types);
    if let Some(kind) = given.find(|kind| kind.is_nested()) {
        let detail =
            format!("the type {kind} cannot be given: it is found, with all that is in it");
        return refuse(&detail, "set `json_nested`, and leave out the type");
    }
    match options.form {
        BatchForm::JsonLines => return check_json(path, options),
        BatchForm::Csv | BatchForm::Tsv => {}
        BatchForm::Fixed => check_fixed(path, options)?,
        BatchForm::Arrow | BatchForm::ArrowStream => {
            return refuse(
                "Arrow's forms are not read as text",
                "read it with a library for Arrow",
            );
        }
    }
    if options.union_by_name && options.header == HeaderLines::Lines(0) {
        return refuse(
            "columns are united by name, and files without a header have no names",
            "leave out `union_by_name`, or `header`",
        );
    }
    check_marks(path, options)
}

/// Refuses characters with two meanings, or that cannot have the given one.
fn check_marks(path: &Path, options: &BatchOptions) -> Result<()> {
    let marks = marks(options);
    let invalid = |detail: String| {
        let error = Error::reading(path, FormatReason::Invalid, detail);
        Err(error.hint("pass other characters"))
    };
    for byte in marks.iter().copied().chain(options.thousands) {
        let shown = byte.escape_ascii();
        if !byte.is_ascii() || matches!(byte, b'\n' | b'\r') {
            return invalid(format!(
                "the byte `{shown}` has another meaning, or is part of a character"
            ));
        }
        if marks.iter().filter(|&&other| other == byte).count() > 1 {
            return invalid(format!(
                "`{shown}` is two of delimiter, quote, escape, comment and decimal point"
            ));
        }
    }
    let in_numbers = [Some(options.decimal), options.thousands];
    if in_numbers.iter().flatten().any(|&byte| is_numeric(byte))
        || in_numbers[0] == in_numbers[1]
    {
        let detail = "the decimal point and the separator of thousands must differ, and not be part of a number";
        return invalid(detail.to_owned());
    }
    Ok(())
}

fn is_numeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-')
}
