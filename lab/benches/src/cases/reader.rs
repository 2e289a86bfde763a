//! Reads a file from front to back through the standard traits.

use crate::bench::{Bench, Size};
use anyhow::Result;
use swath_study::measure::{Entrants, Goal};
use swath_study::results::State;

const READER: &str = "swath::reader";
const BUF_READER: &str = "std::io::BufReader 1 MiB";

pub(super) fn build(bench: &Bench, size: Size, state: State) -> Result<Entrants> {
    let file = bench.bytes(size, state)?;
    let goals = [Goal::speed(READER, 1.5, &[BUF_READER])];
    Ok(Entrants::new([file.buf_reader(BUF_READER, 1 << 20), file.reader(READER)], goals))
}
