//! Selected columns of tables with text in the others.

use swath_formats::FormatReason;
use swath_formats::table::{BatchOptions, ColumnKey, HeaderLine, Value};
use swath_reference::splitmix;

use super::arrays::{file, options};

const TEXTS: [&str; 8] = [
    "José",
    "\"Smith, J.\"",
    "\"say \"\"hi\"\", he said\"",
    "",
    "2020-01-02",
    "\"1,5\"",
    "true",
    "5'10\"",
];

/// Rows of an integer, a text, a double that may be missing, and another text, with and without the
/// texts.
fn customers(seed: u64, rows: usize, line_end: &str) -> (String, String) {
    let mut next = splitmix(seed);
    let (mut all, mut numbers) =
        (format!("id,name,score,note{line_end}"), "id,score\n".to_owned());
    for id in 0..rows {
        let mut text = || TEXTS[usize::try_from(next() % 8).expect("few")];
        let (name, note) = (text(), text());
        let score = match next() % 4 {
            0 => String::new(),
            1 => (next() % 100).to_string(),
            _ => format!("{}.5", next() % 1000),
        };
        all.push_str(&format!("{id},{name},{score},{note}{line_end}"));
        numbers.push_str(&format!("{id},{score}\n"));
    }
    (all, numbers)
}

fn same<T: Value>(one: &[T], other: &[T]) -> bool {
    bytemuck::cast_slice::<_, u8>(one) == bytemuck::cast_slice::<_, u8>(other)
}

#[test]
fn chosen_columns_are_those_of_a_table_without_the_others() {
    for (seed, line_end) in [(1, "\n"), (2, "\r\n"), (3, "\n")] {
        let (all, numbers) = customers(seed, 60, line_end);
        // Some files contain no quote.
        let all = match seed {
            3 => all
                .replace("\"1,5\"", "1.5")
                .replace("h, J", "h J")
                .replace("\"\", h", "h")
                .replace('"', ""),
            _ => all,
        };
        let (all, numbers) = (file(all), file(numbers));
        let array = BatchOptions::new().read_array::<f64>(numbers.path()).expect("numbers");
        for block_size in (1..64).chain([1000, 1 << 20]) {
            for workers in [1, 3] {
                let chosen = options(workers, block_size).with_columns(["id", "score"]);
                let got = chosen.read_array::<f64>(all.path()).expect("a table");
                assert_eq!((got.rows, got.columns, &got.names), (60, 2, &array.names));
                assert!(same(&got.values, &array.values), "{block_size}");
            }
        }
    }
}

#[test]
fn columns_come_in_the_order_in_which_they_are_chosen() {
    let file = file("a,b,c\n1,2,3\n4,5,6\n");
    for block_size in 1..12 {
        let turned = options(2, block_size).with_columns(["c", "a"]);
        let got = turned.read_array::<u8>(file.path()).expect("a table");
        assert_eq!(got.values[..], [3, 1, 6, 4]);
        assert_eq!(got.names.expect("names"), ["c", "a"]);
        let mixed = [ColumnKey::Index(2), ColumnKey::from("b")];
        let mixed = options(2, block_size).with_columns(mixed);
        assert_eq!(
            mixed.read_array::<u8>(file.path()).expect("a table").values[..],
            [3, 2, 6, 5]
        );
        let shape = mixed.shape(file.path()).expect("a table");
        assert_eq!((shape.rows, shape.columns), (2, 2));
        let mut out = [0_u8; 4];
        mixed.read_array_into(file.path(), &mut out).expect("as many");
        assert_eq!(out, [3, 2, 6, 5]);
    }
}

#[test]
fn columns_between_blanks_are_chosen_too() {
    let file = file(" 1  \"a b\"  2.5 x\n\n 3  c    4 \"\"\n");
    for block_size in 1..40 {
        let options =
            options(2, block_size).with_header(HeaderLine::Absent).with_columns([2, 0]);
        let table = options.read_array::<f64>(file.path()).expect("a table");
        assert_eq!(table.values[..], [2.5, 1.0, 4.0, 3.0]);
    }
}

