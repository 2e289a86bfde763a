//! Tensors by name: safetensors files, one or many shards of a model, read and written in parallel.
//!
//! ```text
//! header   which bytes each tensor is, checked against the file      (header.rs, json.rs)
//! read     one memory for each shard, tensors as views of it         (load.rs, layout.rs, job.rs)
//! stream   tensor after tensor, what is needed first comes first     (stream.rs)
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
//! A header is taken at its word only where no two readers could differ: what the format's own
//! library refuses is refused, and names that come twice as well.

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
/// A source whose name ends in `.json` is the index of a model: its shards are found beside it. Each shard
/// is read with all workers by what [`swath::read`] would choose, small ones side by side; of shards of which only some
/// tensors are wanted, only these are read, neighbours together.
///
/// # Errors
///
/// As [`TensorHeader::parse`], of any of the files; if one changes meanwhile; if a tensor is in two of
/// them, or one that is asked for in none; [`FormatReason::Malformed`](crate::FormatReason::Malformed) if an
/// index lists what is not there; if there is not enough memory.
pub fn read<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Result<Tensors> {
    TensorOptions::new().read(sources)
}

/// As [`read`], the tensors in the order that is asked for; in memory they lie as in their files.
///
/// # Errors
///
/// As [`read`]; and if `order` names a tensor that is not read, before any data is.
pub fn read_ordered<S: Into<Source>>(
    sources: impl IntoIterator<Item = S>,
    order: &TensorOrder,
) -> Result<Tensors> {
    TensorOptions::new().read_ordered(sources, order)
}

/// Reads the headers of one or more files, or of all that an index lists, and no data.
///
/// # Errors
///
/// As [`read`], as far as headers tell.
pub fn shards<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Result<Vec<Shard>> {
    TensorOptions::new().shards(sources)
}

/// Starts to read the tensors of one or more files, those that are needed first before the others,
/// and returns at once: each is handed over as soon as all its bytes are there.
///
/// All shards are read by the same workers. Tensors are what [`Prioritised`](swath::classes::Prioritised)
/// calls classes; small ones that come one after the other share one.
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
/// As [`read`], as far as headers tell; and if `order` names a tensor that is not read. What fails
/// later is told when tensors are asked for.
pub fn stream<S: Into<Source>>(
    sources: impl IntoIterator<Item = S>,
    order: &TensorOrder,
) -> Result<TensorStream> {
    TensorOptions::new().stream(sources, order)
}

/// Writes tensors to the file `path`, by the commit of [`swath::write`].
///
/// They are sorted as the format's own library does, by dtype, then by name, so the same tensors
/// give the same bytes, in whichever order they come.
///
/// # Errors
///
/// [`FormatReason::Invalid`](crate::FormatReason::Invalid) if two have one name, one is called `__metadata__`,
/// or one has another number of bytes than its shape says; [`FormatReason::TooLarge`](crate::FormatReason::TooLarge)
/// if the header would exceed 100 MB; what writing says. The file is then what it was.
pub fn write<'t>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = Tensor<'t>>,
) -> Result<Written> {
    TensorWriteOptions::new().write(path, tensors)
}

impl TensorOptions {
    /// As [`read`], with these options.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn read<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<Tensors> {
        self.read_ordered(sources, &TensorOrder::File)
    }

    /// As [`read_ordered`], with these options.
    ///
    /// # Errors
    ///
    /// As [`read_ordered`].
    pub fn read_ordered<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
        order: &TensorOrder,
    ) -> Result<Tensors> {
        load::load(owned(sources), order, self)
    }

    /// As [`shards`], with these options.
    ///
    /// # Errors
    ///
    /// As [`shards`].
    pub fn shards<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<Vec<Shard>> {
        let opened = shard::open_all(owned(sources), self)?;
        opened.iter().try_for_each(shard::Opened::check_unchanged)?;
        Ok(opened.into_iter().map(|opened| opened.shard).collect())
    }

    /// As [`stream`](stream()), with these options.
    ///
    /// # Errors
    ///
    /// As [`stream`](stream()).
    pub fn stream<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
        order: &TensorOrder,
    ) -> Result<TensorStream> {
        stream::start(owned(sources), order, self)
    }
}

impl TensorWriteOptions {
    /// As [`write()`], with these options.
    ///
    /// # Errors
    ///
    /// As [`write()`].
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
