//! Compressed rows and columns.

use swath::ReadOptions;
use swath_formats::matrix::{
    self, AnyCoo, AnyCsc, AnyCsr, Duplicates, EntryOrder, Ids, MatrixOptions,
};
use swath_reference::battery::Battery;
use swath_reference::matrix::by_row;

use crate::matrix::texts::{Entry, Scratch, bits, entries_of, kinds, market, right, value_at};

type Compressed = (Vec<u64>, Vec<Entry>);

/// Offsets and entries; each entry without the id that the offsets give.
fn rows(matrix: &AnyCsr) -> Compressed {
    match matrix {
        AnyCsr::U32(it) => {
            let ids = it.columns.iter().enumerate();
            let ids = ids.map(|(at, &id)| (0, u64::from(id), value_at(&it.values, at)));
            (it.offsets.to_vec(), ids.collect())
        }
        AnyCsr::U64(it) => {
            let ids = it.columns.iter().enumerate();
            (
                it.offsets.to_vec(),
                ids.map(|(at, &id)| (0, id, value_at(&it.values, at))).collect(),
            )
        }
    }
}

fn columns(matrix: &AnyCsc) -> Compressed {
    match matrix {
        AnyCsc::U32(it) => {
            let ids = it.rows.iter().enumerate();
            let ids = ids.map(|(at, &id)| (0, u64::from(id), value_at(&it.values, at)));
            (it.offsets.to_vec(), ids.collect())
        }
        AnyCsc::U64(it) => {
            let ids = it.rows.iter().enumerate();
            (
                it.offsets.to_vec(),
                ids.map(|(at, &id)| (0, id, value_at(&it.values, at))).collect(),
            )
        }
    }
}

fn expected(count: u64, entries: &[Entry]) -> Compressed {
    let (offsets, placed) = by_row(count, entries);
    (offsets, placed.into_iter().map(|(id, value)| (0, id, value)).collect())
}

fn same(got: Compressed, expected: Compressed, text: &str) {
    assert_eq!(got.0, expected.0, "{text}");
    assert_eq!(bits(got.1), bits(expected.1), "{text}");
}

fn transposed(entries: &[Entry]) -> Vec<Entry> {
    entries.iter().map(|&(row, column, value)| (column, row, value)).collect()
}

fn check(text: &str, options: &MatrixOptions) {
    let file = Scratch::new("a.mtx", text.as_bytes());
    let matrix = right(text);
    let entries = matrix.entries();
    let got = options.read_rows(file.path()).expect("rows");
    same(rows(&got), expected(matrix.rows, &entries), text);
    let got = options.read_columns(file.path()).expect("columns");
    same(columns(&got), expected(matrix.columns, &transposed(&entries)), text);
}

/// Entries by row and column; equal ones keep their order.
fn sorted(entries: &[Entry]) -> Vec<Entry> {
    let mut entries = entries.to_vec();
    entries.sort_by_key(|entry| (entry.0, entry.1));
    entries
}

fn summed(entries: &[Entry]) -> Vec<Entry> {
    let mut sums: Vec<Entry> = Vec::new();
    for (row, column, value) in sorted(entries) {
        match sums.last_mut() {
            Some(last) if (last.0, last.1) == (row, column) => {
                last.2 = [last.2[0] + value[0], last.2[1] + value[1]];
            }
            _ => sums.push((row, column, value)),
        }
    }
    sums
}

#[test]
fn every_kind_at_every_block_size_and_number_of_workers_is_compressed_right() {
    let mut battery = Battery::of_list("combinations", 12, (1..=64).chain([1 << 20]));
    let block_sizes: Vec<_> = battery.by_ref().collect();
    for (seed, (layout, field, symmetry)) in (0..).zip(kinds()) {
        let text = market(seed * 8 + seed % 4, layout, field, symmetry, 40);
        for &block_size in &block_sizes {
            let options = MatrixOptions::new().with_read(ReadOptions::new().with_workers(
                [1, 2, 3, 4][usize::from(seed % 2 == 0) + usize::from(seed % 3 == 0)],
            ));
            check(&text, &options.with_block_size(block_size));
        }
        for workers in (1..=8).chain([64]) {
            check(
                &text,
                &MatrixOptions::new()
                    .with_read(ReadOptions::new().with_workers(workers))
                    .with_block_size(50),
            );
        }
    }
}

