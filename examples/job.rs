//! Many processes write one file: a client plans a job, workers do its parts, the client commits.
//!
//! `cargo run --release -p swath-examples --example job`
//!
//! The workers are this program again, here on one machine. On several they are started by a batch
//! system, and all see the folder under the same path.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use swath::job::{self, JobOptions};

/// A worker: does one part, which may be done several times, and several times at once.
fn work(folder: &Path, index: usize) -> Result<(), Box<dyn Error>> {
    let plan = job::open(folder)?;
    let part = plan.part(index).ok_or("there is no such part")?;
    let mut out = part.writer()?;
    for piece in part.pieces() {
        let lines = swath::records(piece.open()?).with_starting_in(piece.extent());
        let upper = lines.map_blocks(|block| -> swath::Result<Vec<u8>> {
            Ok(block.to_bytes().to_ascii_uppercase())
        })?;
        out.write_all(&upper.concat())?;
    }
    out.finish()?; // only now does it count
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    if let [_, folder, index] = &words[..] {
        return work(Path::new(folder), index.parse()?);
    }
    let folder = tempfile::tempdir()?;
    let (input, output) = (folder.path().join("in.txt"), folder.path().join("out.txt"));
    let text: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
    std::fs::write(&input, &text)?;

    let plan = JobOptions::new().with_parts(8).plan([&input], &output)?;
    let mut workers = Vec::new();
    for index in 0..plan.parts().len() {
        let mut worker = Command::new(std::env::current_exe()?);
        workers.push(worker.arg(plan.folder()).arg(index.to_string()).spawn()?);
    }
    workers[3].kill()?; // if it has not ended yet, its part is not done
    for mut worker in workers {
        worker.wait()?;
    }
    while let Some(missing) = plan.status()?.missing.first() {
        work(plan.folder(), usize::try_from(missing.offset())?)?;
    }
    let committed = plan.commit(&plan.done()?)?;
    plan.remove()?;

    assert!(std::fs::read(&output)? == text.to_ascii_uppercase().as_bytes());
    println!("{} bytes of {} parts, each once, in order", committed.bytes, committed.parts);
    Ok(())
}
