//! `swath cat`: writes a file to standard output while the next blocks are read.

use std::io::{BufRead, Write};

use anyhow::Result;
use swath::ReadOptions;

use super::Outcome;
use crate::args::verbs;
use crate::output::{OutputError, unbuffered};

pub(super) fn run(args: &verbs::Cat) -> Result<Outcome> {
    let options = args.flow.apply(args.extent.apply(ReadOptions::new()));
    let mut reader = options.reader(args.path.source()?)?;
    // A block is one write: a buffer between would only copy it.
    let mut out = unbuffered()?;
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            return Ok(Outcome::Done);
        }
        out.write_all(block).map_err(OutputError::from)?;
        let len = block.len();
        reader.consume(len);
    }
}
