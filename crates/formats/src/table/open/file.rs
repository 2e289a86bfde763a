//! A file of a table: opened once, in UTF-8.

use std::path::Path;

use swath::Source;

use super::fit;
use crate::error::Result;
use crate::input::InputText;
use crate::table::options::BatchOptions;
use crate::table::options::choices::{Encoding, EncodingErrors};
use crate::table::text::encode;
use crate::table::text::faults::Origin;

/// A file of a table.
pub(in crate::table) struct TableFile {
    /// Its text in UTF-8.
    pub(in crate::table) text: InputText,
    /// The start of the text, after a byte order mark.
    pub(in crate::table) begin: u64,
    /// Never [`Encoding::Auto`].
    pub(in crate::table) encoding: Encoding,
    errors: EncodingErrors,
    /// The text before this one, if it is a part of a pipe.
    pub(in crate::table) before: Origin,
}

/// Byte order marks.
const MARKS: [(&[u8], Encoding); 3] = [
    (b"\xef\xbb\xbf", Encoding::Utf8),
    (b"\xff\xfe", Encoding::Utf16Le),
    (b"\xfe\xff", Encoding::Utf16Be),
];

/// Whether a text with these first bytes is read as it is.
pub(in crate::table) fn is_plain(head: &[u8], options: &BatchOptions) -> bool {
    let (encoding, _) = encoding(head, options);
    encoding == Encoding::Utf8 && options.encoding_errors == EncodingErrors::Refuse
}

/// Returns the encoding of a text with these first bytes, and the length of its mark.
fn encoding(head: &[u8], options: &BatchOptions) -> (Encoding, usize) {
    let marked = MARKS.iter().find(|(mark, _)| head.starts_with(mark));
    match (options.encoding, marked) {
        (Encoding::Auto, Some(&(mark, found))) => (found, mark.len()),
        (Encoding::Auto, None) => (Encoding::Utf8, 0),
        (given, Some(&(mark, found))) if found == given => (given, mark.len()),
        (given, _) => (given, 0),
    }
}

impl TableFile {
    /// Opens a file, and decodes it if it is not in UTF-8.
    pub(in crate::table) fn open(source: Source, options: &BatchOptions) -> Result<Self> {
        Self::of(
            InputText::open_encoded(source, &options.read, || fit::kept(options))?,
            options,
        )
    }

    /// Decodes a text if it is not in UTF-8.
    pub(in crate::table) fn of(text: InputText, options: &BatchOptions) -> Result<Self> {
        let head = text.some(0, 3)?;
        let (encoding, mark) = encoding(&head, options);
        let (errors, mark) = (options.encoding_errors, mark as u64);
        let is_plain = encoding == Encoding::Utf8
            && (errors == EncodingErrors::Refuse || encode::is_utf_8(&text, mark)?);
        let (text, begin) = match is_plain {
            true => (text, mark),
            false => (encode::decoded(&text, encoding, errors, mark)?, 0),
        };
        Ok(Self { text, begin, encoding, errors, before: Origin::default() })
    }

    /// Returns the origin of the text.
    pub(in crate::table) fn origin(&self) -> Origin {
        Origin { is_decoded: self.text.flaws().is_some(), ..self.before }
    }

    /// Returns the number of byte sequences replaced, if the options request that.
    pub(in crate::table) fn replaced(&self) -> u64 {
        let flaws = self.text.flaws().filter(|_| self.errors == EncodingErrors::Replace);
        flaws.map_or(0, |flaws| flaws.count)
    }

