//! A progress bar on standard error, for reads that are large or take long.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use swath::{Progress, ReadOptions};

/// Files of this size get a bar at once.
const LARGE: u64 = 1 << 30;
/// Others when they have taken this long.
const PATIENCE: Duration = Duration::from_millis(500);

/// The bar of one read; removed from the screen when dropped.
pub(crate) struct Bar {
    shown: Option<Arc<Shown>>,
}

struct Shown {
    start: Instant,
    bar: Mutex<Option<ProgressBar>>,
}

impl Bar {
    /// Adds a bar to `options`, if `wanted` and standard error is a terminal.
    pub(crate) fn attach(options: ReadOptions, wanted: bool) -> (ReadOptions, Self) {
        match Self::watch(wanted) {
            (Some(watch), bar) => (options.with_progress(watch), bar),
            (None, bar) => (options, bar),
        }
    }

    /// The callback that moves the bar, `None` if nobody would see it.
    pub(crate) fn watch(
        wanted: bool,
    ) -> (Option<impl Fn(Progress) + Send + Sync + 'static>, Self) {
        let seen = wanted && io::stderr().is_terminal();
        let shown =
            seen.then(|| Arc::new(Shown { start: Instant::now(), bar: Mutex::new(None) }));
        let bar = Self { shown: shown.clone() };
        (shown.map(|shown| move |progress| shown.update(progress)), bar)
    }
}

impl Shown {
    fn update(&self, progress: Progress) {
        let is_large = progress.total.is_some_and(|total| total >= LARGE);
        if !is_large && self.start.elapsed() < PATIENCE {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| new_bar(progress.total));
        // Calls of different workers may overtake each other.
        bar.set_position(bar.position().max(progress.bytes));
    }
}

fn new_bar(total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        None => "{spinner} {bytes} {bytes_per_sec}",
    };
    let target = ProgressDrawTarget::stderr();
    let bar = ProgressBar::with_draw_target(total, target);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        let Some(shown) = &self.shown else { return };
        let bar = shown.bar.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_bar_have_a_template_that_is_understood() {
        for total in [Some(10), None] {
            let bar = new_bar(total);
            bar.set_draw_target(ProgressDrawTarget::hidden());
            bar.set_position(5);
            assert_eq!((bar.position(), bar.length()), (5, total));
        }
    }

    #[test]
    fn nobody_who_does_not_want_a_bar_gets_one() {
        let (_, bar) = Bar::attach(ReadOptions::new(), false);
        assert!(bar.shown.is_none());
    }
}
