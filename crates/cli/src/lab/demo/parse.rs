//! `table::read_array`: numbers as text, a quarter of the input's size.

use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use swath_study::fields::text::{TextField, TextKind, TextWay, table, table_by_lines};
use swath_study::measure::Meter;
use swath_study::results::State;
use swath_study::workload::{Style, Table};

use super::row::{About, DemoRow, Limit, Line};
use super::stage::Stage;

/// The text is this many times shorter than the input.
const SHARE: u64 = 4;

/// Lines of eight numbers such as -12.345.
const TABLE: Table = Table { columns: 8, style: Style::Fixed(3) };

const WAYS: [(&str, &str, TextWay); 2] =
    [("BufRead", "split, parse", table_by_lines), ("auto", "all workers", table)];

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let kind = TextKind::Table(TABLE, stage.size() / SHARE + 100);
    let mut rows = of_text(stage, "parse", kind, &WAYS)?;
    rows.iter_mut().for_each(|row| row.about.line = Some(Line::Parse));
    Ok(rows)
}

/// Returns a row for each way to read a text; the first is the peer of the
/// others.
pub(super) fn of_text(
    stage: &Stage,
    capability: &'static str,
    kind: TextKind,
    ways: &[(&'static str, &'static str, TextWay)],
) -> Result<Vec<DemoRow>> {
    let text = TextField::new(&stage.inputs, capability, kind)?;
    let workers = stage.inputs.workers;
    let row = |(index, &(engine, way, how)): (usize, &(_, _, TextWay))| {
        let about = About {
            limit: Limit::Computing,
            is_peer: index == 0,
            bytes: Some(text.input.made.bytes),
            ..About::warm(capability, engine, way)
        };
        let run = move |path: &Path, meter: &mut Meter| how(path, workers, meter);
        DemoRow::of(about, text.entrant(way, State::Warm, run))
    };
    Ok(ways.iter().enumerate().map(row).collect())
}
