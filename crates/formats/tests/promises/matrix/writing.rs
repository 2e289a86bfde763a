//! Files that were written are read back unchanged.

use std::path::Path;

use swath::sink::Durability;
use swath::{Array, OutputOptions};
use swath_formats::FormatReason;
use swath_formats::matrix::{
    self, AnyCoo, AnyCsr, Base, Coo, Csr, Dense, Ids, MatrixOptions, MatrixWriteOptions,
    SymmetricHalf, Symmetry, ValueKind, Values,
};

use crate::matrix::texts::{Scratch, bits, entries_of, kinds, market, size_of};

fn output() -> OutputOptions {
    OutputOptions::new().with_durability(Durability::None)
}

fn options() -> MatrixWriteOptions {
    MatrixWriteOptions::new().with_output(output())
}

fn read(path: &Path) -> AnyCoo {
    matrix::read(path).expect("it was just written")
}

#[test]
fn every_kind_survives_writing_and_is_the_same_text_the_second_time() {
    for (seed, (layout, field, symmetry)) in (0..).zip(kinds()) {
        for entries in [0, 1, 500] {
            let text = market(seed * 8 + 3, layout, field, symmetry, entries);
            let file = Scratch::new("a.mtx", text.as_bytes());
            let (once, twice) =
                (file.path().with_file_name("b.mtx"), file.path().with_file_name("c.mtx"));
            for mirror in [SymmetricHalf::Expanded, SymmetricHalf::Stored] {
                let how = MatrixOptions::new().with_symmetric_half(mirror);
                let matrix = how.read(file.path()).expect("a matrix");
                options().with_comment("two\nlines").write(&once, &matrix).expect("written");
                let again = how.read(&once).expect("what was written");
                assert_eq!(bits(entries_of(&again)), bits(entries_of(&matrix)), "{text}");
                assert_eq!(size_of(&again), size_of(&matrix));
                options().with_comment("two\nlines").write(&twice, &again).expect("written");
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
    options().write(&rows, &how.read_rows(file.path()).expect("rows")).expect("written");
    let by_columns = how.read_columns(file.path()).expect("columns");
    options().write(&columns, &by_columns).expect("written");
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
    let matrix = how.read(file.path()).expect("singles");
    let again = file.path().with_file_name("b.mtx");
    options().write(&again, &matrix).expect("written");
    let second = how.read(&again).expect("singles");
    assert_eq!(bits(entries_of(&second)), bits(entries_of(&matrix)));
}

#[test]
fn edges_survive_writing() {
    let file = Scratch::new("a.el", b"0 5 0.25\n7 1 -3e300\n");
    let graph = read(&file.path());
    let again = file.path().with_file_name("b.tsv");
    options().with_comment("from to weight").write(&again, &graph).expect("written");
    let text = std::fs::read_to_string(&again).expect("text");
    assert_eq!(text, "# from to weight\n0 5 0.25\n7 1 -3e+300\n");
    assert_eq!(bits(entries_of(&read(&again))), bits(entries_of(&graph)));
}

#[test]
fn what_edges_cannot_say_is_refused() {
    for (banner, entry) in [("complex general", "1 1 1 2"), ("real symmetric", "1 1 1")] {
        let text = format!("%%MatrixMarket matrix coordinate {banner}\n1 1 1\n{entry}\n");
        let file = Scratch::new("a.mtx", text.as_bytes());
        let how = MatrixOptions::new().with_symmetric_half(SymmetricHalf::Stored);
        let matrix = how.read(file.path()).expect("a matrix");
        let error = options().write(file.path().with_file_name("b.el"), &matrix);
        assert_eq!(error.expect_err("no edges").reason(), FormatReason::Invalid);
        assert!(!file.path().with_file_name("b.el").exists());
    }
}

#[test]
fn a_dense_matrix_is_read_back_with_all_its_values() {
    fn array<T: bytemuck::Pod>(count: u64, value: impl Fn(u64) -> T) -> Array<T> {
        let mut array = Array::zeroed(usize::try_from(count).expect("few")).expect("room");
        array.iter_mut().zip(0..).for_each(|(slot, at)| *slot = value(at));
        array
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (path, edges) = (folder.path().join("a.mtx"), folder.path().join("a.el"));
    for (row_count, column_count) in [(2, 3), (0, 2), (2, 0), (40_000, 2), (1, 1)] {
        let count = row_count * column_count;
        let all = || {
            [
                Values::I64(array(count, |at| 1 - at.cast_signed())),
                Values::U64(array(count, |at| u64::MAX - at)),
                Values::F32(array(count, |_| 0.1_f32)),
                Values::F64(array(count, |at| f64::from_bits(at * 3) - 0.1)),
                Values::Complex(array(count, |at| [f64::from_bits(at), -2.5])),
            ]
        };
        for (values, wanted) in all().into_iter().zip(all()) {
            let kind = match values {
                Values::F32(_) => ValueKind::F32,
                Values::U64(_) => ValueKind::U64,
                _ => ValueKind::Auto,
            };
            let dense = Dense { row_count, column_count, values };
            options().write(&path, &dense).expect("written");
            let read = MatrixOptions::new().with_values(kind).read(&path).expect("a matrix");
            let AnyCoo::U32(coo) = read else { panic!("few rows") };
            assert_eq!(coo.values, wanted);
            let places = coo.columns.iter().zip(&coo.rows[..]);
            let places =
                places.map(|(&column, &row)| u64::from(column) * row_count + u64::from(row));
            assert!(places.eq(0..count), "column by column");
            let error = options().write(&edges, &dense).expect_err("no edges");
            assert!(error.to_string().contains("cannot represent a dense matrix"), "{error}");
        }
    }
    for (row_count, values) in [(2, Values::I64(array(3, |_| 1))), (u64::MAX, Values::None)] {
        let dense = Dense { row_count, column_count: 2, values };
        let error = options().write(&path, &dense).expect_err("too few values");
        assert!(error.to_string().contains("values for a matrix of"), "{error}");
    }
    assert!(!edges.exists());
}

#[test]
fn half_of_a_matrix_that_is_not_square_is_refused() {
    let text = b"%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1 1\n";
    let file = Scratch::new("a.mtx", text);
    let target = file.path().with_file_name("b.mtx");
    for symmetry in [Symmetry::Symmetric, Symmetry::SkewSymmetric, Symmetry::Hermitian] {
        let AnyCoo::U32(mut coo) = read(&file.path()) else { panic!("two rows") };
        coo.symmetry = symmetry;
        let error = options().write(&target, &coo).expect_err("it could not be read");
        assert_eq!(error.reason(), FormatReason::Invalid);
        assert!(error.to_string().contains("3 rows and 2 columns"), "{error}");
        assert!(!target.exists());
    }
}

/// A matrix with entries at these places, all with a value of this kind.
fn matrix_of(size: (u64, u64), places: &[(u64, u64)], kind: &str) -> Coo<u64> {
    fn array<T: bytemuck::Pod>(values: impl ExactSizeIterator<Item = T>) -> Array<T> {
        let mut array = Array::zeroed(values.len()).expect("room");
        array.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
        array
    }
    let each = places.iter();
    Coo {
        row_count: size.0,
        column_count: size.1,
        symmetry: Symmetry::General,
        rows: array(each.clone().map(|place| place.0)),
        columns: array(each.clone().map(|place| place.1)),
        values: match kind {
            "i64" => Values::I64(array(each.map(|_| (1 << 53) + 1))),
            "u64" => Values::U64(array(each.map(|_| u64::MAX))),
            "f64" => Values::F64(array(each.map(|_| -0.0))),
            _ => Values::None,
        },
    }
}

#[test]
fn edges_keep_their_shape_their_type_and_their_first_id() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.el");
    for size in [(0, 0), (1, 1), (3, 5), (5, 3), (4, 4), (1 << 40, 7)] {
        for places in [&[][..], &[(0, 0)], &[(0, 2), (2, 0)], &[(3, 3), (0, 1)]] {
            if places.iter().any(|place| place.0 >= size.0 || place.1 >= size.1) {
                continue;
            }
            for kind in ["none", "i64", "u64", "f64"] {
                for base in [Base::Zero, Base::One] {
                    let matrix = matrix_of(size, places, kind);
                    options().with_base(base).write(&path, &matrix).expect("written");
                    let text = std::fs::read_to_string(&path).expect("text");
                    let how = MatrixOptions::new().with_ids(Ids::U64);
                    let AnyCoo::U64(back) = how.read(&path).expect("edges") else {
                        panic!("asked for")
                    };
                    assert_eq!(back, matrix, "{text}");
                    // Rows take memory whether or not they have entries.
                    if size.0 > 10 {
                        continue;
                    }
                    for rows in [matrix.to_rows(), how.read_rows(&path).map(wide)] {
                        let rows = rows.expect("a few rows");
                        options().with_base(base).write(&path, &rows).expect("written");
                        let back = how.read(&path).expect("edges");
                        assert_eq!((size_of(&back), back.entry_count()), (size, places.len()));
                    }
                }
            }
        }
    }
}

fn wide(rows: AnyCsr) -> Csr<u64> {
    let AnyCsr::U64(rows) = rows else { panic!("asked for") };
    rows
}

#[test]
fn edges_that_say_all_of_it_have_no_comment_and_options_beat_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.el");
    options().write(&path, &matrix_of((3, 3), &[(0, 2)], "f64")).expect("written");
    assert_eq!(std::fs::read_to_string(&path).expect("text"), "0 2 -0.0\n");
    let comment = options().with_comment("swath: rows=9 columns=9 values=none first=1");
    comment.write(&path, &matrix_of((3, 3), &[(0, 2)], "f64")).expect("written");
    assert_eq!(size_of(&read(&path)), (3, 3), "somebody's comment is not believed");
    options().write(&path, &matrix_of((3, 5), &[(0, 2)], "i64")).expect("written");
    let told = "# swath: rows=3 columns=5 values=integer first=0\n0 2 9007199254740993\n";
    assert_eq!(std::fs::read_to_string(&path).expect("text"), told);
    let sized = |rows, columns| {
        let how = MatrixOptions::new().with_shape(rows, columns);
        how.read(&path).map(|matrix| size_of(&matrix))
    };
    assert_eq!(sized(7, 8).expect("larger"), (7, 8));
    assert_eq!(sized(1, 2).expect_err("smaller").line(), Some(2));
}

#[test]
fn integers_are_unsigned_where_they_have_to_be() {
    let read = |banner: &str, values: ValueKind| {
        let text = format!("%%MatrixMarket matrix coordinate {banner} general\n1 2 2\n1 1 7\n");
        let file = Scratch::new("a.mtx", (text + "1 2 18446744073709551615\n").as_bytes());
        let how = MatrixOptions::new().with_values(values).with_block_size(1);
        how.read(file.path()).map(|matrix| match matrix {
            AnyCoo::U32(matrix) => matrix.values,
            AnyCoo::U64(_) => panic!("two columns"),
        })
    };
    for banner in ["integer", "unsigned-integer"] {
        for values in [ValueKind::Auto, ValueKind::U64] {
            let values = read(banner, values).expect("a matrix");
            assert_eq!(values.as_u64(), Some(&[7, u64::MAX][..]), "{banner}");
        }
        assert_eq!(read(banner, ValueKind::None).expect("left out"), Values::None);
        let error = read(banner, ValueKind::I64).expect_err("one is beyond");
        assert!(error.to_string().contains("too large for i64"), "{error}");
        assert_eq!((error.reason(), error.line()), (FormatReason::TooLarge, Some(4)));
    }
}

#[test]
fn an_entry_outside_of_the_matrix_is_refused_and_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["m.mtx", "m.el"] {
        let path = folder.path().join(name);
        let inside = matrix_of((3, 4), &[(0, 0), (2, 3)], "pattern");
        for outside in [(3, 0), (0, 4), (u64::MAX, 0), (0, u64::MAX)] {
            let mut places = vec![(1, 1); 70_000];
            places[69_000] = outside;
            let matrix = matrix_of((3, 4), &places, "pattern");
            let error = options().write(&path, &matrix).expect_err("nobody could read it");
            let told = error.to_string();
            assert!(told.contains("entry 69000 is at row") && !path.exists(), "{told}");
        }
        let odd = matrix_of((4, 4), &[(u64::MAX, 0)], "pattern");
        options().write(&path, &odd).expect_err("a row past the last one");
        options().write(&path, &inside).expect("written");
        std::fs::remove_file(&path).expect("it is there");
    }
}

#[test]
fn what_half_a_matrix_cannot_say_is_refused_before_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.mtx");
    let matrix = |symmetry, place: (u64, u64), values| {
        let ids = |id| {
            let mut ids = Array::<u64>::zeroed(1).expect("room");
            ids[0] = id;
            ids
        };
        let (rows, columns) = (ids(place.0), ids(place.1));
        Coo { row_count: 3, column_count: 3, symmetry, rows, columns, values }
    };
    fn one<T: bytemuck::Pod>(value: T) -> Array<T> {
        let mut values = Array::zeroed(1).expect("room");
        values[0] = value;
        values
    }
    let (skew, hermitian) = (Symmetry::SkewSymmetric, Symmetry::Hermitian);
    for (symmetry, place, values, says) in [
        (skew, (1, 0), Values::I64(one(i64::MIN)), Some("whose negative")),
        (skew, (1, 0), Values::I64(one(i64::MIN + 1)), None),
        (skew, (1, 0), Values::U64(one(u64::MAX)), Some("whose negative")),
        (skew, (2, 2), Values::F64(one(0.5)), Some("on the diagonal")),
        (skew, (2, 2), Values::F64(one(0.0)), None),
        (skew, (2, 2), Values::None, Some("on the diagonal")),
        (hermitian, (1, 1), Values::Complex(one([1.0, 2.0])), Some("imaginary part")),
        (hermitian, (1, 1), Values::Complex(one([1.0, 0.0])), None),
        (hermitian, (2, 1), Values::Complex(one([1.0, 2.0])), None),
    ] {
        let matrix = matrix(symmetry, place, values);
        match (options().write(&path, &matrix), says) {
            (Ok(_), None) => drop(read(&path)),
            (Err(error), Some(says)) => {
                assert!(error.to_string().contains(says), "{error}");
                assert_eq!(error.reason(), FormatReason::Invalid);
            }
            (written, says) => panic!("{matrix:?}: {written:?}, and not {says:?}"),
        }
    }
    let text = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 -9223372036854775808\n";
    let file = Scratch::new("a.mtx", text.as_bytes());
    let error = matrix::read(file.path()).expect_err("no negative");
    assert!(error.to_string().contains("negated value does not fit i64"), "{error}");
}
