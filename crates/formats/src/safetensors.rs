//! Tensors by name: safetensors files, one or many shards of a model, read and written in parallel.
//!
//! ```text
//! header   the bytes of each tensor, checked against the file        (header.rs, json.rs)
//! read     one block of memory per shard, tensors as views of it     (load.rs, layout.rs, job.rs)
//! stream   one tensor after another, the most urgent first           (stream.rs)
//! write    wide elements first, complete under its name or absent    (write.rs)
//! ```
//!
//! ```
//! use swath_formats::safetensors::{self, Dtype, Tensor};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("model.safetensors");
//! let bytes = [1.0_f32, 2.0, 3.0].map(f32::to_le_bytes).concat();
//! let bias = Tensor { name: "bias", dtype: Dtype::F32, shape: &[3], bytes: &bytes };
//! safetensors::write(&path, [bias])?;
//!
//! let tensors = safetensors::read([&path])?;
//! assert_eq!(tensors.get("bias"), Some(bias));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A header is accepted only if no two readers could interpret it differently: everything that the
//! format's own library rejects is rejected, and so are duplicate names.

mod dtype;
mod header;
mod job;
mod json;
mod layout;
mod load;
mod options;
mod shard;
mod stream;
mod write;

use std::path::Path;

use swath::{Source, Written};

pub use dtype::Dtype;
pub use header::{TensorHeader, TensorInfo};
pub use load::{Entry, Tensor, TensorParts, TensorReport, Tensors};
pub use options::{TensorOptions, TensorOrder, TensorWriteOptions};
pub use shard::Shard;
pub use stream::{StreamedTensor, TensorStream};

use crate::error::Result;

/// Reads the tensors of one or more files into memory.
///
/// ```
/// use swath_formats::safetensors::{self, Dtype, Tensor};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// let head = Tensor { name: "head", dtype: Dtype::U8, shape: &[3], bytes: b"abc" };
/// safetensors::write(&path, [head])?;
/// let tensors = safetensors::read([&path])?;
/// assert_eq!(tensors.get("head"), Some(head));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A source whose name ends in `.json` is the index of a model: its shards are read from the same
/// folder. All workers read each shard, as in [`swath::read`]; small shards are read side by side.
/// If only some tensors of a shard are selected, only those are read, adjacent ones together.
///
/// # Errors
///
/// The errors of [`TensorHeader::parse`] for any of the files; if a file changes during the call;
/// if a tensor is in two files, or a selected one is in none;
/// [`FormatReason::Malformed`](crate::FormatReason::Malformed) if an index lists a missing file or
/// tensor; if there is not enough memory.
pub fn read<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Result<Tensors> {
    TensorOptions::new().read(sources)
}

/// Like [`read`], with the tensors in the given order. In memory they keep the order of their
/// files.
///
/// ```
/// use swath_formats::safetensors::{self, Dtype, Tensor, TensorOrder};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// let tensor = |name| Tensor { name, dtype: Dtype::U8, shape: &[1], bytes: b"x" };
/// safetensors::write(&path, [tensor("a"), tensor("b")])?;
/// let tensors = safetensors::read_ordered([&path], &TensorOrder::names(["b"]))?;
/// assert!(tensors.iter().map(|tensor| tensor.name).eq(["b", "a"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`read`]; also, before any data is read, if `order` names a tensor that is not
/// selected.
pub fn read_ordered<S: Into<Source>>(
    sources: impl IntoIterator<Item = S>,
    order: &TensorOrder,
) -> Result<Tensors> {
    TensorOptions::new().read_ordered(sources, order)
}

/// Reads the headers of one or more files, or of all files in an index, without any data.
///
/// ```
/// use swath_formats::safetensors::{self, Dtype, Tensor};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// # safetensors::write(&path, [Tensor { name: "a", dtype: Dtype::U8, shape: &[1], bytes: b"x"
/// }])?;
/// let shards = safetensors::shards([&path])?;
/// assert_eq!(shards[0].header().tensors()[0].name, "a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`read`] that concern headers.
pub fn shards<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Result<Vec<Shard>> {
    TensorOptions::new().shards(sources)
}

