//! The options for reading and writing tensors.

use std::collections::BTreeMap;

use swath::{OutputOptions, ReadOptions};

use crate::setters::setters;

/// How to read tensors. Every setter returns the options; none can fail.
///
/// ```
/// use swath_formats::safetensors::{self, Dtype, Tensor, TensorOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// let tensor = |name| Tensor { name, dtype: Dtype::U8, shape: &[1], bytes: b"x" };
/// safetensors::write(&path, [tensor("a"), tensor("b")])?;
/// let tensors = TensorOptions::new().with_names(["b"]).read([&path])?;
/// assert_eq!((tensors.len(), tensors.get("a")), (1, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TensorOptions {
    pub(super) read: ReadOptions,
    pub(super) names: Option<Vec<String>>,
}

impl TensorOptions {
    /// Defaults: all tensors, everything else chosen automatically.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads only these tensors and no other data. Default: all tensors.
    #[must_use]
    pub fn with_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    setters! {
        /// How to read the shards: engine, workers, page cache, progress, cancellation, timeline,
        /// profile, pool. It does not select bytes.
        with_read(read: ReadOptions);
    }
}

/// How to write tensors. Every setter returns the options; none can fail.
///
/// ```
/// use swath_formats::safetensors::{self, Dtype, Tensor, TensorWriteOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// let metadata = std::iter::once(("format".to_owned(), "pt".to_owned())).collect();
/// let tensor = Tensor { name: "a", dtype: Dtype::U8, shape: &[1], bytes: b"x" };
/// TensorWriteOptions::new().with_metadata(metadata).write(&path, [tensor])?;
/// assert_eq!(safetensors::shards([&path])?[0].header().metadata()["format"], "pt");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TensorWriteOptions {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) output: OutputOptions,
}

impl TensorWriteOptions {
    /// Defaults: no metadata, everything else chosen automatically.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The metadata of the file. Default: empty.
        with_metadata(metadata: BTreeMap<String, String>);

        /// How to write the file.
        with_output(output: OutputOptions);
    }
}

/// The order in which tensors are needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorOrder {
    /// Shard by shard, each from its first byte to its last.
    #[default]
    File,
    /// These first, in this order; then the rest, as in [`File`](Self::File).
    Names(Vec<String>),
}

impl TensorOrder {
    /// Returns the order that begins with these names.
    pub fn names<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::Names(names.into_iter().map(Into::into).collect())
    }
}
