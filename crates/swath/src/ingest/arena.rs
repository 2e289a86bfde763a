//! One buffer for many files: a growing end, and slabs that workers fill.
//!
//! ```text
//! |slab of A: f0 f2 f3 ..|slab of B: f1 f4 ..|large file, part by part|slab of A ..| end →
//! ```

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use swath_os::limits::address_space_limit;
use swath_os::memory::{Leases, POPULATE_SIZE, Pages, WriteLease};

use crate::error::{Error, Operation, Reason, Result};
use crate::locks::{AtomicU64, AtomicUsize, Mutex, lock_cache};

/// Reusable memory for the results of [`IngestOptions::ingest`](crate::ingest::IngestOptions::ingest):
/// it returns here when a result is dropped. Used pages cost half as much as fresh ones.
///
/// Clones share one arena. It provides its memory to one result at a time; while that result
/// exists, the next one gets fresh memory.
///
/// ```
/// let options = swath::ingest::IngestOptions::new().with_arena(swath::ingest::Arena::new());
/// for _ in 0..2 {
///     let ingested = options.ingest(swath::ingest::Files::paths(["/etc/passwd", "/etc/group"]))?;
///     assert!(ingested.get(1).is_some_and(|entry| entry.bytes.starts_with(b"root")));
/// } // the second round uses the memory of the first
/// # Ok::<(), swath::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Arena(Arc<SparePages>);

#[derive(Debug)]
struct SparePages {
    pages: Mutex<Option<Pages>>,
    /// Bytes above which memory is returned to the kernel.
    cap: usize,
}

impl Default for SparePages {
    fn default() -> Self {
        Self { pages: Mutex::default(), cap: usize::MAX }
    }
}

/// Bytes that the process keeps between calls without an arena: as many as its buffer pool.
const SHARED_CAP: usize = 64 << 20;

impl Arena {
    /// Returns an arena that holds nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the idle memory to the kernel.
    pub fn trim(&self) {
        drop(self.take());
    }

    /// Returns the arena for calls that pass none.
    pub(super) fn shared() -> Self {
        static SHARED: OnceLock<Arena> = OnceLock::new();
        let kept = || SparePages { cap: SHARED_CAP, ..SparePages::default() };
        SHARED.get_or_init(|| Self(Arc::new(kept()))).clone()
    }

    fn take(&self) -> Option<Pages> {
        lock_cache(&self.0.pages)?.take()
    }

    pub(super) fn put(&self, pages: Pages) {
        let populated = pages.len().saturating_sub(pages.unpopulated());
        // Address space is not kept if there is a limit on it.
        if populated > self.0.cap
            || (self.0.cap < usize::MAX && address_space_limit().is_some())
        {
            return;
        }
        let replaced = lock_cache(&self.0.pages).and_then(|mut kept| kept.replace(pages));
        // Unmapping takes long: outside the lock.
        drop(replaced);
    }
}

/// The arena while it is being filled.
pub(super) struct ArenaStore {
    leases: Leases<'static>,
    end: AtomicUsize,
    limit: usize,
    at_hand: OnceLock<u64>,
    /// Bytes that need no fresh memory: of an earlier round, or taken before the first check of
    /// memory.
    had: u64,
    pub(super) populated: AtomicU64,
}

/// Size at which the available memory is checked, which costs a tenth of a millisecond.
const LARGE: usize = 32 << 20;
/// Bytes left for threads, rings and lists.
const BESIDE: u64 = 8 << 20;
/// With fewer files, huge pages are not requested: most of one would stay empty.
const FEW: usize = 16;

impl ArenaStore {
    /// Takes the memory of `arena`, or address space of the size of the machine's memory: unused
    /// address space costs nothing.
    pub(super) fn new(arena: &Arena, limit: u64, files: usize) -> Result<Self> {
        let limit =
            usize::try_from(limit).ok().filter(|&limit| limit > 0).unwrap_or(usize::MAX);
        let refused = |error| Error::io(Operation::Allocate, Path::new("the arena"), error);
        // Memory mapped for a smaller limit would impose that limit.
        let pages = match arena.take().filter(|pages| pages.len() >= most(limit)) {
            Some(pages) => pages,
            None => reserve(limit).map_err(refused)?,
        };
        if files >= FEW {
            // Kernels without huge pages refuse it: slower, not wrong.
            let _ = pages.advise_huge();
        }
        let limit = limit.min(pages.len());
        let had = pages.len().saturating_sub(pages.unpopulated()).max(LARGE) as u64;
        let (end, at_hand) = (AtomicUsize::new(0), OnceLock::new());
        let populated = AtomicU64::new(0);
        Ok(Self { leases: Leases::of_pages(pages), end, limit, at_hand, had, populated })
    }

