//! Views of the bytes that have been read, by class and by chunk.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use swath_os::memory::Leases;
use swath_plan::classes::{Arranged, Item};
use swath_plan::extent::Extent;

/// A plan, and the places of its bytes.
#[derive(Debug)]
pub(super) struct PlanLayout {
    pub(super) items: Vec<Item>,
    pub(super) arranged: Arc<Arranged>,
    lines: OnceLock<Lines>,
}

/// The lines of a plan, class by class, and the start of each class.
#[derive(Debug)]
struct Lines {
    lines: Vec<usize>,
    starts: Vec<usize>,
}

/// Memory, all or part of which is complete.
#[derive(Clone, Copy)]
pub(super) enum Memory<'m> {
    /// During the read.
    Leased(&'m Leases<'static>),
    /// After it.
    Whole(&'m [u8]),
}

impl<'m> Memory<'m> {
    /// Returns `len` bytes at `place`, if all of them are complete.
    fn get(self, place: u64, len: u64) -> Option<&'m [u8]> {
        let (place, len) = (usize::try_from(place).ok()?, usize::try_from(len).ok()?);
        match self {
            Self::Leased(leases) => leases.read(place, len),
            Self::Whole(bytes) => bytes.get(place..place.checked_add(len)?),
        }
    }
}

impl PlanLayout {
    pub(super) fn new(items: Vec<Item>, arranged: Arc<Arranged>) -> Self {
        Self { items, arranged, lines: OnceLock::new() }
    }

    /// Returns the lines of a class, in the order in which they were listed.
    fn lines_of(&self, class: usize) -> &[usize] {
        // Sorted on first use: a caller that only wants the whole does not need it.
        let Lines { lines, starts } = self.lines.get_or_init(|| self.sort_lines());
        &lines[starts[class]..starts[class + 1]]
    }

    fn sort_lines(&self) -> Lines {
        let class = |&line: &usize| self.items[line].class;
        let mut lines: Vec<usize> = (0..self.items.len()).collect();
        lines.sort_by_key(class);
        let mut starts = vec![0];
        for index in 0..self.arranged.classes() {
            let number = self.arranged.number(index);
            starts.push(lines.partition_point(|line| class(line) <= number));
        }
        Lines { lines, starts }
    }

    /// Whether the plan lists all of these bytes.
    pub(super) fn lists(&self, file: usize, range: &Range<u64>) -> bool {
        let extent = Extent::between(range.start, range.end);
        range.is_empty() || self.arranged.place(file, extent).is_some()
    }

    pub(super) fn bytes<'m>(
        &self,
        memory: Memory<'m>,
        file: usize,
        range: Range<u64>,
    ) -> Option<&'m [u8]> {
        if range.is_empty() {
            return Some(&[]);
        }
        let extent = Extent::between(range.start, range.end);
        memory.get(self.arranged.place(file, extent)?, extent.len())
    }

    pub(super) fn chunk<'m>(&self, memory: Memory<'m>, line: usize) -> Option<ChunkBytes<'m>> {
        let Item { file, extent, class } = self.items[line];
        let range = extent.offset()..extent.end();
        let bytes = self.bytes(memory, file, range.clone())?;
        Some(ChunkBytes { index: line, file, range, class, bytes })
    }
}

/// One chunk of a plan whose bytes have been read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkBytes<'h> {
    /// The index of its line in the plan, from 0.
    pub index: usize,
    /// The index of its file.
    pub file: usize,
    /// Its range of bytes in the file.
    pub range: Range<u64>,
    /// Its class in the plan.
    pub class: u32,
    /// The bytes.
    pub bytes: &'h [u8],
}

/// A complete class.
#[derive(Clone, Copy)]
pub struct ClassBytes<'h> {
    pub(super) layout: &'h PlanLayout,
    pub(super) memory: Memory<'h>,
    pub(super) class: usize,
    pub(super) elapsed: Duration,
}

impl<'h> ClassBytes<'h> {
    /// Its number in the plan.
    pub fn class(&self) -> u32 {
        self.layout.arranged.number(self.class)
    }

    /// From the call that started the read until all of this class was read and checked.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Bytes of the class, each counted once.
    pub fn len(&self) -> u64 {
        self.layout.arranged.bytes(self.class)
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its chunks, in the order in which the plan lists them.
    pub fn chunks(&self) -> impl Iterator<Item = ChunkBytes<'h>> + use<'h> {
        let (layout, memory) = (self.layout, self.memory);
        layout.lines_of(self.class).iter().filter_map(move |&line| layout.chunk(memory, line))
    }
}

impl std::fmt::Debug for ClassBytes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClassBytes")
            .field("class", &self.class())
            .field("len", &self.len())
            .field("elapsed", &self.elapsed)
            .finish_non_exhaustive()
    }
}
