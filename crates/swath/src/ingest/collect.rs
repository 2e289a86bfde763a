//! Many files in one buffer, with a table of their places.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use swath_os::memory::Pages;

use super::arena::{Arena, ArenaStore, Shelf};
use super::destination::Destination;
use super::listing::Listing;
use super::report::IngestReport;
use crate::error::{Error, Result};
use crate::locks::Mutex;

/// Many files in one buffer, and a table of them in input order.
///
/// ```
/// let ingested = swath::ingest(swath::ingest::Files::paths(["/etc/passwd", "/etc/group"]))?;
/// for entry in ingested.iter() {
///     println!("{} at {}: {} bytes", entry.path.display(), entry.offset, entry.len);
///     assert_eq!(entry.bytes.len() as u64, entry.len);
/// }
/// # Ok::<(), swath::Error>(())
/// ```
pub struct Ingested {
    listing: Arc<Listing>,
    /// The places of the files, in the order of the listing.
    rows: Vec<Row>,
    /// The files of the table, if some were left out.
    shown: Option<Vec<u32>>,
    errors: BTreeMap<usize, Error>,
    pages: Option<Pages>,
    used: usize,
    /// The arena that gets the memory back; `None`: that of the process.
    home: Option<Arena>,
    pub(super) report: IngestReport,
}

/// The place of a file in the buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    offset: usize,
    len: usize,
}

/// One file of an [`Ingested`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Entry<'i> {
    /// The path, as it was given or found.
    pub path: &'i Path,
    /// Offset of the bytes in [`Ingested::bytes`].
    pub offset: u64,
    /// The length in bytes; 0 for a file that could not be read.
    pub len: u64,
    /// The reason why the file could not be read.
    pub error: Option<&'i Error>,
    /// The bytes.
    pub bytes: &'i [u8],
}

impl Ingested {
    /// The number of files in the table.
    pub fn len(&self) -> usize {
        self.shown.as_ref().map_or(self.rows.len(), Vec::len)
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns file `index`, in input order.
    pub fn get(&self, index: usize) -> Option<Entry<'_>> {
        let index = match &self.shown {
            Some(shown) => *shown.get(index)? as usize,
            None => index,
        };
        let Row { offset, len } = *self.rows.get(index)?;
        Some(Entry {
            path: self.listing.path(index),
            offset: offset as u64,
            len: len as u64,
            error: self.errors.get(&index),
            bytes: &self.bytes()[offset..offset + len],
        })
    }

    /// Returns all files, in input order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entry<'_>> + DoubleEndedIterator {
        (0..self.len()).map(|index| self.get(index).expect("below the length"))
    }

    /// The whole buffer: all files, in no particular order, with gaps of unspecified content.
    pub fn bytes(&self) -> &[u8] {
        self.pages.as_ref().map_or(&[], |pages| &pages[..self.used])
    }

    /// Returns the report.
    pub fn report(&self) -> &IngestReport {
        &self.report
    }

    /// Turns the result back into memory for the next
    /// [`with_arena`](crate::ingest::IngestOptions::with_arena).
    pub fn into_arena(mut self) -> Arena {
        let arena = self.home.take().unwrap_or_default();
        if let Some(pages) = self.pages.take() {
            arena.put(pages);
        }
        arena
    }
}

impl Drop for Ingested {
    fn drop(&mut self) {
        if let Some(pages) = self.pages.take() {
            self.home.take().unwrap_or_else(Arena::shared).put(pages);
        }
    }
}

impl fmt::Debug for Ingested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ingested")
            .field("len", &self.len())
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

/// The results of the workers, added when each ends.
#[derive(Default)]
pub(super) struct Results {
    rows: Vec<(usize, Row)>,
    errors: Vec<(usize, Error)>,
}

impl Results {
    /// Puts the results in input order.
    pub(super) fn into_ingested(
        self,
        listing: Arc<Listing>,
        pages: Option<Pages>,
        used: usize,
        home: Option<Arena>,
        keep_failed: bool,
    ) -> Ingested {
        let mut rows = vec![Row::default(); listing.len()];
        for (index, row) in self.rows {
            rows[index] = row;
        }
        let errors: BTreeMap<usize, Error> = self.errors.into_iter().collect();
        let count = errors.len() as u64;
        let mut report = IngestReport { left_out: listing.left_out, ..IngestReport::default() };
        let shown = if keep_failed || errors.is_empty() {
            report.failed = count;
            None
        } else {
            report.skipped = count;
            let there = (0..rows.len()).filter(|index| !errors.contains_key(index));
            Some(there.filter_map(|index| u32::try_from(index).ok()).collect())
        };
        Ingested { listing, rows, shown, errors, pages, used, home, report }
    }
}

/// One worker's share of the arena.
pub(super) struct ToArena<'s> {
    store: &'s ArenaStore,
    shelf: Shelf<'s>,
    found: Results,
    results: &'s Mutex<Results>,
}

impl<'s> ToArena<'s> {
    pub(super) fn new(
        store: &'s ArenaStore,
        results: &'s Mutex<Results>,
        files: usize,
    ) -> Self {
        Self { store, shelf: Shelf::new(store, files), found: Results::default(), results }
    }
}

impl Destination for ToArena<'_> {
    const SHARED: bool = true;

    fn room(&mut self, _index: usize, want: usize, path: &Path) -> Result<Option<&mut [u8]>> {
        self.shelf.room(want, path).map(Some)
    }

    fn keep(&mut self, index: usize, _offset: u64, len: usize, _is_last: bool) {
        let offset = self.shelf.keep(len);
        self.found.rows.push((index, Row { offset, len }));
    }

    fn put(&mut self, index: usize, bytes: &[u8], path: &Path) -> Result<()> {
        self.shelf.room(bytes.len().max(1), path)?[..bytes.len()].copy_from_slice(bytes);
        self.keep(index, 0, bytes.len(), true);
        Ok(())
    }

    fn failed(&mut self, index: usize, error: Error) {
        self.found.errors.push((index, error));
    }

    fn set_aside(&mut self, len: u64, path: &Path) -> Result<usize> {
        // A length beyond any address space is refused like any other that does not fit.
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        self.store.reserve(len, 4096, path)
    }

    fn part(
        &mut self,
        at: usize,
        len: usize,
        path: &Path,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let mut lease = self.store.lend(at, len, path)?;
        fill(&mut lease)?;
        lease.freeze();
        Ok(())
    }

    fn complete(&mut self, index: usize, base: usize, len: u64) -> Option<&[u8]> {
        let len = usize::try_from(len).ok()?;
        self.found.rows.push((index, Row { offset: base, len }));
        self.store.read(base, len)
    }
}

impl Drop for ToArena<'_> {
    fn drop(&mut self) {
        let mut results = self.results.lock();
        results.rows.append(&mut self.found.rows);
        results.errors.append(&mut self.found.errors);
    }
}
