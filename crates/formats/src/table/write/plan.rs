//! Checks the options against each other and the schema, before anything is created.

use std::path::Path;

use arrow_schema::{DataType, Field, Schema};
use swath_simd::RowFrame;

use super::column::is_writable;
use super::options::{BatchForm, BatchWriteOptions, LineEnd, Packing, Quoting};
use super::style::{GUESSED, Style, Width};
use super::text::quote;
use crate::compressed::Format;
use crate::error::{Error, FormatReason, Result};
use crate::foreign;
use crate::table::options::choices::HeaderLine;
use crate::table::text::first_line::OddNumber;
use crate::table::types::is_value;
use crate::table::value::Decimals;

/// The digits after the point of the smallest double, 2^-1074.
const MOST_PLACES: usize = 1074;
/// The hint for an option that has no effect.
const LEAVE_OUT: &str = "leave the option out, or choose another form";

/// The checked settings of an output.
#[derive(Debug)]
pub(super) struct WritePlan {
    pub(super) form: BatchForm,
    pub(super) format: Option<Format>,
    /// The names of the columns, as written.
    pub(super) names: Vec<String>,
    /// `None` for Arrow.
    pub(super) style: Option<Style>,
    pub(super) has_header: bool,
}

/// The error is a fault and a hint.
type PlanResult<T> = std::result::Result<T, (String, &'static str)>;

impl WritePlan {
    pub(super) fn new(
        options: &BatchWriteOptions,
        schema: &Schema,
        path: &Path,
    ) -> Result<Self> {
        let invalid = |(detail, hint): (String, _)| {
            Error::writing(path, FormatReason::Invalid, detail).hint(hint)
        };
        foreign::check_name(path)?;
        let form = options.form.or_else(|| BatchForm::of_name(path));
        let form = form.ok_or_else(|| {
            let detail = "the name does not say which form the table is to have";
            invalid((
                detail.to_owned(),
                "choose a form, or a name that ends in .csv, .tsv, .jsonl, .arrow or .arrows",
            ))
        })?;
        let format = match options.packing {
            Packing::ByName => Format::of_name(path),
            Packing::Plain => None,
            Packing::Format(format) => Some(format),
        };
        let names = names(options, schema).map_err(invalid)?;
        if let Some(index) = names.iter().position(|name| name.contains('\0')) {
            let detail = format!("a NUL byte in the name of column index {index}");
            return Err(invalid((detail, "give the column another name")));
        }
        let style = style(options, schema, form).map_err(invalid)?;
        if options.level.is_some() && format.is_none() {
            let detail = "a level has no effect on an output that is not compressed";
            return Err(invalid((
                detail.to_owned(),
                "choose a format, or leave the level out",
            )));
        }
        if let Some(style) = &style {
            check_types(schema, style, form).map_err(|(detail, hint)| {
                Error::writing(path, FormatReason::Unsupported, detail).hint(hint)
            })?;
        }
        let has_header = form.is_separated() && options.header != Some(HeaderLine::Absent);
        if let Some(style) = style.as_ref().filter(|_| has_header) {
            check_names(&names, style).map_err(invalid)?;
        }
        if form == BatchForm::JsonLines {
            check_keys(&names).map_err(invalid)?;
        }
        Ok(Self { form, format, names, style, has_header })
    }

    /// Appends the header.
    pub(super) fn push_header(&self, text: &mut Vec<u8>, style: &Style) {
        for (index, name) in self.names.iter().enumerate() {
            if index > 0 {
                text.push(style.frame.separator);
            }
            let name = name.as_bytes();
            match style.may_quote() && name_needs_quotes(name, style) {
                true => quote(text, name),
                false => text.extend_from_slice(name),
            }
        }
        text.extend_from_slice(style.frame.close);
    }

    /// Estimates the bytes of a row besides its values.
    pub(super) fn around(&self) -> u64 {
        match self.form {
            BatchForm::JsonLines => {
                let key = |name: &String| name.len() as u64 + 5;
                self.names.iter().map(key).sum::<u64>() + 2
            }
            _ => 1,
        }
    }
}

/// Quotes names that look like values, since readers take a line of values for data, and names with
/// a byte that readers may guess as the delimiter.
fn name_needs_quotes(name: &[u8], style: &Style) -> bool {
    style.needs_quotes(name)
        || name.iter().any(|byte| GUESSED.contains(byte))
        || is_value(name)
        || OddNumber::of(name).is_some()
}

fn names(options: &BatchWriteOptions, schema: &Schema) -> PlanResult<Vec<String>> {
    let columns = schema.fields().len();
    match &options.names {
        None => Ok(schema.fields().iter().map(|field| field.name().clone()).collect()),
        Some(names) if names.len() == columns => Ok(names.clone()),
        Some(names) => Err((
            format!("{} names for {columns} columns", names.len()),
            "give one name per column",
        )),
    }
}

fn style(
    options: &BatchWriteOptions,
    schema: &Schema,
    form: BatchForm,
) -> PlanResult<Option<Style>> {
    if form == BatchForm::Fixed {
        return Err(("text of fixed width is only read".to_owned(), "choose another form"));
    }
    let decimals = options.decimals.unwrap_or_default();
    if let Decimals::Fixed(places) = decimals
        && places > MOST_PLACES
    {
        let detail = format!("{places} digits after the point are more than any double has");
        return Err((detail, "request at most 1,074 digits, or the shortest text"));
    }
    if form.is_separated() {
        return separated(options, schema, form, decimals).map(Some);
    }
    let said = [
        ("a delimiter", options.delimiter.is_some()),
        ("quoting", options.quoting.is_some()),
        ("an end of lines", options.line_end.is_some()),
        ("a word for missing values", options.null_word.is_some()),
        ("a header", options.header.is_some()),
        ("a number of decimals", options.decimals.is_some() && form != BatchForm::JsonLines),
    ];
    if let Some((what, _)) = said.iter().find(|(_, is_set)| *is_set) {
        let word = BatchForm::WORDS.iter().find(|(_, it)| *it == form);
        let word = word.map_or("this form", |(word, _)| word);
        return Err((format!("{what} has no effect on {word}"), LEAVE_OUT));
    }
    Ok((form == BatchForm::JsonLines).then(|| Style::json(decimals)))
}

fn separated(
    options: &BatchWriteOptions,
    schema: &Schema,
    form: BatchForm,
    decimals: Decimals,
) -> PlanResult<Style> {
    let usual = if form == BatchForm::Tsv { b'\t' } else { b',' };
    let delimiter = options.delimiter.unwrap_or(usual);
    let quoting = options.quoting.unwrap_or_default();
    let width = match schema.fields().len() {
        0 => return Err(("the table has no columns".to_owned(), "write JSON Lines or Arrow")),
        1 => Width::One,
        _ if options.header == Some(HeaderLine::Absent) => Width::Nameless,
        _ => Width::Several,
    };
    let is_time = |kind: &DataType| {
        matches!(kind, DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_))
    };
    let cuts_times = delimiter == b':'
        && quoting == Quoting::Never
        && schema.fields().iter().any(|field| is_time(field.data_type()));
    if delimiter.is_ascii_alphanumeric()
        || b"+-.\n\r\"#".contains(&delimiter)
        || !delimiter.is_ascii()
        || cuts_times
    {
        let why = if delimiter == b'#' { ", because it begins comments" } else { "" };
        let detail = format!("`{}` cannot separate fields{why}", delimiter.escape_ascii());
        return Err((detail, "choose another delimiter"));
    }
    let close: &[u8] = match options.line_end.unwrap_or_default() {
        LineEnd::Newline => b"\n",
        LineEnd::ReturnNewline => b"\r\n",
    };
    let word = options.null_word.as_deref().unwrap_or_default();
    check_word(word, delimiter)?;
    // Readers skip empty lines.
    let word = if word.is_empty() && width == Width::One { "NA" } else { word };
    let frame = RowFrame { open: b"", separator: delimiter, close };
    Ok(Style::separated(frame, quoting, word.as_bytes(), decimals, width))
}

