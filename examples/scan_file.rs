//! Study D: sums all bytes of a file without keeping them, and folds it with a function of its own.
//!
//! `cargo run --release -p swath-examples --example scan_file`

use std::error::Error;

use swath::{Chunk, ReadOptions};

/// The longest run of one byte: inside a chunk, and at its two ends, where it may continue.
#[derive(Clone, Copy)]
struct Runs {
    longest: usize,
    first: (u8, usize),
    last: (u8, usize),
    len: usize,
}

fn fold(chunk: Chunk<'_>) -> Runs {
    let runs: Vec<(u8, usize)> = chunk
        .bytes
        .chunk_by(|left, right| left == right)
        .map(|run| (run[0], run.len()))
        .collect();
    let longest = runs.iter().map(|run| run.1).max().unwrap_or(0);
    Runs { longest, first: runs[0], last: runs[runs.len() - 1], len: chunk.bytes.len() }
}

/// Chunks are combined in file order, so a run may cross the boundary between them.
fn combine(left: Runs, right: Runs) -> Runs {
    let meets = left.last.0 == right.first.0;
    let joined = if meets { left.last.1 + right.first.1 } else { 0 };
    let first =
        if meets && left.first.1 == left.len { (left.first.0, joined) } else { left.first };
    let last =
        if meets && right.last.1 == right.len { (right.last.0, joined) } else { right.last };
    let longest = left.longest.max(right.longest).max(joined);
    Runs { longest, first, last, len: left.len + right.len }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("input");
    let mut bytes: Vec<u8> = (0..=250).cycle().take(3 << 20).collect();
    bytes[(1 << 20) - 7..(1 << 20) + 700_000].fill(255);
    std::fs::write(&path, &bytes)?;

    let sum = ReadOptions::new().sum(&path)?;
    assert_eq!(sum.value, bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>());
    println!("sum {}, {:.2} GB/s, {}", sum.value, sum.report.gb_per_s(), sum.report.reason);

    let runs = swath::scan(&path, fold, combine)?;
    assert_eq!(runs.map(|runs| runs.longest), Some(700_007));
    println!("the longest run of one byte has 700007");
    Ok(())
}
