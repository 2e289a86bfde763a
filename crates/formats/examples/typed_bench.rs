//! Reads a table several times, and prints how long it took.

use std::time::Instant;

use swath_formats::table::BatchOptions;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("which file?")?;
    let workers: usize = args.next().map_or(Ok(0), |word| word.parse())?;
    let columns: Vec<String> = args.collect();
    let read = swath::ReadOptions::new().with_workers(workers);
    let mut options = BatchOptions::new().with_read(read);
    if !columns.is_empty() {
        options = options.with_columns(columns);
    }
    let len = std::fs::metadata(&path)?.len();
    let mut best = f64::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        let table = options.read_batches(&path)?;
        let seconds = start.elapsed().as_secs_f64();
        best = best.min(seconds);
        std::hint::black_box(&table);
    }
    println!("{best:.4} s, {:.0} MB/s", len as f64 / best / 1e6);
    Ok(())
}
