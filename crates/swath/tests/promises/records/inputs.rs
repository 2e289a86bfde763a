//! Bytes that are hard to split, and the ways in which they arrive.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use swath::{
    Block, Cut, Engine, Extent, ReadAt, ReadOptions, Reason, Records, Source, SourceFacts,
};
use swath_reference::records as plain;
use swath_reference::splitmix;

pub(crate) const LINES: Cut = Cut::Byte(b'\n');
pub(crate) const CSV: Cut = Cut::Quoted { quote: b'"', delimiter: b'\n' };

pub(crate) fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("written");
    file
}

/// More workers than a small file is worth: every interleaving must be right.
pub(crate) fn workers(count: usize) -> ReadOptions {
    ReadOptions::new().with_engine(Engine::Pool).with_workers(count)
}

/// Bytes in memory, read by position or in order, in reads of odd sizes.
struct Memory {
    bytes: Vec<u8>,
    in_order: bool,
    /// The most bytes of a read.
    step: usize,
}

impl ReadAt for Memory {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new((!self.in_order).then_some(self.bytes.len() as u64)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let from = usize::try_from(offset).expect("small").min(self.bytes.len());
        // Shorter reads at some places, an interrupt at others.
        let step = 1 + (from * 7) % self.step;
        let len = target.len().min(self.bytes.len() - from).min(step);
        target[..len].copy_from_slice(&self.bytes[from..from + len]);
        Ok(len)
    }

    fn name(&self) -> PathBuf {
        PathBuf::from("memory")
    }
}

pub(crate) fn by_position(bytes: &[u8], step: usize) -> Source {
    Source::custom(Arc::new(Memory { bytes: bytes.to_vec(), in_order: false, step }))
}

pub(crate) fn in_order(bytes: &[u8], step: usize) -> Source {
    Source::custom(Arc::new(Memory { bytes: bytes.to_vec(), in_order: true, step }))
}

/// A pipe into which `bytes` are written.
pub(crate) fn pipe(bytes: &[u8]) -> (Source, JoinHandle<io::Result<()>>) {
    let (reader, mut writer) = io::pipe().expect("a pipe");
    let bytes = bytes.to_vec();
    let thread = std::thread::spawn(move || {
        for part in bytes.chunks(10_007) {
            writer.write_all(part)?;
        }
        Ok(())
    });
    let file = std::fs::File::from(std::os::fd::OwnedFd::from(reader));
    (Source::file(file, "<pipe>"), thread)
}

pub(crate) fn owned(block: Block<'_>) -> swath::Result<plain::Block> {
    let Block { index, offset, bytes, .. } = block;
    Ok(plain::Block { index, offset, bytes: bytes.to_vec() })
}

pub(crate) fn plain_cut(cut: Cut) -> plain::Cut {
    match cut {
        Cut::Byte(delimiter) => plain::Cut::Byte(delimiter),
        Cut::Fixed(width) => plain::Cut::Fixed(usize::try_from(width).expect("small")),
        Cut::Quoted { quote, delimiter } => plain::Cut::Quoted { quote, delimiter },
        other => panic!("no plain version of {other:?}"),
    }
}

/// Compares blocks, or where the fault is, with those of the reference.
pub(crate) fn check(bytes: &[u8], cut: Cut, size: u64, records: Records<'_>) {
    let wanted = plain::blocks(bytes, plain_cut(cut), usize::try_from(size).expect("small"));
    let found = records.with_cut(cut).with_block_size(size).map_blocks(owned);
    match (found, wanted) {
        (Ok(found), Ok(wanted)) => {
            assert_eq!(found, wanted, "{cut:?}, blocks of {size}, {}", bytes.escape_ascii());
        }
        (Err(error), Err(offset)) => {
            assert_eq!(error.reason(), Reason::Corrupt, "{error}");
            assert_eq!(error.extent().map(Extent::offset), Some(offset as u64), "{error}");
        }
        (found, wanted) => panic!("{cut:?}, blocks of {size}: {found:?}, not {wanted:?}"),
    }
}

/// Inputs at the boundaries, for records that end in `d` and quotes `q`.
pub(crate) fn adversarial(d: u8, q: u8) -> Vec<Vec<u8>> {
    let mut all = vec![
        vec![],
        vec![d],
        vec![d; 130],
        vec![b'a'],
        vec![b'a'; 200],
        [vec![b'a'; 64], vec![d]].concat(),
        [vec![b'a'; 63], vec![d], vec![b'b'; 64], vec![d]].concat(),
        [vec![d; 3], vec![b'a'; 500], vec![d; 3], vec![b'b'; 700]].concat(),
        [vec![b'a'; 1500], vec![d], vec![0; 64], vec![d], vec![0; 10]].concat(),
        b"\r\n\r\na\r\nbb\r\nccc\r\n\0\r\n\r".repeat(9),
        [q, d, q, d].repeat(60),
        [vec![b'a', q], vec![d; 300], vec![q, d], vec![b'b'; 80], vec![d]].concat(),
        [b'x', q, b',', d, q, q, d, q, d, b'y', d, q, q, d].repeat(25),
        [vec![b'a', d, q], vec![d; 90]].concat(),
        vec![q; 128],
        vec![q; 129],
    ];
    for seed in 1..4 {
        all.push(random(seed, 600, (d, q)));
    }
    all
}

/// Records of random lengths, a few of them long, some with quotes, with or without a delimiter
/// at the end.
pub(crate) fn random(seed: u64, len: usize, (delimiter, quote): (u8, u8)) -> Vec<u8> {
    println!("seed {seed}");
    let mut next = splitmix(seed);
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let below = if next().is_multiple_of(8) { 300 } else { 12 };
        let quoted = next().is_multiple_of(3);
        bytes.extend(quoted.then_some(quote));
        for _ in 0..next() % below {
            bytes.push(next().to_le_bytes()[0]);
            bytes.extend((quoted && next().is_multiple_of(9)).then_some(delimiter));
        }
        bytes.extend(quoted.then_some(quote));
        bytes.push(delimiter);
    }
    bytes.truncate(len);
    bytes
}
