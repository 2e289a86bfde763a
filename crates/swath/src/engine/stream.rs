//! Sources that only come in order: pipes, terminals, the kernel's own files.

use std::io;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use swath_plan::extent::Extent;

use super::fill::Failure;
use super::patience::Patience;
use crate::error::{Error, Operation, Result};
use crate::observe::Observer;
use crate::options::ReadOptions;
use crate::report::{Report, Tally};
use crate::source::{Kind, Opened};
use crate::timeline::{Activity, Recorder};

/// What the buffer of a stream starts with.
pub(crate) const STREAM_SIZE: usize = 1 << 20;

/// The report of a source that only came in order.
pub(crate) fn report(source: &Opened, tally: Tally) -> Report {
    let reason = match source.kind() {
        Kind::Stream => "not seekable: read in order by one thread",
        Kind::Made | Kind::Sized(_) => "made by the kernel when read: in order until it ends",
    };
    let mut report = Report::serial(reason, STREAM_SIZE as u64);
    report.fill_in(tally, Vec::new());
    report
}

/// A stream, and how much of it has come.
pub(crate) struct Stream<'s> {
    source: &'s Opened,
    observer: &'s Observer,
    offset: u64,
    /// When it began, and how many bytes a second it may bring.
    rate: Option<(Instant, NonZeroU64)>,
    pub(crate) tally: Tally,
    /// What is done with it, and when.
    pub(crate) recorder: Recorder,
    /// What comes now is passed over.
    skips: bool,
}

/// What is to be known to go on with a stream later, from another thread.
#[derive(Clone, Copy)]
pub(crate) struct Past {
    pub(crate) offset: u64,
    pub(crate) tally: Tally,
    rate: Option<(Instant, NonZeroU64)>,
}

impl<'s> Stream<'s> {
    /// Goes on where [`pause`](Self::pause) stopped.
    pub(crate) fn resume(source: &'s Opened, observer: &'s Observer, past: Past) -> Self {
        let Past { offset, tally, rate } = past;
        let recorder = observer.recorder(source.name());
        Self { source, observer, offset, rate, tally, recorder, skips: false }
    }

    pub(crate) fn pause(self) -> Past {
        Past { offset: self.offset, tally: self.tally, rate: self.rate }
    }

    pub(crate) fn new(
        source: &'s Opened,
        observer: &'s Observer,
        rate_bytes_per_s: Option<NonZeroU64>,
    ) -> Self {
        let rate = rate_bytes_per_s.map(|rate| (Instant::now(), rate));
        Self::resume(source, observer, Past { offset: 0, tally: Tally::default(), rate })
    }

    /// The stream from where the options say that it starts.
    pub(crate) fn starting(
        source: &'s Opened,
        observer: &'s Observer,
        options: &ReadOptions,
    ) -> Result<Self> {
        let mut stream = Self::new(source, observer, options.rate_bytes_per_s);
        let reached = stream.skip(options.offset)?;
        if reached < options.offset {
            let extent = Extent::between(options.offset, options.offset);
            return Err(source.too_short(extent, reached));
        }
        stream.tally.bytes = 0;
        Ok(stream)
    }

    /// One read, of whatever is there; 0 at the end. `offset` is how many bytes came before.
    pub(crate) fn once(&mut self, target: &mut [u8], offset: u64) -> Result<usize> {
        self.offset = offset;
        self.fill_until(target, true)
    }

    /// Goes on `offset` bytes further; says what came if the stream ends before.
    fn skip(&mut self, offset: u64) -> Result<u64> {
        let mut sink = vec![0; 64 << 10];
        self.skips = true;
        while self.offset < offset {
            let left = usize::try_from(offset - self.offset).unwrap_or(usize::MAX);
            let len = left.min(sink.len());
            if self.fill(&mut sink[..len])? < len {
                break;
            }
        }
        self.skips = false;
        Ok(self.offset)
    }

    /// Fills `target`; less only if the stream ends.
    pub(crate) fn fill(&mut self, target: &mut [u8]) -> Result<usize> {
        self.fill_until(target, false)
    }

    /// Waits until what has come was allowed to.
    fn pay(&self) {
        let Some((began, rate)) = self.rate else { return };
        let nanos = u128::from(self.tally.bytes) * 1_000_000_000 / u128::from(rate.get());
        let due = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        while let Some(wait) = due.checked_sub(began.elapsed()).filter(|wait| !wait.is_zero()) {
            if self.observer.is_cancelled() {
                return;
            }
            std::thread::sleep(wait.min(Duration::from_millis(50)));
        }
    }

    fn fill_until(&mut self, target: &mut [u8], any: bool) -> Result<usize> {
        let mut filled = 0;
        let mut patience = Patience::new(self.observer);
        self.recorder.mark();
        while filled < target.len() && !(any && filled > 0) {
            let here =
                Extent::between(self.offset, self.offset + (target.len() - filled) as u64);
            if self.observer.is_cancelled() {
                return Err(Error::cancelled(Operation::Read, self.source.name()).at(here));
            }
            self.tally.calls += 1;
            let came = self.source.read_next(&mut target[filled..], self.offset);
            let counted = came.as_ref().map_or(0, |&more| more.min(target.len() - filled));
            let counted = if self.skips { 0 } else { counted as u64 };
            self.recorder.lap(Activity::Read, self.offset, counted);
            match came {
                Ok(0) => break,
                Ok(more) => {
                    let more = more.min(target.len() - filled);
                    filled += more;
                    patience = Patience::new(self.observer);
                    self.offset += more as u64;
                    self.tally.bytes += more as u64;
                    self.observer.delivered(more as u64);
                    if self.rate.is_some() {
                        self.pay();
                        self.recorder.waited();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    self.tally.retries += 1;
                }
                Err(error) => {
                    let len = target.len() - filled;
                    let trouble =
                        Failure::of(error).into_trouble(self.source, self.offset, len);
                    let again = patience.tries_again(trouble.outcome);
                    if !again && !self.observer.is_cancelled() {
                        return Err(trouble.error);
                    }
                    self.tally.retries += u64::from(again);
                }
            }
        }
        Ok(filled)
    }
}