#[test]
fn large_random_matrices_are_compressed_right_in_many_buckets() {
    let all = [(4, "pattern"), (5, "real"), (12, "integer"), (13, "complex"), (3, "pattern")];
    for (seed, field) in Battery::of_list("combinations", 2, all) {
        println!("seed {seed}");
        let text = market(seed, "coordinate", field, "general", 150_000);
        for ids in [Ids::U32, Ids::U64] {
            let options = MatrixOptions::new()
                .with_ids(ids)
                .with_read(ReadOptions::new().with_workers(3));
            check(&text, &options.with_block_size(20_000));
        }
    }
}

#[test]
fn rows_may_be_sorted_and_duplicates_added_up() {
    for (seed, (layout, field, symmetry)) in (0..).zip(kinds()) {
        // Integers of every size have sums that do not fit.
        if field.ends_with("integer") || layout == "array" {
            continue;
        }
        let text = market(seed * 8, layout, field, symmetry, 300);
        let file = Scratch::new("a.mtx", text.as_bytes());
        let matrix = right(&text);
        let by_id = MatrixOptions::new().with_order(EntryOrder::Sorted).with_block_size(70);
        let sums = MatrixOptions::new().with_duplicates(Duplicates::Summed).with_block_size(70);
        for workers in [1, 4] {
            let read = ReadOptions::new().with_workers(workers);
            let (by_id, sums) =
                (by_id.clone().with_read(read.clone()), sums.clone().with_read(read));
            let entries = sorted(&matrix.entries());
            let got = by_id.read(file.path()).expect("sorted");
            assert_eq!(bits(entries_of(&got)), bits(entries.clone()), "{text}");
            let got = by_id.read_rows(file.path()).expect("sorted");
            same(rows(&got), expected(matrix.rows, &entries), &text);
            let mut entries = summed(&matrix.entries());
            if field == "pattern" {
                entries.iter_mut().for_each(|entry| entry.2 = [1.0, 0.0]);
            }
            let got = sums.read(file.path()).expect("summed");
            assert_eq!(bits(entries_of(&got)), bits(entries.clone()), "{text}");
            let got = sums.read_rows(file.path()).expect("summed");
            same(rows(&got), expected(matrix.rows, &entries), &text);
        }
    }
}

#[test]
fn edges_are_compressed_as_wide_as_they_need() {
    let text = "# a\n3 1\n0 2\n3 0\n3 1\n";
    let file = Scratch::new("a.el", text.as_bytes());
    let graph = swath_reference::matrix::edges(text, 0).expect("edges");
    for block_size in 1..30 {
        let options = MatrixOptions::new().with_block_size(block_size);
        let got = options.read_rows(file.path()).expect("rows");
        same(rows(&got), expected(4, &graph.entries()), text);
        let AnyCsr::U32(got) = got else { panic!("small ids") };
        assert_eq!((got.row(3), got.entry_count(), got.row_count), (&[1, 0, 1][..], 4, 4));
        let got = options.read_columns(file.path()).expect("columns");
        let AnyCsc::U32(got) = got else { panic!("small ids") };
        assert_eq!((got.column(1), got.entry_count()), (&[3, 3][..], 4));
    }
}

#[test]
fn more_rows_than_a_file_of_that_length_may_ask_for_are_refused() {
    let text = "%%MatrixMarket matrix coordinate pattern general\n1000000000000 5 1\n7 1\n";
    let file = Scratch::new("a.mtx", text.as_bytes());
    let error = matrix::read_rows(file.path()).expect_err("terabytes");
    assert_eq!(
        (error.reason(), error.line()),
        (swath_formats::FormatReason::TooLarge, Some(2))
    );
    let AnyCoo::U64(coo) = matrix::read(file.path()).expect("one entry") else {
        panic!("a trillion rows")
    };
    assert_eq!((&coo.rows[..], &coo.columns[..]), (&[6][..], &[0][..]));
    let got = matrix::read_columns(file.path()).expect("five columns");
    same(columns(&got), expected(5, &[(0, 6, [1.0, 0.0])]), text);
    let edges = Scratch::new("a.el", b"0 4000000000\n");
    let error = matrix::read_rows(edges.path()).expect_err("gigabytes");
    assert_eq!(error.reason(), swath_formats::FormatReason::TooLarge);
}

#[test]
fn a_sum_that_does_not_fit_is_an_error() {
    let most = i64::MAX;
    let text =
        format!("%%MatrixMarket matrix coordinate integer general\n2 2 2\n2 1 {most}\n2 1 1\n");
    let file = Scratch::new("a.mtx", text.as_bytes());
    let options = MatrixOptions::new().with_duplicates(Duplicates::Summed);
    let error = options.read_rows(file.path()).expect_err("2^63");
    assert!(error.to_string().contains("row or column 2"), "{error}");
}
