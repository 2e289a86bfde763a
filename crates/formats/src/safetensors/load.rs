//! Tensors in memory, read shard by shard, each as fast as its file allows.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use swath::{Buffer, Report, Source};

use super::dtype::Dtype;
use super::header::TensorInfo;
use super::job::{TensorJob, run};
use super::layout::{Member, MemoryBlock, Wanted, blocks};
use super::options::{TensorOptions, TensorOrder};
use super::shard::{OpenShard, Shard, not_among, not_there, open_all};
use crate::error::Result;

/// A tensor: its name, type, shape and bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tensor<'t> {
    /// Its name.
    pub name: &'t str,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Elements along each axis; the last axis is contiguous. Empty for a scalar.
    pub shape: &'t [u64],
    /// Its elements, little-endian. Aligned in memory that this module filled.
    pub bytes: &'t [u8],
}

/// The position of a tensor: its shard and its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The header's entry for it.
    pub info: TensorInfo,
    /// Index of its shard.
    pub shard: usize,
    /// The position of its bytes in the file of the shard.
    pub extent: Range<u64>,
    /// Index of its memory.
    pub memory: usize,
    /// The position of its bytes in that memory.
    pub place: Range<usize>,
}

/// How the tensors were read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TensorReport {
    /// Length of the tensors in bytes.
    pub bytes: u64,
    /// Time from the call to the last byte, headers included.
    pub elapsed: Duration,
    /// One report for each memory that is not empty.
    pub reads: Vec<Report>,
}

/// Tensors in memory, in the order of their shards and of their bytes in them, or in the requested
/// order.
#[derive(Debug)]
pub struct Tensors {
    entries: Vec<Entry>,
    /// Indices of entries, sorted by name.
    by_name: Vec<usize>,
    shards: Vec<Shard>,
    memories: Vec<Buffer>,
    report: TensorReport,
}

/// The parts of [`Tensors`], which can be kept separately.
#[derive(Debug)]
#[non_exhaustive]
pub struct TensorParts {
    /// The position of each tensor.
    pub entries: Vec<Entry>,
    /// The files.
    pub shards: Vec<Shard>,
    /// The bytes: one memory per shard, or more if no single layout aligns all tensors.
    pub memories: Vec<Buffer>,
    /// How they were read.
    pub report: TensorReport,
}

pub(super) fn load(
    sources: Vec<Source>,
    order: &TensorOrder,
    options: &TensorOptions,
) -> Result<Tensors> {
    let started = Instant::now();
    let names: Vec<PathBuf> = sources.iter().map(Source::name).collect();
    let opened = open_all(sources, options)?;
    let mut entries = selected(&opened, options);
    let order = ordered(&names, order, options, &entries, &by_name(&entries))?;
    let jobs = place(&opened, &mut entries);
    let (memories, reads) = run(&jobs, &options.read)?;
    opened.iter().try_for_each(OpenShard::check_unchanged)?;
    let bytes = entries.iter().map(|entry| entry.extent.end - entry.extent.start).sum();
    let report = TensorReport { bytes, elapsed: started.elapsed(), reads };
    let mut entries: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    let entries: Vec<Entry> =
        order.into_iter().filter_map(|index| entries[index].take()).collect();
    let shards = opened.into_iter().map(|opened| opened.shard).collect();
    Ok(Tensors { by_name: by_name(&entries), entries, shards, memories, report })
}

/// Returns the selected tensors, in order, without their places.
pub(super) fn selected(opened: &[OpenShard], options: &TensorOptions) -> Vec<Entry> {
    let names = options.names.as_ref().map(|names| {
        let names = names.iter().map(String::as_str);
        names.collect::<HashSet<&str>>()
    });
    let mut entries = Vec::new();
    for (shard, opened) in opened.iter().enumerate() {
        let header = opened.shard.header();
        for info in header.tensors() {
            if names.as_ref().is_none_or(|names| names.contains(info.name.as_str())) {
                let (info, extent) = (info.clone(), header.extent(info));
                entries.push(Entry { info, shard, extent, memory: 0, place: 0..0 });
            }
        }
    }
    entries
}

pub(super) fn by_name(entries: &[Entry]) -> Vec<usize> {
    let mut by_name: Vec<usize> = (0..entries.len()).collect();
    by_name.sort_unstable_by_key(|&index| entries[index].info.name.as_str());
    by_name
}

