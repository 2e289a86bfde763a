//! `read`: every engine of study A, and `auto`.

use std::fs::File;
use std::time::Instant;

use anyhow::Result;
use swath::maps::Guard;
use swath::reading::Schedule;
use swath::{BufferPool, Engine, Loaded, PageCache, ReadOptions, Timeline};
use swath_study::limits;

use super::stage::Stage;
use super::{Limit, Memory, Row, Run, State};

/// A way to read: the engine's name, the way's, where the file is and where the bytes go.
struct Way {
    engine: &'static str,
    way: &'static str,
    state: State,
    memory: Memory,
    options: fn(ReadOptions) -> ReadOptions,
}

const fn warm(engine: &'static str, options: fn(ReadOptions) -> ReadOptions) -> Way {
    Way { engine, way: "fresh buffer", state: State::Warm, memory: Memory::Fresh, options }
}

const fn cold(
    engine: &'static str,
    way: &'static str,
    options: fn(ReadOptions) -> ReadOptions,
) -> Way {
    Way { engine, way, state: State::Cold, memory: Memory::Fresh, options }
}

const WAYS: [Way; 14] = [
    warm("serial", |options| options.with_engine(Engine::Serial)),
    warm("pool, static", |options| {
        options.with_engine(Engine::Pool).with_schedule(Schedule::Static)
    }),
    warm("pool, dynamic", |options| options.with_engine(Engine::Pool)),
    warm("ring", |options| options.with_engine(Engine::Ring)),
    warm(MAP, |options| options.with_engine(Engine::Map)),
    warm("auto", |options| options),
    Way { way: "reused buffer", memory: Memory::Reused, ..warm("auto", |options| options) },
    Way {
        way: "reused buffer, recorded",
        memory: Memory::Reused,
        ..warm("auto", |options| options.with_timeline(Timeline::with_most(1 << 12)))
    },
    cold("serial", "fresh buffer", |options| options.with_engine(Engine::Serial)),
    cold("pool, dynamic", "fresh buffer", |options| options.with_engine(Engine::Pool)),
    cold(MAP, "fresh buffer", |options| options.with_engine(Engine::Map)),
    cold("auto", "fresh buffer", |options| options),
    cold("auto", "bypass, fresh buffer", |options| options.with_page_cache(PageCache::Bypass)),
    Way {
        memory: Memory::Reused,
        ..cold("auto", "bypass, reused buffer", |options| {
            options.with_page_cache(PageCache::Bypass)
        })
    },
];

const MAP: &str = "map";

pub(super) fn rows(stage: &Stage) -> Result<Vec<Row>> {
    let reused = BufferPool::new(stage.bytes.len().saturating_mul(2));
    // Two reads: what one of them gave back, the other takes, so its pages exist.
    let options = ReadOptions::new().with_pool(reused.clone());
    drop(options.read(&stage.path)?);
    Ok(WAYS.iter().map(|way| row(way, &reused)).collect())
}

fn row(way: &'static Way, reused: &BufferPool) -> Row {
    let pool = match way.memory {
        Memory::Reused => reused.clone(),
        Memory::Fresh | Memory::None => BufferPool::new(0),
    };
    let options = (way.options)(ReadOptions::new().with_pool(pool));
    let is_mapped = way.engine == MAP;
    Row {
        capability: "read",
        engine: way.engine,
        way: way.way,
        state: way.state,
        memory: way.memory,
        limit: match way.state {
            State::Warm | State::New => Limit::Copy,
            State::Cold => Limit::DirectRead,
        },
        is_peer: false,
        bytes: None,
        run: Box::new(move |stage| run(stage, &options, is_mapped)),
    }
}

fn run(stage: &Stage, options: &ReadOptions, is_mapped: bool) -> Result<Run> {
    let start = Instant::now();
    let Loaded { mut buffer, report } = match is_mapped {
        true => {
            let file = File::open(&stage.path)?;
            options.read_mapped(Guard::install(&file, &stage.path)?, &stage.path)?
        }
        false => options.read(&stage.path)?,
    };
    let elapsed = start.elapsed();
    let is_right = buffer[..] == stage.bytes[..];
    // Who gets this memory next must not find the right bytes in it.
    limits::fill(&mut buffer, 0, stage.workers);
    Ok(Run { elapsed, is_right, fallbacks: report.fallbacks })
}
