//! Study C: reads, parses, computes and writes lines in parallel, in the order of the input.
//!
//! `cargo run --release -p swath-examples --example transform`

use std::error::Error;
use std::io::Write;

use swath::{Cut, records, transform};

/// The payoff of an option: `S K P|C`.
fn payoff(line: &[u8]) -> Option<f64> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let (spot, strike) =
        (words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?);
    Some(match words.next()? {
        "C" => (spot - strike).max(0.0),
        _ => (strike - spot).max(0.0),
    })
}

/// The output for a line. An error of any kind stops everything, and no file is written.
fn price(line: &[u8], out: &mut Vec<u8>) -> Result<(), std::io::Error> {
    let payoff = payoff(line).ok_or(std::io::ErrorKind::InvalidData)?;
    writeln!(out, "{payoff:.18}")
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (input, output) = (folder.path().join("options"), folder.path().join("prices"));
    let line = |n: u32| format!("{}.5 {} {}\n", n % 97, n % 89, ["P", "C"][n as usize % 2]);
    let text: String = (0..200_000).map(line).collect();
    std::fs::write(&input, &text)?;

    let done = transform(&input, &output, price)?;

    let mut serial = Vec::new();
    for line in text.lines() {
        price(line.as_bytes(), &mut serial)?;
    }
    assert!(std::fs::read(&output)? == serial);
    println!(
        "{} bytes become {}, equal to the serial result",
        done.read.bytes, done.written.bytes
    );

    // Folds records without keeping them: the longest field of a CSV file whose fields may contain
    // newlines.
    std::fs::write(&input, "id,note\n1,\"two\nlines\"\n2,\"a \"\"quote\"\"\"\n")?;
    let longest =
        records(&input).with_cut(Cut::Quoted { quote: b'"', delimiter: b'\n' }).map_reduce(
            |block| -> swath::Result<_> { Ok(block.records().map(<[u8]>::len).max()) },
            |left, right| left.max(right),
        )?;
    assert_eq!(longest.value.flatten(), Some(15));
    Ok(())
}
