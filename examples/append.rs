//! Study E: a program forks, every branch writes, and the file equals that of the serial program.
//!
//! `cargo run --release -p swath-examples --example append`

use std::io::{self, Write};

use swath::append::{self, Writer};

/// Writes a tree of numbers: a node, everything to its left, everything to its right.
fn tree(w: &mut Writer<'_>, from: u32, to: u32) -> io::Result<()> {
    if from == to {
        return Ok(());
    }
    let middle = from + (to - from) / 2;
    writeln!(w, "{middle}")?;
    w.join(|w| tree(w, from, middle), |w| tree(w, middle + 1, to))?;
    Ok(())
}

/// The program without Swath: one strand, one string.
fn serial(out: &mut String, from: u32, to: u32) {
    if from < to {
        let middle = from + (to - from) / 2;
        out.push_str(&format!("{middle}\n"));
        serial(out, from, middle);
        serial(out, middle + 1, to);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("tree.txt");

    let out = append::create(&path)?;
    out.scope(|w| tree(w, 0, 100_000))?;
    let committed = out.commit()?;

    let mut expected = String::new();
    serial(&mut expected, 0, 100_000);
    assert_eq!(std::fs::read_to_string(&path)?, expected);
    println!(
        "{} bytes, {} forks, {} stolen: equal to the serial file",
        committed.bytes, committed.forks, committed.steals
    );
    Ok(())
}
