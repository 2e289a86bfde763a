//! Arrow files and streams of any types are read as they were written; damaged ones are errors.

use std::path::{Path, PathBuf};

use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{self as ipc, CompressionType, MetadataVersion};
use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, WIPOffset};
use swath_formats::FormatReason;
use swath_formats::table::{
    self, BatchForm, BatchOptions, BatchWriteOptions, Dictionary, arrow,
};

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

    /// Writes with arrow-ipc, compressed.
    fn compress(&self, name: &str, codec: CompressionType) -> PathBuf {
        let options = IpcWriteOptions::default().try_with_compression(Some(codec));
        let (options, schema) = (options.expect("a codec"), self.table.schema());
        let path = self.folder.path().join(name);
        let file = std::fs::File::create(&path).expect("room");
        let batches = self.table.batches().iter().chain(self.table.batches());
        if name == "t.arrow" {
            let writer = FileWriter::try_new_with_options(file, schema, options);
            let mut writer = writer.expect("a file");
            batches.for_each(|batch| writer.write(batch).expect("room"));
            writer.finish().expect("room");
        } else {
            let writer = StreamWriter::try_new_with_options(file, schema, options);
            let mut writer = writer.expect("a stream");
            batches.for_each(|batch| writer.write(batch).expect("room"));
            writer.finish().expect("room");
        }
        path
    }
}

const CODECS: [CompressionType; 2] = [CompressionType::LZ4_FRAME, CompressionType::ZSTD];

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
    assert_eq!((info.rows, &info.names[1][..], &info.types[1][..]), (6, "name", "text"));
}

/// A table of many equal values, which become shorter.
fn even() -> Written {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let lines: String = (0..2000).map(|at| format!("{},same,\n", at / 100)).collect();
    std::fs::write(&path, format!("n,text,none\n{lines}")).expect("room");
    let options = BatchOptions::new().with_types([("text", table::ColumnType::Dictionary)]);
    let table = options.read_batches(&path).expect("a table");
    Written { folder, table }
}

#[test]
fn compressed_files_and_streams_are_read_back() {
    for written in [even(), Written::new(&BatchOptions::new().with_dictionary(Dictionary::All))]
    {
        let wanted = written.table.batches();
        for codec in CODECS {
            for name in ["t.arrow", "t.arrows"] {
                let path = written.compress(name, codec);
                let batches = arrow::batches(&path).expect(name);
                assert_eq!(batches.schema(), written.table.schema(), "{name} {codec:?}");
                let read: Vec<_> = batches.collect::<Result<_, _>>().expect(name);
                let lines =
                    |batches: &[_]| crate::typed::shown::lines(written.table.schema(), batches);
                assert_eq!(lines(&read), lines(&[wanted, wanted].concat()), "{name} {codec:?}");
            }
        }
    }
}

#[test]
fn lengths_that_compressed_values_cannot_have_are_errors() {
    let written = even();
    let size = (2000u64 * 8).to_le_bytes();
    for codec in CODECS {
        for name in ["t.arrow", "t.arrows"] {
            let path = written.compress(name, codec);
            let bytes = std::fs::read(&path).expect("written");
            let at = bytes.windows(8).position(|part| part == size).expect("a buffer");
            let claims = [1 << 30, 1 << 62, i64::MAX, i64::MIN, -2];
            for (claim, wanted) in claims
                .map(|claim| (claim, "less than is possible"))
                .into_iter()
                .chain([(0, "damaged"), (15_999, "damaged"), (16_001, "damaged")])
            {
                let mut damaged = bytes.clone();
                damaged[at..at + 8].copy_from_slice(&i64::to_le_bytes(claim));
                std::fs::write(&path, damaged).expect("room");
                let error = rows(&path).expect_err("a wrong length");
                assert_eq!(error.reason(), FormatReason::Malformed, "{name} {claim}: {error}");
                assert!(error.to_string().contains(wanted), "{name} {claim}: {error}");
            }
        }
    }
}

