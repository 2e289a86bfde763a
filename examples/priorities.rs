//! Study A: reads the urgent parts first, here the middle rows of an image.
//!
//! `cargo run --release -p swath-examples --example priorities`

use std::error::Error;

use swath::classes::{ClassPlan, RowLayout};

const HEADER: u64 = 64;
const ROWS: u64 = 2048;
const ROW: u64 = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("image");
    let image: Vec<u8> =
        (0..=250).cycle().take(usize::try_from(HEADER + ROWS * ROW)?).collect();
    std::fs::write(&path, &image)?;

    // Bands of 64 rows on either side, from the middle outwards; the header comes with the first.
    let layout = RowLayout { offset: HEADER, len: ROW, stride: ROW, count: ROWS };
    let band = |row: u64| u32::try_from(row.abs_diff(ROWS / 2) / 64).unwrap_or(u32::MAX);
    let mut plan = ClassPlan::rows(layout, band).with_window(2);
    plan.push(0..HEADER, 0);
    let plan = plan.with_class_callback(|class| {
        println!(
            "band {:2}: {} bytes after {:.1?}",
            class.class(),
            class.len(),
            class.elapsed()
        );
    });

    let reading = swath::classes::read_prioritised(&path, plan)?;
    let middle = reading.wait(0)?;
    println!("{} chunks are ready to show", middle.chunks().count());
    // The user scrolls to the edge: that band is read next, unless it has begun.
    reading.prioritise(band(0));

    let loaded = reading.finish()?;
    assert!(loaded.buffer()[..] == image[..], "every byte is right");
    let report = &loaded.report;
    let [first, median, last] = report.first_median_last().ok_or("no classes")?;
    println!("first {first:.1?}, median {median:.1?}, last {last:.1?}");
    println!("{} of {} classes in flight", report.max_skew, report.window);
    Ok(())
}
