//! `swath info`: shows the contents of a file, by its header and by counting.

mod table;
mod tensors;

use std::collections::BTreeSet;

use anyhow::Result;
use clap::{Args, ValueHint};
use serde_json::{Map, Value};
use swath::machine::escaped;
use swath::{ReadOptions, append};
use swath_formats::compressed::{Format as Packing, Seekable};
use swath_formats::matrix::{self, MatrixFormat, MatrixOptions};
use swath_formats::table::{ColumnType, arrow, npy};
use swath_formats::{FileFormat, FormatReason};

use super::convert::format::{FORMATS, Format, is_plain};
use super::convert::several;
use super::convert::size::size_in;
use super::several::each;
use super::{Command, Outcome};
use crate::args::{TableArgs, input, words};
use crate::failure::{Refused, without_hint};
use crate::grid::terminal_width;
use crate::input::Input;
use crate::output::{print, print_json};
use crate::report::{PathJson, object, size_text};

/// `swath info`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath info graph.mtx
  swath info table.csv
  swath info log.jsonl
  swath info --widths auto stations.txt
  swath info --json --delimiter ';' --decimal , export.csv
  swath info model.safetensors
  swath info data.zst out.segments/
  curl -s https://example.org/graph.mtx | swath info

Of a table, each column is listed with its type, the number of missing values, the least and the greatest \
value, and the first line whose value made the type what it is. Compressed tables are read if a flag for \
tables or --format is given.")]
pub struct Info {
    /// Files, folders of files or of segments, or patterns; `-` is standard input
    #[arg(value_name = "PATH", default_value = "-", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub paths: Vec<Input>,

    /// The format of the files [default: by their first bytes, or the ends of their names]
    #[arg(long, value_name = "FORMAT", value_parser = words(FORMATS))]
    pub format: Option<Format>,

    /// How tables are written.
    #[command(flatten)]
    pub table: TableArgs,

    /// Print a line of JSON for each file, with units in its keys
    #[arg(long)]
    pub json: bool,
}

impl Command for Info {
    fn run(&self) -> Result<Outcome> {
        // A folder of files, or a pattern, stands for each file; anything else is opened itself.
        let mut found = BTreeSet::new();
        let files = |input: &Input| match several::of(input) {
            Ok(Some(files)) => {
                found.extend(files.iter().cloned());
                files.into_iter().map(Input::Path).collect()
            }
            Ok(None) | Err(_) => vec![input.clone()],
        };
        let paths: Vec<Input> = self.paths.iter().flat_map(files).collect();
        each(&paths, self.json, |input| {
            let is_found = input.path().is_some_and(|path| found.contains(path));
            let (known, bytes) = of(input, is_found, self.format, &self.table)?;
            if let Some(flag) = self.table.flag().filter(|_| known.table.is_none()) {
                return Err(no_table(input, known.kind, &flag).into());
            }
            show(self, input, known, bytes)
        })
    }

    fn writes(&self) -> bool {
        false
    }
}

/// Fields of an option contract.
const FIELDS: usize = 9;

/// First bytes read to recognise most formats.
const HEAD: u64 = 4096;

/// The facts about one file: its kind, and values by their names.
struct Known {
    kind: &'static str,
    facts: Map<String, Value>,
    table: Option<table::ColumnListing>,
    tensors: Option<tensors::TensorListing>,
}

impl Known {
    fn new(kind: &'static str) -> Self {
        Self { kind, facts: Map::new(), table: None, tensors: None }
    }

    fn with(mut self, name: &str, fact: impl Into<Value>) -> Self {
        self.facts.insert(name.to_owned(), fact.into());
        self
    }
}

/// Returns the error of a flag for tables on a file that is not a table.
fn no_table(input: &Input, kind: &str, flag: &str) -> Refused {
    let what = format!("cannot read {input} with {flag}, which is for tables: it is {kind}");
    Refused::new(what, "leave it out, or pass --format csv if it is a table")
}

/// Returns the facts about a file, and its length in bytes.
fn of(
    input: &Input,
    is_found: bool,
    format: Option<Format>,
    args: &TableArgs,
) -> Result<(Known, u64)> {
    if let Some(path) = input.path().filter(|path| path.is_dir()) {
        // Reports why it is not a folder of files.
        several::of(input)?;
        let folder = append::open(path)?;
        let known = Known::new("segments")
            .with("length_bytes", folder.len())
            .with("extents", folder.extents() as u64);
        return Ok((known, folder.len()));
    }
    let file = if is_found { input.regular()? } else { input.seekable()? };
    let len = file.len().unwrap_or(0);
    Ok((of_file(&file, len, format, args)?, len))
}

