//! `convert`: a graph as text, an eighth of the input's size, to coordinates, rows, and back.

use std::rc::Rc;

use anyhow::Result;
use swath_study::fields::text::{
    TextKind, TextWay, back, coordinates, edges_by_lines, rows as rows_of,
};

use super::parse::of_text;
use super::row::DemoRow;
use super::stage::Stage;

/// The text is about this many times shorter than the input.
const SHARE: u64 = 8;
/// Approximate bytes of a line.
const LINE: u64 = 14;
/// Edges of each vertex.
const DEGREE: u64 = 16;

const WAYS: [(&str, &str, TextWay); 5] = [
    ("std", "lines, split, parse", edges_by_lines),
    ("coo", "coordinates, one worker", |path, _, meter| coordinates(path, 1, meter)),
    ("coo", "coordinates, all workers", coordinates),
    ("csr", "compressed rows, all workers", rows_of),
    ("coo", "and back to text", back),
];

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let count = stage.size() / SHARE / LINE;
    let kind = TextKind::Edges { scale: (count / DEGREE).max(2).ilog2(), count };
    of_text(stage, "convert", kind, &WAYS)
}
