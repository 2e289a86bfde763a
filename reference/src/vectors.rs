//! The inputs of `vectors/` and their right answers: a table in JSON for each format.
//!
//! ```
//! use swath_reference::vectors::{Verdict, vectors};
//!
//! let refused = vectors("matrix", Verdict::Invalid);
//! assert!(refused.iter().any(|vector| vector.input.starts_with(b"%%MatrixMarket")));
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::json::{Json, parse};

/// The formats that have a table.
pub const FORMATS: [&str; 5] = ["matrix", "options", "safetensors", "table", "typed"];

/// The verdict of a reader on an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every reader accepts it.
    Valid,
    /// It is accepted, although a stricter reader would refuse it.
    Permissive,
    /// It is refused.
    Invalid,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 3] = [Self::Valid, Self::Permissive, Self::Invalid];

    fn word(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Permissive => "permissive",
            Self::Invalid => "invalid",
        }
    }
}

/// An input and its right answer.
#[derive(Clone, Debug)]
pub struct Vector {
    /// The name of its file, whose extension may indicate the format.
    pub name: String,
    /// The bytes.
    pub input: Vec<u8>,
    /// The right answer, as described in `vectors/README.md`.
    pub answer: String,
    /// The options to read it with, if not the defaults.
    pub options: Option<Json>,
    /// The rule that it shows.
    pub rule: Option<String>,
}

impl Vector {
    /// Writes the input to a file of its name in `folder`.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    #[must_use]
    pub fn put(&self, folder: &Path) -> PathBuf {
        let path = folder.join(&self.name);
        fs::write(&path, &self.input).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        path
    }
}

/// Returns the vectors of a format with this verdict, in the order of the table.
///
/// # Panics
///
/// If the table is missing or malformed.
#[must_use]
pub fn vectors(format: &str, verdict: Verdict) -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../vectors/{format}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{format}: {error}"));
    let Some(Json::Object(mut table)) = parse(&text) else { panic!("{format}: no table") };
    let at = table.iter().position(|(name, _)| name == verdict.word());
    let at = at.unwrap_or_else(|| panic!("{format}: no {}", verdict.word()));
    let Json::Array(rows) = table.swap_remove(at).1 else { panic!("{format}: no rows") };
    rows.into_iter()
        .map(|row| vector(row).unwrap_or_else(|| panic!("{format}: a row")))
        .collect()
}

/// Parses a row: the input is `text`, or `hex` if it is not text.
fn vector(row: Json) -> Option<Vector> {
    let Json::Object(members) = row else { return None };
    let string = |wanted: &str| {
        members.iter().find_map(|(name, value)| match value {
            Json::String(value) if name == wanted => Some(value.clone()),
            _ => None,
        })
    };
    let input = match string("text") {
        Some(text) => text.into_bytes(),
        None => bytes(&string("hex")?)?,
    };
    let options = members.iter().find(|(name, _)| name == "options");
    Some(Vector {
        name: string("name")?,
        input,
        answer: string("answer")?,
        options: options.map(|(_, value)| value.clone()),
        rule: string("rule"),
    })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let digits = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    if rest.is_empty() { pairs.iter().map(digits).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_table_has_its_vectors_each_with_a_name_of_its_own() {
        let mut counts = Vec::new();
        for format in FORMATS {
            for verdict in Verdict::ALL {
                let all = vectors(format, verdict);
                let names: BTreeSet<&str> = all.iter().map(|one| one.name.as_str()).collect();
                assert_eq!(names.len(), all.len(), "{format} {verdict:?}");
                counts.push(all.len());
            }
        }
        assert_eq!(counts, [25, 16, 81, 4, 6, 20, 5, 9, 24, 7, 16, 20, 53, 239, 78]);
    }

    #[test]
    fn inputs_are_text_or_hexadecimal() {
        let row = |text: &str| vector(parse(text).expect("JSON")).map(|one| one.input);
        assert_eq!(
            row(r#"{"name":"n","text":"\u0000\n","answer":""}"#),
            Some(b"\0\n".to_vec())
        );
        assert_eq!(row(r#"{"name":"n","hex":"00ff","answer":""}"#), Some(vec![0, 255]));
        assert_eq!(row(r#"{"name":"n","hex":"00f","answer":""}"#), None);
        assert_eq!(row(r#"{"name":"n","answer":""}"#), None);
    }
}
