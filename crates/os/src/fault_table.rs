//! The files of mapped addresses: read by a signal handler, so it consists of atomics only.
//!
//! Each slot has a version that changes with its state. A reader compares the versions before and
//! after reading a slot: if they are equal and live, the fields it read belong together.
//!
//! ```text
//! free ──claim──▶ being written ──publish──▶ live ──retire──▶ free, with a new version
//! ```

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// The most maps that can be watched at a time.
const SLOTS: usize = 64;
const STATE: usize = 0b11;
const FREE: usize = 0;
const WRITING: usize = 1;
const LIVE: usize = 2;

/// A mapped extent, and the message if a page of it cannot be read.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The address of the first byte.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// Offset of the first byte in the file.
    pub(crate) offset: u64,
    /// The beginning of the message, up to the byte numbers.
    pub(crate) message: Arc<[u8]>,
}

/// The entry that a handler finds for an address. The message lives as long as the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) offset: u64,
    pub(crate) message: *const u8,
    pub(crate) message_len: usize,
}

#[derive(Debug)]
struct RangeSlot {
    version: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    offset: AtomicU64,
    message: AtomicPtr<u8>,
    message_len: AtomicUsize,
}

impl RangeSlot {
    const fn new() -> RangeSlot {
        RangeSlot {
            version: AtomicUsize::new(FREE),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            offset: AtomicU64::new(0),
            message: AtomicPtr::new(std::ptr::null_mut()),
            message_len: AtomicUsize::new(0),
        }
    }

    /// Claims the slot for writing, if it is free.
    fn claim(&self) -> bool {
        let version = self.version.load(SeqCst);
        let taken = version & !STATE | WRITING;
        version & STATE == FREE
            && self.version.compare_exchange(version, taken, SeqCst, SeqCst).is_ok()
    }

    fn publish(&self, fault: &Fault) {
        self.start.store(fault.start, SeqCst);
        self.end.store(fault.start.saturating_add(fault.len), SeqCst);
        self.offset.store(fault.offset, SeqCst);
        self.message.store(fault.message.as_ptr().cast_mut(), SeqCst);
        self.message_len.store(fault.message.len(), SeqCst);
        self.version.store(self.version.load(SeqCst) & !STATE | LIVE, SeqCst);
    }

    fn retire(&self) {
        let next = (self.version.load(SeqCst) & !STATE).wrapping_add(STATE + 1);
        self.version.store(next | FREE, SeqCst);
    }

    fn read(&self) -> Option<Found> {
        let before = self.version.load(SeqCst);
        let found = Found {
            start: self.start.load(SeqCst),
            end: self.end.load(SeqCst),
            offset: self.offset.load(SeqCst),
            message: self.message.load(SeqCst),
            message_len: self.message_len.load(SeqCst),
        };
        let same = self.version.load(SeqCst) == before;
        (same && before & STATE == LIVE).then_some(found)
    }
}

/// A fixed number of slots, so that a handler needs neither locks nor memory.
#[derive(Debug)]
pub(crate) struct FaultTable([RangeSlot; SLOTS]);

static GLOBAL: FaultTable = FaultTable::new();

impl FaultTable {
    const fn new() -> FaultTable {
        FaultTable([const { RangeSlot::new() }; SLOTS])
    }

    /// The one table that the handler reads.
    pub(crate) fn global() -> &'static FaultTable {
        &GLOBAL
    }

    /// Watches `fault` until the registration is dropped.
    pub(crate) fn register(&'static self, fault: Fault) -> io::Result<Registration> {
        let Some(slot) = self.0.iter().find(|slot| slot.claim()) else {
            let what = format!("a guard can watch {SLOTS} maps at one time");
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, what));
        };
        slot.publish(&fault);
        Ok(Registration { slot, _message: fault.message })
    }

    /// Finds the map that contains `address`. Safe to call in a signal handler.
    ///
    /// As long as the faulting thread is stopped in a map, that map cannot be dropped: its slot
    /// neither changes nor loses its message.
    pub(crate) fn find(&self, address: usize) -> Option<Found> {
        let holds = |found: &Found| (found.start..found.end).contains(&address);
        self.0.iter().filter_map(RangeSlot::read).find(holds)
    }
}

/// Keeps a slot live, and its message in memory.
#[derive(Debug)]
pub(crate) struct Registration {
    slot: &'static RangeSlot,
    _message: Arc<[u8]>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.slot.retire();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(start: usize, len: usize) -> Fault {
        Fault { start, len, offset: 7, message: Arc::from(&b"message"[..]) }
    }

    #[test]
    fn an_address_is_found_from_the_first_to_the_last_byte() {
        static TABLE: FaultTable = FaultTable::new();
        let first = TABLE.register(fault(100, 10)).expect("a slot");
        let _second = TABLE.register(fault(200, 1)).expect("a slot");
        for (address, start) in
            [(99, None), (100, Some(100)), (109, Some(100)), (110, None), (200, Some(200))]
        {
            assert_eq!(TABLE.find(address).map(|found| found.start), start, "{address}");
        }
        let found = TABLE.find(100).expect("registered");
        assert_eq!((found.end, found.offset, found.message_len), (110, 7, 7));
        drop(first);
        assert_eq!(TABLE.find(100), None);
    }

    #[test]
    fn a_full_table_refuses_until_a_slot_is_free_again() {
        static TABLE: FaultTable = FaultTable::new();
        let mut all: Vec<_> =
            (0..SLOTS).map(|index| TABLE.register(fault(index, 1)).expect("a slot")).collect();
        let error = TABLE.register(fault(0, 1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::QuotaExceeded);
        assert_eq!(error.to_string(), "a guard can watch 64 maps at one time");
        all.pop();
        TABLE.register(fault(1000, 1)).expect("the freed slot");
    }

    #[test]
    fn threads_that_register_and_retire_never_show_a_torn_slot() {
        static TABLE: FaultTable = FaultTable::new();
        // Few rounds under Miri, which explores the interleavings of each.
        let rounds: usize = if cfg!(miri) { 20 } else { 5_000 };
        std::thread::scope(|scope| {
            for thread in 1..=2_usize {
                scope.spawn(move || {
                    for round in 1..rounds {
                        let start = thread * 1_000_000 + round * 100;
                        let kept = TABLE.register(fault(start, thread)).expect("a slot");
                        let found = TABLE.find(start).expect("just registered");
                        assert_eq!((found.start, found.end), (start, start + thread));
                        drop(kept);
                    }
                });
            }
        });
    }
}
