//! Arrow files and streams of any types are read as they were written; damaged ones are errors.

use std::path::{Path, PathBuf};

use swath_formats::FormatReason;
use swath_formats::table::{self, BatchOptions, Dictionary, arrow};

const TEXT: &str = "id,name,born,at,ok,n\n\
    1,\"a, b\",2024-02-29,2024-02-29T12:00Z,true,1.5\n\
    2,,,,false,\n\
    3,a text of more than twelve bytes,1999-12-31,1999-12-31T00:00Z,,nan\n";

struct Written {
    folder: tempfile::TempDir,
    table: table::Batches,
}

impl Written {
    fn new(options: &BatchOptions) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv");
        std::fs::write(&path, TEXT).expect("room");
        let table = options.read_batches(&path).expect("a table");
        Self { folder, table }
    }

    fn write(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        let batches = self.table.batches();
        table::write_batches(&path, self.table.schema(), batches.iter().chain(batches))
            .expect("room");
        path
    }
}

fn rows(path: &Path) -> swath_formats::Result<usize> {
    arrow::batches(path)?.try_fold(0, |rows, batch| Ok(rows + batch?.num_rows()))
}

#[test]
fn files_and_streams_of_any_types_are_read_back() {
    let dictionaries = BatchOptions::new().with_dictionary(Dictionary::All);
    for options in [BatchOptions::new(), dictionaries] {
        let written = Written::new(&options);
        for name in ["t.arrow", "t.arrows"] {
            let path = written.write(name);
            let batches = arrow::batches(&path).expect(name);
            assert_eq!(batches.schema(), written.table.schema(), "{name}");
            let read: Vec<_> = batches.collect::<Result<_, _>>().expect(name);
            let lines =
                |batches: &[_]| crate::typed::shown::lines(written.table.schema(), batches);
            let wanted = written.table.batches();
            assert_eq!(lines(&read), lines(&[wanted, wanted].concat()), "{name}");
        }
    }
    let written = Written::new(&BatchOptions::new());
    let info = arrow::info(written.write("t.arrow")).expect("an Arrow file");
    assert_eq!((info.rows, &info.names[1][..], &info.types[1][..]), (6, "name", "LargeUtf8"));
}

#[test]
fn other_files_are_refused_and_cut_ones_are_errors() {
    let written = Written::new(&BatchOptions::new());
    let error = rows(&written.folder.path().join("t.csv")).expect_err("no Arrow");
    assert_eq!(error.reason(), FormatReason::UnknownFormat);
    for name in ["t.arrow", "t.arrows"] {
        let path = written.write(name);
        let bytes = std::fs::read(&path).expect("written");
        // Without the mark of its end, a stream is whole at the end of any message.
        let ends = if name == "t.arrow" { bytes.len() } else { bytes.len() - 8 };
        for len in (0..ends).step_by(7).chain([ends - 1]) {
            std::fs::write(&path, &bytes[..len]).expect("room");
            if let Ok(rows) = rows(&path) {
                assert!(name == "t.arrows" && rows % 3 == 0 && rows < 6, "{name} {len} {rows}");
            }
        }
    }
}

#[test]
fn damaged_files_are_errors_or_other_tables_and_never_crash() {
    let written = Written::new(&BatchOptions::new().with_dictionary(Dictionary::All));
    let mut next = swath_reference::splitmix(7);
    let mut below = |end: usize| usize::try_from(next() % end as u64).expect("small");
    for name in ["t.arrow", "t.arrows"] {
        let path = written.write(name);
        let bytes = std::fs::read(&path).expect("written");
        for _ in 0..300 {
            let mut damaged = bytes.clone();
            for _ in 0..=below(3) {
                let at = below(damaged.len());
                damaged[at] = u8::try_from(below(256)).expect("a byte");
            }
            std::fs::write(&path, &damaged).expect("room");
            drop(rows(&path));
        }
    }
}
