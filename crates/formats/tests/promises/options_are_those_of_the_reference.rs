//! Contracts are parsed, rejected and priced like in the slow reference, at every block size and
//! worker count, from files and from pipes.

use std::io::Write;
use std::path::Path;

use swath::append::{OrderedOptions, ordered_to};
use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions, Source};
use swath_formats::FormatReason;
use swath_formats::contracts::{
    Contract, ContractKind, ContractOptions, PriceOptions, Priced, read,
};
use swath_reference::options as reference;

fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room");
    file
}

/// A pipe that delivers `bytes`, a few at a time, and then ends.
fn pipe_of(bytes: Vec<u8>) -> Source {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    std::thread::spawn(move || {
        for some in bytes.chunks(1000) {
            // A reader that has read enough may close it.
            let _ = writer.write_all(some);
        }
    });
    Source::file(std::fs::File::from(std::os::fd::OwnedFd::from(reader)), "<pipe>")
}

struct Run {
    workers: usize,
    block_size: u64,
}

impl Run {
    fn price(&self, source: impl Into<Source>) -> swath_formats::Result<(Priced, Vec<u8>)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("prices");
        let options = PriceOptions::new()
            .with_read(ReadOptions::new().with_workers(self.workers))
            .with_block_size(self.block_size);
        let output = OrderedOptions::new()
            .with_output(OutputOptions::new().with_durability(Durability::None))
            .ordered(&path);
        let done = options.price(source, output.expect("a new file"));
        assert_eq!(path.exists(), done.is_ok(), "whole or absent");
        done.map(|priced| (priced, std::fs::read(path).expect("it is there")))
    }
}

/// Many block sizes and worker counts.
fn runs() -> Vec<Run> {
    let mut runs = Vec::new();
    for workers in [1, 2, 3, 4, 5, 6, 7, 8, 64] {
        let sizes = [0, 1 << 20, 5000].into_iter().chain((1..=64).skip(workers).step_by(9));
        runs.extend(sizes.map(|block_size| Run { workers, block_size }));
    }
    runs
}

fn same(ours: &Contract, theirs: &(reference::Contract, f64)) -> bool {
    let (contract, price) = theirs;
    let ours = [
        ours.spot,
        ours.strike,
        ours.rate,
        ours.dividend_yield,
        ours.volatility,
        ours.years,
        ours.reference,
        if ours.kind == ContractKind::Put { 1.0 } else { 0.0 },
    ];
    let theirs = [
        contract.spot,
        contract.strike,
        contract.rate,
        contract.dividend_yield,
        contract.volatility,
        contract.years,
        *price,
        if contract.is_put { 1.0 } else { 0.0 },
    ];
    ours.map(f64::to_bits) == theirs.map(f64::to_bits)
}

#[test]
fn columns_are_those_of_the_reference() {
    for (seed, odd) in [(1, 0), (2, 5), (3, 50)] {
        println!("seed {seed}");
        let mut bits = swath_reference::splitmix(seed);
        for count in [0, 1, 2, 7, 20_000] {
            let lines: Vec<String> =
                (0..count).map(|_| reference::line(&mut bits, odd)).collect();
            let text = format!("{count}\n{}\n", lines.join("\n"));
            let right = reference::parse(text.as_bytes()).expect("all lines are fine");
            let file = file_of(text.as_bytes());
            for workers in [1, 2, 5] {
                let read = ReadOptions::new().with_workers(workers);
                let options = ContractOptions::new().with_read(read);
                let whole = options.read(file.path()).expect("all lines are fine");
                let piped = options.read(pipe_of(text.clone().into_bytes()));
                assert_eq!(whole.len(), right.len());
                for (index, right) in right.iter().enumerate() {
                    let ours = whole.get(index).expect("as many");
                    assert!(same(&ours, right), "seed {seed}: {ours:?} is not {right:?}");
                }
                assert!(piped.expect("all lines are fine") == whole);
            }
        }
    }
}

#[test]
fn every_run_leaves_the_same_bytes() {
    let mut bits = swath_reference::splitmix(4);
    let mut text = String::from("700\r\n");
    for index in 0..700 {
        text += &reference::line(&mut bits, if index % 7 == 0 { 50 } else { 0 });
        text += if index % 50 == 0 && !text.ends_with('\r') { "\r\n" } else { "\n" };
    }
    text.truncate(text.len() - 1);
    let right = reference::parse(text.as_bytes()).expect("all lines are fine");
    let file = file_of(text.as_bytes());
    let mut first = None;
    for run in runs() {
        let (priced, bytes) = run.price(file.path()).expect("all lines are fine");
        let name = format!("{} {}", run.workers, run.block_size);
        assert_eq!((priced.contracts, priced.bytes_in), (700, text.len() as u64), "{name}");
        assert_eq!(priced.bytes_out, bytes.len() as u64, "{name}");
        let (off, largest, all) =
            first.get_or_insert((priced.off, priced.largest_difference, bytes.clone()));
        assert_eq!((priced.off, priced.largest_difference), (*off, *largest), "{name}");
        assert!(*all == bytes, "{name}");
    }
    let (_, _, bytes) = first.expect("there was a run");
    let text = String::from_utf8(bytes).expect("numbers");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("700"));
    for (line, (contract, _)) in lines.clone().zip(&right) {
        let price: f64 = line.parse().expect("a number");
        assert_eq!(line, swath_reference::number::fixed(price, 18));
        assert!((price - contract.price()).abs() < 1e-9, "{line} of {contract:?}");
    }
    assert_eq!(lines.count(), 700);
}

