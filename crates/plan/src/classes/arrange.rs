//! Sorts and coalesces a plan, once, before anything is read.
//!
//! ```text
//! strips    A 0..10   A+B 10..20   A 20..40           cut where the set of classes changes
//! pieces    cut again where a strip is long           what is read at a time
//! memory    |0      |10        |20     |40|           each byte once, holes squeezed out
//! ```

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::LEASE_SIZE;
use crate::extent::Extent;

/// Pieces are not made smaller than this to give work to more slots.
const SMALL_PIECE: u64 = 128 << 10;
/// Pieces are cut at multiples of this in the file: the kernel copies whole pages.
const PAGE: u64 = 4096;
/// Each file's bytes begin at a multiple of this in memory, a cache line.
const ALIGNMENT: u64 = 64;

/// One line of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Index of the file, from 0.
    pub file: usize,
    /// Range of its bytes.
    pub extent: Extent,
    /// The class of the bytes: 0 is the most urgent. Numbers need not be contiguous.
    pub class: u32,
}

/// The shape that an arrangement is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Classes in flight; 0 chooses enough to keep the slots busy, at least 2.
    pub window: usize,
    /// Reads in flight; 0 counts as 1.
    pub slots: usize,
}

/// The bytes of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassPiece {
    /// Index of the file.
    pub file: usize,
    /// Range of its bytes.
    pub extent: Extent,
    /// Their place in memory.
    pub place: u64,
    /// The place of its set of classes in the list of all sets.
    set: (usize, usize),
}

/// Adjacent bytes of a file, of any classes, and their place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Index of the file.
    pub file: usize,
    /// Range of its bytes.
    pub extent: Extent,
    /// Their place in memory.
    pub place: u64,
}

/// A plan, sorted and coalesced: pieces, and a queue of them for each class.
#[derive(Clone, Debug, Default)]
pub struct Arranged {
    /// Class numbers, ascending; elsewhere a class is an index into them.
    numbers: Vec<u32>,
    /// In the order of files and offsets.
    pieces: Vec<ClassPiece>,
    spans: Vec<Span>,
    /// Sets of classes. The first ones are the single classes.
    sets: Vec<usize>,
    /// Indices of pieces, class by class.
    queue: Vec<usize>,
    /// The start of each class's queue, and the end of the last one.
    starts: Vec<usize>,
    bytes: Vec<u64>,
    len: u64,
    files: usize,
    shared: bool,
    window: usize,
    slots: usize,
}

impl Arranged {
    /// Arranges `items`.
    ///
    /// Bytes listed twice are read once, when the first of their classes needs them, and count for
    /// all of them. Bytes that are not listed are not read. A class does not wait for an item
    /// without bytes.
    ///
    /// The cost is that of sorting the items, or nothing if they are sorted; if items overlap, plus
    /// the number of overlaps.
    pub fn new(items: &[Item], shape: Shape) -> Self {
        let numbers = Numbers::of(items);
        let mut sorted: Vec<usize> =
            (0..items.len()).filter(|&index| !items[index].extent.is_empty()).collect();
        sorted.sort_unstable_by_key(|&index| {
            let Item { file, extent, .. } = items[index];
            (file, extent.offset(), extent.end())
        });
        let mut sweep = Sweep::new(numbers.list.len());
        for index in sorted {
            let Item { file, extent, class } = items[index];
            sweep.add(file, extent, numbers.index_of(class));
        }
        sweep.close();
        let slots = shape.slots.max(1);
        let total: u64 = sweep.strips.iter().map(|strip| strip.extent.len()).sum();
        let (window, piece_size) =
            Self::decide(total, numbers.list.len(), Shape { slots, ..shape });
        let mut new = Self {
            files: items.iter().map(|item| item.file + 1).max().unwrap_or(0),
            shared: sweep.sets.len() > numbers.list.len(),
            bytes: vec![0; numbers.list.len()],
            numbers: numbers.list,
            sets: sweep.sets,
            window,
            slots,
            ..Self::default()
        };
        for strip in sweep.strips {
            new.lay(strip, piece_size);
        }
        new.enqueue();
        new
    }

    /// Chooses the window and the size of pieces. A window of classes holds two pieces for each
    /// slot, unless that would make pieces small. Smaller pieces complete a class sooner, because
    /// more slots work on it, so a narrower window is enough. If the window is chosen too, it holds
    /// at least 16 pieces: a few fast slots would otherwise park after every other one.
    fn decide(total: u64, classes: usize, shape: Shape) -> (usize, u64) {
        let (slots, busy) = (shape.slots as u64, 2 * shape.slots as u64);
        let class = (total / (classes as u64).max(1)).max(1);
        if shape.window > 0 {
            let window = class.saturating_mul(shape.window as u64);
            return (shape.window, (window / busy).clamp(SMALL_PIECE, LEASE_SIZE));
        }
        let size = (class / slots).clamp(2 * SMALL_PIECE, LEASE_SIZE);
        let window = busy.max(16).saturating_mul(size).div_ceil(class);
        (usize::try_from(window).unwrap_or(usize::MAX).max(2), size)
    }

