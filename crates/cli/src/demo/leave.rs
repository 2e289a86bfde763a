//! `write`: the input's bytes, written as a new file. Parallel strands, tickets, one buffer.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use swath::WriteOptions;
use swath::append::{self, AppendOptions, Mode, OrderedOptions, Writer};
use swath::sink::Sync;

use super::stage::Stage;
use super::{Limit, Memory, Row, Run, State};

/// Leaves the stage's bytes at a path where nothing is yet.
type Leave = fn(&Stage, &Path) -> Result<()>;

const WAYS: [(&str, &str, Leave); 5] = [
    (STD, "one buffer", |stage, path| Ok(fs::write(path, &stage.bytes)?)),
    ("write", "one buffer", |stage, path| {
        WriteOptions::new().with_sync(Sync::None).write(path, &stage.bytes)?;
        Ok(())
    }),
    ("append", "forks, plain file", |stage, path| fork(stage, path, Mode::Plain)),
    ("append", "forks, segments", |stage, path| fork(stage, path, Mode::Segments)),
    ("append", "tickets of 1 MiB", tickets),
];

const STD: &str = "std::fs::write";

pub(super) fn rows(_: &Stage) -> Result<Vec<Row>> {
    let row = |(engine, way, leave): (_, _, Leave)| Row {
        capability: "write",
        engine,
        way,
        state: State::New,
        memory: Memory::Fresh,
        limit: Limit::Copy,
        is_peer: engine == STD,
        run: Box::new(move |stage| run(stage, leave)),
    };
    Ok(WAYS.map(row).into())
}

fn run(stage: &Stage, leave: Leave) -> Result<Run> {
    let path = stage.path.with_file_name("output");
    let start = Instant::now();
    leave(stage, &path)?;
    let elapsed = start.elapsed();
    let is_right = holds(&path, &stage.bytes)?;
    if path.is_dir() {
        fs::remove_dir_all(&path)?;
    } else {
        fs::remove_file(&path)?;
    }
    Ok(Run { elapsed, is_right, fallbacks: Vec::new() })
}

fn fork(stage: &Stage, path: &Path, mode: Mode) -> Result<()> {
    let options = AppendOptions::new().with_mode(mode).with_sync(Sync::None);
    let out = append::create(path, options)?;
    out.scope(|w| halve(&stage.bytes, w))?;
    out.commit()?;
    Ok(())
}

/// Forks until little is left: half of the leaves may be stolen.
fn halve(bytes: &[u8], w: &mut Writer<'_>) -> io::Result<()> {
    const LITTLE: usize = 64 << 10;
    if bytes.len() <= LITTLE {
        return w.write_all(bytes);
    }
    let (left, right) = bytes.split_at(bytes.len() / 2);
    w.join(|w| halve(left, w), |w| halve(right, w)).map(|_| ())
}

fn tickets(stage: &Stage, path: &Path) -> Result<()> {
    let out = append::ordered(path, OrderedOptions::new().with_sync(Sync::None))?;
    out.map_ordered(stage.bytes.chunks(1 << 20), stage.workers, |chunk, ticket| {
        ticket.buffer().extend_from_slice(chunk);
        Ok::<(), swath::Error>(())
    })?;
    out.commit()?;
    Ok(())
}

fn holds(path: &Path, expected: &[u8]) -> io::Result<bool> {
    let mut back = append::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    for piece in expected.chunks(buffer.len()) {
        let bytes = &mut buffer[..piece.len()];
        match back.read_exact(bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            other => other?,
        }
        if bytes != piece {
            return Ok(false);
        }
    }
    Ok(back.read(&mut buffer)? == 0)
}
