//! The bytes of a whole plan, and the time at which each class was complete.

use std::ops::Range;
use std::time::Duration;

use crate::buffer::Buffer;
use crate::prioritised::views::{ClassBytes, Memory, PlanLayout};
use crate::report::Report;

/// The time of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassTime {
    /// The number of the class in the plan.
    pub class: u32,
    /// Bytes of the class, each counted once.
    pub bytes: u64,
    /// From the call that started the read until all bytes were read and checked.
    pub elapsed: Duration,
}

/// The report of a read by classes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClassReport {
    /// The read as a whole. `elapsed` ends with the last class, regardless of when it was requested.
    pub read: Report,
    /// Each class, by its number.
    pub classes: Vec<ClassTime>,
    /// Classes that could be in flight.
    pub window: usize,
    /// The most classes in flight: from the first incomplete one to the last that had begun, both
    /// included. Never above the window.
    pub max_skew: usize,
    /// Leases into which chunks were coalesced: at most one for each piece of about 1 MiB.
    pub pieces: usize,
}

impl ClassReport {
    /// Returns the time at which a class was complete.
    pub fn elapsed(&self, class: u32) -> Option<Duration> {
        let index = self.classes.binary_search_by_key(&class, |time| time.class).ok()?;
        Some(self.classes[index].elapsed)
    }

    /// Returns the times at which the first, the median and the last class were complete; `None`
    /// without classes.
    pub fn first_median_last(&self) -> Option<[Duration; 3]> {
        let mut times: Vec<_> = self.classes.iter().map(|time| time.elapsed).collect();
        times.sort_unstable();
        Some([*times.first()?, times[times.len() / 2], *times.last()?])
    }
}

/// The bytes of a whole plan.
///
/// In memory the files come one after the other, each starting at a multiple of 64 bytes, its
/// chunks by their offset, without the holes between them: a plan that covers one file is that
/// file.
#[derive(Debug)]
pub struct LoadedPlan {
    /// The report of the read.
    pub report: ClassReport,
    pub(super) buffer: Buffer,
    pub(super) layout: PlanLayout,
}

impl LoadedPlan {
    /// All bytes of the plan, of all files.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Returns all bytes of the plan as an owned buffer.
    pub fn into_buffer(self) -> Buffer {
        self.buffer
    }

    /// Returns bytes of a file; `None` if the plan does not list all of them.
    pub fn bytes(&self, file: usize, range: Range<u64>) -> Option<&[u8]> {
        self.layout.bytes(Memory::Whole(&self.buffer), file, range)
    }

    /// Returns all bytes of one file that the plan lists, by their offset, without holes.
    pub fn file(&self, file: usize) -> &[u8] {
        let spans = self.layout.arranged.spans_of(file);
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return &[] };
        let place = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
        let range = place(first.place)..place(last.place + last.extent.len());
        self.buffer.get(range).unwrap_or_default()
    }

    /// Returns a class of the plan.
    pub fn class(&self, class: u32) -> Option<ClassBytes<'_>> {
        let (layout, memory) = (&self.layout, Memory::Whole(&self.buffer));
        let elapsed = self.report.elapsed(class)?;
        Some(ClassBytes { layout, memory, class: layout.arranged.index(class)?, elapsed })
    }
}
