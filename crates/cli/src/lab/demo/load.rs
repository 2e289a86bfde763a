//! `read`: every engine of study A, and `auto`.

use std::fs::File;
use std::rc::Rc;

use anyhow::Result;
use swath::maps::Guard;
use swath::reading::Schedule;
use swath::{BufferPool, Engine, Loaded, PageCache, ReadOptions, Timeline};
use swath_study::limits;
use swath_study::measure::Meter;
use swath_study::results::State;

use super::row::{About, DemoRow, Limit, Line, TargetMemory};
use super::stage::Stage;

/// A way to read, and its options.
type LoadWay = (About, fn(ReadOptions) -> ReadOptions);

const fn warm(engine: &'static str, options: fn(ReadOptions) -> ReadOptions) -> LoadWay {
    (About::read(engine), options)
}

const fn reused(way: &'static str, options: fn(ReadOptions) -> ReadOptions) -> LoadWay {
    (About { memory: TargetMemory::Reused, ..About::warm("read", "auto", way) }, options)
}

/// From the device.
const fn cold((about, options): LoadWay) -> LoadWay {
    (About { state: State::Cold, limit: Limit::DirectRead, ..about }, options)
}

/// As most programs call it, for one of the five lines: the process may keep the memory.
const DEFAULT: LoadWay = (
    About {
        memory: TargetMemory::Default,
        line: Some(Line::Warm),
        ..About::warm("read", "auto", "default pool")
    },
    |options| options,
);
const DEFAULT_COLD: LoadWay = {
    let (about, options) = cold(DEFAULT);
    (About { line: Some(Line::Cold), ..about }, options)
};

const WAYS: [LoadWay; 16] = [
    warm("serial", |options| options.with_engine(Engine::Serial)),
    warm("pool, static", |options| {
        options.with_engine(Engine::Pool).with_schedule(Schedule::Static)
    }),
    warm("pool, dynamic", |options| options.with_engine(Engine::Pool)),
    warm("ring", |options| options.with_engine(Engine::Ring)),
    warm(MAP, |options| options.with_engine(Engine::Map)),
    DEFAULT,
    warm("auto", |options| options),
    reused("reused buffer", |options| options),
    reused("reused buffer, recorded", |options| {
        options.with_timeline(Timeline::with_most(1 << 12))
    }),
    cold(warm("serial", |options| options.with_engine(Engine::Serial))),
    cold(warm("pool, dynamic", |options| options.with_engine(Engine::Pool))),
    cold(warm(MAP, |options| options.with_engine(Engine::Map))),
    DEFAULT_COLD,
    cold(warm("auto", |options| options)),
    cold((About::warm("read", "auto", "bypass"), past)),
    cold(reused("bypass, reused buffer", past)),
];

fn past(options: ReadOptions) -> ReadOptions {
    options.with_page_cache(PageCache::Bypass)
}

const MAP: &str = "map";

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let reused = BufferPool::new(stage.bytes.len().saturating_mul(2));
    // Two reads: what one of them gave back, the other takes, so its pages exist.
    let options = ReadOptions::new().with_pool(reused.clone());
    drop(options.read(&stage.path)?);
    let row = |(about, options): LoadWay| {
        let new = match about.memory {
            TargetMemory::Reused => ReadOptions::new().with_pool(reused.clone()),
            TargetMemory::Fresh | TargetMemory::None => {
                ReadOptions::new().with_pool(BufferPool::new(0))
            }
            TargetMemory::Default => ReadOptions::new(),
        };
        let (options, is_mapped) = (options(new), about.engine == MAP);
        DemoRow::new(stage, about, move |stage, meter| run(stage, &options, is_mapped, meter))
    };
    Ok(WAYS.map(row).into())
}

fn run(
    stage: &Stage,
    options: &ReadOptions,
    is_mapped: bool,
    meter: &mut Meter,
) -> Result<bool> {
    let Loaded { mut buffer, report } = meter.measure(|| match is_mapped {
        true => {
            let file = File::open(&stage.path)?;
            anyhow::Ok(options.read_mapped(Guard::install(&file, &stage.path)?, &stage.path)?)
        }
        false => Ok(options.read(&stage.path)?),
    })??;
    meter.fell_back(report.fallbacks);
    let is_right = buffer[..] == stage.bytes[..];
    // The next to get this memory must not find the right bytes in it.
    limits::fill(&mut buffer, 0, stage.workers);
    Ok(is_right)
}
