//! Types of columns that are decided once, for all parts of a table.

use swath::{Extent, ReadOptions};
use swath_formats::FormatReason;
use swath_formats::table::{self, ColumnKind, Columns, TableOptions, Values};
use swath_reference::battery::Battery;
use swath_reference::splitmix;

use super::arrays::file;

/// Small tables with everything that may stand where a cut falls.
const TABLES: [&str; 12] = [
    "x,y\n1,2.5\n3,4\n",
    "x,y\r\n1,2.5\r\n,4\r\n\r\n5,6e1\r\n",
    "x,y\n1,2\n3,4.5",
    "# c\n\nx;y\n# 1;2\n1;2\n\n# more\n3;NA\n#\n5;6.0\n# end",
    "\"a\nb\",\"c,\"\"d\"\"\"\n1,2\n\"3\",4.25\n",
    "1,2\n3,4\n",
    "7",
    "\n\n\n7\n\n\n",
    "x\n",
    "x,y\n",
    "a\tb\n1\t\n\t2\n\t\n",
    "a b  c\n 1  2 nan \n-3 inf 4\n",
];

/// All values as text: a type, and the value or that it is missing.
fn rows_of(table: &Columns) -> Vec<Vec<String>> {
    let cell = |column: &table::Column, row: usize| match column.values() {
        _ if !column.is_valid(row) => format!("{:?} missing", column.kind()),
        Values::I64(values) => format!("i {}", values[row]),
        Values::F64(values) => format!("f {:x}", values[row].to_bits()),
        other => panic!("{other:?}"),
    };
    (0..table.rows)
        .map(|row| table.columns.iter().map(|column| cell(column, row)).collect())
        .collect()
}

#[test]
fn parts_with_the_types_of_the_whole_are_the_whole_wherever_it_is_cut() {
    for text in TABLES {
        let file = file(text);
        let whole = table::read_columns(file.path()).expect("a table");
        let schema = table::schema(file.path()).expect("a table");
        let kinds: Vec<_> = whole.columns.iter().map(table::Column::kind).collect();
        assert_eq!((&schema.names, &schema.kinds), (&whole.names, &kinds), "{text:?}");
        let typed = TableOptions::new().with_kinds(kinds.into_iter().enumerate());
        let len = text.len() as u64;
        for first in Battery::of_list("combinations", 6, 0..=len + 1) {
            for second in first..=len + 1 {
                let bounds = [0, first, second, len + 5];
                let parts: Vec<_> = bounds
                    .windows(2)
                    .flat_map(|pair| {
                        let part = Extent::between(pair[0], pair[1]);
                        let part = typed.clone().with_starting_in(part);
                        let part = part.read_columns(file.path()).expect("a part");
                        assert_eq!(part.names, whole.names);
                        rows_of(&part)
                    })
                    .collect();
                assert_eq!(parts, rows_of(&whole), "{text:?} at {first} and {second}");
            }
        }
    }
}

#[test]
fn a_fault_of_the_whole_is_one_of_a_part_wherever_it_is_cut() {
    for (text, columns) in [
        ("x,note\n1,\"a\n2,b\"\n3,c\n", Some(["x"])),
        ("x,y\n1,2\n3\n4,5\n", None),
        ("x,y\n1,2\n3,\"4\n4,5\n", None),
        ("x,y\n1,2\n3,4\r5\n4,5\n", None),
    ] {
        let file = file(text);
        let options = match columns {
            Some(columns) => TableOptions::new().with_columns(columns),
            None => TableOptions::new(),
        };
        let wanted = options.read_columns(file.path()).expect_err("a fault");
        for cut in 0..=text.len() as u64 + 1 {
            let part = |from, to| {
                let part = options.clone().with_starting_in(Extent::between(from, to));
                part.read_columns(file.path()).err().map(|error| error.to_string())
            };
            let found = part(0, cut).or_else(|| part(cut, u64::MAX));
            assert_eq!(found, Some(wanted.to_string()), "{text:?} at {cut}");
        }
    }
}

