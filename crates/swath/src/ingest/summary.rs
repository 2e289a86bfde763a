//! The part of a report that comes from one round's workers, and the sentence that describes it.

use swath_plan::fallback::Fallback;

use super::claims::Claims;
use super::options::IngestOptions;
use super::report::{IngestReport, IngestTally};

/// See the [module](self).
#[derive(Default)]
pub(super) struct Summary {
    tally: IngestTally,
    threads: usize,
    queue_depth: u64,
    fallbacks: Vec<Fallback>,
}

impl Summary {
    pub(super) fn of(claims: Claims<'_>) -> Self {
        let threads = claims.most_threads();
        let ring_depth = u64::from(claims.ring_depth());
        let tally = claims.tally.into_inner();
        let fallbacks = claims.fallbacks.into_inner();
        // Each thread has a ring, or one file in flight.
        let each = if tally.ring_files > 0 { ring_depth } else { 1 };
        Self { tally, threads, queue_depth: threads as u64 * each, fallbacks }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.tally.add(other.tally);
        self.threads = self.threads.max(other.threads);
        self.queue_depth = self.queue_depth.max(other.queue_depth);
        self.fallbacks.extend(other.fallbacks);
    }

    pub(super) fn fill_in(self, report: &mut IngestReport, options: &IngestOptions) {
        self.tally.fill_in(report);
        report.workers = self.threads;
        report.queue_depth = self.queue_depth;
        report.fallbacks.extend(options.noted());
        report.fallbacks.extend(self.fallbacks);
        let cores = options.cores();
        report.profile = options.profile().map(|profile| profile.name().to_owned());
        report.fallbacks.extend(options.out_of_range());
        report.reason = match (report.misses, report.ring_files) {
            _ if report.files == 0 => String::from("there was nothing to read"),
            (0, _) => format!("all in the page cache: {}", workers(self.threads)),
            (_, 0) if self.threads > cores => {
                format!("not in the page cache, no ring: {} threads wait", self.threads)
            }
            (_, 0) if report.calls.ring > 0 => {
                String::from("not in the page cache, and young: by rings, then checked twice")
            }
            (_, 0) => format!("almost all in the page cache: {}", workers(self.threads)),
            _ => String::from("not in the page cache: rings with many files in flight"),
        };
    }
}

fn workers(count: usize) -> String {
    if count == 1 { String::from("1 worker") } else { format!("{count} workers") }
}