/// Starts to read the tensors of one or more files, the most urgent first, and returns at once.
/// Each tensor is available as soon as all its bytes are.
///
/// All shards share the same workers. Tensors are the classes of
/// [`Prioritised`](swath::classes::Prioritised); consecutive small ones share a class.
///
/// ```
/// use swath_formats::safetensors::{self, Dtype, Tensor, TensorOrder};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// let tensor = |name, bytes| Tensor { name, dtype: Dtype::U8, shape: &[2], bytes };
/// let tensors = [tensor("layer.0", b"ab"), tensor("layer.1", b"cd"), tensor("head", b"ef")];
/// safetensors::write(&path, tensors)?;
///
/// let order = TensorOrder::names(["layer.0", "layer.1"]);
/// let mut names = Vec::new();
/// for tensor in safetensors::stream([&path], &order)? {
///     let tensor = tensor?; // others are still being read
///     names.push((tensor.name().to_owned(), tensor.bytes()[0]));
/// }
/// assert_eq!(names.last(), Some(&(String::from("head"), b'e')));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`read`] that concern headers; also if `order` names a tensor that is not
/// selected. The stream returns later errors.
pub fn stream<S: Into<Source>>(
    sources: impl IntoIterator<Item = S>,
    order: &TensorOrder,
) -> Result<TensorStream> {
    TensorOptions::new().stream(sources, order)
}

/// Writes tensors to the file `path`, with the commit of [`swath::write`].
///
/// ```
/// use swath_formats::safetensors::{self, Dtype, Tensor};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// let tensor = Tensor { name: "a", dtype: Dtype::U8, shape: &[2], bytes: b"xy" };
/// let written = safetensors::write(&path, [tensor])?;
/// assert_eq!(written.bytes, std::fs::metadata(&path)?.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Tensors are sorted as in the format's own library, by dtype and then by name, so the same
/// tensors in any order give the same bytes.
///
/// # Errors
///
/// [`FormatReason::Invalid`](crate::FormatReason::Invalid) if two tensors have the same name, one
/// is named `__metadata__`, or the number of bytes does not match the shape;
/// [`FormatReason::TooLarge`](crate::FormatReason::TooLarge) if the header would exceed 100 MB;
/// whatever writing reports. After an error the file is unchanged.
pub fn write<'t>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = Tensor<'t>>,
) -> Result<Written> {
    TensorWriteOptions::new().write(path, tensors)
}

impl TensorOptions {
    /// Like [`read`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`read`].
    pub fn read<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<Tensors> {
        self.read_ordered(sources, &TensorOrder::File)
    }

    /// Like [`read_ordered`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`read_ordered`].
    pub fn read_ordered<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
        order: &TensorOrder,
    ) -> Result<Tensors> {
        load::load(owned(sources), order, self)
    }

    /// Like [`shards`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`shards`].
    pub fn shards<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<Vec<Shard>> {
        let opened = shard::open_all(owned(sources), self)?;
        opened.iter().try_for_each(shard::OpenShard::check_unchanged)?;
        Ok(opened.into_iter().map(|opened| opened.shard).collect())
    }

    /// Like [`stream`](stream()), with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`stream`](stream()).
    pub fn stream<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
        order: &TensorOrder,
    ) -> Result<TensorStream> {
        stream::start(owned(sources), order, self)
    }
}

impl TensorWriteOptions {
    /// Like [`write()`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`write()`].
    pub fn write<'t>(
        &self,
        path: impl AsRef<Path>,
        tensors: impl IntoIterator<Item = Tensor<'t>>,
    ) -> Result<Written> {
        write::write(path.as_ref(), tensors.into_iter().collect(), self)
    }
}

fn owned<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Vec<Source> {
    sources.into_iter().map(Into::into).collect()
}
