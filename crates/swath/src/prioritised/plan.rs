//! What is to be read, and how soon each part of it is needed.

use std::collections::TryReserveError;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use swath_plan::classes::{Item, by_position};
use swath_plan::extent::Extent;

use crate::prioritised::views::{ChunkBytes, ClassBytes};

pub(super) type OnClass = Arc<Mutex<dyn FnMut(&ClassBytes<'_>) + Send>>;
pub(super) type OnChunk = Arc<dyn Fn(&ChunkBytes<'_>) + Send + Sync>;

/// A list of chunks, each with the class of bytes that it belongs to: 0 is needed first.
///
/// Chunks may come in any order, leave holes, lie on top of each other, be listed twice, be empty,
/// and be of several files. Bytes that several chunks list are read once, as soon as the first of
/// them needs them. Class numbers may be left out. A plan without chunks is read at once.
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
    /// Chunks and classes of each file, whatever its length.
    pub(super) whole: Option<(u64, u32)>,
    names: Vec<String>,
    pub(super) window: usize,
    pub(super) on_class: Option<OnClass>,
    pub(super) on_chunk: Option<OnChunk>,
}

/// Where the rows of an image lie in its file. Bytes, all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLayout {
    /// Where the first row begins.
    pub offset: u64,
    /// Of one row.
    pub len: u64,
    /// From the beginning of one row to that of the next.
    pub stride: u64,
    /// How many rows there are.
    pub count: u64,
}

impl ClassPlan {
    /// Returns a plan without chunks, a window that is chosen for it, and no callbacks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Study A's plan, as [`by_position`](Self::by_position), for each file that is read, by the
    /// length that it is found to have: all of it, or what an offset and a length of the
    /// [`ReadOptions`](crate::ReadOptions) say.
    pub fn of_whole(chunks: u64, classes: u32) -> Self {
        Self { whole: Some((chunks, classes)), ..Self::default() }
    }

    /// Study A's plan for a file of `len` bytes: `chunks` chunks of one size, but the last takes
    /// what the division leaves over, and `classes` classes of neighbouring chunks, from front to
    /// back. At most one chunk for each byte, and one class for each chunk.
    pub fn by_position(len: u64, chunks: u64, classes: u32) -> Self {
        Self::by_position_in(0..len, chunks, classes)
    }

    /// The same for a part of a file.
    pub fn by_position_in(range: Range<u64>, chunks: u64, classes: u32) -> Self {
        let extent = Extent::between(range.start, range.end);
        Self { items: by_position(extent, chunks, classes).collect(), ..Self::default() }
    }

    /// The rows of an image, the class of each said by `class`: the middle first, or every eighth
    /// row and then what is between. What would end beyond 2^64 is left out.
    pub fn rows(layout: RowLayout, class: impl Fn(u64) -> u32) -> Self {
        let RowLayout { offset, len, stride, count } = layout;
        let row = |row: u64| {
            let extent = Extent::new(offset.checked_add(row.checked_mul(stride)?)?, len)?;
            Some(Item { file: 0, extent, class: class(row) })
        };
        Self { items: (0..count).map_while(row).collect(), ..Self::default() }
    }

    /// Ranges with names, each a class of its own, the first needed first; see
    /// [`class_named`](Self::class_named).
    pub fn named<N: Into<String>>(ranges: impl IntoIterator<Item = (N, Range<u64>)>) -> Self {
        let mut plan = Self::new();
        for (class, (name, range)) in (0..).zip(ranges) {
            plan.names.push(name.into());
            plan.push(range, class);
        }
        plan
    }

    /// The class of the range with this name.
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

    /// Makes room for `chunks` more, so that adding them allocates nothing.
    ///
    /// # Errors
    ///
    /// If there is no memory for them; the plan stays as it is.
    pub fn try_reserve(&mut self, chunks: usize) -> Result<(), TryReserveError> {
        self.items.try_reserve(chunks)
    }

    /// Says the class of each chunk anew; `class` is told its index and its former class.
    #[must_use]
    pub fn with_classes(mut self, class: impl Fn(usize, u32) -> u32) -> Self {
        for (index, item) in self.items.iter_mut().enumerate() {
            item.class = class(index, item.class);
        }
        self
    }

    /// At most so many classes in flight: a class begins only when the one `window` before it is
    /// complete. 1 is strict: one class after the other. Default 0: as many as keep all workers
    /// busy, at least 2.
    #[must_use]
    pub fn with_window(mut self, window: usize) -> Self {
        self.window = window;
        self
    }

    /// Has `called` with the bytes of each class that is complete, by a worker: one call at a
    /// time, in the order in which classes are completed. It must be quick, and must not wait for
    /// another class.
    #[must_use]
    pub fn with_class_callback(
        mut self,
        called: impl FnMut(&ClassBytes<'_>) + Send + 'static,
    ) -> Self {
        self.on_class = Some(Arc::new(Mutex::new(called)));
        self
    }

    /// Has `called` with each chunk that is complete and not empty, by workers, several at a time,
    /// before its class is complete. Whether the file has changed is found out after the last
    /// chunk of a class and before the callback of the class.
    #[must_use]
    pub fn with_chunk_callback(
        mut self,
        called: impl Fn(&ChunkBytes<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.on_chunk = Some(Arc::new(called));
        self
    }

    /// How many chunks it lists. Those of [`of_whole`](Self::of_whole) are not known before files
    /// are open.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it lists none.
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