    /// Returns the name in messages.
    pub(in crate::table) fn path(&self) -> &Path {
        self.text.path()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::Path;

    use arrow_array::RecordBatch;
    use arrow_schema::SchemaRef;
    use swath::{Extent, ReadOptions};
    use swath_reference::battery::Battery;

    use super::*;
    use crate::compressed::{CompressOptions, Format, LEAST_BLOCK};
    use crate::error::{Error, FormatReason};
    use crate::table::{BatchForm, BatchWriteOptions, ColumnType, Ragged, TableReport};

    /// Types, rows and report of a table, or its error.
    type Found = std::result::Result<(SchemaRef, String, String), String>;

    const ENDS: [(&str, Format); 4] = [
        ("zst", Format::Zstd),
        ("gz", Format::Gzip),
        ("bgz", Format::Bgzf),
        ("bz2", Format::Bzip2),
    ];

    /// Records of texts, numbers and gaps, of about 20 bytes each.
    fn text(records: usize, each: impl Fn(usize, &mut String)) -> String {
        let mut text = String::from("n,x,t\n");
        for record in 0..records {
            each(record, &mut text);
        }
        text
    }

    fn line(record: usize, text: &mut String) {
        writeln!(text, "{record},{}.5,some {}", record % 7, record % 11).expect("memory");
    }

    /// Texts, some of them faulty, and options for reading them.
    fn cases() -> Vec<(&'static str, String, BatchOptions)> {
        let quoted = |record: usize, text: &mut String| match record % 50 {
            0 => writeln!(text, "{record},1,\"{}\"", "a \"\"b\"\"\n".repeat(record % 90)),
            1 => writeln!(text, "{record},,\"one\r\ntwo\""),
            _ => writeln!(text, "{record},{record}.25,three"),
        };
        let at = |at: usize, other: &'static str| {
            move |record: usize, text: &mut String| match record == at {
                true => text.push_str(other),
                false => line(record, text),
            }
        };
        let plain = BatchOptions::new;
        let lines = text(300, line);
        let quotes = text(250, |record, text| quoted(record, text).expect("memory"));
        let part = |from, to| plain().with_starting_in(Extent::between(from, to));
        let objects: String = (0..300)
            .map(|at| match at {
                200 => String::from("{\"n\": 1, \"late\": [2]}\n"),
                _ => format!("{{\"n\": {at}, \"t\": \"{}\"}}\n", at % 13),
            })
            .collect();
        vec![
            ("lines", lines.clone(), plain()),
            ("quotes", quotes.clone(), plain()),
            ("a late type", text(300, at(250, "1.5,x,y\n")), plain()),
            ("a type that comes last", text(300, at(299, "a,2020-01-01,y\n")), plain()),
            ("types", lines.clone(), plain().with_types([("n", ColumnType::F64)])),
            ("all types", lines.clone(), {
                let types = ["n", "x", "t"].map(|name| (name, ColumnType::Text));
                plain().with_types(types)
            }),
            ("rows", lines.clone(), plain().with_rows(222)),
            ("columns", quotes.clone(), plain().with_columns(["t"])),
            ("a part", lines.clone(), part(2000, 4000)),
            ("a part of quotes", quotes.clone(), part(1500, 5000)),
            ("the last part", lines.clone(), part(4000, u64::MAX)),
            ("no part", lines, part(u64::MAX - 1, u64::MAX)),
            ("objects", objects, plain().with_form(BatchForm::JsonLines)),
            ("set aside", text(300, at(200, "1,2\n")), plain().with_ragged(Ragged::SetAside)),
            ("ragged", text(300, at(200, "1,2\n")), plain()),
            ("a quote in a field", text(300, at(260, "1,\"a\"b,\n")), plain()),
            ("a quote without an end", text(300, at(150, "1,\"a,2\n")), plain()),
            ("not UTF-8", quotes.replace("142,142.25", "142,\u{7f}"), plain()),
            ("a header alone", String::from("n,x\n") + &"\n".repeat(3000), plain()),
        ]
    }

    fn found(path: &Path, options: &BatchOptions, is_stream: bool) -> Found {
        let source = Source::from(path);
        let read = || -> Result<(SchemaRef, Vec<RecordBatch>, TableReport)> {
            if !is_stream {
                let table = options.read_batches(source)?;
                return Ok((table.schema, table.batches, table.report));
            }
            let mut stream = options.stream_batches(source)?;
            let batches = stream.by_ref().collect::<Result<Vec<_>>>()?;
            Ok((stream.schema().clone(), batches, stream.report().clone()))
        };
        let shown = |error: Error| error.to_string().replace(&*path.to_string_lossy(), "FILE");
        let (schema, batches, report) = read().map_err(shown)?;
        let rows = path.with_file_name("rows.csv");
        let written = BatchWriteOptions::new().write_batches(&rows, &schema, &batches);
        written.expect("written");
        let rows = std::fs::read_to_string(rows).expect("text");
        Ok((schema, rows, format!("{report:?}")))
    }