#[test]
fn streams_of_arrow_before_0_15_are_read() {
    let written = Written::new(&BatchOptions::new());
    let schema = written.table.schema();
    let options = IpcWriteOptions::try_new(8, true, MetadataVersion::V4).expect("as then");
    let mut bytes = Vec::new();
    let mut writer =
        StreamWriter::try_new_with_options(&mut bytes, schema, options).expect("a stream");
    written.table.batches().iter().for_each(|batch| writer.write(batch).expect("room"));
    writer.finish().expect("room");
    drop(writer);
    assert!(!bytes.starts_with(&[0xff; 4]), "it has no marker");
    let path = written.folder.path().join("old.arrows");
    for (len, wanted) in [(bytes.len(), Some(3)), (bytes.len() / 2, None), (9, None)] {
        std::fs::write(&path, &bytes[..len]).expect("room");
        assert_eq!(rows(&path).ok(), wanted, "{len} bytes");
    }
}

fn big_endian_schema<'b>(builder: &mut FlatBufferBuilder<'b>) -> WIPOffset<ipc::Schema<'b>> {
    let fields = Some(builder.create_vector::<ForwardsUOffset<ipc::Field<'_>>>(&[]));
    let endianness = ipc::Endianness::Big;
    let parts = ipc::SchemaArgs { endianness, fields, ..Default::default() };
    ipc::Schema::create(builder, &parts)
}

#[test]
fn big_endian_numbers_are_refused_in_files_and_in_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut message = FlatBufferBuilder::new();
    let schema = big_endian_schema(&mut message);
    let header = ipc::MessageArgs {
        version: ipc::MetadataVersion::V5,
        header_type: ipc::MessageHeader::Schema,
        header: Some(schema.as_union_value()),
        ..Default::default()
    };
    let root = ipc::Message::create(&mut message, &header);
    message.finish(root, None);
    let mut footer = FlatBufferBuilder::new();
    let schema = Some(big_endian_schema(&mut footer));
    let parts = ipc::FooterArgs { schema, ..Default::default() };
    let root = ipc::Footer::create(&mut footer, &parts);
    footer.finish(root, None);
    let (message, footer) = (message.finished_data(), footer.finished_data());
    let sized = |bytes: &[u8]| u32::try_from(bytes.len()).expect("short").to_le_bytes();
    let old: &[&[u8]] = &[&sized(message), message, &[0; 4]];
    let file: &[&[u8]] = &[b"ARROW1\0\0", footer, &sized(footer), b"ARROW1"];
    for (name, parts) in
        [("old", old), ("new", &[&[&[0xff; 4][..]], old].concat()), ("file", file)]
    {
        let path = folder.path().join(name);
        std::fs::write(&path, parts.concat()).expect("room");
        let error = rows(&path).expect_err("big-endian");
        assert_eq!(error.reason(), FormatReason::Unsupported, "{name}: {error}");
        assert!(error.to_string().contains("its numbers are big-endian"), "{name}: {error}");
    }
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
    let compressed =
        CODECS.map(|codec| ["t.arrow", "t.arrows"].map(|name| (name, Some(codec))));
    let (even, plain) = (even(), [("t.arrow", None), ("t.arrows", None)]);
    for (name, codec) in compressed.into_iter().flatten().chain(plain) {
        let path = match codec {
            Some(codec) => even.compress(name, codec),
            None => written.write(name),
        };
        let bytes = std::fs::read(&path).expect("written");
        let path = written.folder.path().join(name);
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

#[test]
fn a_name_that_promises_another_format_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("t.csv");
    std::fs::write(&csv, "a,b\n1,2\n").expect("room");
    let batches = table::read_batches(&csv).expect("a table");
    for name in ["t.parquet", "t.PQ", "t.xlsx", "t.h5"] {
        let path = folder.path().join(name);
        let arrow = BatchWriteOptions::new().with_form(BatchForm::Arrow);
        for written in [
            table::write_array(&path, 1, &[1, 2]).map(drop),
            table::write_batches(&path, batches.schema(), batches.batches()).map(drop),
            arrow.write_batches(&path, batches.schema(), batches.batches()).map(drop),
        ] {
            let error = written.expect_err(name);
            assert_eq!(error.reason(), FormatReason::Unsupported, "{error}");
            assert!(
                error.to_string().contains("which is not written; try: choose a name"),
                "{error}"
            );
            assert!(!path.exists());
        }
    }
}
