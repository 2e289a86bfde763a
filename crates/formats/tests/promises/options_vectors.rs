//! The contracts of `vectors/options.json` have their answers.

use std::fs;
use std::path::Path;
use swath::OutputOptions;

use swath::append::OrderedOptions;
use swath::sink::Durability;
use swath_formats::contracts::PriceOptions;
use swath_reference::battery::Battery;
use swath_reference::vectors::{Verdict, vectors};

fn price(path: &Path) -> swath_formats::Result<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("prices");
    let output = OrderedOptions::new()
        .with_output(OutputOptions::new().with_durability(Durability::None))
        .ordered(&out);
    PriceOptions::new().price(path, output.expect("a new file"))?;
    Ok(fs::read_to_string(&out).expect("text"))
}

#[test]
fn what_is_valid_has_its_prices() {
    let all = [vectors("options", Verdict::Valid), vectors("options", Verdict::Permissive)];
    let all = all.concat();
    assert!(all.len() >= 9, "some are missing");
    let folder = tempfile::tempdir().expect("a folder");
    for vector in all {
        let name = &vector.name;
        let priced = price(&vector.put(folder.path())).expect(name);
        assert_eq!(priced, vector.answer, "{name}");
    }
}

#[test]
fn what_is_invalid_is_refused_at_its_place() {
    let all = vectors("options", Verdict::Invalid);
    assert!(all.len() >= 20, "some are missing");
    let folder = tempfile::tempdir().expect("a folder");
    for vector in all {
        let (right_place, words) = vector.answer.trim_end().split_once(": ").expect("a place");
        let name = &vector.name;
        let error = price(&vector.put(folder.path())).expect_err(name);
        let place = error.line().zip(error.offset());
        let place = place.map(|(line, byte)| format!("line {line}, byte {byte}"));
        assert_eq!(place.as_deref(), Some(right_place), "{name}: {error}");
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
}

/// Returns the error, which is the same at every block size.
fn told_by_all(name: &str, text: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("o.txt");
    fs::write(&path, text).expect("room");
    let mut all = Vec::new();
    for block_size in [0, 1, 4096, 4 << 20] {
        let two = swath::ReadOptions::new().with_workers(2);
        let options = PriceOptions::new().with_block_size(block_size).with_read(two);
        let priced = options.price(&*path, folder.path().join("p"));
        all.push((block_size, priced.err().map(|error| error.to_string())));
    }
    let (_, first) = all[0].clone();
    for (block_size, error) in all {
        assert_eq!(error, first, "{name}: {block_size}");
    }
    first
}

#[test]
fn a_line_is_as_long_as_a_line_may_be_however_it_is_read() {
    const MOST: usize = 1 << 20;
    let line = "42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.759422392871532";
    let blanks = |len: usize| " ".repeat(len);
    let lengths = [(MOST - 1, true), (MOST, true), (MOST + 1, false), (3 * MOST, false)];
    for (len, is_fine) in Battery::of_list("combinations", 2, lengths) {
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
            let error = told_by_all(&format!("{name} of {len}"), text.as_bytes());
            match error {
                None => assert!(is_fine, "{name} of {len}"),
                Some(error) => {
                    assert!(!is_fine, "{name} of {len}: {error}");
                    assert!(error.contains("longer than 1048576 bytes"), "{error}");
                    assert!(error.contains(at), "{error}");
                }
            }
        }
    }
}