    /// Gives a strip its place in memory and cuts it.
    fn lay(&mut self, strip: Strip, size: u64) {
        let Strip { file, extent, set } = strip;
        let joins = self.spans.last().is_some_and(|span| span.file == file);
        if !joins {
            self.len = self.len.next_multiple_of(ALIGNMENT);
        }
        let place = self.len;
        self.len = self.len.saturating_add(extent.len());
        match self.spans.last_mut() {
            Some(span) if joins && span.extent.end() == extent.offset() => {
                span.extent = Extent::between(span.extent.offset(), extent.end());
            }
            _ => self.spans.push(Span { file, extent, place }),
        }
        for &class in &self.sets[set.0..][..set.1] {
            self.bytes[class] += extent.len();
        }
        // Even pieces, each between two thirds and one and a half times the size.
        let count = ((extent.len() + size / 2) / size).max(1);
        let mut at = extent.offset();
        for index in 1..=count {
            let share = u128::from(extent.len()) * u128::from(index) / u128::from(count);
            let share = u64::try_from(share).unwrap_or(extent.len());
            let end = match index == count {
                true => extent.end(),
                false => (extent.offset() + share) / PAGE * PAGE,
            };
            if end > at {
                let piece = Extent::between(at, end);
                let place = place + (at - extent.offset());
                self.pieces.push(ClassPiece { file, extent: piece, place, set });
                at = end;
            }
        }
    }

    /// Builds the queues.
    fn enqueue(&mut self) {
        let mut starts = vec![0; self.numbers.len() + 1];
        for piece in &self.pieces {
            for &class in self.classes_of(piece) {
                starts[class + 1] += 1;
            }
        }
        for class in 1..starts.len() {
            starts[class] += starts[class - 1];
        }
        let mut ends = starts.clone();
        let mut queue = vec![0; starts.last().copied().unwrap_or(0)];
        for (index, piece) in self.pieces.iter().enumerate() {
            for &class in self.classes_of(piece) {
                queue[ends[class]] = index;
                ends[class] += 1;
            }
        }
        (self.starts, self.queue) = (starts, queue);
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the plan's number for the class with this index.
    pub fn number(&self, index: usize) -> u32 {
        self.numbers[index]
    }

    /// Returns the index of the class with this number.
    pub fn index(&self, number: u32) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    /// Returns the bytes of a class, including those that it shares with others.
    pub fn bytes(&self, class: usize) -> u64 {
        self.bytes[class]
    }

    /// Returns the number of files: the largest file index plus one.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Returns the bytes of memory for all spans.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the number of classes that may be in flight.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Returns the number of reads in flight that the arrangement is made for.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Returns all pieces, in the order of files and offsets.
    pub fn pieces(&self) -> &[ClassPiece] {
        &self.pieces
    }

    /// Returns the runs of adjacent bytes, in the order of files and offsets.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Returns the runs of adjacent bytes of one file.
    pub fn spans_of(&self, file: usize) -> &[Span] {
        let first = self.spans.partition_point(|span| span.file < file);
        let end = self.spans.partition_point(|span| span.file <= file);
        &self.spans[first..end]
    }

    /// Returns the place of `extent` of `file` in memory; `None` if not all of it is in one span.
    pub fn place(&self, file: usize, extent: Extent) -> Option<u64> {
        let offset = extent.offset();
        let before = |span: &Span| (span.file, span.extent.offset()) <= (file, offset);
        let span = self.spans[..self.spans.partition_point(before)].last()?;
        let inside = span.file == file && extent.end() <= span.extent.end();
        inside.then(|| span.place + (offset - span.extent.offset()))
    }

    /// Returns the piece at a place of the queue.
    pub fn piece(&self, place: usize) -> &ClassPiece {
        &self.pieces[self.queue[place]]
    }

    /// Returns the index of the piece at a place of the queue.
    pub fn index_of(&self, place: usize) -> usize {
        self.queue[place]
    }

    /// Returns the places of a class in the queue.
    pub fn queue(&self, class: usize) -> Range<usize> {
        self.starts[class]..self.starts[class + 1]
    }

    /// Returns the classes that need a piece.
    pub fn classes_of(&self, piece: &ClassPiece) -> &[usize] {
        &self.sets[piece.set.0..][..piece.set.1]
    }

    /// Whether some bytes belong to several classes.
    pub fn is_shared(&self) -> bool {
        self.shared
    }
}

/// The numbers of the classes.
struct Numbers {
    list: Vec<u32>,
    /// The index of each number, if the numbers are dense enough for a table.
    table: Vec<usize>,
}

impl Numbers {
    fn of(items: &[Item]) -> Self {
        let mut list: Vec<u32> = items.iter().map(|item| item.class).collect();
        list.dedup();
        list.sort_unstable();
        list.dedup();
        let last = list.last().map_or(0, |&last| last as usize);
        let mut table = Vec::new();
        if last / 4 <= items.len() {
            table.resize(last + 1, 0);
            for (index, &number) in list.iter().enumerate() {
                table[number as usize] = index;
            }
        }
        Self { list, table }
    }

