//! Which tensors are read, and how.

use swath::ReadOptions;

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

    /// Engine, workers, page cache, progress, cancellation, timeline, profile, pool. Their extent
    /// is not the caller's to choose.
    #[must_use]
    pub fn with_read_options(mut self, read: ReadOptions) -> Self {
        self.read = read;
        self
    }
}

/// Which tensors are needed first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Shard by shard, each from its first byte to its last.
    #[default]
    File,
    /// These, in this order; then the others, as in [`File`](Self::File).
    Names(Vec<String>),
}

impl Order {
    /// These first.
    pub fn names<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::Names(names.into_iter().map(Into::into).collect())
    }
}
