//! What is written is read again as it was.

use std::path::Path;

use swath::append::OrderedOptions;
use swath::sink::Sync;
use swath_formats::Reason;
use swath_formats::matrix::{
    self, AnyCoo, MatrixFormat, MatrixOptions, MatrixWriteOptions, Mirror, Rmat, Symmetry,
    ValueKind,
};

use crate::texts::{Scratch, bits, entries_of, kinds, market, size_of};

fn options() -> MatrixWriteOptions {
    MatrixWriteOptions::new().with_output(OrderedOptions::new().with_sync(Sync::None))
}

fn read(path: &Path) -> AnyCoo {
    matrix::read(path, &MatrixOptions::new()).expect("it was just written")
}

#[test]
fn every_kind_survives_writing_and_is_the_same_text_the_second_time() {
    for (seed, (layout, field, symmetry)) in (0..).zip(kinds()) {
        for entries in [0, 1, 500] {
            let text = market(seed * 8 + 3, layout, field, symmetry, entries);
            let file = Scratch::new("a.mtx", text.as_bytes());
            let (once, twice) =
                (file.path().with_file_name("b.mtx"), file.path().with_file_name("c.mtx"));
            for mirror in [Mirror::Expanded, Mirror::Stored] {
                let how = MatrixOptions::new().with_mirror(mirror);
                let matrix = matrix::read(file.path(), &how).expect("a matrix");
                matrix.write(&once, &options().with_comment("two\nlines")).expect("written");
                let again = matrix::read(&once, &how).expect("what was written");
                assert_eq!(bits(entries_of(&again)), bits(entries_of(&matrix)), "{text}");
                assert_eq!(size_of(&again), size_of(&matrix));
                again.write(&twice, &options().with_comment("two\nlines")).expect("written");
                let read = |path| std::fs::read_to_string(path).expect("text");
                assert_eq!(read(&once), read(&twice));
                assert!(read(&once).contains("\n% two\n% lines\n"));
            }
        }
    }
}

#[test]
fn rows_and_columns_list_the_same_entries_in_their_order() {
    let text = market(4, "coordinate", "real", "general", 100_000);
    let file = Scratch::new("a.mtx", text.as_bytes());
    let how = MatrixOptions::new();
    let (rows, columns) =
        (file.path().with_file_name("rows.mtx"), file.path().with_file_name("columns.mtx"));
    matrix::read_rows(file.path(), &how)
        .expect("rows")
        .write(&rows, &options())
        .expect("written");
    let by_columns = matrix::read_columns(file.path(), &how).expect("columns");
    by_columns.write(&columns, &options()).expect("written");
    let mut expected = entries_of(&read(&file.path()));
    expected.sort_by_key(|entry| entry.0);
    assert_eq!(bits(entries_of(&read(&rows))), bits(expected.clone()));
    let mut expected = entries_of(&read(&file.path()));
    expected.sort_by_key(|entry| entry.1);
    assert_eq!(bits(entries_of(&read(&columns))), bits(expected));
}

#[test]
fn singles_and_integers_are_written_exactly() {
    let mut next = swath_reference::splitmix(5);
    let singles: String = (0..2000)
        .map(|_| f32::from_bits(u32::try_from(next() >> 32).expect("half of it")))
        .filter(|single| single.is_finite())
        .map(|single| format!("1 1 {single:e}\n"))
        .collect();
    let count = singles.lines().count();
    let text = format!("%%MatrixMarket matrix coordinate real general\n1 1 {count}\n{singles}");
    let file = Scratch::new("a.mtx", text.as_bytes());
    let how = MatrixOptions::new().with_values(ValueKind::F32);
    let matrix = matrix::read(file.path(), &how).expect("singles");
    let again = file.path().with_file_name("b.mtx");
    matrix.write(&again, &options()).expect("written");
    let second = matrix::read(&again, &how).expect("singles");
    assert_eq!(bits(entries_of(&second)), bits(entries_of(&matrix)));
}

#[test]
fn edges_survive_writing() {
    let file = Scratch::new("a.el", b"0 5 0.25\n7 1 -3e300\n");
    let graph = read(&file.path());
    let again = file.path().with_file_name("b.tsv");
    graph.write(&again, &options().with_comment("from to weight")).expect("written");
    let text = std::fs::read_to_string(&again).expect("text");
    assert_eq!(text, "# from to weight\n0 5 0.25\n7 1 -3e+300\n");
    assert_eq!(bits(entries_of(&read(&again))), bits(entries_of(&graph)));
}

#[test]
fn what_edges_cannot_say_is_refused() {
    for (banner, entry) in [("complex general", "1 1 1 2"), ("real symmetric", "1 1 1")] {
        let text = format!("%%MatrixMarket matrix coordinate {banner}\n1 1 1\n{entry}\n");
        let file = Scratch::new("a.mtx", text.as_bytes());
        let how = MatrixOptions::new().with_mirror(Mirror::Stored);
        let matrix = matrix::read(file.path(), &how).expect("a matrix");
        let error = matrix.write(file.path().with_file_name("b.el"), &options());
        assert_eq!(error.expect_err("no edges").reason(), Reason::Invalid);
        assert!(!file.path().with_file_name("b.el").exists());
    }
}

#[test]
fn half_of_a_matrix_that_is_not_square_is_refused() {
    let text = b"%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1 1\n";
    let file = Scratch::new("a.mtx", text);
    let target = file.path().with_file_name("b.mtx");
    for symmetry in [Symmetry::Symmetric, Symmetry::SkewSymmetric, Symmetry::Hermitian] {
        let AnyCoo::U32(mut coo) = read(&file.path()) else { panic!("two rows") };
        coo.symmetry = symmetry;
        let error = coo.write(&target, &options()).expect_err("it could not be read");
        assert_eq!(error.reason(), Reason::Invalid);
        assert!(error.to_string().contains("3 rows, 2 columns"), "{error}");
        assert!(!target.exists());
    }
}

#[test]
fn random_graphs_are_the_same_for_every_number_of_workers() {
    let folder = tempfile::tempdir().expect("a folder");
    let graph = Rmat::new(12, 100_000).with_seed(42);
    let path = folder.path().join("graph");
    let text = |workers, format| {
        let how = options().with_workers(workers).with_format(format);
        graph.write(&path, &how).expect("written");
        std::fs::read(&path).expect("text")
    };
    for format in [MatrixFormat::MatrixMarket, MatrixFormat::Edges] {
        let first = text(1, format);
        for workers in 2..=8 {
            assert!(text(workers, format) == first, "{workers} workers");
        }
        let read = entries_of(&matrix::read(&path, &MatrixOptions::new()).expect("a graph"));
        let edges = (0..100_000).map(|index| graph.edge(index));
        assert!(read.iter().map(|entry| (entry.0, entry.1)).eq(edges));
    }
    let error = Rmat::new(33, 1).write(&path, &options()).expect_err("too many vertices");
    assert_eq!(error.reason(), Reason::Invalid);
}
