//! Which tensors are read, and how.

use std::collections::BTreeMap;

use swath::{OutputOptions, ReadOptions};

use crate::setters::setters;

/// How to read tensors. Every setter returns the options, none can fail.
///
/// ```
/// use swath_formats::safetensors::TensorOptions;
///
/// let options = TensorOptions::new().with_names(["lm_head.weight"]);
/// # drop(options);
/// ```
#[derive(Clone, Debug, Default)]
pub struct TensorOptions {
    pub(super) read: ReadOptions,
    pub(super) names: Option<Vec<String>>,
}

impl TensorOptions {
    /// All tensors, everything else chosen.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only these tensors: of the data, nothing else is read. Default: all of them.
    #[must_use]
    pub fn with_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    setters! {
        /// How the shards are read: engine, workers, page cache, progress, cancellation, timeline,
        /// profile, pool; not which bytes.
        with_read(read: ReadOptions);
    }
}

/// How to write tensors. Every setter returns the options, none can fail.
#[derive(Clone, Debug, Default)]
pub struct TensorWriteOptions {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) output: OutputOptions,
}

impl TensorWriteOptions {
    /// Without metadata, everything else chosen.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// What the file says of itself. Default: nothing.
        with_metadata(metadata: BTreeMap<String, String>);

        /// How the file is written.
        with_output(output: OutputOptions);
    }
}

/// Which tensors are needed first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorOrder {
    /// Shard by shard, each from its first byte to its last.
    #[default]
    File,
    /// These, in this order; then the others, as in [`File`](Self::File).
    Names(Vec<String>),
}

impl TensorOrder {
    /// These first.
    pub fn names<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::Names(names.into_iter().map(Into::into).collect())
    }
}
