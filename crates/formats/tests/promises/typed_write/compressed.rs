//! Compressed on the way: what is decompressed is the plain output.

use std::path::Path;
use std::process::Command;

use arrow_array::record_batch;
use swath::OutputOptions;
use swath_formats::FormatReason;
use swath_formats::compressed::{CompressOptions, Format, decompress};
use swath_formats::table::{self, BatchWriteOptions, HeaderLine, Packing};
use swath_reference::battery::Battery;

use super::drawn::{Draw, Table};

fn plain(table: &Table, path: &Path, options: &BatchWriteOptions) -> Vec<u8> {
    let options = options.clone().with_packing(Packing::Plain);
    options.write_batches(path, &table.schema, &table.batches).expect("written");
    std::fs::read(path).expect("there")
}

#[test]
fn every_form_in_every_format_decompresses_to_the_plain_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut draw = Draw::new(70, 10);
    let table = Table::draw(&mut draw, 2000);
    for form in ["csv", "jsonl", "arrow", "arrows"] {
        let options = BatchWriteOptions::new();
        let wanted = plain(&table, &folder.path().join(format!("t.{form}")), &options);
        for &(word, format) in Battery::of_list("combinations", 1, Format::WORDS) {
            let end = if format == Format::Bgzf { "bgz" } else { format.extension() };
            let path = folder.path().join(format!("t.{form}.{end}"));
            let mut packed: Vec<Vec<u8>> = Vec::new();
            for workers in 1..=4 {
                let options =
                    options.clone().with_output(OutputOptions::new().with_workers(workers));
                let written = options.write_batches(&path, &table.schema, &table.batches);
                let written = written.expect("written");
                assert_eq!(written.format, Some(format), "{word}");
                assert_eq!(written.bytes_in, wanted.len() as u64, "{word}");
                packed.push(std::fs::read(&path).expect("there"));
                assert_eq!(written.bytes_out, packed[0].len() as u64, "{word}");
            }
            assert!(packed.iter().all(|it| *it == packed[0]), "{word} of {form}");
            let back = folder.path().join("back");
            let unpacked = decompress(&path, &back).expect("intact");
            assert_eq!((unpacked.format, unpacked.lacks_end), (format, false));
            assert!(std::fs::read(&back).expect("there") == wanted, "{word} of {form}");
        }
    }
}

#[test]
fn small_pieces_and_tables_without_rows_are_whole_streams_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut draw = Draw::new(71, 10);
    let table = Table::draw(&mut draw, 60);
    let batch = record_batch!(("a", Int8, [1])).expect("one");
    let (schema, batches) = (batch.schema(), Vec::new());
    let empty = Table { schema, names: Vec::new(), batches, rows: Vec::new() };
    for (table, header) in [
        (&table, HeaderLine::Present),
        (&empty, HeaderLine::Present),
        (&empty, HeaderLine::Absent),
    ] {
        let options = BatchWriteOptions::new().with_header(header);
        let wanted = plain(table, &folder.path().join("t.csv"), &options);
        for &(word, format) in Format::WORDS {
            for block_size in [0, 1, 1000] {
                let path = folder.path().join("t");
                let options = options
                    .clone()
                    .with_form(swath_formats::table::BatchForm::Csv)
                    .with_packing(Packing::Format(format))
                    .with_block_size(block_size)
                    .with_level(1);
                options.write_batches(&path, &table.schema, &table.batches).expect("written");
                let back = folder.path().join("back");
                decompress(&path, &back).expect("intact");
                assert!(std::fs::read(&back).expect("there") == wanted, "{word} {block_size}");
            }
        }
    }
}

#[test]
fn the_usual_tools_read_what_was_compressed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut draw = Draw::new(72, 10);
    let table = Table::draw(&mut draw, 3000);
    let wanted = plain(&table, &folder.path().join("t.csv"), &BatchWriteOptions::new());
    for (tool, end) in [("gzip", "gz"), ("gzip", "bgz"), ("zstd", "zst"), ("bzip2", "bz2")] {
        let path = folder.path().join(format!("t.csv.{end}"));
        let options = BatchWriteOptions::new().with_block_size(100_000);
        options.write_batches(&path, &table.schema, &table.batches).expect("written");
        let input = std::fs::File::open(&path).expect("there");
        match Command::new(tool).arg("-dc").stdin(input).output() {
            Ok(output) => {
                assert!(output.status.success(), "{tool}: {output:?}");
                assert!(output.stdout == wanted, "{tool} of .{end}");
            }
            Err(error) => swath_reference::skip(tool, error),
        }
    }
}

#[test]
fn a_compressed_table_that_is_cut_is_an_error_at_every_length() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = folder.path().join("t.csv");
    std::fs::write(&plain, "a,b\n1,2\n").expect("room");
    for format in [Format::Zstd, Format::Gzip, Format::Bgzf, Format::Bzip2] {
        let path = folder.path().join(format!("t.csv.{}", format.extension()));
        CompressOptions::new().with_format(format).compress(&plain, &path).expect("room");
        let whole = std::fs::read(&path).expect("there");
        for len in (1..whole.len()).rev() {
            std::fs::write(&path, &whole[..len]).expect("room");
            // What is cut off may be an index that is not needed.
            if let Ok(table) = table::read_batches(&path) {
                assert_eq!(table.batches().iter().map(|it| it.num_rows()).sum::<usize>(), 1);
                continue;
            }
            let errors = [
                table::read_batches(&path).map(drop).expect_err("it is cut"),
                table::read_array::<f64>(&path).map(drop).expect_err("it is cut"),
            ];
            for error in errors {
                // After the first member, a byte may be anything.
                let is_right = match error.reason() {
                    FormatReason::Truncated => true,
                    FormatReason::Corrupt => len > 10,
                    _ => false,
                };
                assert!(is_right, "{format}, {len} of {} bytes: {error}", whole.len());
            }
        }
        // Text under such a name is still text.
        std::fs::write(&path, b"B,Z\n1,2\n").expect("room");
        assert_eq!(table::read_batches(&path).expect("text").batches()[0].num_rows(), 1);
    }
}
