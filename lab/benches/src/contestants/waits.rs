//! Sources that answer slowly, and ways to read them.

use std::io;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use crate::bench::Bench;
use anyhow::{Context, ensure};
use rustix::time::{ClockId, clock_gettime};
use swath::{ReadAt, ReadOptions, Source, SourceFacts};
use swath_os::locks::Mutex;
use swath_study::cache;
use swath_study::measure::{Entrant, Outcome};

/// The value of each byte of a source.
const BYTE: u8 = 7;

/// The delays of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answering {
    /// The latency of each request.
    latency: Duration,
    per_mib: Duration,
    lanes: Lanes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lanes {
    /// Requests wait at the same time.
    Many,
    /// Requests wait one after the other.
    One,
    /// Requests take processor time and do not wait.
    Busy,
}

impl Answering {
    pub(crate) const FAR: Self = Self::waiting(20_000, 0);
    pub(crate) const FAR_AND_NARROW: Self = Self::waiting(20_000, 1000);
    pub(crate) const AT_ONCE: Self = Self::waiting(0, 0);
    pub(crate) const ONE_LANE: Self = Self { lanes: Lanes::One, ..Self::waiting(2000, 1000) };
    pub(crate) const BUSY: Self = Self { lanes: Lanes::Busy, ..Self::waiting(100, 1000) };

    const fn waiting(latency_us: u64, per_mib_us: u64) -> Self {
        let latency = Duration::from_micros(latency_us);
        let per_mib = Duration::from_micros(per_mib_us);
        Self { latency, per_mib, lanes: Lanes::Many }
    }

    /// Returns whether few requests at a time may be as fast as many.
    pub(crate) fn is_worth_few(&self) -> bool {
        self.lanes != Lanes::Many || self.latency.is_zero()
    }

    fn time(&self, len: usize) -> Duration {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        self.latency + self.per_mib * (len >> 10) / 1024
    }
}

/// Returns the CPU time of this thread.
fn busy_for() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let whole = Duration::from_secs(time.tv_sec.try_into().unwrap_or(0));
    whole + Duration::from_nanos(time.tv_nsec.try_into().unwrap_or(0))
}

struct Waiting {
    answering: Answering,
    len: u64,
    lane: Mutex<()>,
}

impl ReadAt for Waiting {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(self.len)))
    }

    fn read_at(&self, target: &mut [u8], _: u64) -> io::Result<usize> {
        let time = self.answering.time(target.len());
        match self.answering.lanes {
            _ if time.is_zero() => {}
            Lanes::Many => sleep(time),
            Lanes::One => {
                let _lane = self.lane.lock();
                sleep(time);
            }
            Lanes::Busy => {
                // CPU time: waiting for a processor is not work.
                let began = busy_for();
                while busy_for().saturating_sub(began) < time {
                    std::hint::spin_loop();
                }
            }
        }
        target.fill(BYTE);
        Ok(target.len())
    }
}

/// Reads `len` bytes into fresh memory.
pub(crate) fn read(
    bench: &Bench,
    name: &str,
    answering: Answering,
    len: u64,
    options: ReadOptions,
) -> Entrant {
    let source = Arc::new(Waiting { answering, len, lane: Mutex::new(()) });
    let expected = Outcome { bytes: len, checksum: len * u64::from(BYTE) };
    let room = usize::try_from(len).unwrap_or(usize::MAX);
    let workers = bench.workers;
    let entrant = Entrant::new(name, expected, move |meter| {
        let source = Source::custom(Arc::clone(&source) as Arc<dyn ReadAt>);
        let loaded = meter.measure(|| options.read(source))??;
        ensure!(loaded.report.bytes == len, "not all of it");
        Ok(Outcome::of(&loaded.buffer, workers))
    });
    entrant.with_before(move || cache::touch_memory(room).context("cannot touch memory"))
}
