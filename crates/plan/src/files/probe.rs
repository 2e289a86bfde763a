//! Decides whether to try the page cache first.

/// The way to try for the next file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeWay {
    /// Only the page cache; a miss costs a call.
    Cached,
    /// Straight to the device, with other reads in flight.
    Device,
}

/// Tries the page cache first as long as that succeeds; after [`Probe::PATIENCE`] misses in a row,
/// only for every [`Probe::EVERY`]th file. So a cold folder costs few calls in vain, and a warm one
/// after it is noticed.
///
/// ```
/// use swath_plan::files::{Probe, ProbeWay};
///
/// let mut probe = Probe::default();
/// (0..Probe::PATIENCE).for_each(|_| probe.saw(false));
/// let asked = (0..640).filter(|_| probe.way() == ProbeWay::Cached).count();
/// assert_eq!(asked, 10);
/// probe.saw(true);
/// assert_eq!(probe.way(), ProbeWay::Cached);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Probe {
    misses: u32,
    since: u32,
}

impl Probe {
    /// Misses in a row after which the page cache is tried rarely.
    pub const PATIENCE: u32 = 8;
    /// It is then tried for one of this many files.
    pub const EVERY: u32 = 64;

    /// Returns the way for the next file.
    pub fn way(&mut self) -> ProbeWay {
        if self.misses < Self::PATIENCE {
            return ProbeWay::Cached;
        }
        self.since += 1;
        if self.since < Self::EVERY {
            return ProbeWay::Device;
        }
        self.since = 0;
        ProbeWay::Cached
    }

    /// Records whether the page cache had the file (`hit`).
    pub fn saw(&mut self, hit: bool) {
        self.misses = if hit { 0 } else { self.misses.saturating_add(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_miss_among_hits_changes_nothing() {
        let mut probe = Probe::default();
        for file in 0..1000 {
            assert_eq!(probe.way(), ProbeWay::Cached, "file {file}");
            probe.saw(file % 3 != 0);
        }
    }

    #[test]
    fn a_cold_folder_costs_one_call_in_vain_of_sixty_four() {
        let mut probe = Probe::default();
        let mut asked = 0;
        for _ in 0..64_008 {
            if probe.way() == ProbeWay::Cached {
                asked += 1;
                probe.saw(false);
            }
        }
        assert_eq!(asked, 1008);
    }
}
