//! Options as JSON, in the words of users.

use super::options::{
    Between, Comment, Encoding, Fixed, Form, Header, Key, Meaning, Options, Ragged,
};
use super::types::Type;
use super::widths::Span;
use crate::json::Json;

/// Returns the options that these members set; `None` if one is unknown.
///
/// ```
/// use swath_reference::json::parse;
/// use swath_reference::typed::{Header, options_of};
///
/// let json = parse(r#"{"header": "yes", "types": {"id": "u8", "1": "date"}}"#).expect("JSON");
/// assert_eq!(options_of(&json).expect("options").header, Header::Lines(1));
/// ```
#[must_use]
pub fn options_of(json: &Json) -> Option<Options> {
    let mut options = Options::default();
    for (name, value) in members(json)? {
        set(&mut options, name, value)?;
    }
    Some(options)
}

fn set(options: &mut Options, name: &str, value: &Json) -> Option<()> {
    match name {
        "form" => options.form = form(text(value)?)?,
        "widths" => {
            let widths = list(value)?.iter().map(number).collect::<Option<_>>()?;
            options.fixed = Fixed::Widths(widths);
        }
        "positions" => {
            let spans = list(value)?.iter().map(span).collect::<Option<_>>()?;
            options.fixed = Fixed::Positions(spans);
        }
        "delimiter" => options.delimiter = Some(delimiter(text(value)?)?),
        "header" => options.header = header(value)?,
        "comment" => {
            options.comment = byte_or_none(value)?.map_or(Comment::None, Comment::Byte);
        }
        "quote" => options.quote = byte_or_none(value)?,
        "escape" => options.escape = Some(byte(value)?),
        "columns" => {
            options.columns = Some(list(value)?.iter().map(key).collect::<Option<_>>()?)
        }
        "types" => match value {
            Json::String(word) => options.all_types = Some(Type::named(word)?),
            _ => options.types = pairs(value, Type::named)?,
        },
        "formats" => options.formats = pairs(value, |word| Some(word.to_owned()))?,
        "skip_rows" => options.skip_rows = number(value)?,
        "skip_footer" => options.skip_footer = number(value)?,
        "rows" => options.rows = Some(number(value)?),
        "rename" => options.rename = pairs(value, |word| Some(word.to_owned()))?,
        "null_values" => words(options, Meaning::Missing, value)?,
        "true_values" => words(options, Meaning::True, value)?,
        "false_values" => words(options, Meaning::False, value)?,
        "decimal" => options.decimal = byte(value)?,
        "thousands" => options.thousands = Some(byte(value)?),
        "encoding" => options.encoding = Encoding::named(text(value)?)?,
        "encoding_errors" => options.replaces = text(value)? == "replace",
        "ragged" => options.ragged = ragged(text(value)?)?,
        "fields" => options.fields = Some(number(value)?),
        "starting_in" => {
            let [start, end] = list(value)? else { return None };
            options.starting_in = Some((number(start)?, number(end)?));
        }
        _ => return None,
    }
    Some(())
}

fn members(json: &Json) -> Option<&[(String, Json)]> {
    match json {
        Json::Object(members) => Some(members),
        _ => None,
    }
}

fn list(json: &Json) -> Option<&[Json]> {
    match json {
        Json::Array(values) => Some(values),
        _ => None,
    }
}

fn text(json: &Json) -> Option<&str> {
    match json {
        Json::String(text) => Some(text),
        _ => None,
    }
}

fn texts(json: &Json) -> Option<Vec<String>> {
    list(json)?.iter().map(|one| text(one).map(str::to_owned)).collect()
}

/// Sets the words of all columns, or, from an object, those of single columns.
fn words(options: &mut Options, meaning: Meaning, json: &Json) -> Option<()> {
    let Some(columns) = members(json) else {
        *options.words_mut(meaning) = texts(json)?;
        return Some(());
    };
    for (name, words) in columns {
        options.words_of.push((column(name), meaning, texts(words)?));
    }
    Some(())
}

fn number(json: &Json) -> Option<usize> {
    match json {
        Json::Number(number) => number.parse().ok(),
        _ => None,
    }
}

fn byte(json: &Json) -> Option<u8> {
    match text(json)?.as_bytes() {
        [byte] => Some(*byte),
        _ => None,
    }
}

fn byte_or_none(json: &Json) -> Option<Option<u8>> {
    if *json == Json::Null { Some(None) } else { byte(json).map(Some) }
}

fn key(json: &Json) -> Option<Key> {
    match json {
        Json::String(name) => Some(Key::Name(name.clone())),
        _ => number(json).map(Key::Index),
    }
}

/// Returns the settings given for some columns, by name or, in digits, by index.
fn pairs<T>(json: &Json, of: impl Fn(&str) -> Option<T>) -> Option<Vec<(Key, T)>> {
    let pair = |(name, value): &(String, Json)| Some((column(name), of(text(value)?)?));
    members(json)?.iter().map(pair).collect()
}

fn column(name: &str) -> Key {
    name.parse().map_or_else(|_| Key::Name(name.to_owned()), Key::Index)
}

fn form(word: &str) -> Option<Form> {
    (word == "fixed").then_some(Form::Fixed)
}

fn span(json: &Json) -> Option<Span> {
    match list(json)? {
        [start, Json::Null] => Some((number(start)?, None)),
        [start, end] => Some((number(start)?, Some(number(end)?))),
        _ => None,
    }
}

fn delimiter(word: &str) -> Option<Between> {
    match word.as_bytes() {
        b"blanks" => Some(Between::Blanks),
        [byte] => Some(Between::Byte(*byte)),
        _ => Between::LONG.into_iter().find(|long| *long == word).map(Between::Text),
    }
}

fn header(json: &Json) -> Option<Header> {
    match json {
        Json::String(word) if word == "auto" => Some(Header::Auto),
        Json::String(word) if word == "yes" => Some(Header::Lines(1)),
        Json::String(word) if word == "no" => Some(Header::Lines(0)),
        _ => number(json).map(Header::Lines),
    }
}

fn ragged(word: &str) -> Option<Ragged> {
    Some(match word {
        "error" => Ragged::Error,
        "pad" => Ragged::Pad,
        "set aside" => Ragged::SetAside,
        "drop" => Ragged::Drop,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn options_are_those_of_the_words() {
        let options = |text: &str| options_of(&parse(text).expect("JSON"));
        assert_eq!(options("{}"), Some(Options::default()));
        let some = options(r#"{"columns": ["a", 1], "quote": null, "delimiter": "blanks"}"#);
        let some = some.expect("options");
        assert_eq!(some.columns, Some(vec![Key::Name("a".to_owned()), Key::Index(1)]));
        assert_eq!((some.quote, some.delimiter), (None, Some(Between::Blanks)));
        for wrong in
            [r#"{"colour": "red"}"#, r#"{"escape": "ab"}"#, r#"{"types": {"a": "i7"}}"#]
        {
            assert_eq!(options(wrong), None, "{wrong}");
        }
    }
}
