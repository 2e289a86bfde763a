//! Decides whether a cached file is mapped or read: which is faster differs between machines.
//!
//! For a file of at least 64 MiB, both are tried on the file itself. For a shorter file, the verdict of the last
//! such file counts, if it was on this device, in this process and less than a minute ago. Otherwise the file is
//! read: on the measured machines, a wrong choice to read cost less than a wrong choice to map.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};
use swath_plan::contest::{Contender, Contest, HeatCost, SHORTEST};
use swath_plan::extent::Extent;
use swath_plan::policy::Engine;

use crate::report::Report;
use crate::source::OpenSource;

/// Seconds for which a verdict applies to shorter files.
const HOLDS: u64 = 60;

/// The last verdict in one word, so that fork(2) leaves no lock held: seconds, device and process, 1 if a map was
/// faster.
static LAST: AtomicU64 = AtomicU64::new(0);
const SECONDS: u64 = (1 << 24) - 1;
const SECONDS_AT: u32 = 40;

/// How a cached file that may be mapped is processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapTrial {
    /// Mapped, without a trial.
    Mapped,
    /// Read, without a trial.
    Read,
    /// Both are tried.
    Both,
}

impl MapTrial {
    pub(super) fn of(extent: Extent, source: &OpenSource) -> Self {
        // Relaxed: one word, and nothing else depends on it.
        let last = LAST.load(Ordering::Relaxed);
        let is_mapped = || {
            let age = seconds().wrapping_sub(last >> SECONDS_AT) & SECONDS;
            age <= HOLDS && word(source, true) == last & ((1 << SECONDS_AT) - 1)
        };
        match last & 1 {
            _ if extent.len() >= SHORTEST => Self::Both,
            1 if is_mapped() => Self::Mapped,
            _ => Self::Read,
        }
    }

    pub(super) fn contest(self, extent: Extent) -> Option<Contest> {
        (self == Self::Both).then(|| Contest::new(extent))
    }
}

/// Keeps the verdict for shorter files if no other read `was_alone`, and reports it.
pub(super) fn settle(
    contest: Option<&Contest>,
    source: &OpenSource,
    was_alone: bool,
    report: &mut Report,
) {
    report.reason += "; single pass over a file in the page cache: ";
    let Some(contest) = contest else {
        report.reason += "mapped, as a longer one a moment ago";
        return;
    };
    let is_mapped = contest.choice() == Contender::Other;
    let (engine, word_of_it) = match is_mapped {
        true => (Engine::Map, "mapped"),
        false => (Engine::Pool, "read"),
    };
    report.engine = engine;
    if let Some([read, mapped]) = contest.medians() {
        if was_alone {
            LAST.store(seconds() << SECONDS_AT | word(source, is_mapped), Ordering::Relaxed);
        }
        let rate = |cost: HeatCost| (1 << 20) as f64 / cost.wall.max(1) as f64;
        report.reason +=
            &format!("mapped {:.1}, read {:.1} GB/s for a worker: ", rate(mapped), rate(read));
    }
    report.reason += word_of_it;
}

/// Returns the verdict without its time: the device, this process, and 1 if a map was faster.
fn word(source: &OpenSource, is_mapped: bool) -> u64 {
    let device = source.device().unwrap_or(0);
    let whose = (device ^ device >> 20) << 20 ^ u64::from(process::id());
    whose << 1 & ((1 << SECONDS_AT) - 1) | u64::from(is_mapped)
}

/// Returns the seconds of a monotonic clock.
fn seconds() -> u64 {
    u64::try_from(clock_gettime(ClockId::Monotonic).tv_sec).unwrap_or(0) & SECONDS
}
