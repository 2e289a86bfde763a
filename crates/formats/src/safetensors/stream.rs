//! Tensors by urgency, each as soon as it is read.
//!
//! ```text
//! order → classes → read_prioritised_files → wait(class) → tensor, in memory of the whole read
//!          small ones share one     each block of each shard is a file of the plan
//! ```

use std::fmt;
use std::iter::FusedIterator;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use swath::Source;
use swath::classes::{ClassPlan, Prioritised};

use super::dtype::Dtype;
use super::layout::{Member, blocks};
use super::load::{Entry, Tensor, by_name, ordered, position, selected, wanted};
use super::options::{TensorOptions, TensorOrder};
use super::shard::{OpenShard, Shard, open_all};
use crate::error::{Error, FormatReason, Result};

/// Bytes of small tensors that share a class.
const TOGETHER: u64 = 256 << 10;

/// The source of a tensor's bytes, and their class.
#[derive(Clone, Copy, Debug, Default)]
struct TensorPart {
    /// Index of the file in the plan.
    file: usize,
    /// `None` if it has no bytes.
    class: Option<u32>,
    lead: u64,
}

/// State that the stream and its tensors share.
struct SharedTensors {
    reading: Prioritised,
    entries: Vec<Entry>,
    parts: Vec<TensorPart>,
    by_name: Vec<usize>,
    shards: Vec<Shard>,
}

/// Tensors being read, returned in the order in which they are needed.
///
/// Ends after the first error. Dropping it stops the read; returned tensors stay valid.
pub struct TensorStream {
    shared: Arc<SharedTensors>,
    /// Indices of entries, the most urgent first.
    order: Vec<usize>,
    next: usize,
}

/// A tensor that has been read. Keeps the memory of the whole stream alive.
#[derive(Clone)]
pub struct StreamedTensor {
    shared: Arc<SharedTensors>,
    index: usize,
}

pub(super) fn start(
    sources: Vec<Source>,
    order: &TensorOrder,
    options: &TensorOptions,
) -> Result<TensorStream> {
    let names: Vec<PathBuf> = sources.iter().map(Source::name).collect();
    let opened = open_all(sources, options)?;
    let mut entries = selected(&opened, options);
    let by_name = by_name(&entries);
    let order = ordered(&names, order, options, &entries, &by_name)?;
    let mut parts = vec![TensorPart::default(); entries.len()];
    let files = place(&mut entries, &mut parts);
    let plan = plan(&order, &entries, &mut parts);
    let sources = files.iter().map(|&shard| opened[shard].source());
    let reading = options.read.read_prioritised_files(sources, plan)?;
    // From here the read checks for changes; this covers the time since the headers were read.
    opened.iter().try_for_each(OpenShard::check_unchanged)?;
    let shards = opened.into_iter().map(|opened| opened.shard).collect();
    let shared = SharedTensors { reading, entries, parts, by_name, shards };
    Ok(TensorStream { shared: Arc::new(shared), order, next: 0 })
}

/// Makes each block of each shard a separate file, so that it starts at an aligned place. Returns
/// the shards of these files.
fn place(entries: &mut [Entry], parts: &mut [TensorPart]) -> Vec<usize> {
    let mut files = Vec::new();
    let mut first = 0;
    for of_shard in entries.chunk_by_mut(|left, right| left.shard == right.shard) {
        for block in blocks(&wanted(of_shard)) {
            for &Member { index, lead, .. } in &block.members {
                parts[first + index] = TensorPart { file: files.len(), class: None, lead };
            }
            files.push(of_shard[0].shard);
        }
        first += of_shard.len();
    }
    files
}

/// Assigns a class to each tensor, in order; small neighbours share one.
fn plan(order: &[usize], entries: &[Entry], parts: &mut [TensorPart]) -> ClassPlan {
    let mut plan = ClassPlan::new();
    let (mut class, mut bytes) = (0_u32, 0_u64);
    for &index in order {
        let (extent, part) = (&entries[index].extent, &mut parts[index]);
        let len = extent.end - extent.start;
        if len == 0 {
            continue;
        }
        if bytes > 0 && bytes.saturating_add(len) > TOGETHER {
            // A header has room for a few million tensors.
            (class, bytes) = (class.saturating_add(1), 0);
        }
        bytes += len;
        part.class = Some(class);
        plan.push_in(part.file, extent.start - part.lead..extent.end, class);
    }
    plan
}

