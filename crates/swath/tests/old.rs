//! Blocks hold the records that a plain loop finds, at every block size and worker count.

use swath::{Block, Cut, Engine, ReadOptions, Records};
use swath_reference::records as plain;
use swath_reference::splitmix;

/// Sizes that put edges everywhere, and one that puts none.
const SIZES: [u64; 6] = [65, 100, 127, 1000, 4096, 1 << 20];

fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("written");
    file
}

fn owned(block: Block<'_>) -> swath::Result<plain::Block> {
    let Block { index, offset, bytes, .. } = block;
    Ok(plain::Block { index, offset, bytes: bytes.to_vec() })
}

fn cut_of(cut: Cut) -> plain::Cut {
    match cut {
        Cut::Byte(delimiter) => plain::Cut::Byte(delimiter),
        other => panic!("no plain version of {other:?}"),
    }
}

fn with_workers(workers: usize) -> ReadOptions {
    // More workers than a small file is worth: every interleaving is to be right.
    ReadOptions::new().with_engine(Engine::Pool).with_workers(workers)
}

fn check(bytes: &[u8], cut: Cut, size: u64, open: impl Fn() -> Records) {
    let wanted = plain::blocks(bytes, cut_of(cut), usize::try_from(size).expect("small"));
    let found = open().with_cut(cut).with_block_size(size).map_blocks(owned);
    let found = found.expect("whole records");
    assert_eq!(found, wanted.expect("whole records"), "{cut:?}, blocks of {size}");
}

/// Inputs that are hard on whoever cuts them.
fn adversarial(delimiter: u8) -> Vec<Vec<u8>> {
    let d = delimiter;
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
    ];
    for seed in 1..4 {
        all.push(random(seed, 600, delimiter));
    }
    all
}

/// Records of random lengths, a few of them long, with or without a delimiter at the end.
fn random(seed: u64, len: usize, delimiter: u8) -> Vec<u8> {
    println!("seed {seed}");
    let mut next = splitmix(seed);
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let below = if next().is_multiple_of(8) { 300 } else { 12 };
        for _ in 0..next() % below {
            bytes.push(next().to_le_bytes()[0]);
        }
        bytes.push(delimiter);
    }
    bytes.truncate(len);
    bytes
}

#[test]
fn every_block_size_gives_the_records_of_the_reference() {
    for delimiter in [b'\n', 0, 0xff] {
        for bytes in adversarial(delimiter) {
            let file = file(&bytes);
            for size in (1..=64).chain(SIZES) {
                let options = with_workers(2);
                check(&bytes, Cut::Byte(delimiter), size, || options.records(file.path()));
            }
        }
    }
}

#[test]
fn every_worker_count_gives_the_records_of_the_reference() {
    let bytes = random(7, 300_000, b'\n');
    let file = file(&bytes);
    for workers in (1..=8).chain([64]) {
        for size in [257, 4096, 65_536] {
            let options = with_workers(workers);
            check(&bytes, Cut::Byte(b'\n'), size, || options.records(file.path()));
        }
    }
}
