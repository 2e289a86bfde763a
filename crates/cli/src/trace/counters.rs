//! Counters computed from spans: reads in flight, and bytes a second.

use std::io;

use swath::timeline::{Activity, Span};

/// Maximum number of values of a counter: more than a screen has columns.
const STEPS: u64 = 20_000;
/// Minimum nanoseconds over which bytes a second are averaged.
const WINDOW: u64 = 1_000_000;
/// The greatest length of a window, unless there would be too many of them.
const LONG_WINDOW: u64 = 10_000_000;

/// Returns the first start and the last end, in nanoseconds.
fn bounds(spans: &[Span]) -> (u64, u64) {
    let first = spans.iter().map(|span| span.start_ns).min().unwrap_or(0);
    (first, spans.iter().map(Span::end_ns).max().unwrap_or(0))
}

/// Calls `tell` with the number of reads in flight whenever that changes. Changes that are too close to
/// distinguish on a screen are merged.
pub(super) fn in_flight(
    spans: &[Span],
    mut tell: impl FnMut(u64, u64) -> io::Result<()>,
) -> io::Result<()> {
    let reads = spans.iter().filter(|span| span.activity == Activity::Read);
    // A start is odd, so it sorts after an end at the same time.
    let mut changes: Vec<u64> =
        reads.flat_map(|span| [span.start_ns << 1 | 1, span.end_ns() << 1]).collect();
    changes.sort_unstable();
    let (first, last) = bounds(spans);
    let step = ((last - first) / STEPS).max(1);
    let (mut count, mut told, mut until) = (0_u64, None, 0);
    let mut changes = changes.into_iter().peekable();
    while let Some(change) = changes.next() {
        let at = change >> 1;
        // A read of no duration ends before it starts.
        count = if change & 1 == 1 { count + 1 } else { count.wrapping_sub(1) };
        let next = changes.peek().map_or(u64::MAX, |next| next >> 1);
        let is_last_here = next != at && (next >= until || at >= until);
        if is_last_here && told != Some(count) {
            tell(at, count)?;
            told = Some(count);
            until = at.saturating_add(step);
        }
    }
    Ok(())
}

/// Bytes of one activity, in windows of equal length.
pub(super) struct Rates {
    start: u64,
    window: u64,
    bytes: Vec<f64>,
}

impl Rates {
    /// Spreads the bytes of each span over its time.
    pub(super) fn of(spans: &[Span], activity: Activity) -> Self {
        let (start, end) = bounds(spans);
        let window =
            ((end - start) / 1000).clamp(WINDOW, LONG_WINDOW).max((end - start) / STEPS);
        let mine = || {
            let of = move |span: &&Span| span.activity == activity && span.bytes > 0;
            spans.iter().filter(of)
        };
        let count = if mine().next().is_some() { (end - start) / window + 1 } else { 0 };
        let mut bytes = vec![0.0; usize::try_from(count).unwrap_or(0)];
        for span in mine() {
            let (all, whole) = (span.bytes as f64, span.duration_ns.max(1) as f64);
            let (mut at, until) = (span.start_ns, span.start_ns + span.duration_ns.max(1));
            while at < until {
                let index = (at - start) / window;
                let next = (start + (index + 1) * window).min(until);
                let part = (next - at) as f64 / whole;
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                if let Some(bytes) = bytes.get_mut(index) {
                    *bytes += all * part;
                }
                at = next;
            }
        }
        Self { start, window, bytes }
    }

    /// Calls `tell` with the bytes a second of each window, at its beginning, and with 0 after the last.
    pub(super) fn each(
        &self,
        mut tell: impl FnMut(u64, u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut at = self.start;
        for bytes in &self.bytes {
            let rate = bytes * 1e9 / self.window as f64;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "never negative, and whole bytes are enough"
            )]
            tell(at, rate.round() as u64)?;
            at += self.window;
        }
        if self.bytes.is_empty() { Ok(()) } else { tell(at, 0) }
    }
}
