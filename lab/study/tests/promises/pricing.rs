//! Study C's forms write the same bytes as the library, and accept and refuse the same texts.

use std::fs;
use std::io::Write;
use std::path::Path;

use swath::append::{OrderedOptions, ordered};
use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions};
use swath_reference::options as reference;
use swath_reference::vectors::{Verdict, vectors};
use swath_study::pricing::{Form, Priced, Pricing};
use swath_study::workload::contracts::generate;

const FORMS: [Form; 3] = [Form::Lines, Form::Bulk, Form::Swath];

fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room");
    file
}

/// Returns the report and the bytes; checks that the output is whole or absent.
fn price(form: Form, workers: usize, from: &Path) -> anyhow::Result<(Priced, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("prices");
    let output = OrderedOptions::new()
        .with_output(OutputOptions::new().with_durability(Durability::None))
        .ordered(&path)?;
    let done = Pricing::new(form).with_workers(workers).price(from, output);
    assert_eq!(path.exists(), done.is_ok(), "whole or absent");
    done.map(|priced| (priced, fs::read(path).expect("it is there")))
}

/// Returns the error of a refused text.
fn refused(form: Form, workers: usize, from: &Path) -> swath_formats::Error {
    let error = price(form, workers, from).expect_err("it is faulty");
    error.downcast::<swath_formats::Error>().expect("as the library says it")
}

#[test]
fn every_form_leaves_the_same_bytes() {
    let mut bits = swath_reference::splitmix(4);
    let mut text = String::from("700\r\n");
    for index in 0..700 {
        text += &reference::line(&mut bits, if index % 7 == 0 { 50 } else { 0 });
        text += if index % 50 == 0 && !text.ends_with('\r') { "\r\n" } else { "\n" };
    }
    text.truncate(text.len() - 1);
    let file = file_of(text.as_bytes());
    let mut first = None;
    for workers in [1, 2, 3, 4, 5, 6, 7, 8, 64] {
        for form in FORMS {
            let (priced, bytes) = price(form, workers, file.path()).expect("all are fine");
            let name = format!("{form:?} {workers}");
            assert_eq!((priced.contracts, priced.bytes_in), (700, text.len() as u64), "{name}");
            assert_eq!(priced.bytes_out, bytes.len() as u64, "{name}");
            assert!((priced.shares.iter().sum::<f64>() - 1.0).abs() < 0.01, "{priced:?}");
            let (off, largest, all) =
                first.get_or_insert((priced.off, priced.largest_difference, bytes.clone()));
            assert_eq!((priced.off, priced.largest_difference), (*off, *largest), "{name}");
            assert!(*all == bytes, "{name}");
        }
    }
}

#[test]
fn generated_contracts_have_the_right_prices() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = |name: &str, count, seed, workers| {
        let path = folder.path().join(name);
        let output = ordered(&path).expect("a new file");
        generate(count, seed, workers, output).expect("room");
        fs::read(path).expect("it is there")
    };
    for count in [0, 1, 999, 1000, 1001, 4000, 12_345] {
        let text = made("a", count, 1, 1);
        assert!(text == made("b", count, 1, 5));
        assert!(count == 0 || text != made("c", count, 2, 2));
        let contracts = reference::parse(&text).expect("all lines are fine");
        assert_eq!(contracts.len() as u64, count);
        for (contract, price) in contracts.iter().take(1000) {
            assert!((contract.right_price() - price).abs() < 1e-12, "{contract:?} {price}");
        }
        let (priced, _) =
            price(Form::Swath, 2, &folder.path().join("a")).expect("it can be priced");
        assert_eq!((priced.contracts, priced.off), (count, 0));
        assert!(priced.largest_difference < 5e-5, "{priced:?}");
    }
}

const GOOD: &str = "42.00 40.00 0.1000 0.00 0.20 0.50 P 0.00 0.808599372900096";

