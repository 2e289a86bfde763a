//! A progress bar on standard error, for reads that are large or take long.
//!
//! The speed counts from the beginning of the read: the bar appears later, and would otherwise count all earlier
//! bytes as read in its first moment.

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{
    BinaryBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use swath::{Progress, ReadOptions};
use swath_os::locks::Mutex;

use crate::report::bytes_per_s;

/// Size from which files get a bar at once.
const LARGE: u64 = 1 << 30;
/// Time after which smaller files get a bar.
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

    /// Returns the callback that moves the bar; `None` if the bar would not be visible.
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
        let mut bar = self.bar.lock();
        let bar = bar.get_or_insert_with(|| {
            new_bar(progress.total, self.start, ProgressDrawTarget::stderr())
        });
        // Calls of different workers may overtake each other.
        bar.set_position(bar.position().max(progress.bytes));
    }
}

/// Returns a bar for work in steps; hidden without a terminal, or if it is not wanted.
pub(crate) fn steps(wanted: bool, template: &str) -> ProgressBar {
    if !wanted || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(1);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn new_bar(total: Option<u64>, start: Instant, target: ProgressDrawTarget) -> ProgressBar {
    let template = match total {
        Some(_) => "{bar:40} {bytes}/{total_bytes} {speed} {left}",
        None => "{spinner} {bytes} {speed}",
    };
    let bar = ProgressBar::with_draw_target(total, target);
    let Ok(style) = ProgressStyle::with_template(template) else { return bar };
    let speed = move |state: &ProgressState, to: &mut dyn fmt::Write| {
        let bytes_per_s = bytes_per_s(state.pos(), start.elapsed());
        let _ = write!(to, "{}/s", BinaryBytes(whole(bytes_per_s)));
    };
    let left = move |state: &ProgressState, to: &mut dyn fmt::Write| {
        let missing = state.len().unwrap_or(0).saturating_sub(state.pos());
        let seconds = missing / whole(bytes_per_s(state.pos(), start.elapsed())).max(1);
        let _ = write!(to, "{:#}", HumanDuration(Duration::from_secs(seconds)));
    };
    bar.with_style(style.with_key("speed", speed).with_key("left", left))
}

/// Returns a figure without its fraction.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn whole(figure: f64) -> u64 {
    figure as u64
}

impl Drop for Bar {
    fn drop(&mut self) {
        let Some(shown) = &self.shown else { return };
        let bar = shown.bar.lock().take();
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
            let bar = new_bar(total, Instant::now(), ProgressDrawTarget::hidden());
            bar.set_position(5);
            assert_eq!((bar.position(), bar.length()), (5, total));
        }
    }

    /// A terminal that keeps the drawn text.
    #[derive(Clone, Debug, Default)]
    struct Paper(Arc<Mutex<String>>);

    impl indicatif::TermLike for Paper {
        fn width(&self) -> u16 {
            100
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, line: &str) -> io::Result<()> {
            self.write_str(line)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_speed_is_that_since_the_read_began() {
        let paper = Paper::default();
        let target = ProgressDrawTarget::term_like(Box::new(paper.clone()));
        let ago = Instant::now().checked_sub(Duration::from_secs(1000)).expect("up so long");
        let bar = new_bar(Some(16 << 30), ago, target);
        bar.set_position(8000 << 20);
        bar.force_draw();
        let drawn = paper.0.lock().clone();
        // 8 MiB/s, except for the time of drawing.
        assert!(drawn.contains(" 8.00 MiB/s ") || drawn.contains(" 7.99 MiB/s "), "{drawn}");
        assert!(drawn.contains("17m"), "1048 seconds are left: {drawn}");
    }

    #[test]
    fn a_bar_that_is_not_wanted_is_not_made() {
        let (_, bar) = Bar::attach(ReadOptions::new(), false);
        assert!(bar.shown.is_none());
    }
}
