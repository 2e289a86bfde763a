//! Callbacks of verbs that read.

use std::io::Read;

use swath::classes::ClassPlan;
use swath::ingest::{Files, IngestOptions};
use swath::{Engine, Error, PageCache, ReadOptions, Result, Source};

use crate::trap::{Trap, source};
use crate::{Case, Place};

fn options(place: &Place<'_>) -> ReadOptions {
    ReadOptions::new().with_workers(place.workers).with_chunk_size(16 << 10)
}

fn told(options: ReadOptions, trap: Trap) -> ReadOptions {
    options.with_progress(move |_| trap.step())
}

fn said<T, E: std::fmt::Debug>(ended: std::result::Result<T, E>) -> String {
    ended.map_or_else(|error| format!("{error:?}"), |_| String::from("all was well"))
}

fn len(place: &Place<'_>) -> u64 {
    place.input.metadata().expect("it is there").len()
}

fn by_engine(place: &Place<'_>, trap: Trap, engine: Engine, cache: PageCache) -> String {
    let options = options(place).with_engine(engine).with_page_cache(cache);
    said(told(options, trap).read(place.input))
}

fn prioritised(place: &Place<'_>, from: Source, trap: Option<Trap>, plan: ClassPlan) -> String {
    let options = match trap {
        Some(trap) => told(options(place), trap),
        None => options(place),
    };
    said(options.read_prioritised(from, plan).and_then(|reading| reading.finish()))
}

fn classes(place: &Place<'_>) -> ClassPlan {
    ClassPlan::by_position(len(place), 32, 8)
}

fn reader(options: &ReadOptions, from: Source) -> String {
    let through = |mut reader: swath::Reader| {
        std::io::copy(&mut reader.by_ref(), &mut std::io::sink())
            .map_err(|error| error.to_string())
    };
    said(options.reader(from).map_err(|error| error.to_string()).and_then(through))
}

fn lines(place: &Place<'_>, trap: Trap, from: impl Into<Source>) -> String {
    let records = told(options(place), trap).records(from);
    said(records.map_blocks(|block| -> Result<usize> { Ok(block.records().count()) }))
}

pub(crate) const CASES: &[Case] = &[
    ("read, progress, auto", |p, t| by_engine(p, t, Engine::Auto, PageCache::Auto)),
    ("read, progress, serial", |p, t| by_engine(p, t, Engine::Serial, PageCache::Auto)),
    ("read, progress, pool", |p, t| by_engine(p, t, Engine::Pool, PageCache::Auto)),
    ("read, progress, ring", |p, t| by_engine(p, t, Engine::Ring, PageCache::Bypass)),
    ("scan, fold", |p, t| said(options(p).scan(p.input, |_| t.step(), |(), ()| ()))),
    ("scan, combine", |p, t| said(options(p).scan(p.input, |_| (), |(), ()| t.step()))),
    ("scan, progress", |p, t| said(told(options(p), t).scan(p.input, |_| (), |(), ()| ()))),
    ("checksums, progress", |p, t| said(told(options(p), t).checksums(p.input, 4096))),
    ("check, progress", |p, t| {
        let sums = ReadOptions::new().checksums(p.input, 16 << 10).expect("it is there").value;
        said(told(options(p), t).check(p.input, &sums))
    }),
    ("reader, progress", |p, t| reader(&told(options(p), t.later()), p.input.into())),
    ("prioritised, progress", |p, t| prioritised(p, p.input.into(), Some(t), classes(p))),
    ("prioritised, class", |p, t| {
        let plan = classes(p).with_class_callback(move |_| t.step());
        prioritised(p, p.input.into(), None, plan)
    }),
    ("prioritised, chunk", |p, t| {
        let plan = classes(p).with_chunk_callback(move |_| t.step());
        prioritised(p, p.input.into(), None, plan)
    }),
    ("map_blocks, map", |p, t| {
        let map = |_: swath::Block<'_>| -> Result<()> { t.try_step() };
        said(options(p).records(p.input).map_blocks(map))
    }),
    ("map_blocks, progress", |p, t| lines(p, t, p.input)),
    ("map_blocks of several, progress", |p, t| {
        let records = told(options(p), t).records_of([p.input, p.input, p.input]);
        said(records.map_blocks(|_| Ok::<_, Error>(())))
    }),
    ("for_each_block, f", |p, t| {
        said(options(p).records(p.input).for_each_block(|_| t.try_step()))
    }),
    ("map_reduce, map", |p, t| {
        let map = |_: swath::Block<'_>| t.try_step();
        said(options(p).records(p.input).map_reduce(map, |(), ()| ()))
    }),
    ("map_reduce, combine", |p, t| {
        let combine = |(), ()| t.step();
        said(options(p).records(p.input).map_reduce(|_| Ok::<_, Error>(()), combine))
    }),
    ("fold_reduce, init", |p, t| {
        let records = options(p).records(p.input);
        said(records.fold_reduce(|| t.step(), |(), _| Ok::<_, Error>(()), |(), ()| ()))
    }),
    ("fold_reduce, fold", |p, t| {
        let records = options(p).records(p.input);
        said(records.fold_reduce(|| (), |(), _| t.try_step(), |(), ()| ()))
    }),
    ("map_blocks_in_turn, look", |p, t| {
        let records = options(p).records(p.input);
        said(records.map_blocks_in_turn(|_| t.try_step(), Ok, |_, ()| Ok(())))
    }),
    ("map_blocks_in_turn, turn", |p, t| {
        let records = options(p).records(p.input);
        let turn = |()| t.try_step();
        said(records.map_blocks_in_turn(|_| Ok(()), turn, |_, ()| Ok(())))
    }),
    ("map_blocks_in_turn, map", |p, t| {
        let records = options(p).records(p.input);
        let map = |_: swath::Block<'_>, ()| t.try_step();
        said(records.map_blocks_in_turn(|_| Ok(()), Ok, map))
    }),
    ("ingest, progress", |p, t| {
        let read = ReadOptions::new().with_workers(p.workers).with_progress(move |_| t.step());
        said(IngestOptions::new().with_read(read).ingest(Files::from(p.files)))
    }),
    ("ingest stream, progress", |p, t| {
        let read = ReadOptions::new().with_workers(p.workers).with_progress(move |_| t.step());
        let options = IngestOptions::new().with_read(read);
        said(options.stream(Files::from(p.files), |_| Ok::<_, Error>(())))
    }),
    ("ingest stream, each", |p, t| {
        let options =
            IngestOptions::new().with_read(ReadOptions::new().with_workers(p.workers));
        said(options.stream(Files::from(p.files), |_| t.try_step()))
    }),
];