#[test]
fn of_two_faults_the_first_one_is_told() {
    let bad = GOOD.replacen("42.00", "x", 1);
    for text in [
        format!("4\n{GOOD}\n{bad}\n{GOOD}\n"),
        format!("2\n{GOOD}\n{bad}\n{GOOD}\n"),
        format!("4\n{GOOD}\n{bad}\n{bad}\n42 40\n"),
    ] {
        let file = file_of(text.as_bytes());
        for form in FORMS {
            let error = refused(form, 2, file.path());
            assert_eq!(error.line(), Some(3), "{text} {form:?} {error}");
        }
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
            for form in [Form::Lines, Form::Bulk] {
                let ours = match price(form, 2, file.path()) {
                    Ok((priced, _)) => Ok(priced.contracts),
                    // The reference has no check of the price.
                    Err(error) if error.to_string().contains("its price") => continue,
                    Err(error) => {
                        let error =
                            error.downcast::<swath_formats::Error>().expect("one of it");
                        Err(error.line().expect("every error has its line"))
                    }
                };
                let text = damaged.escape_ascii();
                assert_eq!(ours, right, "seed {seed} {form:?}: {text}");
            }
        }
    }
}

#[test]
fn a_cancelled_pricing_leaves_nothing() {
    let token = swath::CancelToken::new();
    token.cancel();
    let file = file_of(format!("1\n{GOOD}\n").as_bytes());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("prices");
    for form in FORMS {
        let pricing =
            Pricing::new(form).with_read(ReadOptions::new().with_cancel(token.clone()));
        let output = ordered(&path).expect("a new file");
        let error = pricing.price(file.path(), output).expect_err("it was cancelled");
        assert!(
            format!("{error:?}").to_lowercase().contains("cancelled"),
            "{form:?} {error:?}"
        );
        assert!(!path.exists());
    }
}

#[test]
fn the_vectors_have_their_answers_in_every_form() {
    let all = [vectors("options", Verdict::Valid), vectors("options", Verdict::Permissive)];
    let all = all.concat();
    assert!(all.len() >= 9, "some are missing");
    let folder = tempfile::tempdir().expect("a folder");
    for vector in all {
        let path = vector.put(folder.path());
        for form in FORMS {
            let (_, priced) = price(form, 2, &path).expect("it is valid");
            assert!(priced == vector.answer.as_bytes(), "{} {form:?}", vector.name);
        }
    }
    let all = vectors("options", Verdict::Invalid);
    assert!(all.len() >= 20, "some are missing");
    for vector in all {
        let path = vector.put(folder.path());
        let (right_place, words) = vector.answer.trim_end().split_once(": ").expect("a place");
        for form in FORMS {
            let error = refused(form, 2, &path);
            let place = error.line().zip(error.offset());
            let place = place.map(|(line, byte)| format!("line {line}, byte {byte}"));
            assert_eq!(place.as_deref(), Some(right_place), "{form:?}: {error}");
            assert!(error.to_string().contains(words), "{form:?}: {error}");
        }
    }
}

#[test]
fn a_line_is_as_long_as_a_line_may_be_in_every_form() {
    const MOST: usize = 1 << 20;
    let line = "42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.759422392871532";
    let blanks = |len: usize| " ".repeat(len);
    for (len, is_fine) in [(MOST - 1, true), (MOST, true), (MOST + 1, false), (3 * MOST, false)]
    {
        let long = format!("{line}{}", blanks(len - line.len()));
        let digits = format!("{line}{}", "1".repeat(len - line.len()));
        let count = format!("2{}", blanks(len - 1));
        for (name, text, at) in [
            ("blanks", format!("2\n{line}\n{long}\n"), "line 3 at byte 61"),
            ("blanks at the end", format!("2\n{line}\n{long}"), "line 3 at byte 61"),
            ("digits", format!("2\n{line}\n{digits}\n"), "line 3 at byte 61"),
            ("a count", format!("{count}\n{line}\n{line}\n"), "line 1 at byte 0"),
            ("after", format!("1\n{line}\n{}\n\n", blanks(len)), "line 3 at byte 61"),
        ] {
            let file = file_of(text.as_bytes());
            for form in FORMS {
                match price(form, 2, file.path()).err().map(|error| error.to_string()) {
                    None => assert!(is_fine, "{name} of {len} {form:?}"),
                    Some(error) => {
                        assert!(!is_fine, "{name} of {len}: {form:?} {error}");
                        assert!(error.contains("longer than 1048576 bytes"), "{error}");
                        assert!(error.contains(at), "{error}");
                    }
                }
            }
        }
    }
}