#[test]
fn the_schema_is_that_of_the_columns() {
    let mut next = splitmix(3);
    for round in 0..60 {
        let rows = next() % 3000;
        let mut text = String::from("a,b,c\n");
        for _ in 0..rows {
            for column in 0..3 {
                let fraction = next().is_multiple_of(2000);
                match next() % 8 {
                    0 => {}
                    _ if column == round % 3 => text.push_str("NA"),
                    _ => text.push_str(&(next() % 1000).to_string()),
                }
                text.push_str(if fraction && column > 0 { "0.5" } else { "" });
                text.push(if column == 2 { '\n' } else { ',' });
            }
        }
        let file = file(text);
        let options = TableOptions::new().with_block_size(1 + next() % 5000);
        match (options.schema(file.path()), options.read_columns(file.path())) {
            (Ok(schema), Ok(whole)) => {
                let kinds: Vec<_> = whole.columns.iter().map(table::Column::kind).collect();
                assert_eq!((schema.names, schema.kinds), (whole.names, kinds), "{round}");
            }
            (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
            (one, other) => panic!("{one:?}, but {other:?}"),
        }
        let picked = options.with_columns(["c", "a"]);
        if let Ok(schema) = picked.schema(file.path()) {
            assert_eq!(schema.names.as_deref(), Some(&["c".to_owned(), "a".into()][..]));
            assert_eq!(schema.kinds.len(), 2);
        }
    }
}

#[test]
fn given_types_are_kept_to() {
    let file = file("n,x,t\n1,2,a\n3,4,b\n");
    let options = TableOptions::new().with_columns(["x", "n"]);
    let read = |kinds: &[(&str, ColumnKind)]| {
        options.clone().with_kinds(kinds.iter().copied()).read_columns(file.path())
    };
    // The type of a column that is not read is ignored.
    let table = read(&[("x", ColumnKind::F64), ("t", ColumnKind::I64)]).expect("a table");
    assert_eq!(table.columns[0].values(), Values::F64(&[2.0, 4.0]));
    assert_eq!(table.columns[1].values(), Values::I64(&[1, 3]));
    for (kinds, detail) in [
        (&[("y", ColumnKind::F64)][..], "there is no column `y`"),
        (&[("x", ColumnKind::U64)], "text never becomes unsigned"),
        (&[("x", ColumnKind::F64), ("x", ColumnKind::I64)], "is given two types"),
    ] {
        let error = read(kinds).expect_err("wrong");
        assert_eq!(error.reason(), FormatReason::Invalid);
        assert!(error.to_string().contains(detail), "{error}");
    }
    let array = TableOptions::new().with_kinds([(0, ColumnKind::I64)]).read::<i64>(file.path());
    assert_eq!(array.expect_err("one type").reason(), FormatReason::Invalid);
}

#[test]
fn a_fraction_among_integers_is_reported_where_it_is() {
    let rows = |fraction: &str| format!("n,x\n{}7,{fraction}\n8,9\n", "1,2\n".repeat(30_000));
    for (number, reason) in
        [("2.5", FormatReason::Malformed), ("1e30", FormatReason::Malformed)]
    {
        let file = file(rows(number));
        let options = TableOptions::new().with_kinds([("x", ColumnKind::I64)]);
        for error in [
            options.read_columns(file.path()).expect_err("a fraction"),
            options.schema(file.path()).expect_err("a fraction"),
        ] {
            assert_eq!((error.reason(), error.line()), (reason, Some(30_002)), "{error}");
            assert!(error.to_string().contains("column `x`"), "{error}");
        }
        let doubles = options.with_kinds([("x", ColumnKind::F64)]).read_columns(file.path());
        assert_eq!(doubles.expect("doubles").columns[1].kind(), ColumnKind::F64);
    }
}

#[test]
fn bytes_that_the_options_select_are_a_table() {
    let (before, text, after) = ("not, a table\n\"", "x,y\n1,2\n3,x\n", "\"\0");
    let file = file([before, text, after].concat());
    let part = |len: usize| {
        let read = ReadOptions::new().with_offset(before.len() as u64);
        TableOptions::new().with_read(read.with_len(len as u64))
    };
    let table = part(8).read::<i64>(file.path()).expect("a table");
    assert_eq!((table.rows, &table.values[..]), (1, &[1, 2][..]));
    let rows = part(text.len()).with_starting_in(Extent::between(5, u64::MAX));
    let error = rows.read_columns(file.path()).expect_err("a word");
    assert_eq!((error.line(), error.offset()), (Some(3), Some(10)), "{error}");
    let error = part(1000).read_columns(file.path()).expect_err("too short");
    assert!(error.to_string().contains("bytes"), "{error}");
}
