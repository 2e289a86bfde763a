//! Cancelled reads, disproportionate headers, missing files, and lines too long to quote.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::{CancelToken, ReadOptions};
use swath_formats::FormatReason;
use swath_formats::matrix::{
    self, Field, Layout, MatrixFormat, MatrixOptions, Symmetry, ValueKind,
};

use crate::matrix::texts::{Scratch, bits, entries_of, market, right};

fn long_text() -> String {
    market(4, "coordinate", "pattern", "general", 200_000)
}

#[test]
fn a_header_is_told_without_its_entries() {
    let text =
        "%%MatrixMarket matrix coordinate integer symmetric\n% c\n7 7 2\nnonsense\nmore\n";
    let file = Scratch::new("a.mtx", text.as_bytes());
    let header = matrix::header(file.path()).expect("a header");
    assert_eq!((header.layout, header.field), (Layout::Coordinate, Field::Integer));
    assert_eq!((header.symmetry, header.entry_count), (Symmetry::Symmetric, Some(2)));
    assert_eq!((header.row_count, header.body_offset), (Some(7), 61));
}

#[test]
fn comments_longer_than_any_first_look_are_passed() {
    let comment = format!("%{}\n", "x".repeat(1000)).repeat(700);
    let head = "%%MatrixMarket matrix coordinate pattern general\n";
    let text = format!("{head}{comment}2 2 1\n2 1\n");
    let file = Scratch::new("a.mtx", text.as_bytes());
    let got = matrix::read(file.path()).expect("a matrix");
    assert_eq!(bits(entries_of(&got)), bits([(1, 0, [1.0, 0.0])]));
}

#[test]
fn a_cancelled_read_says_so() {
    let file = Scratch::new("a.mtx", long_text().as_bytes());
    let token = CancelToken::new();
    token.cancel();
    let options = MatrixOptions::new().with_read(ReadOptions::new().with_cancel(token));
    let error = options.read_rows(file.path()).expect_err("cancelled");
    let library = error.library().expect("the library's");
    assert_eq!(library.reason(), swath::Reason::Cancelled);
}

#[test]
fn progress_comes_to_all_bytes_behind_the_header_when_it_comes() {
    let text = long_text();
    let file = Scratch::new("a.mtx", text.as_bytes());
    let most = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&most);
    let options =
        MatrixOptions::new().with_read(ReadOptions::new().with_progress(move |progress| {
            seen.fetch_max(progress.bytes, Ordering::Relaxed);
        }));
    let header = options.header(file.path()).expect("a header");
    let got = options.read(file.path()).expect("a matrix");
    assert_eq!(bits(entries_of(&got)), bits(right(&text).entries()));
    assert!(most.load(Ordering::Relaxed) <= text.len() as u64 - header.body_offset);
}

#[test]
fn no_more_than_eighty_bytes_are_quoted() {
    let long = "y".repeat(100_000);
    let text = format!("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 {long}\n");
    let file = Scratch::new("a.mtx", text.as_bytes());
    let error = matrix::read(file.path()).expect_err("no number");
    let told = error.to_string();
    assert!(told.matches('y').count() <= 80 && told.contains("1 1 y"), "{told}");
}

#[test]
fn what_is_not_a_matrix_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in [folder.path().join("absent.mtx"), folder.path().to_owned()] {
        let error = matrix::read(&path).expect_err("no file");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}

#[test]
fn complex_values_are_not_made_real() {
    let text = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n";
    let file = Scratch::new("a.mtx", text.as_bytes());
    for kind in [ValueKind::I64, ValueKind::F32, ValueKind::F64] {
        let options = MatrixOptions::new().with_values(kind);
        let error = options.read(file.path()).expect_err("complex");
        assert_eq!(error.reason(), FormatReason::Unsupported);
    }
    let none = MatrixOptions::new().with_values(ValueKind::None);
    let got = none.read(file.path()).expect("left out");
    assert_eq!(bits(entries_of(&got)), bits([(0, 0, [1.0, 0.0])]));
}

