//! Study C's forms write the bytes of the library, and accept and refuse the same texts.

use std::fs;
use std::io::Write;
use std::path::Path;

use swath::append::{OrderedOptions, ordered};
use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions};
use swath_formats::FormatReason;
use swath_reference::options as reference;
use swath_reference::vectors::{Verdict, vectors};
use swath_study::pricing::{Form, Priced, Pricing};
use swath_study::workload::contracts::generate;

const FORMS: [Form; 3] = [Form::Lines, Form::Bulk, Form::Swath];

/// A line of `bits`: mostly as programs write it, else anything that is allowed.
fn line(bits: &mut impl FnMut() -> u64, odd: u64) -> String {
    let mut below = |limit: u64| bits() % limit;
    let mut number = |least: u64, most: u64, decimals: u64| {
        let mut text = format!("{}", least + below(most - least));
        if decimals > 0 {
            text.push('.');
            for _ in 0..decimals {
                text.push(char::from(b'0' + u8::try_from(below(10)).expect("a digit")));
            }
        }
        if below(100) < odd {
            text = match below(5) {
                0 => format!("+{text}"),
                1 => format!("{text}e0"),
                2 => format!("{text}E-1"),
                3 => format!("0000{text}"),
                _ => format!("{text}0000000000000000000000"),
            };
        }
        text
    };
    let fields = [
        number(1, 200, 2),
        number(1, 2000, 2),
        number(0, 1, 4),
        number(0, 1, 2),
        number(0, 1, 2),
        number(0, 3, 2),
        number(0, 30, 18),
    ];
    let [spot, strike, rate, dividend_yield, volatility, years, price] = fields;
    let is_negative = !rate.starts_with('+') && below(100) < odd;
    let rate = if is_negative { format!("-{rate}") } else { rate };
    let kind = if below(2) == 0 { "C" } else { "P" };
    let blank = if below(100) < odd { " \t " } else { " " };
    let end = if below(100) < odd { " \r" } else { "" };
    let line =
        [&spot, &strike, &rate, &dividend_yield, &volatility, &years, kind, "0.00", &price];
    line.join(blank) + end
}

fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room");
    file
}

/// Whole or absent: the report and the bytes.
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

/// Why a text is refused.
fn refused(form: Form, workers: usize, from: &Path) -> swath_formats::Error {
    let error = price(form, workers, from).expect_err("it is faulty");
    error.downcast::<swath_formats::Error>().expect("as the library says it")
}

#[test]
fn every_form_leaves_the_same_bytes() {
    let mut bits = swath_reference::splitmix(4);
    let mut text = String::from("700\r\n");
    for index in 0..700 {
        text += &line(&mut bits, if index % 7 == 0 { 50 } else { 0 });
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

/// A faulty text, the line and byte of its fault, and some words of the error.
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
        let file = file_of(text.as_bytes());
        let mut said = None;
        for (form, workers) in FORMS.into_iter().flat_map(|form| [1, 2, 3].map(|it| (form, it)))
        {
            let error = refused(form, workers, file.path());
            let place = (error.line(), error.offset());
            assert_eq!(place, (Some(line), offset), "{text:?} {form:?} {error}");
            assert_eq!(error.reason(), reason, "{text:?}");
            let text = error.to_string();
            assert!(text.contains(words), "{text}");
            // All forms give the same error.
            assert_eq!(text, *said.get_or_insert_with(|| text.clone()), "{form:?}");
        }
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
        let lines: Vec<String> = (0..20).map(|_| line(&mut bits, 20)).collect();
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
                    // The reference does not know texts without prices.
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
