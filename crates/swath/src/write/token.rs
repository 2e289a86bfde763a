//! The data that travel between the processes that write one draft: the token and the receipts.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use swath_plan::extent::Extent;

use crate::error::{Error, Operation, Reason, Result};
use crate::sink::path_text;

const VERSION: u32 = 2;

/// Identifies a draft for other processes: plain data, which `serde` and
/// [`to_json`](Self::to_json) turn into text.
///
/// It has the place of the draft and a number that no other draft has. It grants no rights: the file
/// system lets only the user who began the draft write to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftToken {
    pub(super) version: u32,
    pub(super) id: String,
    #[serde(with = "path_text")]
    pub(super) target: PathBuf,
    /// The name of the file until the commit, in the target's folder.
    #[serde(with = "path_text")]
    pub(super) hidden: PathBuf,
    pub(super) len: u64,
    /// Offset of the mark, past the length.
    pub(super) mark: u64,
    #[serde(rename = "durable")]
    pub(super) is_durable: bool,
    /// The user ID of the file's owner.
    pub(super) owner: u32,
}

impl DraftToken {
    pub(super) fn new(id: String, target: PathBuf, hidden: PathBuf, len: u64) -> Self {
        let (mark, is_durable, owner) = (len, true, 0);
        Self { version: VERSION, id, target, hidden, len, mark, is_durable, owner }
    }

    /// The number that no other draft has: 16 hexadecimal digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The output, as an absolute path.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Length that the file will have, in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it will be empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the token as one line of JSON.
    ///
    /// # Panics
    ///
    /// Never: it consists of numbers and texts.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts")
    }

    /// Reads a token from the text of [`to_json`](Self::to_json).
    ///
    /// # Errors
    ///
    /// [`Reason::Corrupt`] if it is not a token.
    pub fn from_json(text: &str) -> Result<Self> {
        let token: Self =
            parse(text, "token", "pass the text that the draft gave as its token")?;
        token.check()?;
        Ok(token)
    }

    /// Fails if no draft can have this token: it may come from anywhere.
    pub(super) fn check(&self) -> Result<()> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_good = self.version == VERSION
            && self.id.len() == 16
            && self.id.bytes().all(is_digit)
            && self.target.is_absolute()
            && self.len <= self.mark
            && self.mark.checked_add(self.mark_bytes().len() as u64).is_some();
        if is_good {
            return Ok(());
        }
        Err(Error::new(Operation::Open, Reason::Corrupt, &self.target)
            .detail("this token was not made by a draft of this version")
            .hint("pass the text that the draft gave as its token"))
    }

    /// Returns the bytes past the length of the file, until the commit cuts them off.
    pub(super) fn mark_bytes(&self) -> Vec<u8> {
        format!("swath draft {} {}\n", self.id, self.len).into_bytes()
    }

    /// Length of the file until the commit.
    pub(super) fn draft_len(&self) -> u64 {
        self.mark + self.mark_bytes().len() as u64
    }
}

/// The receipt of one writer of a draft: returned by
/// [`DraftWriter::finish`](super::DraftWriter::finish), and needed by the commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftReceipt {
    pub(super) draft: String,
    /// Offset and length of each extent, in file order, without overlap.
    pub(super) extents: Vec<(u64, u64)>,
}

impl DraftReceipt {
    /// Returns the written bytes of the file, in file order.
    pub fn extents(&self) -> impl Iterator<Item = Extent> + '_ {
        // A receipt may come from anywhere, with invalid extents.
        self.extents.iter().filter_map(|&(offset, len)| Extent::new(offset, len))
    }

    /// Returns the number of bytes written; bytes written twice count once.
    pub fn bytes(&self) -> u64 {
        self.extents().fold(0, |sum, extent| sum.saturating_add(extent.len()))
    }

    /// Returns the receipt as one line of JSON.
    ///
    /// # Panics
    ///
    /// Never: it consists of numbers and texts.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts")
    }

    /// Reads a receipt from the text of [`to_json`](Self::to_json).
    ///
    /// # Errors
    ///
    /// [`Reason::Corrupt`] if it is not a receipt.
    pub fn from_json(text: &str) -> Result<Self> {
        parse(text, "receipt", "pass the text that the writer gave as its receipt")
    }
}

fn parse<T: DeserializeOwned>(text: &str, what: &str, hint: &'static str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        Error::new(Operation::Read, Reason::Corrupt, format!("<{what}>").as_ref())
            .detail(format!("it is not the {what} of a draft: {error}"))
            .hint(hint)
    })
}
