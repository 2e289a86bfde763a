//! A drop-in replacement for `BufReader`: reads lines while other threads read ahead, then seeks.
//!
//! `cargo run --release -p swath-examples --example read_ahead`

use std::error::Error;
use std::fmt::Write;
use std::io::{BufRead, Read, Seek, SeekFrom};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("input.csv");
    let mut text = String::new();
    for number in 0..300_000_u64 {
        writeln!(text, "{number},{}", number * number)?;
    }
    std::fs::write(&path, &text)?;

    // Anything that takes a `BufRead` takes this.
    let mut reader = swath::reader(&path)?;
    let mut total = 0;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        let (number, square) =
            line.trim_end().split_once(',').ok_or("two numbers in a line")?;
        let (number, square): (u64, u64) = (number.parse()?, square.parse()?);
        assert_eq!(number * number, square);
        total += number;
        line.clear();
    }
    assert_eq!(total, 299_999 * 300_000 / 2);

    // So does anything that takes `Seek`.
    let mut last = String::new();
    reader.seek(SeekFrom::End(-6))?;
    reader.read_to_string(&mut last)?;
    assert_eq!(last, &text[text.len() - 6..]);
    println!("300000 lines, the numbers add up to {total}");
    Ok(())
}
