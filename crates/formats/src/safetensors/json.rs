//! The text of a header, every member of it seen: a name that comes twice is no surprise later.

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use xxhash_rust::xxh3::xxh3_128;

use super::dtype::Dtype;

/// The member that is no tensor.
pub(super) const METADATA: &str = "__metadata__";

/// What a header says of one tensor.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<u64>,
    pub(super) offsets: (u64, u64),
}

/// What a header says, in its order.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tensors: Vec<Said>,
}

/// Takes the text apart; the error says at which of its bytes.
pub(super) fn parse(text: &str) -> Result<Text, (usize, String)> {
    object(text, Members)
}

/// The object that all of the text is.
fn object<'de, V: Visitor<'de>>(
    text: &'de str,
    visitor: V,
) -> Result<V::Value, (usize, String)> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = deserializer.deserialize_map(visitor);
    let parsed = parsed.and_then(|parsed| deserializer.end().map(|()| parsed));
    parsed.map_err(|error| told(text, &error))
}

/// Where it went wrong, and what the parser says without its own place.
pub(super) fn told(text: &str, error: &serde_json::Error) -> (usize, String) {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let offset = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    (offset.min(text.len()), message.to_owned())
}

/// The object that a header is.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Text, M::Error> {
        let (mut text, mut has_metadata) = (Text::default(), false);
        // Their checksums: two names with one would be refused, which nobody will see by chance.
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if name == METADATA {
                if std::mem::replace(&mut has_metadata, true) {
                    return Err(M::Error::custom(format!("`{METADATA}` is there twice")));
                }
                text.metadata = members.next_value_seed(Strings(METADATA))?;
            } else if !names.insert(xxh3_128(name.as_bytes())) {
                return Err(M::Error::custom(format!("tensor {name:?} is there twice")));
            } else {
                let said = members.next_value_seed(Tensor(&name));
                let said = said.map_err(|error| {
                    M::Error::custom(format!("of tensor {name:?}: {error}"))
                })?;
                let (dtype, shape, offsets) = said;
                text.tensors.push(Said { name, dtype, shape, offsets });
            }
        }
        Ok(text)
    }
}

/// Values that are visited in the way that their text asks for.
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
    Tensor<'_> as Parts, by deserialize_map;
    Word as Dtype, by deserialize_str;
    Anything as (), by deserialize_any;
}

/// Strings by name, or `null` for none, of the member with this name.
struct Strings(&'static str);

impl<'de> Visitor<'de> for Strings {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` to be an object of strings", self.0)
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
                let twice = format!("{name:?} is in `{}` twice", self.0);
                return Err(M::Error::custom(twice));
            }
            strings.insert(name, value);
        }
        Ok(strings)
    }
}

/// What is said of the tensor with this name.
struct Tensor<'n>(&'n str);

type Parts = (Dtype, Vec<u64>, (u64, u64));

impl<'de> Visitor<'de> for Tensor<'_> {
    type Value = Parts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with dtype, shape and data_offsets for {:?}", self.0)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Parts, M::Error> {
        let (dtype, shape, offsets) = (Cell::new(None), Cell::new(None), Cell::new(None));
        while let Some(key) = members.next_key::<String>()? {
            let is_new = match key.as_str() {
                "dtype" => dtype.replace(Some(members.next_value_seed(Word)?)).is_none(),
                "shape" => shape.replace(Some(members.next_value::<Vec<u64>>()?)).is_none(),
                "data_offsets" => {
                    offsets.replace(Some(members.next_value::<(u64, u64)>()?)).is_none()
                }
                // Others may say more of a tensor, as long as it is JSON.
                _ => {
                    members.next_value_seed(Anything)?;
                    true
                }
            };
            if !is_new {
                return Err(M::Error::custom(format!("`{key}` is there twice")));
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
            E::custom(format!("{word:?} is no dtype; there are {}", words.join(", ")))
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

/// Any value, looked at as closely as those that are kept, and forgotten.
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

/// The file of each tensor, as an index lists them; other members are nobody's business.
pub(super) fn parse_index(text: &str) -> Result<BTreeMap<String, String>, (usize, String)> {
    object(text, Index)
}

/// The object that an index is.
struct Index;

impl<'de> Visitor<'de> for Index {
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
                return Err(M::Error::custom("`weight_map` is there twice"));
            }
        }
        map.ok_or_else(|| M::Error::custom("`weight_map` is missing"))
    }
}