fn of_file(
    file: &swath::Input,
    len: u64,
    format: Option<Format>,
    args: &TableArgs,
) -> Result<Known> {
    let as_format = |file, format| as_format(file, format, args);
    if let Some(format) = format {
        return as_format(file, format);
    }
    let head = ReadOptions::new().with_len(len.min(HEAD)).read(file)?.buffer;
    if let Some(packing) = Packing::detect(&head) {
        return match Format::of_input(file.name(), None) {
            // The flags request it.
            _ if args.is_fixed() => as_format(file, Format::Fixed),
            Some(format @ (Format::Csv | Format::Tsv | Format::Jsonl))
                if args.flag().is_some() =>
            {
                as_format(file, format)
            }
            _ => packed(file, packing),
        };
    }
    if args.is_fixed() {
        return as_format(file, Format::Fixed);
    }
    if matrix::has_banner(&head) {
        return as_format(file, Format::Mtx);
    }
    if head.starts_with(b"\x93NUMPY") {
        return as_format(file, Format::Npy);
    }
    if let Some(count) = contracts(&head) {
        return Ok(Known::new("option contracts").with("contracts", count));
    }
    if tensors::are_in(file.name(), &head) {
        return tensors::of(file);
    }
    match Format::of(file.name(), None) {
        Some(Format::Edges) => edges(file, args),
        // Ids are separated by tabs or spaces, columns of tables by tabs alone.
        Some(Format::Tsv) if !head.contains(&b'\t') && args.flag().is_none() => {
            as_format(file, Format::Edges)
        }
        Some(Format::Jsonl) if args.flag().is_none() && !may_be_objects(&head) => {
            bytes(file, &head)
        }
        Some(format) => as_format(file, format),
        None => Ok(bytes(file, &head)?),
    }
}

/// Whether the first line is an object, or there is no line yet.
fn may_be_objects(head: &[u8]) -> bool {
    head.trim_ascii_start().first().is_none_or(|&byte| byte == b'{' || !byte.is_ascii())
}

/// Reads edges that were recognised only by the name, which other text files may have too.
fn edges(file: &swath::Input, args: &TableArgs) -> Result<Known> {
    as_format(file, Format::Edges, args).map_err(|error| {
        let is_text = error
            .downcast_ref::<swath_formats::Error>()
            .is_some_and(|error| error.reason() == swath_formats::FormatReason::Malformed);
        if !is_text || !is_plain(file.name()) {
            return error;
        }
        let text = without_hint(&error);
        let what = format!("{text}: a name that ends in .txt is taken for a list of edges");
        Refused::new(what, "pass --format csv for a table, or use `swath scan` for other text")
            .into()
    })
}

fn as_format(file: &swath::Input, format: Format, args: &TableArgs) -> Result<Known> {
    match format {
        Format::Mtx => market(file),
        Format::Edges => {
            let options = MatrixOptions::new().with_format(MatrixFormat::Edges);
            let matrix = options.read(file)?;
            let (rows, columns) = matrix.size();
            let known = Known::new("edge list").with("rows", rows).with("columns", columns);
            Ok(known.with("entries", matrix.entry_count() as u64))
        }
        Format::Npz => {
            let matrix = matrix::npz::read(file)?;
            let (rows, columns) = matrix.size();
            let known = Known::new("compressed rows").with("rows", rows);
            Ok(known.with("columns", columns).with("entries", matrix.entry_count() as u64))
        }
        Format::Csv | Format::Tsv | Format::Jsonl | Format::Fixed => {
            table::of(file, format, args)
        }
        Format::Npy => {
            let npy::NpyInfo { descr, shape, .. } = npy::info(file)?;
            Ok(Known::new("NumPy array").with("type", descr).with("shape", shape))
        }
        Format::Arrow => {
            let table = arrow::info(file)?;
            let known = Known::new("Arrow columns")
                .with("rows", table.rows)
                .with("columns", table.names.len() as u64)
                .with("names", table.names)
                .with("types", table.types);
            Ok(match size_in(|name| table.metadata.get(name)) {
                Some((rows, columns)) => known.with("matrix", [rows, columns].as_slice()),
                None => known,
            })
        }
        Format::Arrows => arrow_stream(file),
    }
}

fn arrow_stream(file: &swath::Input) -> Result<Known> {
    let batches = arrow::batches(file)?;
    let fields = batches.schema().fields().clone();
    let names: Vec<String> = fields.iter().map(|it| it.name().clone()).collect();
    let types = fields.iter().map(|it| ColumnType::word_of(it.data_type()));
    let types: Vec<String> = types.collect();
    let mut rows = 0;
    for batch in batches {
        rows += batch?.num_rows() as u64;
    }
    let known = Known::new("Arrow stream").with("rows", rows);
    Ok(known.with("columns", names.len() as u64).with("names", names).with("types", types))
}