    #[test]
    fn a_long_compressed_text_is_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let packed = folder.path().join("table.gz");
        for (len, is_kept) in [(999, true), (1000, true), (9999, false)] {
            let output = swath::Output::from(packed.as_path());
            let text = "1,2,3,4,5\n".repeat(1000);
            let source = folder.path().join("table");
            std::fs::write(&source, &text[..len]).expect("written");
            CompressOptions::new().compress(&source, output).expect("compressed");
            let file = TableFile::open(Source::from(packed.as_path()), &BatchOptions::new());
            let file = file.expect("a text");
            assert_eq!(file.text.len() < u64::MAX, is_kept, "{len} bytes");
            assert_eq!(file.text.some(990, 10_000).expect("it can be read").len(), len - 990);
            assert_eq!(file.text.len(), len as u64);
        }
    }

    #[test]
    fn what_is_wrong_with_a_compressed_stream_is_told_with_its_byte() {
        let folder = tempfile::tempdir().expect("a folder");
        let plain = folder.path().join("table");
        std::fs::write(&plain, text(150_000, line)).expect("written");
        let options = BatchOptions::new().with_block_size(50_000);
        for (end, format) in Battery::of_list("combinations", 1, ENDS) {
            let packed = plain.with_extension(end);
            let compress = CompressOptions::new().with_format(format);
            compress
                .with_block_size(LEAST_BLOCK)
                .compress(&plain, &packed)
                .expect("compressed");
            let whole = std::fs::read(&packed).expect("there");
            let late = whole.len() / 4 * 3;
            let wrongs = [
                ("cut", whole[..late].to_vec()),
                ("flipped", {
                    let mut bytes = whole.clone();
                    bytes[late] ^= 0x10;
                    bytes
                }),
                ("with more after it", [&whole[..], b"more"].concat()),
            ];
            for (how, bytes) in wrongs {
                std::fs::write(&packed, bytes).expect("written");
                // The error of the command that decompresses it.
                let none = swath::Output::stream(std::io::sink(), "nothing");
                let decompress = crate::compressed::DecompressOptions::new();
                let wanted = decompress.decompress(packed.as_path(), none);
                let wanted = wanted.and_then(|done| crate::input::check_end(&packed, &done));
                let wanted = wanted.expect_err(how).to_string();
                for _ in 0..2 {
                    let error = options.read_batches(packed.as_path()).expect_err(how);
                    assert_eq!(error.to_string(), wanted, "{how} {end}");
                }
                let types = ["n", "x", "t"].map(|name| (name, ColumnType::Text));
                let told = options.clone().with_types(types);
                let mut stream = told.stream_batches(packed.as_path()).expect("a table");
                let mut rows = 0;
                let error = loop {
                    match stream.next().expect("an error comes") {
                        Ok(batch) => rows += batch.num_rows(),
                        Err(error) => break error,
                    }
                };
                assert_eq!(error.to_string(), wanted, "{how} {end}");
                assert!(rows > 10_000, "{rows} rows before it, {how} {end}");
                assert!(stream.next().is_none());
            }
        }
    }

    #[test]
    fn a_wrong_byte_of_the_stream_is_the_fault_and_not_the_text_that_it_gives() {
        let folder = tempfile::tempdir().expect("a folder");
        let (plain, packed) = (folder.path().join("table"), folder.path().join("table.gz"));
        std::fs::write(&plain, text(20_000, line)).expect("written");
        // One member, which stores the bytes of the text.
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        let mut text = std::fs::read(&plain).expect("there");
        std::io::Write::write_all(&mut member, &text).expect("memory");
        let mut bytes = member.finish().expect("memory");
        let comma = bytes.iter().rposition(|&byte| byte == b',').expect("one");
        bytes[comma] = b' ';
        std::fs::write(&packed, &bytes).expect("written");
        let options = BatchOptions::new().with_block_size(5000);
        let error = options.read_batches(packed.as_path()).expect_err("a field is missing");
        assert_eq!(
            (error.reason(), error.offset()),
            (FormatReason::Corrupt, Some(0)),
            "{error}"
        );
        // The same text in a valid stream.
        let comma = text.iter().rposition(|&byte| byte == b',').expect("one");
        text[comma] = b' ';
        std::fs::write(&plain, &text).expect("written");
        CompressOptions::new().compress(&plain, &packed).expect("compressed");
        let error = options.read_batches(packed.as_path()).expect_err("a field is missing");
        assert_eq!(error.reason(), FormatReason::Malformed, "{error}");
    }

    #[test]
    fn a_compressed_table_is_the_plain_one() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text, options) in Battery::of_list("combinations", 5, cases()) {
            let plain = folder.path().join("table");
            let mut bytes = text.into_bytes();
            bytes.iter_mut().filter(|byte| **byte == 0x7f).for_each(|byte| *byte = 0xff);
            std::fs::write(&plain, &bytes).expect("written");
            let packed: Vec<_> = ENDS
                .iter()
                .map(|(end, format)| {
                    let packed = plain.with_extension(end);
                    let options = CompressOptions::new()
                        .with_format(*format)
                        .with_block_size(LEAST_BLOCK);
                    options.compress(&plain, &packed).expect("compressed");
                    packed
                })
                .collect();
            for (workers, block_size) in [(1, 40), (3, 333), (4, 4000), (2, 0)] {
                let read = ReadOptions::new().with_workers(workers);
                let options = options.clone().with_read(read).with_block_size(block_size);
                for is_stream in [false, true] {
                    let wanted = found(&plain, &options, is_stream);
                    for packed in &packed {
                        let given = found(packed, &options, is_stream);
                        assert!(
                            given == wanted,
                            "{name}, {workers} workers, blocks of {block_size}, {is_stream}, {packed:?}:\
                             \n{given:?}\n{wanted:?}"
                        );
                    }
                }
            }
        }
    }
}
