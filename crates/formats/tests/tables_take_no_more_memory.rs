//! Reading a table takes the memory of the result, and little more.
//!
//! A single test, alone in its process, because it measures the peak memory of the whole process.

use swath::ReadOptions;
use swath_formats::table::BatchOptions;
use swath_reference::battery::Battery;

/// Peak memory of this process in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is this process's");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("it is listed");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).expect("KiB");
    kib / 1024
}

/// One row of 100,000 numbers takes the memory of its values, its text and what is known of its columns.
fn check_a_long_row(folder: &std::path::Path) {
    let path = folder.join("row.csv");
    let mut text = "1,2,3,4,5,6,7,8,9,0,".repeat(10_000);
    text.push_str("1\n");
    std::fs::write(&path, &text).expect("room");
    drop(text);
    let before = peak();
    let table = BatchOptions::new().read_array::<f64>(&path).expect("a table");
    assert_eq!((table.rows, table.columns), (1, 100_001));
    // 1 MiB of text and of doubles, and columns of some hundred bytes.
    let taken = peak() - before;
    assert!(taken <= 96, "{taken} MiB for a row");
}

#[test]
fn the_peak_is_the_table_and_a_little() {
    let folder = tempfile::tempdir().expect("a folder");
    check_a_long_row(folder.path());
    let path = folder.path().join("t.csv");
    // 20 MiB of text, 80 MiB of doubles.
    let lines = "1,2,3,4,5,6,7,8\n".repeat(1 << 16);
    let mut file = std::fs::File::create(&path).expect("room");
    for _ in 0..20 {
        std::io::Write::write_all(&mut file, lines.as_bytes()).expect("room");
    }
    drop((lines, file));
    for workers in Battery::of_list("combinations", 1, [1, 2, 8]) {
        let read = ReadOptions::new().with_workers(workers);
        let options = BatchOptions::new().with_read(read);
        let before = peak();
        let table = options.read_array::<f64>(&path).expect("a table");
        let mib = (table.values.len() * 8) as u64 >> 20;
        assert_eq!((table.rows, mib), (20 << 16, 80));
        drop(table);
        let taken = peak() - before.min(20);
        assert!(taken <= mib * 11 / 10 + 48, "{taken} MiB with {workers} workers");
    }
}
