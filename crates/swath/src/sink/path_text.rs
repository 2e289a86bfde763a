//! Paths in JSON: a string where they are text, otherwise their bytes.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathText {
    Text(String),
    Bytes { bytes: Vec<u8> },
}

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    let text = match path.to_str() {
        Some(text) => PathText::Text(text.to_owned()),
        None => PathText::Bytes { bytes: path.as_os_str().as_bytes().to_vec() },
    };
    text.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<PathBuf, D::Error> {
    Ok(match PathText::deserialize(deserializer)? {
        PathText::Text(text) => PathBuf::from(text),
        PathText::Bytes { bytes } => PathBuf::from(OsString::from_vec(bytes)),
    })
}
