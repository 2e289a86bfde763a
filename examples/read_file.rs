//! Study A: reads one file with several thread counts and chunk sizes, and compares each with a
//! plain read.
//!
//! `cargo run --release -p swath-examples --example read_file [PATH]`

use std::error::Error;
use std::path::PathBuf;

use swath::reading::Schedule;
use swath::{Engine, ReadOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        None => {
            let path = folder.path().join("input");
            let bytes: Vec<u8> = (0..=250).cycle().take(8 << 20).collect();
            std::fs::write(&path, bytes)?;
            path
        }
    };
    let plain = std::fs::read(&path)?;

    println!("workers  chunk size  schedule     GB/s");
    for workers in [1, 2, 4] {
        for chunk_size in [64 << 10, 1 << 20, 4 << 20] {
            for (name, schedule) in Schedule::WORDS {
                let options = ReadOptions::new()
                    .with_engine(Engine::Pool)
                    .with_workers(workers)
                    .with_chunk_size(chunk_size)
                    .with_schedule(*schedule);
                let loaded = options.read(&path)?;
                assert!(loaded.buffer[..] == plain[..], "every byte equals the plain read");
                let speed = loaded.report.gb_per_s();
                println!("{workers:7}  {chunk_size:10}  {name:8}  {speed:7.2}");
            }
        }
    }

    // What the library chooses by itself, and why.
    let loaded = ReadOptions::new().read(&path)?;
    assert!(loaded.buffer[..] == plain[..], "every byte equals the plain read");
    let report = &loaded.report;
    println!("auto: {:.2} GB/s by {}: {}", report.gb_per_s(), report.engine, report.reason);
    Ok(())
}
