//! The ranges to read, and the urgency of each.

use std::collections::TryReserveError;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use swath_plan::classes::{Item, by_position};
use swath_plan::extent::Extent;

use crate::locks::Mutex;
use crate::prioritised::views::{ChunkBytes, ClassBytes};

pub(super) type OnClass = Arc<Mutex<dyn FnMut(&ClassBytes<'_>) + Send>>;
pub(super) type OnChunk = Arc<dyn Fn(&ChunkBytes<'_>) + Send + Sync>;

/// A list of chunks, each with the class of its bytes: class 0 is the most urgent.
///
/// Chunks may come in any order, leave holes, overlap, be listed twice, be empty, and belong to
/// several files. Bytes listed by several chunks are read once, when the first of those chunks
/// needs them. Class numbers need not be contiguous. A plan without chunks is complete at once.
///
/// ```
/// use swath::classes::ClassPlan;
///
/// // A file's header first, then its index, then the rest.
/// let mut plan = ClassPlan::new().with_window(1);
/// plan.push(0..4096, 0).push(1_000_000..1_040_000, 1).push(4096..1_000_000, 2);
/// assert_eq!(plan.len(), 3);
/// ```
#[derive(Clone, Default)]
pub struct ClassPlan {
    pub(super) items: Vec<Item>,
    /// Number of chunks and classes of each file, for any length.
    pub(super) whole: Option<(u64, u32)>,
    names: Vec<String>,
    pub(super) window: usize,
    pub(super) on_class: Option<OnClass>,
    pub(super) on_chunk: Option<OnChunk>,
}

/// The places of an image's rows in its file. All numbers are bytes, except `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLayout {
    /// Offset of the first row.
    pub offset: u64,
    /// Length of one row.
    pub len: u64,
    /// From the start of one row to the start of the next.
    pub stride: u64,
    /// The number of rows.
    pub count: u64,
}

impl ClassPlan {
    /// Returns a plan without chunks and callbacks, with a window chosen for you.
    pub fn new() -> Self {
        Self::default()
    }

    /// Study A's plan, as [`by_position`](Self::by_position), for each file that is read, once its
    /// length is known: for all of it, or for the offset and length of the
    /// [`ReadOptions`](crate::ReadOptions).
    pub fn of_whole(chunks: u64, classes: u32) -> Self {
        Self { whole: Some((chunks, classes)), ..Self::default() }
    }

    /// Study A's plan for a file of `len` bytes: `chunks` chunks of equal size, of which the
    /// last also takes the remainder, in `classes` classes of adjacent chunks, from front to
    /// back. There is at most one chunk for each byte, and one class for each chunk.
    pub fn by_position(len: u64, chunks: u64, classes: u32) -> Self {
        Self::by_position_in(0..len, chunks, classes)
    }

    /// Plans a part of a file by position.
    pub fn by_position_in(range: Range<u64>, chunks: u64, classes: u32) -> Self {
        let extent = Extent::between(range.start, range.end);
        Self { items: by_position(extent, chunks, classes).collect(), ..Self::default() }
    }

    /// The rows of an image, each with the class that `class` returns for it: for example the
    /// middle first, or every eighth row and then those in between. Rows that would end beyond
    /// 2^64 are left out.
    pub fn rows(layout: RowLayout, class: impl Fn(u64) -> u32) -> Self {
        let RowLayout { offset, len, stride, count } = layout;
        let row = |row: u64| {
            let extent = Extent::new(offset.checked_add(row.checked_mul(stride)?)?, len)?;
            Some(Item { file: 0, extent, class: class(row) })
        };
        Self { items: (0..count).map_while(row).collect(), ..Self::default() }
    }

    /// Ranges with names, each a class of its own, the most urgent first; see
    /// [`class_named`](Self::class_named).
    pub fn named<N: Into<String>>(ranges: impl IntoIterator<Item = (N, Range<u64>)>) -> Self {
        let mut plan = Self::new();
        for (class, (name, range)) in (0..).zip(ranges) {
            plan.names.push(name.into());
            plan.push(range, class);
        }
        plan
    }

    /// Returns the class of the range with this name.
    pub fn class_named(&self, name: &str) -> Option<u32> {
        let index = self.names.iter().position(|other| other == name)?;
        u32::try_from(index).ok()
    }

    /// Adds bytes of the first, or only, file. A range that ends before it starts is empty.
    pub fn push(&mut self, range: Range<u64>, class: u32) -> &mut Self {
        self.push_in(0, range, class)
    }

    /// Adds bytes of the file with this index among those that are read.
    pub fn push_in(&mut self, file: usize, range: Range<u64>, class: u32) -> &mut Self {
        self.items.push(Item { file, extent: Extent::between(range.start, range.end), class });
        self
    }

    /// Reserves memory for `chunks` more, so that adding them allocates nothing.
    ///
    /// # Errors
    ///
    /// If there is not enough memory; the plan is then unchanged.
    pub fn try_reserve(&mut self, chunks: usize) -> Result<(), TryReserveError> {
        self.items.try_reserve(chunks)
    }

    /// Reassigns the class of each chunk: `class` receives its index and its previous class.
    #[must_use]
    pub fn with_classes(mut self, class: impl Fn(usize, u32) -> u32) -> Self {
        for (index, item) in self.items.iter_mut().enumerate() {
            item.class = class(index, item.class);
        }
        self
    }

    /// Sets the most classes in flight: a class begins only when the one `window` before it is
    /// complete. 1 is strict: one class after the other. Default 0: enough to keep all workers busy,
    /// at least 2.
    #[must_use]
    pub fn with_window(mut self, window: usize) -> Self {
        self.window = window;
        self
    }

    /// Calls `called` with the bytes of each complete class, on a worker: one call at a time, in the
    /// order of completion. It must be quick, and must not wait for another class.
    #[must_use]
    pub fn with_class_callback(
        mut self,
        called: impl FnMut(&ClassBytes<'_>) + Send + 'static,
    ) -> Self {
        self.on_class = Some(Arc::new(Mutex::new(called)));
        self
    }

    /// Calls `called` with each complete chunk that is not empty, on workers, several at a time,
    /// before its class is complete. Changes of the file are detected after the last chunk of a
    /// class and before the callback of the class.
    #[must_use]
    pub fn with_chunk_callback(
        mut self,
        called: impl Fn(&ChunkBytes<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.on_chunk = Some(Arc::new(called));
        self
    }

    /// Returns the number of chunks. Those of [`of_whole`](Self::of_whole) are not known before files
    /// are open.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it lists no chunks.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl fmt::Debug for ClassPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClassPlan")
            .field("chunks", &self.items.len())
            .field("whole", &self.whole)
            .field("window", &self.window)
            .field("on_class", &self.on_class.is_some())
            .field("on_chunk", &self.on_chunk.is_some())
            .finish()
    }
}
