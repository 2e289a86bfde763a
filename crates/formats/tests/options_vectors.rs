//! The files of `vectors/options` have the answers that lie beside them, by every way.

use std::fs;
use std::path::{Path, PathBuf};

use swath::append::{OrderedOptions, ordered};
use swath::sink::Sync;
use swath_formats::options::{PriceOptions, Way};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/options")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn price(path: &Path, way: Way) -> swath_formats::Result<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("prices");
    let output = ordered(&out, OrderedOptions::new().with_sync(Sync::None));
    PriceOptions::new().with_way(way).price(path, output.expect("a new file"))?;
    Ok(read(&out))
}

fn inputs(kind: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder().join(kind)).expect("the vectors are there");
    let paths = entries.map(|entry| entry.expect("it is there").path());
    paths.filter(|path| path.extension().is_some_and(|it| it == "txt")).collect()
}

#[test]
fn what_is_valid_has_its_prices() {
    let paths = [inputs("valid"), inputs("permissive")].concat();
    assert!(paths.len() >= 9, "some are missing");
    for path in paths {
        for &(word, way) in Way::WORDS {
            let name = format!("{} {word}", path.display());
            let priced = price(&path, way).expect(&name);
            assert_eq!(priced, read(&path.with_extension("prices")), "{name}");
        }
    }
}

#[test]
fn what_is_invalid_is_refused_at_its_place() {
    let paths = inputs("invalid");
    assert!(paths.len() >= 20, "some are missing");
    for path in paths {
        let right = read(&path.with_extension("error"));
        let (right_place, words) = right.trim_end().split_once(": ").expect("a place");
        for &(word, way) in Way::WORDS {
            let name = format!("{} {word}", path.display());
            let error = price(&path, way).expect_err(&name);
            let place = error.line().zip(error.offset());
            let place = place.map(|(line, byte)| format!("line {line}, byte {byte}"));
            assert_eq!(place.as_deref(), Some(right_place), "{name}: {error}");
            assert!(error.to_string().contains(words), "{name}: {error}");
        }
    }
}
