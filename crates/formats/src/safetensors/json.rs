//! Parses the text of a header. Examines every member, so that duplicate names are found.

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use twox_hash::XxHash3_128;

use super::dtype::Dtype;

/// The member that is not a tensor.
pub(super) const METADATA: &str = "__metadata__";

/// The header's entry for one tensor.
#[derive(Debug)]
pub(super) struct TensorEntry {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<u64>,
    pub(super) offsets: (u64, u64),
}

/// The contents of a header, in order.
#[derive(Debug, Default)]
pub(super) struct HeaderText {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tensors: Vec<TensorEntry>,
}

/// Parses the text; an error has its byte offset.
pub(super) fn parse(text: &str) -> Result<HeaderText, (usize, String)> {
    object(text, HeaderVisitor)
}

/// Parses an object that makes up the whole text.
fn object<'de, V: Visitor<'de>>(
    text: &'de str,
    visitor: V,
) -> Result<V::Value, (usize, String)> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = deserializer.deserialize_map(visitor);
    let parsed = parsed.and_then(|parsed| deserializer.end().map(|()| parsed));
    parsed.map_err(|error| told(text, &error))
}

/// Returns the position of an error, and the parser's message without it.
pub(super) fn told(text: &str, error: &serde_json::Error) -> (usize, String) {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let offset = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    (offset.min(text.len()), message.to_owned())
}

/// The object that makes up a header.
struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = HeaderText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<HeaderText, M::Error> {
        let (mut text, mut has_metadata) = (HeaderText::default(), false);
        // Hashes of the names. Two names with the same hash would be rejected, which does not
        // happen by chance.
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if name == METADATA {
                if std::mem::replace(&mut has_metadata, true) {
                    return Err(M::Error::custom(format!("duplicate member `{METADATA}`")));
                }
                text.metadata = members.next_value_seed(Strings(METADATA))?;
            } else if !names.insert(XxHash3_128::oneshot(name.as_bytes())) {
                return Err(M::Error::custom(format!("duplicate tensor {name:?}")));
            } else {
                let said = members.next_value_seed(TensorVisitor(&name));
                let said = said
                    .map_err(|error| M::Error::custom(format!("tensor {name:?}: {error}")))?;
                let (dtype, shape, offsets) = said;
                text.tensors.push(TensorEntry { name, dtype, shape, offsets });
            }
        }
        Ok(text)
    }
}

/// Values that are parsed according to the type of their text.
macro_rules! seeds {
    ($($seed:ty as $value:ty, by $deserialize:ident;)+) => {$(
        impl<'de> DeserializeSeed<'de> for $seed {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<$value, D::Error> {
                from.$deserialize(self)
            }
        }
    )+};
}

seeds! {
    Strings as BTreeMap<String, String>, by deserialize_option;
    TensorVisitor<'_> as TensorFacts, by deserialize_map;
    Word as Dtype, by deserialize_str;
    Anything as (), by deserialize_any;
}

/// The strings of a member, by name; or `null` for no strings.
struct Strings(&'static str);

impl<'de> Visitor<'de> for Strings {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object of strings as `{}`", self.0)
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(BTreeMap::new())
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Self::Value, M::Error> {
        let mut strings = BTreeMap::new();
        while let Some((name, value)) = members.next_entry::<String, String>()? {
            if strings.contains_key(&name) {
                let twice = format!("duplicate name {name:?} in `{}`", self.0);
                return Err(M::Error::custom(twice));
            }
            strings.insert(name, value);
        }
        Ok(strings)
    }
}

/// Reads the header's entry for the tensor with this name.
struct TensorVisitor<'n>(&'n str);

type TensorFacts = (Dtype, Vec<u64>, (u64, u64));

impl<'de> Visitor<'de> for TensorVisitor<'_> {
    type Value = TensorFacts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with dtype, shape and data_offsets for {:?}", self.0)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<TensorFacts, M::Error> {
        let (dtype, shape, offsets) = (Cell::new(None), Cell::new(None), Cell::new(None));
        while let Some(key) = members.next_key::<String>()? {
            let is_new = match key.as_str() {
                "dtype" => dtype.replace(Some(members.next_value_seed(Word)?)).is_none(),
                "shape" => shape.replace(Some(members.next_value::<Vec<u64>>()?)).is_none(),
                "data_offsets" => {
                    offsets.replace(Some(members.next_value::<(u64, u64)>()?)).is_none()
                }
                // Other programs may add members, as long as they are valid JSON.
                _ => {
                    members.next_value_seed(Anything)?;
                    true
                }
            };
            if !is_new {
                return Err(M::Error::custom(format!("duplicate member `{key}`")));
            }
        }
        let missing = |what| M::Error::custom(format!("`{what}` is missing"));
        let dtype = dtype.into_inner().ok_or_else(|| missing("dtype"))?;
        let shape = shape.into_inner().ok_or_else(|| missing("shape"))?;
        Ok((dtype, shape, offsets.into_inner().ok_or_else(|| missing("data_offsets"))?))
    }
}

/// The word of a dtype.
struct Word;

impl Visitor<'_> for Word {
    type Value = Dtype;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a dtype")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Dtype, E> {
        Dtype::of_word(word).ok_or_else(|| {
            let words: Vec<_> = Dtype::WORDS.iter().map(|&(word, _)| word).collect();
            E::custom(format!(
                "unknown dtype {word:?}; the known ones are {}",
                words.join(", ")
            ))
        })
    }
}

macro_rules! forgotten {
    ($($visit:ident: $type:ty),+) => {$(
        fn $visit<E>(self, _: $type) -> Result<(), E> {
            Ok(())
        }
    )+};
}

/// Any value: parsed as strictly as the others, and dropped.
struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    forgotten!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut values: S) -> Result<(), S::Error> {
        while values.next_element_seed(Self)?.is_some() {}
        Ok(())
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        while members.next_key::<String>()?.is_some() {
            members.next_value_seed(Self)?;
        }
        Ok(())
    }
}

/// Parses the file of each tensor from an index; other members are ignored.
pub(super) fn parse_index(text: &str) -> Result<BTreeMap<String, String>, (usize, String)> {
    object(text, IndexVisitor)
}

/// The object that makes up an index.
struct IndexVisitor;

impl<'de> Visitor<'de> for IndexVisitor {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a `weight_map`")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Self::Value, M::Error> {
        let mut map = None;
        while let Some(key) = members.next_key::<String>()? {
            if key != "weight_map" {
                members.next_value_seed(Anything)?;
            } else if map.replace(members.next_value_seed(Strings("weight_map"))?).is_some() {
                return Err(M::Error::custom("duplicate member `weight_map`"));
            }
        }
        map.ok_or_else(|| M::Error::custom("`weight_map` is missing"))
    }
}
