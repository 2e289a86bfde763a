//! Swath in its various settings, as contestants.

use crate::bench::{Input, Residency, SharedPages};
use crate::contestants::timing::{Setting, UNREAD};
use anyhow::Result;
use std::fs::File;
use std::ops::Add;
use std::path::Path;
use swath::maps::Guard;
use swath::{Block, BufferPool, Engine, PageCache, ReadOptions, Scanned};
use swath_study::harness::{Contestant, Expected, Work, timed};
use swath_study::limits;
use swath_study::peers;

/// A name, and the settings behind it.
#[derive(Clone)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) options: ReadOptions,
}

impl Named {
    /// Gives settings a name.
    pub(crate) fn new(name: impl Into<String>, options: ReadOptions) -> Self {
        Self { name: name.into(), options }
    }
}

/// Reads into pages that exist, `repeats` times in one run.
pub(crate) fn into_pages<'b>(
    setting: Setting<'b>,
    pages: &SharedPages,
    repeats: u64,
    named: Named,
) -> Contestant<'b> {
    let path = &setting.input.path;
    setting.into_pages(&named.name, pages, repeats, move |target| {
        named.options.read_into(path.as_path(), target)?;
        Ok(())
    })
}

/// Reads into a buffer that a pool hands out again and again.
pub(crate) fn pooled(setting: Setting<'_>, named: Named) -> Contestant<'_> {
    let Setting { bench, input, .. } = setting;
    let Named { name, options } = named;
    // The pool keeps whole huge pages.
    let options = options.with_pool(BufferPool::new(input.len() + (4 << 20)));
    let repeats = input.repeats;
    let again = options.clone();
    let run = move || {
        let (last, timing) = timed(|| {
            (1..repeats).try_for_each(|_| options.read(input.path.as_path()).map(drop))?;
            options.read(input.path.as_path())
        })?;
        let mut buffer = last?.buffer;
        let sum = limits::memory_sum(&buffer, bench.workers);
        let bytes = buffer.len() as u64 * repeats;
        let (_, all) = buffer.split_at_mut(0);
        limits::fill(all, UNREAD, bench.workers);
        Ok(Work::new(bytes, sum).with_timing(timing))
    };
    let contestant = Contestant::new(name, input.expected(repeats), run);
    match setting.residency {
        // As the others' destinations, the pool's memory is touched right before it is used.
        Residency::Warm => contestant.with_before(move || {
            bench.bring(input, Residency::Warm)?;
            again.read(input.path.as_path())?.buffer.fill(UNREAD);
            Ok(())
        }),
        Residency::Cold | Residency::Half => setting.prepared(contestant),
    }
}

/// Reads into a buffer of its own: the pool that reads share by default keeps small ones.
pub(crate) fn fresh(setting: Setting<'_>, named: Named) -> Contestant<'_> {
    let path = &setting.input.path;
    let Named { name, options } = named;
    let options = options.with_pool(BufferPool::new(0));
    setting.fresh(&name, move || Ok(options.read(path.as_path())?.buffer))
}

/// The one call that needs no settings.
pub(crate) const PLAIN_READ: &str = "swath::read";

/// See [`PLAIN_READ`].
pub(crate) fn plain_read(setting: Setting<'_>) -> Contestant<'_> {
    let path = &setting.input.path;
    setting.fresh(PLAIN_READ, move || Ok(swath::read(path)?))
}

/// Sums through the reader that reads ahead.
pub(crate) const READER: &str = "swath::reader";

/// See [`READER`].
pub(crate) fn reader(setting: Setting<'_>) -> Contestant<'_> {
    let input = setting.input;
    let run = move || {
        let (result, timing) = timed(|| {
            let reader = ReadOptions::new().reader(input.path.as_path())?;
            anyhow::Ok(peers::sum_reader(reader)?)
        })?;
        let (bytes, sum) = result?;
        Ok(Work::new(bytes, sum).with_timing(timing))
    };
    setting.prepared(Contestant::new(READER, input.expected(1), run))
}

/// Sums with options, by the way that `auto` chooses.
pub(crate) fn summed(setting: Setting<'_>, named: Named) -> Contestant<'_> {
    let (input, Named { name, options }) = (setting.input, named);
    let run = move || {
        let (scanned, timing) = timed(|| options.sum(input.path.as_path()))?;
        let scanned = scanned?;
        Ok(Work::new(scanned.report.bytes, scanned.value).with_timing(timing))
    };
    setting.prepared(Contestant::new(name, input.expected(1), run))
}

/// What a scan computes, and how it comes to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    /// The sum, through small buffers.
    Sum,
    /// The sum, through a guarded map.
    SumMapped,
    /// The number of line ends, through a guarded map.
    NewlinesMapped,
    /// The same, in the blocks of a verb that gives out whole lines.
    Records,
}

impl Scan {
    /// Scans the file at `path`; opening and guarding it is part of the work.
    pub(crate) fn run(self, options: &ReadOptions, path: &Path) -> Result<Scanned<u64>> {
        if self == Self::Sum {
            return Ok(options.sum(path)?);
        }
        if self == Self::Records {
            let count = |block: Block<'_>| anyhow::Ok(swath_simd::count(block.bytes, b'\n'));
            let Scanned { value, report } =
                options.records(path).map_reduce(count, Add::add)?;
            return Ok(Scanned { value: value.unwrap_or(0), report });
        }
        let file = File::open(path)?;
        let guard = Guard::install(&file, path)?;
        Ok(match self {
            Self::NewlinesMapped => options.count_mapped(guard, path, b'\n')?,
            _ => options.sum_mapped(guard, path)?,
        })
    }
}

/// Sums or counts without keeping.
pub(crate) fn scan<'b>(setting: Setting<'b>, name: &str, scan: Scan) -> Contestant<'b> {
    let input: &Input = setting.input;
    let checksum = match scan {
        Scan::NewlinesMapped | Scan::Records => input.made.lines,
        Scan::Sum | Scan::SumMapped => input.made.sum,
    };
    let run = move || {
        let (scanned, timing) = timed(|| scan.run(&ReadOptions::new(), &input.path))?;
        let scanned = scanned?;
        Ok(Work::new(scanned.report.bytes, scanned.value).with_timing(timing))
    };
    let expected = Expected { bytes: input.made.bytes, checksum };
    setting.prepared(Contestant::new(name, expected, run))
}

/// Every setting that a careful user might fix by hand.
pub(crate) fn fixed(page_cache: PageCache) -> Vec<Named> {
    let (word, rings): (_, &[usize]) = match page_cache {
        PageCache::Bypass => ("bypass", &[8, 16]),
        _ => ("keep", &[]),
    };
    let options = ReadOptions::new().with_page_cache(page_cache);
    let serial = options.clone().with_engine(Engine::Serial);
    let pool = |workers: usize| {
        let options = options.clone().with_engine(Engine::Pool).with_workers(workers);
        Named::new(format!("pool {workers} {word}"), options)
    };
    let ring = |&depth: &usize| {
        let options = options.clone().with_engine(Engine::Ring).with_queue_depth(depth);
        Named::new(format!("ring {depth} {word}"), options)
    };
    let mut all = vec![Named::new(format!("serial {word}"), serial)];
    all.extend([1, 2, 4, 8].map(pool));
    all.extend(rings.iter().map(ring));
    all
}
