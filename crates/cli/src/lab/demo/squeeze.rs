//! `compress` and `decompress`: a quarter of the input's size in hexadecimal digits.

use std::fs;
use std::io::Write;
use std::rc::Rc;

use anyhow::Result;
use swath::ReadOptions;
use swath_formats::compressed::{CompressOptions, DecompressOptions, Format};
use swath_study::fields::contracts::unsynced;
use swath_study::measure::Meter;
use swath_study::results::State;

use super::leave::digits;
use super::row::{About, DemoRow, Limit};
use super::stage::Stage;

/// A way to compress: the engine's name, the way's, the format, and how many workers; 0 is one for
/// each core.
type SqueezeWay = (&'static str, &'static str, Format, usize);

const WAYS: [SqueezeWay; 4] = [
    ("zstd", "level 3, one worker", Format::Zstd, 1),
    ("zstd", "level 3, all workers", Format::Zstd, 0),
    ("gzip", "level 6, all workers", Format::Gzip, 0),
    ("zstd", "and back", Format::Zstd, 0),
];

/// The text is this many times shorter than the input.
const SHARE: u64 = 4;

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let row = |(index, (engine, way, format, workers)): (usize, SqueezeWay)| {
        let about = About {
            state: State::None,
            memory: None,
            limit: Limit::Computing,
            is_peer: index == 0,
            bytes: Some(stage.size() / SHARE),
            ..About::warm("compress", engine, way)
        };
        let times_back = way == WAYS[3].1;
        DemoRow::new(stage, about, move |stage, meter| {
            run(stage, format, workers, times_back, meter)
        })
    };
    Ok(WAYS.into_iter().enumerate().map(row).collect())
}

/// Times compression or decompression; decompresses in any case, to check.
fn run(
    stage: &Stage,
    format: Format,
    workers: usize,
    times_back: bool,
    meter: &mut Meter,
) -> Result<bool> {
    let beside = |name: &str| stage.beside(name);
    let (text_path, packed, back) = (beside("text"), beside("packed"), beside("back"));
    // Two digits for each byte of an eighth: a quarter.
    let text = digits(&stage.bytes[..stage.bytes.len() / 8]);
    fs::File::create(&text_path)?.write_all(&text)?;
    let read = || ReadOptions::new().with_workers(workers);
    let (mut there, mut and_back) = (Meter::default(), Meter::default());
    let out = unsynced(&packed)?;
    let compress = CompressOptions::new().with_format(format).with_read(read());
    there.measure(|| compress.compress(&text_path, out))??;
    let out = unsynced(&back)?;
    let decompress = DecompressOptions::new().with_read(read());
    and_back.measure(|| decompress.decompress(&packed, out))??;
    meter.took(if times_back { and_back } else { there }.seconds());
    let actual = fs::read(&back)?;
    for path in [text_path, packed, back] {
        fs::remove_file(path)?;
    }
    Ok(actual == text)
}