impl SharedTensors {
    /// Waits for a tensor.
    fn wait(self: &Arc<Self>, index: usize) -> Result<StreamedTensor> {
        if let Some(class) = self.parts[index].class {
            self.reading.wait(class)?;
        }
        if self.bytes(index).is_none() {
            // A bug: never return bytes that were not read.
            let Entry { shard, extent, .. } = &self.entries[index];
            let path = self.shards[*shard].path();
            let error =
                Error::reading(path, FormatReason::Invalid, "not every byte was delivered");
            return Err(error.at(extent.start));
        }
        Ok(StreamedTensor { shared: Arc::clone(self), index })
    }

    fn bytes(&self, index: usize) -> Option<&[u8]> {
        self.reading.bytes(self.parts[index].file, self.entries[index].extent.clone())
    }
}

impl TensorStream {
    /// Waits for the tensor with this name, wherever it is in the order; `None` if there is no such
    /// tensor.
    ///
    /// # Errors
    ///
    /// The error that ended the read before the tensor was complete.
    pub fn get(&self, name: &str) -> Result<Option<StreamedTensor>> {
        match position(&self.shared.entries, &self.shared.by_name, name) {
            Some(index) => self.shared.wait(index).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the tensor with this name next, together with its class. Returns whether this changed
    /// anything. The order in which tensors are returned stays the same.
    pub fn prioritise(&self, name: &str) -> bool {
        let index = position(&self.shared.entries, &self.shared.by_name, name);
        let class = index.and_then(|index| self.shared.parts[index].class);
        class.is_some_and(|class| self.shared.reading.prioritise(class))
    }

    /// Stops the read. Tensors already read stay available.
    pub fn cancel(&self) {
        self.shared.reading.cancel();
    }

    /// Returns the files being read.
    pub fn shards(&self) -> &[Shard] {
        &self.shared.shards
    }
}

impl Iterator for TensorStream {
    type Item = Result<StreamedTensor>;

    fn next(&mut self) -> Option<Result<StreamedTensor>> {
        let index = *self.order.get(self.next)?;
        let tensor = self.shared.wait(index);
        self.next = if tensor.is_ok() { self.next + 1 } else { self.order.len() };
        Some(tensor)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.order.len() - self.next;
        (left.min(1), Some(left))
    }
}

impl FusedIterator for TensorStream {}

impl Drop for TensorStream {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for TensorStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorStream")
            .field("tensors", &self.order.len())
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl StreamedTensor {
    fn entry(&self) -> &Entry {
        &self.shared.entries[self.index]
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.entry().info.name
    }

    /// Returns the type of its elements.
    pub fn dtype(&self) -> Dtype {
        self.entry().info.dtype
    }

    /// Returns the elements along each axis; the last axis is contiguous.
    pub fn shape(&self) -> &[u64] {
        &self.entry().info.shape
    }

    /// Returns the index of its shard.
    pub fn shard(&self) -> usize {
        self.entry().shard
    }

    /// Returns its elements, little-endian and aligned.
    pub fn bytes(&self) -> &[u8] {
        // It was complete before it was returned, and stays complete.
        self.shared.bytes(self.index).unwrap_or_default()
    }

    /// Returns it as a [`Tensor`], for example for [`write`](super::write).
    pub fn tensor(&self) -> Tensor<'_> {
        let (name, dtype, shape) = (self.name(), self.dtype(), self.shape());
        Tensor { name, dtype, shape, bytes: self.bytes() }
    }

    /// Returns its bytes, to keep and share without a copy.
    pub fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for StreamedTensor {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl fmt::Debug for StreamedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamedTensor")
            .field("name", &self.name())
            .field("dtype", &self.dtype())
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}
