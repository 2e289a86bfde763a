//! `read`: every engine of study A, and `auto`.

use std::rc::Rc;

use anyhow::Result;
use swath::reading::Schedule;
use swath::{Engine, PageCache, ReadOptions, Timeline};
use swath_study::fields::file::FileMemory;
use swath_study::results::State;

use super::row::{About, DemoRow, Limit, Line};
use super::stage::Stage;

/// A way to read, and its options.
type LoadWay = (About, fn(ReadOptions) -> ReadOptions);

const fn warm(engine: &'static str, options: fn(ReadOptions) -> ReadOptions) -> LoadWay {
    (About::read(engine), options)
}

const fn reused(way: &'static str, options: fn(ReadOptions) -> ReadOptions) -> LoadWay {
    (About { memory: Some(FileMemory::Reused), ..About::warm("read", "auto", way) }, options)
}

/// Returns a way to read with the file cold: from the device.
const fn cold((about, options): LoadWay) -> LoadWay {
    (About { state: State::Cold, limit: Limit::DirectRead, ..about }, options)
}

/// As most programs call it, for one of the five lines: the process may keep the memory.
const DEFAULT: LoadWay = (
    About {
        memory: Some(FileMemory::Default),
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
    let row = |(about, options): LoadWay| {
        let file = stage.file.at(0.0, about.state);
        let memory = about.memory.unwrap_or(FileMemory::Fresh);
        let options = options(ReadOptions::new());
        let entrant = match about.engine == MAP {
            true => file.read_mapped(about.way, memory, options),
            false => file.read(about.way, memory, options),
        };
        DemoRow::of(about, entrant)
    };
    Ok(WAYS.map(row).into())
}
