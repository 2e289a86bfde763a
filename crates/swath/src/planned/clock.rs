//! Time and cost of one call.

use std::time::Instant;

use swath_os::usage;
use swath_plan::fallback::Fallback;

use crate::options::{Costs, ReadOptions};
use crate::report::{Report, Usage};

/// See the [module](self).
pub(crate) struct Clock {
    started: Instant,
    usage: Option<Usage>,
    /// Fallbacks noted before the call.
    noted: Vec<Fallback>,
}

impl Clock {
    pub(crate) fn start(options: &ReadOptions) -> Self {
        let usage = (options.costs == Costs::Process).then(|| usage::usage().ok()).flatten();
        Self { started: Instant::now(), usage, noted: options.noted.clone() }
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    pub(crate) fn stop(self, mut report: Report) -> Report {
        report.elapsed = self.started.elapsed();
        report.fallbacks.splice(0..0, self.noted);
        let now = self.usage.as_ref().and_then(|_| usage::usage().ok());
        report.usage = now.zip(self.usage).map(|(now, before)| now.since(&before));
        report
    }
}
