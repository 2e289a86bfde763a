//! The delimiter, and whether there is a header, are decided by a sample of the same size for every block
//! size: 1,000 records that begin within 1 MiB after the first one.

use swath_reference::typed::{Between, Options, Ragged, Table, read};

use crate::typed::oracle::{self, How};

/// Reads a text, and finds what the oracle finds.
fn table(text: &str) -> Table {
    table_with(text, &Options::default())
}

fn table_with(text: &str, options: &Options) -> Table {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("written");
    let wanted = read(text.as_bytes(), options).expect("a table");
    for (workers, block_size) in [(1, 0), (2, 4000), (3, 1 << 20)] {
        let how = How { workers, block_size, is_stream: workers == 2 };
        let found = oracle::read(file.path(), &oracle::options(options), how).expect("a table");
        assert!(found == wanted, "{how:?}: header {}", found.header);
    }
    wanted
}

/// A first record that is data only if a number is found in the first column below it, after this many
/// records in which it is missing, each of this many bytes.
fn data_and_a_late_number(records: usize, bytes: usize) -> String {
    let fill = "x".repeat(bytes - 2);
    let missing = format!(",{fill}\n").repeat(records);
    format!("4,a\n{missing}5,x\n")
}

#[test]
fn the_thousandth_record_decides_and_the_next_one_does_not() {
    assert_eq!(table(&data_and_a_late_number(999, 10)).header, 0);
    assert_eq!(table(&data_and_a_late_number(1000, 10)).header, 1);
}

#[test]
fn a_record_decides_that_begins_within_a_mebibyte_after_the_first_one() {
    assert_eq!(table(&data_and_a_late_number(255, 4096)).header, 0);
    assert_eq!(table(&data_and_a_late_number(256, 4096)).header, 1);
    // One byte less before it.
    let text = data_and_a_late_number(256, 4096).replacen(",x", ",", 1);
    assert_eq!(table(&text).header, 0);
}

#[test]
fn the_delimiter_is_that_of_the_sample() {
    let set_aside = Options { ragged: Ragged::SetAside, ..Options::default() };
    // Commas are as consistent as bars, until a record lacks one.
    let text = |records: usize| "a,b|c\n".repeat(records) + "d|e\nf|g\n";
    assert_eq!(table_with(&text(1001), &set_aside).delimiter, Between::Byte(b','));
    assert_eq!(table_with(&text(1000), &set_aside).delimiter, Between::Byte(b'|'));
}

#[test]
fn a_first_record_of_more_than_a_mebibyte_has_names() {
    let count = 3000;
    let names: Vec<String> = (0..count).map(|at| format!("{at:_>400}")).collect();
    let values = vec!["7"; count].join(",");
    let table = table(&format!("{}\n{values}\n{values}\n", names.join(",")));
    assert_eq!((table.header, table.columns.len(), table.rows), (1, count, 2));
}