    fn index_of(&self, number: u32) -> usize {
        match self.table.get(number as usize) {
            Some(&index) => index,
            None => self.list.partition_point(|&other| other < number),
        }
    }
}

/// Adjacent bytes of the same classes.
#[derive(Clone, Copy)]
struct Strip {
    file: usize,
    extent: Extent,
    set: (usize, usize),
}

/// Sweeps over the sorted items from left to right.
struct Sweep {
    strips: Vec<Strip>,
    sets: Vec<usize>,
    /// The open items: their ends and classes; the nearest end first.
    open: Vec<(u64, usize)>,
    file: usize,
    at: u64,
}

impl Sweep {
    fn new(classes: usize) -> Self {
        let (strips, sets) = (Vec::new(), (0..classes).collect());
        Self { strips, sets, open: Vec::new(), file: 0, at: 0 }
    }

    fn add(&mut self, file: usize, extent: Extent, class: usize) {
        if file != self.file {
            self.close();
            (self.file, self.at) = (file, 0);
        }
        self.advance(extent.offset());
        let index = self.open.partition_point(|&(end, _)| end <= extent.end());
        self.open.insert(index, (extent.end(), class));
    }

    fn close(&mut self) {
        self.advance(u64::MAX);
    }

    /// Emits all strips before `to`.
    fn advance(&mut self, to: u64) {
        while let Some(&(end, _)) = self.open.first() {
            let until = end.min(to);
            if until > self.at {
                self.emit(Extent::between(self.at, until));
                self.at = until;
            }
            if end > to {
                return;
            }
            self.open.remove(0);
        }
        self.at = to;
    }

    fn emit(&mut self, extent: Extent) {
        let set = match self.open[..] {
            [(_, class)] => (class, 1),
            _ => self.set_of_open(),
        };
        match self.strips.last_mut() {
            Some(last)
                if last.file == self.file
                    && last.extent.end() == extent.offset()
                    && last.set == set =>
            {
                last.extent = Extent::between(last.extent.offset(), extent.end());
            }
            _ => self.strips.push(Strip { file: self.file, extent, set }),
        }
    }

    /// Returns the set of the classes of all open items, reusing that of the last strip if it is
    /// the same.
    fn set_of_open(&mut self) -> (usize, usize) {
        let mut classes: Vec<usize> = self.open.iter().map(|&(_, class)| class).collect();
        classes.sort_unstable();
        classes.dedup();
        if let [class] = classes[..] {
            return (class, 1);
        }
        if let Some(&Strip { set, .. }) = self.strips.last()
            && self.sets[set.0..][..set.1] == classes
        {
            return set;
        }
        let set = (self.sets.len(), classes.len());
        self.sets.extend(classes);
        set
    }
}

/// Returns study A's plan for `extent`: `chunks` chunks of equal size, of which the last also takes
/// the remainder, in `classes` classes of adjacent chunks, from front to back.
///
/// There are at most as many chunks as bytes and at most as many classes as chunks, and at least
/// one of each; the number of chunks of two classes differs by at most one.
pub fn by_position(extent: Extent, chunks: u64, classes: u32) -> impl Iterator<Item = Item> {
    let chunks = chunks.clamp(1, extent.len().max(1));
    let classes = u64::from(classes).clamp(1, chunks);
    let size = extent.len() / chunks;
    (0..chunks).map(move |index| {
        let offset = extent.offset() + index * size;
        let end = if index + 1 == chunks { extent.end() } else { offset + size };
        let class = u128::from(index) * u128::from(classes) / u128::from(chunks);
        let class = u32::try_from(class).unwrap_or(u32::MAX);
        Item { file: 0, extent: Extent::between(offset, end), class }
    })
}
