//! Records one run of each engine chunk by chunk, for a small picture.

use std::collections::BTreeSet;
use std::fs::File;

use anyhow::Result;
use swath::maps::Guard;
use swath::timeline::{Lane, Span};
use swath::{Engine, ReadOptions};

use crate::measure::Stage;
use crate::results::{Moment, State, Timeline};
use crate::workload::FileContent;

/// The most spans of one picture: more cannot be distinguished.
const MOST: usize = 2000;

const ENGINES: [(&str, Engine); 4] = [
    ("serial", Engine::Serial),
    ("pool", Engine::Pool),
    ("ring", Engine::Ring),
    ("map", Engine::Map),
];

/// Runs every engine once on warm and once on cold files; engines that this machine lacks are left out.
pub(super) fn record(stage: &Stage) -> Result<Vec<Timeline>> {
    let input = stage.file(FileContent::Bytes, stage.pick(1 << 18, 16 << 20, 64 << 20))?;
    let pages = stage.pages(input.len())?;
    let mut timelines = Vec::new();
    for (name, engine) in ENGINES {
        for state in [State::Warm, State::Cold] {
            // Files in memory cannot be cold.
            if state == State::Cold && stage.never_cold().is_some() {
                continue;
            }
            input.bring(state)?;
            let recorded = swath::Timeline::new();
            let options =
                ReadOptions::new().with_engine(engine).with_timeline(recorded.clone());
            let path = input.path.as_path();
            let report = if engine == Engine::Map {
                let file = File::open(path)?;
                options.sum_mapped(Guard::install(&file, path)?, path)?.report
            } else {
                options.read_into(path, &mut pages.borrow_mut()[..input.len()])?
            };
            if report.engine == engine {
                let verb = if engine == Engine::Map { "summed" } else { "loaded" };
                let megabytes = input.len() >> 20;
                let what = format!("{megabytes} MiB {verb}, {} files", state.word());
                timelines.push(picture(name, what, &recorded.spans()));
            }
        }
    }
    stage.clear();
    Ok(timelines)
}

/// Returns the first spans, by lane.
fn picture(name: &str, what: String, spans: &[Span]) -> Timeline {
    let mut spans: Vec<&Span> = spans.iter().collect();
    spans.sort_by_key(|span| span.start_ns);
    let first = spans.first().map_or(0, |span| span.start_ns);
    spans.truncate(MOST);
    let lanes: Vec<Lane> =
        spans.iter().map(|span| span.lane).collect::<BTreeSet<_>>().into_iter().collect();
    let moments = spans.iter().map(|span| Moment {
        lane: lanes.binary_search(&span.lane).unwrap_or_default(),
        activity: span.activity.to_string(),
        start: (span.start_ns - first) as f64 / 1e9,
        seconds: span.duration_ns as f64 / 1e9,
        bytes: span.bytes,
    });
    let moments = moments.collect();
    let lanes = lanes.iter().map(Lane::to_string).collect();
    Timeline { name: name.to_owned(), what, lanes, moments }
}
