//! `write` and `format`: new files, from one buffer and from a program that computes its output.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use swath::append::{self, AppendOptions, Mode, Writer};
use swath::sink::Durability;
use swath::{OutputOptions, WriteOptions};
use swath_study::fields::contracts::unsynced;
use swath_study::measure::Meter;
use swath_study::results::State;

use super::row::{About, DemoRow, Line};
use super::stage::Stage;

/// Writes a new file.
type Leave = fn(&Stage, &Path) -> Result<()>;

/// Checks the written bytes.
type Check = fn(&Stage, &mut dyn Read) -> io::Result<bool>;

const WRITE: [(&str, &str, Leave); 3] = [
    ("BufWriter", "one buffer", |stage, path| {
        let mut out = BufWriter::new(File::create(path)?);
        out.write_all(&stage.bytes)?;
        Ok(out.flush()?)
    }),
    ("std::fs::write", "one buffer", |stage, path| Ok(fs::write(path, &stage.bytes)?)),
    (OURS, "one buffer", |stage, path| {
        WriteOptions::new()
            .with_output(OutputOptions::new().with_durability(Durability::None))
            .write(path, &stage.bytes)?;
        Ok(())
    }),
];

const OURS: &str = "write";

/// A program that writes half of its input in hexadecimal digits: as many bytes as the input has.
const FORMAT: [(&str, &str, Leave); 4] = [
    ("serial", "BufWriter", |stage, path| {
        let mut out = BufWriter::with_capacity(256 << 10, File::create(path)?);
        halve(half(stage), &mut |bytes| out.write_all(bytes))?;
        Ok(out.flush()?)
    }),
    ("append", "forks, plain file", |stage, path| fork(stage, path, Mode::Plain)),
    ("append", "forks, segments", |stage, path| fork(stage, path, Mode::Segments)),
    ("append", "tickets of 1 MiB", tickets),
];

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let of = |capability, check: Check| {
        move |(index, (engine, way, leave)): (usize, (_, _, Leave))| {
            let (state, is_peer) = (State::None, index == 0);
            let about = About { state, is_peer, ..About::warm(capability, engine, way) };
            let is_text = capability == "format";
            let line = (!is_text && (is_peer || engine == OURS)).then_some(Line::Write);
            let bytes = is_text.then(|| 2 * half(stage).len() as u64);
            let about = About { line, bytes, ..about };
            DemoRow::new(stage, about, move |stage, meter| run(stage, leave, check, meter))
        }
    };
    let write = WRITE.into_iter().enumerate().map(of("write", holds_bytes));
    let format = FORMAT.into_iter().enumerate().map(of("format", holds_digits));
    Ok(write.chain(format).collect())
}

fn half(stage: &Stage) -> &[u8] {
    &stage.bytes[..stage.bytes.len().div_ceil(2)]
}

fn run(stage: &Stage, leave: Leave, check: Check, meter: &mut Meter) -> Result<bool> {
    let path = stage.beside("output");
    meter.measure(|| leave(stage, &path))??;
    let is_right = check(stage, &mut append::open(&path)?)?;
    if path.is_dir() {
        fs::remove_dir_all(&path)?;
    } else {
        fs::remove_file(&path)?;
    }
    Ok(is_right)
}

/// Bytes of the input that are converted at one time.
const LITTLE: usize = 32 << 10;

fn fork(stage: &Stage, path: &Path, mode: Mode) -> Result<()> {
    let options = AppendOptions::new()
        .with_mode(mode)
        .with_output(OutputOptions::new().with_durability(Durability::None));
    let out = options.create(path)?;
    out.scope(|w| fork_halves(half(stage), w))?;
    out.commit()?;
    Ok(())
}

fn fork_halves(bytes: &[u8], w: &mut Writer<'_>) -> io::Result<()> {
    if bytes.len() <= LITTLE {
        return w.write_all(&digits(bytes));
    }
    let (left, right) = bytes.split_at(bytes.len() / 2);
    w.join(|w| fork_halves(left, w), |w| fork_halves(right, w)).map(|_| ())
}

/// As [`fork_halves`], without forks.
fn halve(bytes: &[u8], write: &mut impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    if bytes.len() <= LITTLE {
        return write(&digits(bytes));
    }
    let (left, right) = bytes.split_at(bytes.len() / 2);
    halve(left, write)?;
    halve(right, write)
}

fn tickets(stage: &Stage, path: &Path) -> Result<()> {
    let out = unsynced(path)?;
    out.map_ordered(half(stage).chunks(1 << 20), stage.inputs.workers, |chunk, ticket| {
        halve(chunk, &mut |bytes| {
            ticket.buffer().extend_from_slice(bytes);
            Ok(())
        })
    })?;
    out.commit()?;
    Ok(())
}

/// Returns two hexadecimal digits for each byte.
pub(super) fn digits(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = Vec::with_capacity(2 * bytes.len());
    for &byte in bytes {
        digits.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    digits
}

fn holds_bytes(stage: &Stage, back: &mut dyn Read) -> io::Result<bool> {
    holds(stage.bytes.chunks(1 << 20).map(<[u8]>::to_vec), back)
}

fn holds_digits(stage: &Stage, back: &mut dyn Read) -> io::Result<bool> {
    holds(half(stage).chunks(1 << 20).map(digits), back)
}

fn holds(expected: impl Iterator<Item = Vec<u8>>, back: &mut dyn Read) -> io::Result<bool> {
    let mut buffer = Vec::new();
    for piece in expected {
        buffer.resize(piece.len(), 0);
        match back.read_exact(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            other => other?,
        }
        if buffer != piece {
            return Ok(false);
        }
    }
    Ok(back.read(&mut [0])? == 0)
}
