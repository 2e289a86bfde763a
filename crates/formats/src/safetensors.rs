//! Tensors by name: safetensors files, one or many shards of a model, read and written in parallel.
//!
//! ```text
//! header   which bytes each tensor is, checked against the file      (header.rs, json.rs)
//! read     one memory for each shard, tensors as views of it         (load.rs, layout.rs)
//! write    wide elements first, complete under its name or absent    (write.rs)
//! ```
//!
//! ```
//! use std::collections::BTreeMap;
//! use swath_formats::safetensors::{self, Dtype, Tensor, TensorOptions};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("model.safetensors");
//! let bytes = [1.0_f32, 2.0, 3.0].map(f32::to_le_bytes).concat();
//! let bias = Tensor { name: "bias", dtype: Dtype::F32, shape: &[3], bytes: &bytes };
//! safetensors::write(&path, [bias], &BTreeMap::new(), &swath::WriteOptions::new())?;
//!
//! let tensors = safetensors::read([&path], &TensorOptions::new())?;
//! assert_eq!(tensors.get("bias"), Some(bias));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A header is taken at its word only where no two readers could differ: what the format's own
//! library refuses is refused, and names that come twice as well.

mod dtype;
mod header;
mod json;
mod layout;
mod load;
mod options;
mod shard;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use swath::{WriteOptions, Written};

pub use dtype::Dtype;
pub use header::{Header, TensorInfo};
pub use load::{Entry, Tensor, TensorParts, TensorReport, Tensors};
pub use options::TensorOptions;
pub use shard::Shard;

use crate::error::Result;

/// Reads the tensors of one or more files into memory.
///
/// A path that ends in `.json` is the index of a model: its shards are found beside it. Each shard
/// is read with all workers by what [`swath::read`] would choose; of shards of which only some
/// tensors are wanted, only these are read, neighbours together.
///
/// # Errors
///
/// As [`Header::parse`], of any of the files; if one changes meanwhile; if a tensor is in two of
/// them, or one that is asked for in none; [`Reason::Malformed`](crate::Reason::Malformed) if an
/// index lists what is not there; if there is not enough memory.
pub fn read<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
    options: &TensorOptions,
) -> Result<Tensors> {
    load::load(&owned(paths), options)
}

/// Writes tensors to the file `path`, by the commit of [`WriteOptions::write`].
///
/// They are sorted as the format's own library does, by dtype, then by name, so the same tensors
/// give the same bytes, in whichever order they come. Without `metadata`, nothing is said of it.
///
/// # Errors
///
/// [`Reason::Invalid`](crate::Reason::Invalid) if two have one name, one is called `__metadata__`,
/// or one has another number of bytes than its shape says; [`Reason::TooLarge`](crate::Reason::TooLarge)
/// if the header would exceed 100 MB; what writing says. The file is then what it was.
pub fn write<'t>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = Tensor<'t>>,
    metadata: &BTreeMap<String, String>,
    options: &WriteOptions,
) -> Result<Written> {
    write::write(path.as_ref(), tensors.into_iter().collect(), metadata, options)
}

fn owned<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Vec<PathBuf> {
    paths.into_iter().map(|path| path.as_ref().to_owned()).collect()
}
