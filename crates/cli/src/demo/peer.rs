//! What a newcomer knows: `std::fs::read`.

use std::time::Instant;

use anyhow::Result;

use super::stage::Stage;
use super::{Limit, Memory, Row, Run, State};

pub(super) fn rows(_: &Stage) -> Result<Vec<Row>> {
    let states = [(State::Warm, Limit::Copy), (State::Cold, Limit::DirectRead)];
    let row = |(state, limit)| Row {
        capability: "read",
        engine: "std::fs::read",
        way: "fresh buffer",
        state,
        memory: Memory::Fresh,
        limit,
        is_peer: true,
        bytes: None,
        run: Box::new(run),
    };
    Ok(states.map(row).into())
}

fn run(stage: &Stage) -> Result<Run> {
    let start = Instant::now();
    let bytes = std::fs::read(&stage.path)?;
    let elapsed = start.elapsed();
    Ok(Run { elapsed, is_right: bytes == stage.bytes, fallbacks: Vec::new() })
}