#[test]
fn every_type_of_values_can_be_asked_for() {
    for (field, values) in [("pattern", ""), ("integer", " -3"), ("real", " -3")] {
        let text =
            format!("%%MatrixMarket matrix coordinate {field} general\n2 1 1\n2 1{values}\n");
        let file = Scratch::new("a.mtx", text.as_bytes());
        let value = if field == "pattern" { 1.0 } else { -3.0 };
        for kind in [ValueKind::I64, ValueKind::F32, ValueKind::F64, ValueKind::Complex] {
            let options = MatrixOptions::new().with_values(kind);
            let got = options.read(file.path()).expect("a matrix");
            assert_eq!(
                bits(entries_of(&got)),
                bits([(1, 0, [value, 0.0])]),
                "{field} {kind:?}"
            );
        }
    }
    let text = "%%MatrixMarket matrix coordinate real general\n2 1 1\n2 1 0.5\n";
    let file = Scratch::new("a.mtx", text.as_bytes());
    let options = MatrixOptions::new().with_values(ValueKind::I64);
    let error = options.read(file.path()).expect_err("half of one");
    assert_eq!((error.line(), error.reason()), (Some(3), FormatReason::Malformed));
}

#[test]
fn a_whole_number_is_never_rounded() {
    for field in ["integer", "real"] {
        let text = |values: &str| {
            format!("%%MatrixMarket matrix coordinate {field} general\n2 2 2\n{values}")
        };
        for (kind, name, last) in [
            (ValueKind::F64, "f64", "9007199254740993"),
            (ValueKind::F32, "f32", "16777217"),
            (ValueKind::Complex, "f64", "-9007199254740993"),
        ] {
            let file = Scratch::new("a.mtx", text(&format!("1 1 2\n2 2 {last}\n")).as_bytes());
            let error = MatrixOptions::new().with_values(kind).read(file.path());
            let error = error.expect_err("another number");
            assert_eq!(error.line(), Some(4), "{field} {error}");
            let wanted = format!("no {name} is the whole number {last}");
            assert!(error.to_string().contains(&wanted), "{field} {kind:?} {error}");
            let none = MatrixOptions::new().with_values(ValueKind::None);
            drop(none.read(file.path()).expect("left out"));
        }
    }
}

#[test]
fn a_banner_is_seen_behind_a_mark_and_never_taken_for_edges() {
    let text = "\u{feff}%%matrixmarket matrix coordinate real general\n3 3 1\n2 1 5\n";
    let file = Scratch::new("a.txt", text.as_bytes());
    let options = MatrixOptions::new();
    let got = options.read(file.path()).expect("a matrix");
    assert_eq!(bits(entries_of(&got)), bits([(1, 0, [5.0, 0.0])]));
    let error = options.with_format(MatrixFormat::Edges).read(file.path());
    let error = error.expect_err("its sizes would be an edge").to_string();
    assert!(error.contains("a Matrix Market file"), "{error}");
}

#[test]
fn files_of_other_formats_are_named_with_their_readers() {
    for (name, bytes, says) in [
        (
            "a.el",
            &b"1,2\n3,4\n"[..],
            "this looks like a table, not like a list of edges: `1,2`",
        ),
        (
            "a.mtx",
            b"\x93NUMPY\x01\0",
            "a NumPy array (.npy), not text; try: read it with `npy::read`",
        ),
    ] {
        let error = MatrixOptions::new().read(Scratch::new(name, bytes).path());
        let error = error.expect_err("another format").to_string();
        assert!(error.contains(says), "{error}");
    }
    let file = Scratch::new("a.csv", b"%%MatrixMarket matrix array real general\n1 1\n5\n");
    let error =
        swath_formats::table::read_array::<f64>(file.path()).expect_err("a matrix").to_string();
    assert!(
        error.contains("on line 1 at byte 0: this is a Matrix Market file, not a table"),
        "{error}"
    );
    assert!(error.contains("; try: read it with `matrix::read`"), "{error}");
    let error =
        swath_formats::matrix::npz::read(file.path()).expect_err("a matrix").to_string();
    assert!(error.contains("this is a Matrix Market file, not an .npz file; try: "), "{error}");
}