#[test]
fn columns_that_are_not_there_are_refused_with_those_that_are() {
    let file = file("a,b\n1,2\n");
    for (key, says) in [
        (ColumnKey::from("x"), "there is no column `x`: the file has `a`, `b`"),
        (
            ColumnKey::Index(2),
            "there is no column index 2: the file has 2 columns, counted from 0",
        ),
    ] {
        let error = BatchOptions::new().with_columns([key]).read_array::<f64>(file.path());
        let error = error.expect_err("it is not there");
        assert_eq!(error.reason(), FormatReason::Invalid);
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn what_is_wrong_beside_the_chosen_columns_is_still_wrong() {
    for (text, line, offset, says) in [
        ("id,name,x\n1,a,2\n2,b\n", 3, 16, "2 fields where 3 are expected"),
        ("id,name,x\n1,a,2\n2,b,4,c\n", 3, 16, "4 fields where 3 are expected"),
        ("id,name,x\n1,\"a,2\n", 2, 12, "a quote opens here and is never closed"),
        ("id,name,x\n1,a\r2,b\r3,c,4\n", 2, 13, "a carriage return inside a line"),
        ("id,name,x\n1,\"a,b\",\"2,3\"\n", 2, 18, "not a value of type f64 in column `x`"),
        ("id,name,x\n1,\"a,b\"\n", 2, 10, "2 fields where 3 are expected"),
    ] {
        let file = file(text);
        for block_size in (1..30).chain([1 << 20]) {
            let options = options(2, block_size).with_columns(["x", "id"]);
            let error = options.read_array::<f64>(file.path()).expect_err("it is wrong");
            assert_eq!((error.line(), error.offset()), (Some(line), Some(offset)), "{error}");
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}

#[test]
fn texts_beside_the_chosen_columns_may_have_line_ends() {
    let file = file("id,note,x\n1,\"a\n2,b,3\n\",4\n5,c,6\n");
    for block_size in (1..40).chain([1 << 20]) {
        let chosen = options(2, block_size).with_columns(["x", "id"]);
        let table = chosen.read_array::<u8>(file.path()).expect("two records");
        assert_eq!((table.rows, &table.values[..]), (2, &[4, 1, 6, 5][..]));
    }
}

#[test]
fn rows_without_any_value_are_kept_where_tabs_are_guessed() {
    for (text, rows, columns) in [
        ("\t\n3\t4\n", 2, 2),
        ("\t\t\n\t\t\n1\t2\t3\n\t\t\n", 4, 3),
        ("# c\n \n\t\n3\t4\n", 2, 2),
        // Before the names, as the byte in an error has it.
        ("\n1\t2\n", 1, 2),
        // Blanks that separate nothing are not values.
        ("\t\n3,4\n", 1, 2),
        (" \t \n3 4\n", 1, 2),
    ] {
        let file = file(text.as_bytes());
        let table = BatchOptions::new().read_array::<f64>(file.path()).expect("a table");
        assert_eq!((table.rows, table.columns), (rows, columns), "{text:?}");
        let shape = BatchOptions::new().shape(file.path()).expect("a shape");
        assert_eq!((shape.rows, shape.columns), (rows, columns), "{text:?}");
    }
}

#[test]
fn parts_of_a_table_are_the_rows_that_begin_in_them() {
    let mut next = splitmix(20);
    let text: String = (0..200)
        .map(|row| {
            format!("{row},{}\n", next() % 10u64.pow(u32::try_from(row % 7).expect("few")))
        })
        .collect();
    for (head, rows) in [("a,b\n", 200), ("# c\n", 200), ("", 200)] {
        let text = format!("{head}{text}");
        let file = file(text.as_bytes());
        let whole = BatchOptions::new().read_array::<i64>(file.path()).expect("a table");
        assert_eq!(whole.rows, rows);
        for _ in 0..200 {
            let cut = next() % (text.len() as u64 + 2);
            let part = |from, to| {
                let options = BatchOptions::new().with_block_size(1 + from % 40);
                let options = options.with_starting_in(swath::Extent::between(from, to));
                let part = options.read_array::<i64>(file.path()).expect("a part");
                assert_eq!(part.names, whole.names);
                part.values.to_vec()
            };
            let parts = [part(0, cut), part(cut, u64::MAX)].concat();
            assert!(parts == whole.values[..], "{head:?} {cut}");
        }
    }
}
