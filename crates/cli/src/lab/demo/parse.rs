//! `table::read_array`: numbers as text, a quarter of the input's size.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use swath_formats::table;
use swath_study::cache;
use swath_study::measure::Meter;
use swath_study::workload::{FileContent, Recipe, Style, Table, generate};

use super::row::{About, DemoRow, Limit, Line};
use super::stage::Stage;

/// The text is so much shorter than the input.
const SHARE: u64 = 4;

/// Lines of eight numbers such as -12.345.
const TABLE: Table = Table { columns: 8, style: Style::Fixed(3) };

/// Returns all numbers of the text.
type ParseWay = fn(&Path, &mut Meter) -> Result<Numbers>;

/// Numbers of one way or the other.
enum Numbers {
    Plain(Vec<f64>),
    Swath(swath::Array<f64>),
}

impl Numbers {
    fn values(&self) -> &[f64] {
        match self {
            Self::Plain(values) => values,
            Self::Swath(values) => values,
        }
    }
}

const WAYS: [(&str, &str, ParseWay); 2] = [
    ("BufRead", "split, parse", lines),
    ("auto", "all workers", |path, meter| {
        Ok(Numbers::Swath(meter.measure(|| table::read_array(path))??.values))
    }),
];

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let path = stage.path.with_file_name("numbers.csv");
    let recipe =
        Recipe { kind: FileContent::Csv(TABLE), size: stage.made.bytes / SHARE + 100, seed: 1 };
    let made = generate(recipe, &path, stage.workers)?;
    let expected: Rc<[f64]> = plain(&path)?.into();
    let row = |(index, (engine, way, how)): (usize, (_, _, ParseWay))| {
        let (path, expected) = (path.clone(), Rc::clone(&expected));
        let about = About {
            limit: Limit::Computing,
            is_peer: index == 0,
            bytes: Some(made.bytes),
            line: Some(Line::Parse),
            ..About::warm("parse", engine, way)
        };
        DemoRow::new(stage, about, move |_, meter| {
            cache::make_warm(&path)?;
            let numbers = how(&path, meter)?;
            let (values, bits) = (numbers.values(), |value: &f64| value.to_bits());
            Ok(values.iter().map(bits).eq(expected.iter().map(bits)))
        })
    };
    Ok(WAYS.into_iter().enumerate().map(row).collect())
}

fn lines(path: &Path, meter: &mut Meter) -> Result<Numbers> {
    Ok(Numbers::Plain(meter.measure(|| plain(path))??))
}

/// The usual program without a library.
fn plain(path: &Path) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    for line in BufReader::new(File::open(path)?).lines() {
        for field in line?.split(',') {
            values.push(field.parse()?);
        }
    }
    Ok(values)
}
