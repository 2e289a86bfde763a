//! Study B: reads many small files with 1 to 64 threads, and with the number that Swath chooses.
//!
//! `cargo run --release -p swath-examples --example ingest [FOLDER]`

use std::error::Error;
use std::path::PathBuf;

use swath::ReadOptions;
use swath::ingest::{Arena, IngestOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let made = tempfile::tempdir()?;
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => PathBuf::from(folder),
        None => {
            for index in 0..500 {
                let text = format!("file {index}\n").repeat(1000);
                std::fs::write(made.path().join(format!("{index:03}")), text)?;
            }
            made.path().to_owned()
        }
    };

    println!("workers  files/s");
    let options = IngestOptions::new().with_arena(Arena::new());
    let plain = options.ingest(&folder)?.report().bytes;
    for workers in [1, 2, 4, 8, 64] {
        let read = ReadOptions::new().with_workers(workers);
        let ingested = options.clone().with_read(read).ingest(&folder)?;
        assert_eq!(ingested.report().bytes, plain, "every byte, with any number of workers");
        println!("{workers:7}  {:7.0}", ingested.report().files_per_s());
    }
    let chosen = options.ingest(&folder)?;
    println!("   auto  {:7.0}: {}", chosen.report().files_per_s(), chosen.report().reason);
    drop(chosen);

    // One file after another, in bounded memory.
    let mut newlines = 0;
    let report = options.stream(&folder, |part| {
        newlines += part.bytes.iter().filter(|&&byte| byte == b'\n').count();
        Ok::<(), swath::Error>(())
    })?;
    println!(
        "{newlines} lines in {} files, {:.2} calls each",
        report.files,
        report.calls_per_file()
    );
    Ok(())
}