/// Checks a word for missing values: it is not quoted, and must not be the text of a value.
fn check_word(word: &str, delimiter: u8) -> PlanResult<()> {
    let bare = word.trim_start_matches(['-', '+', '.']);
    let lower = bare.to_ascii_lowercase();
    let is_value = bare.starts_with(|sign: char| sign.is_ascii_digit())
        || ["true", "false", "nan", "inf", "infinity"].contains(&&lower[..]);
    let is_cut =
        word.bytes().any(|byte| byte == delimiter || byte < 32 || b"\",;|".contains(&byte));
    if is_value || is_cut || word.trim() != word {
        let detail = format!("the word {word:?} for missing values could be read as a value");
        let detail = if is_value {
            detail
        } else {
            format!("the word {word:?} for missing values cannot stand without quotes")
        };
        return Err((detail, "choose another word, such as NA"));
    }
    Ok(())
}

fn check_types(schema: &Schema, style: &Style, form: BatchForm) -> PlanResult<()> {
    let form = if form == BatchForm::JsonLines { "JSON Lines" } else { "CSV" };
    for field in schema.fields() {
        let (name, kind) = (field.name(), field.data_type());
        if let Some(meaning) = extension(field) {
            let detail = format!(
                "column `{name}` is of type {meaning}, an extension type: {form} would hold its storage, \
                 {kind}, without its meaning"
            );
            let hint = "convert it to text or to its storage first, or write an Arrow file";
            return Err((detail, hint));
        }
        if !is_writable(kind, style) {
            let detail = format!("column `{name}` is of type {kind}, which {form} cannot hold");
            let hint = "convert it to text first, leave it out, or write an Arrow file";
            return Err((detail, hint));
        }
    }
    Ok(())
}

/// Returns the extension type of a column or of a nested type, except text or JSON.
fn extension(field: &Field) -> Option<&str> {
    let own = field.extension_type_name().filter(|name| !["", "arrow.json"].contains(name));
    own.or_else(|| match field.data_type() {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _)
        | DataType::RunEndEncoded(_, item) => extension(item),
        DataType::Struct(fields) => fields.iter().find_map(|field| extension(field)),
        _ => None,
    })
}

/// Refuses names that are all empty, and those that need quotes if quotes are ruled out.
fn check_names(names: &[String], style: &Style) -> PlanResult<()> {
    if names.iter().all(String::is_empty) {
        let detail =
            "all names are empty: the header would be read back as a row of missing values";
        return Err((detail.to_owned(), "give the columns names, or leave the names out"));
    }
    let is_cut = |name: &&String| name.bytes().any(|byte| style.special.has(byte));
    match names.iter().find(is_cut).filter(|_| !style.may_quote()) {
        None => Ok(()),
        Some(name) => {
            let detail = format!("the name {name:?} needs quotes, which the options rule out");
            Err((detail, "choose another name or delimiter, or allow quotes"))
        }
    }
}

/// Refuses duplicate keys: an object would lose one when it is read.
fn check_keys(names: &[String]) -> PlanResult<()> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let detail = format!(
                "two columns are named `{}`, and a JSON object has each name once",
                pair[0]
            );
            Err((detail, "give the columns other names"))
        }
    }
}
