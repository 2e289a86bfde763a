//! Coordinates, in the order of the file.

use swath::ReadOptions;
use swath_formats::matrix::{self, AnyCoo, Ids, MatrixFormat, MatrixOptions};
use swath_reference::battery::{Battery, BatterySize};

use crate::matrix::texts::{Scratch, bits, entries_of, kinds, market, right, size_of};

fn check(text: &str, options: &MatrixOptions) {
    let file = Scratch::new("a.mtx", text.as_bytes());
    let expected = right(text);
    let got = options
        .read(file.path())
        .unwrap_or_else(|error| panic!("{error}: {options:?}\n{text}"));
    assert_eq!(size_of(&got), (expected.rows, expected.columns));
    assert_eq!(bits(entries_of(&got)), bits(expected.entries()), "{options:?}\n{text}");
}

#[test]
fn every_kind_at_every_block_size_and_number_of_workers_is_read_right() {
    let mut battery = Battery::of_list("combinations", 12, (1..=64).chain([100, 1 << 20]));
    let block_sizes: Vec<_> = battery.by_ref().collect();
    for (seed, (layout, field, symmetry)) in (0..).zip(kinds()) {
        let text = market(seed, layout, field, symmetry, 40);
        for &block_size in &block_sizes {
            for workers in [1, 3] {
                let options =
                    MatrixOptions::new().with_read(ReadOptions::new().with_workers(workers));
                check(&text, &options.with_block_size(block_size));
            }
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
fn random_matrices_are_read_right() {
    for seed in Battery::new("combinations", BatterySize { slice: 15, full: 120 }) {
        let seed = seed % 1000;
        println!("seed {seed}");
        for (layout, field, symmetry) in kinds() {
            let text = market(seed, layout, field, symmetry, seed % 60 * 7);
            let options = MatrixOptions::new()
                .with_read(ReadOptions::new().with_workers(2))
                .with_block_size(1 + seed % 60 * 37);
            check(&text, &options);
        }
    }
}

#[test]
fn long_plain_patterns_are_read_right_by_eights() {
    for seed in 0..16 {
        println!("seed {seed}");
        let text = market(seed, "coordinate", "pattern", "general", 5000);
        for block_size in [700, 5000, 1 << 20] {
            check(&text, &MatrixOptions::new().with_block_size(block_size));
            check(&text, &MatrixOptions::new().with_block_size(block_size).with_ids(Ids::U64));
        }
    }
}

#[test]
fn edges_take_the_ids_they_need() {
    let options = MatrixOptions::new();
    for (text, base_one) in [
        ("# from to\n0 1\n5 2\n% more\n\n3 3", false),
        ("0\t1\t0.5\n7\t1\t-2\n", false),
        ("1 4294967295\n4294967294 1\n", false),
        ("1 4294967296\n7 1\n", false),
        ("1 2\n", true),
    ] {
        let file = Scratch::new("a.el", text.as_bytes());
        let base = if base_one { matrix::Base::One } else { matrix::Base::Auto };
        for block_size in 1..40 {
            let options = options.clone().with_base(base).with_block_size(block_size);
            let got = options.read(file.path()).expect("edges");
            let expected = swath_reference::matrix::edges(text, u64::from(base_one));
            let expected = expected.expect("edges");
            assert_eq!(bits(entries_of(&got)), bits(expected.entries()), "{text}");
            assert_eq!(size_of(&got), (expected.rows, expected.columns));
            let is_wide = expected.rows > 1 << 32;
            assert_eq!(matches!(got, AnyCoo::U64(_)), is_wide);
        }
    }
    let wide = Scratch::new("a.el", b"1 2\n1 4294967296\n");
    let error = options.with_ids(Ids::U32).read(wide.path()).expect_err("too wide");
    assert_eq!(
        (error.line(), error.reason()),
        (Some(2), swath_formats::FormatReason::TooLarge)
    );
}

#[test]
fn a_file_without_a_name_that_tells_is_known_by_its_banner() {
    let text = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";
    let file = Scratch::new("graph", text.as_bytes());
    let matrix = matrix::read(file.path()).expect("a matrix");
    assert_eq!(size_of(&matrix), (2, 2));
    let options = MatrixOptions::new().with_format(MatrixFormat::Edges);
    let graph = options.read(file.path()).expect_err("it says what it is");
    assert_eq!(graph.line(), Some(1));
}

#[test]
fn parts_of_a_matrix_are_the_entries_that_begin_in_them() {
    let mut next = swath_reference::splitmix(5);
    for (name, text) in [
        ("a.mtx", crate::matrix::texts::market(7, "coordinate", "real", "general", 150)),
        ("a.mtx", crate::matrix::texts::market(8, "coordinate", "integer", "symmetric", 150)),
        ("a.el", (0..150).map(|n| format!("{n} {}\n", n * n)).collect::<String>()),
    ] {
        let file = crate::matrix::texts::Scratch::new(name, text.as_bytes());
        let how = MatrixOptions::new();
        let whole = entries_of(&how.read(file.path()).expect("a matrix"));
        for _ in 0..100 {
            let cut = next() % (text.len() as u64 + 2);
            let part = |from, to| {
                let how = how.clone().with_starting_in(swath::Extent::between(from, to));
                entries_of(&how.read(file.path()).expect("a part"))
            };
            let parts = [part(0, cut), part(cut, u64::MAX)].concat();
            assert_eq!(bits(parts), bits(whole.clone()), "{name} {cut}");
        }
    }
}
