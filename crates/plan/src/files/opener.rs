//! Decides whether the worker or the ring opens files that are not in the page cache.

use core::time::Duration;

/// The opener of the next file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The worker itself: cheap if the kernel has read inodes ahead.
    Worker,
    /// Kernel threads of the ring, many at a time: slow opens do not hold up the worker, but each
    /// file costs two context switches.
    Ring,
}

/// Lets the worker open files itself as long as that is cheap. If [`Opener::SAMPLE`] opens together
/// take longer than that many times [`Opener::WORTH`], the ring opens the next [`Opener::EVERY`].
///
/// Measured on ext4, 20,000 files of 10 kB on two cores: 23 µs of processor time for each file;
/// opening by the ring took 35.
///
/// ```
/// use std::time::Duration;
/// use swath_plan::files::{By, Opener};
///
/// let mut opener = Opener::default();
/// assert_eq!(opener.by(), By::Worker);
/// (0..Opener::SAMPLE).for_each(|_| opener.took(Duration::from_micros(150)));
/// let by_ring = (0..Opener::EVERY).filter(|_| opener.by() == By::Ring).count();
/// assert_eq!(by_ring, Opener::EVERY as usize);
/// assert_eq!(opener.by(), By::Worker, "what is slow here may be fast there");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Opener {
    seen: u32,
    took: Duration,
    left: u32,
    only: Option<By>,
}

impl Opener {
    /// Opens that are evaluated together.
    pub const SAMPLE: u32 = 32;
    /// Files that the ring opens before the worker tries again.
    pub const EVERY: u32 = 512;
    /// The time that an open may take: about the cost of two context switches.
    pub const WORTH: Duration = Duration::from_micros(40);
    /// The most that one open counts: a single descheduled open says nothing about the others.
    pub const MOST: Duration = Duration::from_micros(320);

    /// Measures nothing: `by` opens all files.
    pub fn only(by: By) -> Self {
        Self { only: Some(by), ..Self::default() }
    }

    /// Returns the opener of the next file.
    pub fn by(&mut self) -> By {
        if let Some(by) = self.only {
            return by;
        }
        if self.left == 0 {
            return By::Worker;
        }
        self.left -= 1;
        By::Ring
    }

    /// Records the time that the worker took to open a file.
    pub fn took(&mut self, time: Duration) {
        self.seen += 1;
        self.took += time.min(Self::MOST);
        if self.seen < Self::SAMPLE {
            return;
        }
        if self.took > Self::WORTH * Self::SAMPLE {
            self.left = Self::EVERY;
        }
        (self.seen, self.took) = (0, Duration::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened_by_ring(times: impl Iterator<Item = Duration>) -> usize {
        let mut opener = Opener::default();
        let mut by_ring = 0;
        for time in times {
            match opener.by() {
                By::Worker => opener.took(time),
                By::Ring => by_ring += 1,
            }
        }
        by_ring
    }

    #[test]
    fn a_block_of_inodes_read_now_and_then_changes_nothing() {
        let times = (0..10_000).map(|file| match file % 512 {
            0 => Duration::from_millis(8),
            _ => Duration::from_micros(8),
        });
        assert_eq!(opened_by_ring(times), 0);
    }

    #[test]
    fn whoever_is_told_opens_all() {
        for by in [By::Worker, By::Ring] {
            let mut opener = Opener::only(by);
            for _ in 0..1000 {
                assert_eq!(opener.by(), by);
                opener.took(Duration::from_millis(8));
            }
        }
    }

    #[test]
    fn files_scattered_over_the_device_are_opened_by_the_ring() {
        let times = (0..10_880).map(|_| Duration::from_micros(100));
        // One sample of 32 opens in 544.
        assert_eq!(opened_by_ring(times), 20 * 512);
        let disk =
            (0..10_880).map(|file| Duration::from_millis(if file % 4 == 0 { 8 } else { 0 }));
        assert_eq!(opened_by_ring(disk), 20 * 512);
    }
}