/// This many bytes, all of them newlines.
const LEN: Option<u64> = Some(4 << 20);

pub(crate) const SOURCES: &[Case] = &[
    ("read of a source", |p, t| said(options(p).read(source(LEN, t)))),
    ("read of a stream", |p, t| said(options(p).read(source(None, t)))),
    ("scan of a source", |p, t| said(options(p).sum(source(LEN, t)))),
    ("scan of a stream", |p, t| said(options(p).sum(source(None, t)))),
    ("reader of a source", |p, t| reader(&options(p), source(LEN, t.later()))),
    ("reader of a stream", |p, t| reader(&options(p), source(None, t))),
    ("prioritised of a source", |p, t| {
        prioritised(p, source(LEN, t), None, ClassPlan::by_position(4 << 20, 32, 8))
    }),
    ("map_blocks of a source", |p, t| {
        said(options(p).records(source(LEN, t)).map_blocks(|_| Ok::<_, Error>(())))
    }),
    ("map_blocks of a stream", |p, t| {
        said(options(p).records(source(None, t)).map_blocks(|_| Ok::<_, Error>(())))
    }),
    ("map_reduce of a source", |p, t| {
        let records = options(p).records(source(LEN, t));
        said(records.map_reduce(|_| Ok::<_, Error>(()), |(), ()| ()))
    }),
    ("map_blocks_in_turn of a source", |p, t| {
        let records = options(p).records(source(LEN, t));
        said(records.map_blocks_in_turn(|_| Ok::<_, Error>(()), Ok, |_, ()| Ok(())))
    }),
    ("transform of a source", |p, t| {
        let records = options(p).records(source(LEN, t));
        said(records.transform(p.folder.join("out"), |_, _| Ok::<_, Error>(())))
    }),
    ("transform of a stream", |p, t| {
        let records = options(p).records(source(None, t));
        said(records.transform(p.folder.join("out"), |_, _| Ok::<_, Error>(())))
    }),
    ("copy of a source", |p, t| {
        let options = swath::copy::CopyOptions::new()
            .with_read(ReadOptions::new().with_workers(p.workers).with_chunk_size(16 << 10));
        said(options.copy(source(LEN, t), p.folder.join("out")))
    }),
    ("copy of a stream", |p, t| {
        said(swath::copy::CopyOptions::new().copy(source(None, t), p.folder.join("out")))
    }),
    ("progress of a stream's records", |p, t| lines(p, t, source(None, Trap::never()))),
];