fn market(file: &swath::Input) -> Result<Known> {
    let header = matrix::header(file)?;
    let word = |debug: String| debug.to_lowercase();
    Ok(Known::new("Matrix Market")
        .with("layout", word(format!("{:?}", header.layout)))
        .with("field", word(format!("{:?}", header.field)))
        .with("symmetry", word(format!("{:?}", header.symmetry)))
        .with("rows", header.row_count)
        .with("columns", header.column_count)
        .with("entries", header.entry_count)
        .with("body_offset_bytes", header.body_offset))
}

fn packed(file: &swath::Input, packing: Packing) -> Result<Known> {
    let known = Known::new("compressed").with("format", packing.to_string());
    Ok(match Seekable::open(file) {
        Ok(index) => {
            known.with("length_bytes", index.len()).with("frames", index.frames() as u64)
        }
        Err(error) => match error.reason() {
            // It can only be decoded from the beginning.
            FormatReason::NoIndex => known.with("index", "none"),
            // The data may still be good, as in two files that were concatenated.
            FormatReason::Corrupt | FormatReason::Unsupported => {
                known.with("index", error.to_string())
            }
            _ => return Err(error.into()),
        },
    })
}

/// Returns the count of PARSEC's contracts, if a line of nine fields follows it.
fn contracts(head: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(head).ok().or_else(|| {
        let end = head.iter().rposition(|&byte| byte == b'\n')?;
        std::str::from_utf8(&head[..end]).ok()
    })?;
    let mut lines = text.lines();
    let count = lines.next()?.trim().parse().ok()?;
    let fields: Vec<&str> = lines.next()?.split_whitespace().collect();
    let is_contract = fields.len() == FIELDS && matches!(fields[6], "C" | "P");
    is_contract.then_some(count)
}

fn bytes(file: &swath::Input, head: &[u8]) -> Result<Known> {
    if let Some(kind) = FileFormat::detect(head) {
        // Without its article.
        let name = kind.name.split_once(' ').map_or(kind.name, |(_, name)| name);
        return Ok(Known::new(name).with("to_try", kind.hint));
    }
    let is_text = !head.is_empty() && !head.contains(&0) && head.is_ascii();
    if !is_text {
        return Ok(Known::new("bytes"));
    }
    let lines = ReadOptions::new().count(file, b'\n')?.value;
    Ok(Known::new("text").with("newlines", lines))
}

fn show(args: &Info, input: &Input, known: Known, bytes: u64) -> Result<()> {
    if args.json {
        let Known { kind, facts, table, tensors } = known;
        return print_json(&object! {
            #[serde(flatten)]
            path: PathJson::from(input.label()),
            kind,
            bytes,
            #[serde(flatten)]
            facts,
            #[serde(flatten)]
            table,
            #[serde(flatten)]
            tensors: tensors.map(|tensors| object! { tensors }),
        });
    }
    let mut text = format!("{input}: {}, {}\n", known.kind, size_text(bytes));
    for (name, fact) in &known.facts {
        // The key ends with the unit, which the text has after the number.
        let label = name.strip_suffix("_bytes");
        let fact = match fact {
            Value::String(text) => escaped(text),
            Value::Array(items) => shortened(items),
            Value::Number(bytes) if label.is_some() => size_text(bytes.as_u64().unwrap_or(0)),
            other => other.to_string(),
        };
        text.push_str(&format!("  {}: {fact}\n", label.unwrap_or(name).replace('_', " ")));
    }
    text.push_str(&known.table.map_or_else(String::new, |table| table.text(terminal_width())));
    print(text)?;
    known.tensors.map_or(Ok(()), |tensors| tensors.print())
}

/// Returns the first items of many, as text.
fn shortened(items: &[Value]) -> String {
    const MOST: usize = 20;
    let word = |item: &Value| item.as_str().map_or_else(|| item.to_string(), escaped);
    let shown: Vec<String> = items.iter().take(MOST).map(word).collect();
    let more = if items.len() > MOST {
        format!(", … {} in all", items.len())
    } else {
        String::new()
    };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::describe;

    #[test]
    fn an_index_that_cannot_be_read_is_an_error_and_not_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.zst");
        std::fs::write(&path, [0; 4096]).expect("room");
        let file = swath::Input::open(&path).expect("it is there");
        // As if the file changed between the reads of the first bytes and the index.
        std::fs::write(&path, [0; 10]).expect("room");
        let error = packed(&file, Packing::Zstd).map(drop).expect_err("it has changed");
        let told = describe(&error);
        assert!(told.contains("a.zst") && told.contains("the file ends at byte 10"), "{told}");
    }
}
