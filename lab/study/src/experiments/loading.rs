//! Study A: loading a file with threads, chunks, copies and maps.

mod claims;

use anyhow::Result;
use swath::{Engine, ReadOptions};

use super::shape::{chart, charts, metric, named_charts, over, states};
use crate::experiment::{Experiment, Scale, Study};
use crate::fields::file::FileField;
use crate::limits;
use crate::loading::{Load, load, map_without_reading};
use crate::measure::{Entrant, Entrants, Stage};
use crate::results::{Chart, Measure, State};

const SEQUENTIAL: &str = "sequential";
pub(super) const PARALLEL: &str = "parallel chunks";
const MIRRORED: &str = "mirrors";
/// The number of copies, as in the study.
pub(super) const FOUR: usize = 4;
const MAPPED: &str = "memory map";
const MANY_THREADS: &str = "parallel chunks, 32 threads";
/// The map of the study, whose bytes are not read.
const UNREAD_MAP: &str = "memory map, not read";
const SWATH: &str = "swath";
/// Reads with all cores, 1 MiB a read, into existing memory; cold files past the page cache.
const LIMIT: &str = "limit: bare reads";

/// The study's chunk size.
const CHUNK: usize = 1024;
const MB: u64 = 1_000_000;

/// Varies the number of threads on the study's smallest file.
pub(super) const THREADS: Experiment = Experiment {
    id: "a-threads",
    study: Study::A,
    figure: "time, speed-up and efficiency by threads, its smallest file, chunks of 1,024 bytes",
    claims: claims::THREADS,
    scale: Scale { study: "100 MB, up to 32 threads", other: "", minutes: 2 },
    least_rounds: 5,
    charts: || charts_by_workers("threads"),
    entrants: |stage| by_threads(stage, stage.pick(MB / 4, 16 * MB, 100 * MB)),
};

/// Varies the number of threads on the study's largest file.
pub(super) const THREADS_LARGE: Experiment = Experiment {
    id: "a-threads-large",
    figure: "time, speed-up and efficiency by threads, its largest file, chunks of 1,024 bytes",
    claims: claims::THREADS_LARGE,
    scale: Scale { study: "750 MB, up to 32 threads", other: "", minutes: 5 },
    entrants: |stage| by_threads(stage, stage.pick(MB / 2, 48 * MB, 750 * MB)),
    ..THREADS
};

/// Varies the size of the file.
pub(super) const SIZES: Experiment = Experiment {
    id: "a-file-size",
    figure: "time by file size, 8 threads, chunks of 1,024 bytes",
    claims: claims::SIZES,
    scale: Scale { study: "100 to 750 MB", other: "", minutes: 3 },
    charts: || {
        vec![
            chart("time by file size", "MB", Measure::Seconds),
            chart("speed-up over one thread", "MB", over(SEQUENTIAL, None)),
        ]
    },
    entrants: by_size,
    ..THREADS
};

/// Varies the size of the chunks.
pub(super) const CHUNKS: Experiment = Experiment {
    id: "a-chunk-size",
    figure: "time, cache misses and context switches by chunk size, 8 threads",
    claims: claims::CHUNKS,
    scale: Scale {
        study: "500 MB, chunks of 512, 1,024 and 2,048 bytes",
        other: "",
        minutes: 8,
    },
    charts: || {
        let x = "bytes a chunk";
        let counted = [
            ("voluntary context switches", metric("voluntary_switches")),
            ("page faults", metric("minor_faults")),
            ("misses of the first cache", metric("l1_load_misses")),
            ("instructions", metric("instructions")),
        ];
        let mut all = vec![chart("time by chunk size", x, Measure::Seconds).log_x().log_y()];
        all.extend(charts(x, counted));
        all
    },
    entrants: by_chunk,
    ..THREADS
};

/// Varies the number of copies.
pub(super) const COPIES: Experiment = Experiment {
    id: "a-copies",
    figure: "time by number of mirrored copies, 8 threads",
    claims: claims::COPIES,
    scale: Scale {
        study: "up to six copies",
        other: "six copies of 500 MB, a size that the study does not state",
        minutes: 5,
    },
    charts: || {
        vec![
            chart("time by copies", "copies", Measure::Seconds),
            chart("most memory", "copies", metric("peak_bytes")),
        ]
    },
    entrants: by_copies,
    ..THREADS
};