    /// Sets `len` bytes aside, aligned to `align`.
    pub(super) fn reserve(&self, len: usize, align: usize, path: &Path) -> Result<usize> {
        let mut wanted = 0;
        let fits = |end: usize| {
            wanted = end.checked_next_multiple_of(align)?.checked_add(len)?;
            (wanted <= self.limit && self.is_at_hand(wanted)).then_some(wanted)
        };
        // Relaxed: only the number; leases publish the bytes.
        match self.end.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => Ok(wanted - len),
            Err(end) => Err(Error::new(Operation::Allocate, Reason::OutOfMemory, path)
                .detail(format!(
                    "{len} bytes more than {end} are needed, {} are allowed",
                    self.most()
                ))
                .hint(
                    "raise the memory limit, or stream the files instead of collecting them",
                )),
        }
    }

    fn is_at_hand(&self, wanted: usize) -> bool {
        wanted < LARGE || wanted as u64 <= self.most()
    }

    /// Returns the most bytes that the arena may hold.
    fn most(&self) -> u64 {
        let at_hand = || {
            let at_hand = swath_os::machine::memory_at_hand().unwrap_or(u64::MAX);
            (at_hand - at_hand / 8).saturating_sub(BESIDE)
        };
        // The first `LARGE` bytes are already taken when this is checked.
        let at_hand = *self.at_hand.get_or_init(at_hand);
        at_hand.saturating_add(self.had).min(self.limit as u64)
    }

    /// Lends `offset .. offset + len`, which was set aside, and populates its pages.
    pub(super) fn lend(
        &self,
        offset: usize,
        len: usize,
        path: &Path,
    ) -> Result<WriteLease<'_>> {
        let lease = self.leases.write(offset, len).ok_or_else(|| {
            let error = Error::new(Operation::Allocate, Reason::Io, path);
            error.detail("this memory is already lent")
        })?;
        match lease.prepare() {
            // Relaxed: a counter for display only.
            Ok(fresh) => self.populated.fetch_add(fresh as u64, Ordering::Relaxed),
            Err(error) if error.kind() == std::io::ErrorKind::OutOfMemory => {
                return Err(Error::io(Operation::Allocate, path, error));
            }
            // Kernels before 5.14 refuse; the read itself populates the pages.
            Err(_) => 0,
        };
        Ok(lease)
    }

    /// Lends bytes that were set aside and have been filled.
    pub(super) fn read(&self, offset: usize, len: usize) -> Option<&[u8]> {
        self.leases.read(offset, len)
    }

    /// Returns the memory, and how many of its bytes are used.
    pub(super) fn into_pages(self) -> (Option<Pages>, usize) {
        (self.leases.into_pages(), self.end.into_inner())
    }
}

/// Reserves address space for `limit` bytes, or for the machine's memory; less if a limit on
/// address space, or strict accounting, refuses that.
fn reserve(limit: usize) -> std::io::Result<Pages> {
    let mut len = most(limit);
    loop {
        match Pages::map(len) {
            Err(_) if len > 64 << 20 => len /= 2,
            other => return other,
        }
    }
}

/// Returns `limit`, or the machine's memory.
fn most(limit: usize) -> usize {
    let system = rustix::system::sysinfo();
    let memory = system.totalram.saturating_mul(u64::from(system.mem_unit));
    let memory = usize::try_from(memory).unwrap_or(usize::MAX / 4).max(1 << 30);
    limit.min(memory).next_multiple_of(POPULATE_SIZE)
}

/// One worker's slab: small files side by side.
pub(super) struct Shelf<'s> {
    store: &'s ArenaStore,
    slab: Option<WriteLease<'s>>,
    used: usize,
    slab_len: usize,
}

/// Files start at multiples of this, a cache line.
const ALIGNMENT: usize = 64;

impl<'s> Shelf<'s> {
    pub(super) fn new(store: &'s ArenaStore, files: usize) -> Self {
        let slab_len = if files >= FEW { POPULATE_SIZE } else { 256 << 10 };
        Self { store, slab: None, used: 0, slab_len }
    }

    /// Returns memory for at least `want` bytes.
    pub(super) fn room(&mut self, want: usize, path: &Path) -> Result<&mut [u8]> {
        let left = self.slab.as_ref().map_or(0, |slab| slab.len() - self.used);
        if left < want {
            self.freeze();
            let len = want.max(self.slab_len).next_multiple_of(4096);
            // The rest of the arena may be smaller than a slab.
            let (len, offset) = match self.store.reserve(len, 4096, path) {
                Ok(offset) => (len, offset),
                Err(_) if len > want => (want, self.store.reserve(want, ALIGNMENT, path)?),
                Err(error) => return Err(error),
            };
            self.slab = Some(self.store.lend(offset, len, path)?);
        }
        let slab = self
            .slab
            .as_mut()
            .ok_or_else(|| Error::new(Operation::Allocate, Reason::OutOfMemory, path))?;
        Ok(&mut slab[self.used..])
    }

    /// Keeps the first `len` bytes as a file; returns its offset in the arena.
    pub(super) fn keep(&mut self, len: usize) -> usize {
        let (start, end) =
            self.slab.as_ref().map_or((0, 0), |slab| (slab.offset(), slab.len()));
        let offset = start + self.used;
        self.used = (self.used + len).next_multiple_of(ALIGNMENT).min(end);
        offset
    }

    fn freeze(&mut self) {
        self.used = 0;
        if let Some(slab) = self.slab.take() {
            slab.freeze();
        }
    }
}

impl Drop for Shelf<'_> {
    fn drop(&mut self) {
        self.freeze();
    }
}