pub(super) fn position(entries: &[Entry], by_name: &[usize], name: &str) -> Option<usize> {
    let name_of = |&index: &usize| entries[index].info.name.as_str();
    Some(by_name[by_name.binary_search_by_key(&name, name_of).ok()?])
}

/// Returns the entries in the requested order.
pub(super) fn ordered(
    paths: &[PathBuf],
    order: &TensorOrder,
    options: &TensorOptions,
    entries: &[Entry],
    by_name: &[usize],
) -> Result<Vec<usize>> {
    let names = match order {
        TensorOrder::File => &[][..],
        TensorOrder::Names(names) => names,
    };
    let missing = if options.names.is_some() { not_among } else { not_there };
    let (mut ordered, mut seen) = (Vec::with_capacity(entries.len()), HashSet::new());
    for name in names {
        let index = position(entries, by_name, name).ok_or_else(|| missing(paths, name))?;
        if seen.insert(index) {
            ordered.push(index);
        }
    }
    ordered.extend((0..entries.len()).filter(|index| !seen.contains(index)));
    Ok(ordered)
}

/// Computes the place of each tensor, and makes a job for each memory: at least one per shard, so
/// that tensors without bytes have a place too.
fn place<'o>(opened: &'o [OpenShard], entries: &mut [Entry]) -> Vec<TensorJob<'o>> {
    let mut jobs = Vec::new();
    let mut first = 0;
    for (shard, opened) in opened.iter().enumerate() {
        let count = entries[first..].partition_point(|entry| entry.shard == shard);
        let of_shard = &mut entries[first..first + count];
        of_shard.iter_mut().for_each(|entry| entry.memory = jobs.len());
        let mut blocks = blocks(&wanted(of_shard));
        if blocks.is_empty() {
            blocks.push(MemoryBlock::default());
        }
        for block in blocks {
            for &Member { index, place, .. } in &block.members {
                let entry = &mut of_shard[index];
                let place = usize::try_from(place).unwrap_or(usize::MAX);
                entry.memory = jobs.len();
                // No longer than the memory to allocate, which may fail.
                entry.place = place..place.saturating_add(len_of(&entry.extent));
            }
            jobs.push(TensorJob { opened, block });
        }
        first += count;
    }
    jobs
}

pub(super) fn wanted(entries: &[Entry]) -> Vec<Wanted> {
    let wanted = entries.iter().map(|entry| {
        let (Range { start, end }, alignment) =
            (entry.extent.clone(), entry.info.dtype.alignment());
        Wanted { start, end, alignment }
    });
    wanted.collect()
}

fn len_of(extent: &Range<u64>) -> usize {
    usize::try_from(extent.end - extent.start).unwrap_or(usize::MAX)
}

impl Tensors {
    /// Returns the number of tensors.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no tensors.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the tensor with this name.
    pub fn get(&self, name: &str) -> Option<Tensor<'_>> {
        self.position(name).map(|index| self.tensor(&self.entries[index]))
    }

    /// Returns the index of the entry with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        position(&self.entries, &self.by_name, name)
    }

    /// Returns all tensors, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Tensor<'_>> {
        self.entries.iter().map(|entry| self.tensor(entry))
    }

    fn tensor<'t>(&'t self, entry: &'t Entry) -> Tensor<'t> {
        let TensorInfo { name, dtype, shape, .. } = &entry.info;
        let bytes = &self.memories[entry.memory][entry.place.clone()];
        Tensor { name, dtype: *dtype, shape, bytes }
    }

    /// Returns the bytes of the tensor with this name, to modify them.
    pub fn bytes_mut(&mut self, name: &str) -> Option<&mut [u8]> {
        let entry = &self.entries[self.position(name)?];
        Some(&mut self.memories[entry.memory][entry.place.clone()])
    }

    /// Returns the position of each tensor, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the files of the tensors.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Returns the report of the read.
    pub fn report(&self) -> &TensorReport {
        &self.report
    }

    /// Returns the parts without copying. A memory is freed when its last user drops it.
    pub fn into_parts(self) -> TensorParts {
        let Self { entries, shards, memories, report, .. } = self;
        TensorParts { entries, shards, memories, report }
    }
}