/// Compares the ways to load.
pub(super) const WAYS: Experiment = Experiment {
    id: "a-engines",
    figure: "time, memory and context switches of each way of loading, warm and cold",
    claims: claims::WAYS,
    scale: Scale { study: "500 MB", other: "", minutes: 2 },
    charts: || {
        let names = [SEQUENTIAL, PARALLEL, MIRRORED, MAPPED, SWATH, LIMIT, UNREAD_MAP];
        let all = [
            ("time", Measure::Seconds),
            ("voluntary context switches", metric("voluntary_switches")),
            ("involuntary context switches", metric("involuntary_switches")),
            ("most memory", metric("peak_bytes")),
            ("major page faults", metric("major_faults")),
        ];
        named_charts("way", &names, all)
    },
    entrants: by_way,
    ..THREADS
};

/// Returns the charts of parallel ways.
pub(super) fn charts_by_workers(x: &str) -> Vec<Chart> {
    let time = format!("time by {x}");
    let all = [
        (time.as_str(), Measure::Seconds),
        ("speed-up over sequential loading", over(SEQUENTIAL, Some(1.0))),
        ("efficiency", Measure::Efficiency),
        ("voluntary context switches", metric("voluntary_switches")),
    ];
    charts(x, all)
}

/// A file of letters and its copies, at a place.
#[derive(Clone)]
pub(super) struct LoadingField(FileField);

impl LoadingField {
    pub(super) fn new(stage: &Stage, size: u64, copies: usize) -> Result<Self> {
        Ok(Self(FileField::letters(stage, size, copies)?))
    }

    pub(super) fn at(&self, x: f64, state: State) -> Self {
        Self(self.0.at(x, state))
    }

    /// Returns the limit: reads and nothing else.
    fn limit(&self, stage: &Stage, x: f64, state: State) -> Entrant {
        /// Reads in flight, past the page cache.
        const DEPTH: usize = 32;
        let field = self.0.at(x, state);
        match state {
            State::Cold => field.direct(LIMIT, DEPTH),
            _ => field.pread(LIMIT, stage.workers, limits::Schedule::Dynamic),
        }
    }

    /// Maps the file and unmaps it. The timed part reads nothing; the bytes are read and summed afterwards.
    fn unread_map(&self, threads: usize) -> Entrant {
        let field = self.0.with_files(1);
        let paths = field.paths();
        field.filling(UNREAD_MAP, move |target, meter| {
            meter.count(|| map_without_reading(&paths[0], target.len(), own(threads)))??;
            Ok(load(&paths, target, Load { chunk_size: 1 << 20, ..own(0) })?)
        })
    }

    /// Returns one of the study's ways.
    fn own(&self, series: &str, copies: usize, how: Load) -> Entrant {
        let field = self.0.with_files(copies);
        let paths = field.paths();
        field.reusing(series, move |target| Ok(load(&paths, target, how)?))
    }

    /// Returns Swath's entrant.
    fn swath(&self, options: ReadOptions) -> Entrant {
        self.0.with_files(1).read_into(SWATH, options)
    }

    /// Returns the study's ways with this many threads, and Swath's.
    fn by(&self, threads: usize, options: ReadOptions) -> [Entrant; 4] {
        let (how, mapped) = (own(threads), Load { mapped: true, ..own(threads) });
        [
            self.own(PARALLEL, 1, how),
            self.own(MIRRORED, FOUR, how),
            self.own(MAPPED, 1, mapped),
            self.swath(options),
        ]
    }

    /// Returns the sequential way, the study's ways with eight threads, and Swath's.
    pub(super) fn ways(&self) -> Vec<Entrant> {
        let mut ways = vec![self.own(SEQUENTIAL, 1, own(0))];
        ways.extend(self.by(8, ReadOptions::new()));
        ways
    }
}