const GOOD: &str = "42.00 40.00 0.1000 0.00 0.20 0.50 P 0.00 0.808599372900096";

/// A faulty text, the line and byte of its fault, and some words of the message.
fn faulty() -> Vec<(String, u64, Option<u64>, FormatReason, &'static str)> {
    use FormatReason::{Malformed, TooLarge, Truncated, Unsupported};
    let second = |line: &str| format!("3\n{GOOD}\n{line}\n{GOOD}\n");
    let at = 2 + GOOD.len() as u64 + 1;
    let field = |from: &str, to: &str| second(&GOOD.replacen(from, to, 1));
    vec![
        (String::new(), 1, Some(0), Malformed, "the file is empty"),
        (String::from("\n"), 1, Some(0), Malformed, "is blank"),
        (String::from("one\n"), 1, Some(0), Malformed, "is not the number of contracts"),
        (String::from("-1\n"), 1, Some(0), Malformed, "is not the number of contracts"),
        (String::from("1.0\n"), 1, Some(0), Malformed, "is not the number of contracts"),
        (String::from("1 2\n"), 1, Some(2), Malformed, "more than the number"),
        (String::from("1\0\n"), 1, Some(0), Malformed, "is not the number of contracts"),
        (format!("1{}\n", "0".repeat(20)), 1, Some(0), TooLarge, "64 bits"),
        (String::from("5"), 2, Some(1), Truncated, "after 0 of the 5"),
        (String::from("18446744073709551615\n"), 2, Some(21), Truncated, "after 0 of"),
        (format!("2\n{GOOD}"), 3, Some(at - 1), Truncated, "after 1 of the 2"),
        (format!("2\n{GOOD}\n\n"), 3, Some(at), Malformed, "is missing: the line has 0"),
        (format!("1\n{GOOD}\n{GOOD}\n"), 3, Some(at), Malformed, "more than the 1"),
        (format!("1\n{GOOD}\n \n\r\n x"), 5, Some(at + 5), Malformed, "more than the 1"),
        (String::from("0\nx"), 2, Some(2), Malformed, "more than the 0"),
        (second(""), 3, Some(at), Malformed, "the price of the underlying is missing"),
        (
            second("42 40"),
            3,
            Some(at + 5),
            Malformed,
            "the rate is missing: the line has 2 of 9",
        ),
        (second(&format!("{GOOD} 1")), 3, Some(at + 59), Malformed, "more than 9 fields"),
        (field("42.00", "x"), 3, Some(at), Malformed, "the price of the underlying is not a"),
        (field("42.00", "1e999"), 3, Some(at), TooLarge, "is too large for a double"),
        (field("42.00", "nan"), 3, Some(at), Malformed, "is not a number"),
        (field("42.00", "inf"), 3, Some(at), Malformed, "is not a number"),
        (field("42.00", "0.00"), 3, Some(at), Malformed, "must be above 0"),
        (field("40.00", "-1.00"), 3, Some(at + 6), Malformed, "the strike must be above 0"),
        (field("40.00", "1,5"), 3, Some(at + 6), Malformed, "the strike is not a number"),
        (
            field("0.20", "-0.2"),
            3,
            Some(at + 24),
            Malformed,
            "the volatility must not be negative",
        ),
        (
            field("0.50", "-0.5"),
            3,
            Some(at + 29),
            Malformed,
            "the time to expiry must not be negative",
        ),
        (field("P", "p"), 3, Some(at + 34), Malformed, "is neither C nor P"),
        (field("P", "CP"), 3, Some(at + 34), Malformed, "is neither C nor P"),
        (field("P 0.00", "P 0.01"), 3, Some(at + 36), Unsupported, "must be 0"),
        (field("0.808", "0.8.8"), 3, Some(at + 41), Malformed, "the reference price is not"),
        (field("0.808", "0.8\0"), 3, Some(at + 41), Malformed, "contains a NUL byte"),
        (field("0.1000", "-9999.0"), 3, Some(at), TooLarge, "its price cannot be computed"),
    ]
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_byte() {
    for (text, line, offset, reason, words) in faulty() {
        let bytes = text.as_bytes();
        if reason != FormatReason::TooLarge || !words.contains("price") {
            assert_eq!(reference::parse(bytes).err(), Some(line), "{text:?}");
        }
        let file = file_of(bytes);
        let mut said = None;
        for run in runs().into_iter().filter(|run| run.workers < 4) {
            for piped in [false, true] {
                let source = match piped {
                    true => pipe_of(bytes.to_vec()),
                    false => Source::from(file.path()),
                };
                let error = run.price(source).expect_err("it is faulty");
                let place = (error.line(), error.offset());
                assert_eq!(place, (Some(line), offset), "{text:?} {error}");
                assert_eq!(error.reason(), reason, "{text:?}");
                let text = error.to_string();
                assert!(text.contains(words), "{text}");
                // All runs report the same, except the name of the stream.
                let (_, text) = text.split_once(" on line ").expect("it names the line");
                assert_eq!(text, said.get_or_insert_with(|| text.to_owned()));
            }
        }
        let error = read(file.path()).expect_err("it is faulty");
        assert_eq!((error.line(), error.offset()), (Some(line), offset), "{text:?}");
    }
}

#[test]
fn of_two_faults_the_first_one_is_told() {
    let bad = GOOD.replacen("42.00", "x", 1);
    for text in [
        format!("4\n{GOOD}\n{bad}\n{GOOD}\n"),
        format!("2\n{GOOD}\n{bad}\n{GOOD}\n"),
        format!("4\n{GOOD}\n{bad}\n{bad}\n42 40\n"),
    ] {
        let file = file_of(text.as_bytes());
        for run in runs().into_iter().filter(|run| run.workers < 4) {
            let error = run.price(file.path()).expect_err("it is faulty");
            assert_eq!(error.line(), Some(3), "{text} {error}");
        }
        let error = read(file.path()).expect_err("it is faulty");
        assert_eq!(error.line(), Some(3), "{text} {error}");
    }
}

#[test]
fn damaged_text_is_refused_where_the_reference_refuses_it() {
    for seed in 0..3 {
        println!("seed {seed}");
        let mut bits = swath_reference::splitmix(seed);
        let lines: Vec<String> = (0..20).map(|_| reference::line(&mut bits, 20)).collect();
        let text = format!("20\n{}\n", lines.join("\n")).into_bytes();
        for _ in 0..if cfg!(debug_assertions) { 300 } else { 3000 } {
            let mut damaged = text.clone();
            let at = usize::try_from(bits() % damaged.len() as u64).expect("it is in memory");
            let byte =
                b"0159 .-+eE\n\r\tCPx\0\xff,"[usize::try_from(bits() % 19).expect("few")];
            match bits() % 3 {
                0 => damaged[at] = byte,
                1 => damaged.insert(at, byte),
                _ => drop(damaged.remove(at)),
            }
            let right = reference::parse(&damaged).map(|contracts| contracts.len() as u64);
            let file = file_of(&damaged);
            let run = Run { workers: 2, block_size: 100 };
            let ours = match run.price(file.path()) {
                Ok((priced, _)) => Ok(priced.contracts),
                // The reference does not know contracts without a price.
                Err(error) if error.to_string().contains("its price") => continue,
                Err(error) => Err(error.line().expect("every error has its line")),
            };
            let text = damaged.escape_ascii();
            assert_eq!(ours, right, "seed {seed}: {text}");
        }
    }
}

#[test]
fn prices_go_through_pipes() {
    let mut text = String::from("5000\n");
    for _ in 0..5000 {
        text += GOOD;
        text.push('\n');
    }
    let file = file_of(text.as_bytes());
    let run = Run { workers: 2, block_size: 0 };
    let (_, right) = run.price(file.path()).expect("it can be priced");
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut reader, &mut bytes).map(|_| bytes)
    });
    let output = ordered_to(writer, Path::new("<pipe>"));
    let source = pipe_of(text.into_bytes());
    PriceOptions::new().price(source, output).expect("it can be priced");
    assert!(reading.join().expect("no panic").expect("it can be read") == right);
}

#[test]
fn a_line_that_does_not_end_is_refused_before_it_fills_the_memory() {
    let mut text = b"1\n".to_vec();
    text.resize(5 << 20, b'1');
    let file = file_of(&text);
    let run = Run { workers: 2, block_size: 4096 };
    let error = run.price(file.path()).expect_err("it does not end");
    assert_eq!((error.line(), error.reason()), (Some(2), FormatReason::Malformed), "{error}");
    assert!(error.to_string().len() < 400, "{error}");
}

#[test]
fn a_cancelled_pricing_leaves_nothing() {
    let token = swath::CancelToken::new();
    token.cancel();
    let file = file_of(format!("1\n{GOOD}\n").as_bytes());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("prices");
    let options = PriceOptions::new().with_read(ReadOptions::new().with_cancel(token));
    let error = options.price(file.path(), &path).expect_err("it was cancelled");
    let library = error.library().map(swath::Error::reason);
    assert_eq!(library, Some(swath::Reason::Cancelled), "{error}");
    assert!(!path.exists());
}