/// Returns the study's way with this many threads; 0 is the sequential program.
fn own(threads: usize) -> Load {
    Load { threads, chunk_size: CHUNK, mapped: false }
}

fn at(x: usize) -> f64 {
    x as f64
}

fn by_threads(stage: &Stage, size: u64) -> Result<Entrants> {
    let loading = LoadingField::new(stage, size, FOUR)?;
    let threads: &[usize] = stage.pick(&[1, 2], &[1, 2, 4, 8], &[1, 2, 4, 8, 16, 32]);
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        entrants.here.push(loading.at(1.0, state).own(SEQUENTIAL, 1, own(0)));
        for &threads in threads {
            let options = ReadOptions::new().with_workers(threads);
            let loading = loading.at(at(threads), state);
            entrants.here.extend(loading.by(threads, options));
            entrants.here.push(loading.unread_map(threads));
        }
        entrants.here.push(loading.limit(stage, at(stage.workers), state));
    }
    Ok(entrants)
}

fn by_size(stage: &Stage) -> Result<Entrants> {
    let full = [100 * MB, 250 * MB, 500 * MB, 750 * MB];
    let sizes: &[u64] = stage.pick(&[MB / 8, MB / 4], &[4 * MB, 16 * MB, 32 * MB], &full);
    let mut entrants = Entrants::default();
    for &size in sizes {
        let loading = LoadingField::new(stage, size, FOUR)?;
        let x = size as f64 / 1e6;
        for &state in states(stage) {
            let loading = loading.at(x, state);
            entrants.here.extend(loading.ways());
            entrants.here.push(loading.own(MANY_THREADS, 1, own(32)));
            entrants.here.push(loading.limit(stage, x, state));
        }
    }
    Ok(entrants)
}

fn by_chunk(stage: &Stage) -> Result<Entrants> {
    let loading = LoadingField::new(stage, stage.pick(MB / 4, 32 * MB, 500 * MB), 1)?;
    let shifts: Vec<u32> =
        stage.pick(vec![9, 12], vec![9, 10, 11, 12, 16, 20], (9..=24).collect());
    let mut entrants = Entrants::default();
    for &state in states(stage) {
        for chunk_size in shifts.iter().map(|shift| 1_usize << shift) {
            let loading = loading.at(at(chunk_size), state);
            let how = Load { chunk_size, ..own(8) };
            entrants.here.push(loading.own(PARALLEL, 1, how));
            entrants.here.push(loading.own(MAPPED, 1, Load { mapped: true, ..how }));
            let options =
                ReadOptions::new().with_engine(Engine::Pool).with_chunk_size(chunk_size as u64);
            entrants.here.push(loading.swath(options));
        }
        entrants.here.push(loading.limit(stage, at(1 << 20), state));
    }
    Ok(entrants)
}

fn by_copies(stage: &Stage) -> Result<Entrants> {
    let copies = stage.pick(2, 3, 6);
    let loading = LoadingField::new(stage, stage.pick(MB / 4, 16 * MB, 500 * MB), copies)?;
    let mut entrants = Entrants::default();
    for state in [State::Warm, State::Cold] {
        for count in 1..=copies {
            let loading = loading.at(at(count), state);
            entrants.here.push(loading.own(MIRRORED, count, own(8)));
            let copies = loading.0.with_files(count);
            entrants.here.push(copies.read_mirrored(SWATH));
        }
        entrants.here.push(loading.limit(stage, 1.0, state));
    }
    Ok(entrants)
}

fn by_way(stage: &Stage) -> Result<Entrants> {
    let loading = LoadingField::new(stage, stage.pick(MB / 4, 32 * MB, 500 * MB), FOUR)?;
    let mut entrants = Entrants::default();
    for state in [State::Warm, State::Cold] {
        let ways = loading.at(0.0, state).ways().into_iter().enumerate();
        entrants.here.extend(ways.map(|(x, way)| way.at(at(x), state)));
        entrants.here.push(loading.limit(stage, 5.0, state));
        entrants.here.push(loading.at(6.0, state).unread_map(8));
    }
    Ok(entrants)
}
