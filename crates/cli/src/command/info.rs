//! `swath info`: what a file holds, by what it says itself and by counting.

mod tensors;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueHint};
use serde_json::{Map, Value};
use swath::{ReadOptions, append};
use swath_formats::FormatReason;
use swath_formats::compressed::{Format as Packing, Seekable};
use swath_formats::matrix::{self, MatrixFormat, MatrixOptions};
use swath_formats::table::{TableOptions, arrow, npy};

use super::convert::format::{FORMATS, Format};
use super::convert::size::size_in;
use super::{Command, Outcome};
use crate::args::words;
use crate::failure::{Refused, describe};
use crate::output::{complain, print, print_json};
use crate::report::{PathJson, object, size_text};

/// `swath info`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath info graph.mtx
  swath info --json table.csv
  swath info model.safetensors
  swath info data.zst out.segments/")]
pub struct Info {
    /// Files, or folders of segments
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,

    /// What the files are [default: what they begin with, or their names end with]
    #[arg(long, value_name = "FORMAT", value_parser = words(FORMATS))]
    pub format: Option<Format>,

    /// Print JSON, a line for each file
    #[arg(long)]
    pub json: bool,
}

impl Command for Info {
    fn run(&self) -> Result<Outcome> {
        let mut failed = 0;
        for path in &self.paths {
            let known = of(path, self.format).and_then(|known| Ok((known, len(path)?)));
            match known {
                Ok((known, bytes)) => show(self, path, known, bytes)?,
                Err(error) => {
                    complain(describe(&error));
                    failed += 1;
                }
            }
        }
        Ok(match failed {
            0 => Outcome::Done,
            some if some == self.paths.len() => Outcome::NotDone,
            _ => Outcome::Differs,
        })
    }
}

/// Of an option contract.
const FIELDS: usize = 9;

/// Bytes that tell most formats apart.
const HEAD: u64 = 4096;

/// What is known of one file: a kind, and facts by their names.
struct Known {
    kind: &'static str,
    facts: Map<String, Value>,
    tensors: Option<tensors::Listing>,
}

impl Known {
    fn new(kind: &'static str) -> Self {
        Self { kind, facts: Map::new(), tensors: None }
    }

    fn with(mut self, name: &str, fact: impl Into<Value>) -> Self {
        self.facts.insert(name.to_owned(), fact.into());
        self
    }
}

fn len(path: &Path) -> Result<u64> {
    let facts = fs::metadata(path);
    let cannot = || format!("cannot read {}", path.display());
    Ok(facts.with_context(cannot)?.len())
}

fn of(path: &Path, format: Option<Format>) -> Result<Known> {
    if path.is_dir() {
        let folder = append::open(path)?;
        return Ok(Known::new("segments")
            .with("length", folder.len())
            .with("extents", folder.extents() as u64));
    }
    // What cannot be looked at at all, the library opens, and says best what is wrong with it.
    let facts = fs::metadata(path).ok();
    if facts.as_ref().is_some_and(|facts| !facts.is_file()) {
        let what = format!("cannot tell what {} holds: it is a stream", path.display());
        return Err(Refused::new(what, "the name of a file").into());
    }
    if let Some(format) = format {
        return as_format(path, format);
    }
    let head = head(path, facts.map_or(0, |facts| facts.len()))?;
    if let Some(packing) = Packing::detect(&head) {
        return packed(path, packing);
    }
    if matrix::has_banner(&head) {
        return as_format(path, Format::Mtx);
    }
    if head.starts_with(b"\x93NUMPY") {
        return as_format(path, Format::Npy);
    }
    if let Some(count) = contracts(&head) {
        return Ok(Known::new("option contracts").with("contracts", count));
    }
    if tensors::are_in(path, &head) {
        return tensors::of(path);
    }
    match Format::of(path, None) {
        Some(Format::Edges) => edges(path),
        // Between ids stand tabs or spaces, in tables of this name tabs alone.
        Some(Format::Tsv) if !head.contains(&b'\t') => as_format(path, Format::Edges),
        Some(format) => as_format(path, format),
        None => Ok(bytes(path, &head)?),
    }
}

/// Edges by their name alone, which other texts may have too.
fn edges(path: &Path) -> Result<Known> {
    as_format(path, Format::Edges).map_err(|error| {
        let is_text = error
            .downcast_ref::<swath_formats::Error>()
            .is_some_and(|error| error.reason() == swath_formats::FormatReason::Malformed);
        if !is_text || path.extension().is_none_or(|end| !end.eq_ignore_ascii_case("txt")) {
            return error;
        }
        let what = format!("{error}: a name that ends in .txt is taken for a list of edges");
        Refused::new(what, "--format csv if it is a table, or `swath scan` for other text")
            .into()
    })
}

fn head(path: &Path, len: u64) -> Result<Vec<u8>> {
    Ok(ReadOptions::new().with_len(len.min(HEAD)).read(path)?.buffer.to_vec())
}

fn as_format(path: &Path, format: Format) -> Result<Known> {
    match format {
        Format::Mtx => market(path),
        Format::Edges => {
            let options = MatrixOptions::new().with_format(MatrixFormat::Edges);
            let matrix = options.read(path)?;
            let (rows, columns) = matrix.size();
            let known = Known::new("edge list").with("rows", rows).with("columns", columns);
            Ok(known.with("entries", matrix.entry_count() as u64))
        }
        Format::Npz => {
            let matrix = matrix::npz::read(path)?;
            let (rows, columns) = matrix.size();
            let known = Known::new("compressed rows").with("rows", rows);
            Ok(known.with("columns", columns).with("entries", matrix.entry_count() as u64))
        }
        Format::Csv | Format::Tsv => {
            let options = match format {
                Format::Tsv => TableOptions::new().with_delimiter(b'\t'),
                // As its first line tells.
                _ => TableOptions::new(),
            };
            let shape = options.shape(path)?;
            let known = Known::new(if format == Format::Tsv { "TSV" } else { "CSV" })
                .with("rows", shape.rows as u64)
                .with("columns", shape.columns as u64);
            Ok(match shape.names {
                Some(names) => known.with("names", names),
                None => known,
            })
        }
        Format::Npy => {
            let npy::NpyInfo { descr, shape, .. } = npy::info(path)?;
            Ok(Known::new("NumPy array").with("type", descr).with("shape", shape))
        }
        Format::Arrow => {
            let table = arrow::info(path)?;
            let known = Known::new("Arrow columns")
                .with("rows", table.rows)
                .with("columns", table.names.len() as u64)
                .with("names", table.names);
            Ok(match size_in(&table.metadata) {
                Some((rows, columns)) => known.with("matrix", [rows, columns].as_slice()),
                None => known,
            })
        }
    }
}

fn market(path: &Path) -> Result<Known> {
    let header = matrix::header(path)?;
    let word = |debug: String| debug.to_lowercase();
    Ok(Known::new("Matrix Market")
        .with("layout", word(format!("{:?}", header.layout)))
        .with("field", word(format!("{:?}", header.field)))
        .with("symmetry", word(format!("{:?}", header.symmetry)))
        .with("rows", header.row_count)
        .with("columns", header.column_count)
        .with("entries", header.entry_count)
        .with("body_offset", header.body_offset))
}

fn packed(path: &Path, packing: Packing) -> Result<Known> {
    let known = Known::new("compressed").with("format", packing.to_string());
    Ok(match Seekable::open(path) {
        Ok(index) => known.with("length", index.len()).with("frames", index.frames() as u64),
        Err(error) => match error.reason() {
            // To be read from its beginning.
            FormatReason::NoIndex => known.with("index", "none"),
            // What it is an index of may be whole: two files, one after the other, are.
            FormatReason::Corrupt | FormatReason::Unsupported => {
                known.with("index", error.to_string())
            }
            _ => return Err(error.into()),
        },
    })
}

/// The count of PARSEC's contracts, if a line of nine fields follows it.
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

fn bytes(path: &Path, head: &[u8]) -> Result<Known> {
    let is_text = !head.is_empty() && !head.contains(&0) && head.is_ascii();
    if !is_text {
        return Ok(Known::new("bytes"));
    }
    let lines = ReadOptions::new().count(path, b'\n')?.value;
    Ok(Known::new("text").with("newlines", lines))
}

fn show(args: &Info, path: &Path, known: Known, bytes: u64) -> Result<()> {
    if args.json {
        let Known { kind, facts, tensors } = known;
        return print_json(&object! {
            #[serde(flatten)]
            path: PathJson::from(path),
            kind,
            bytes,
            #[serde(flatten)]
            facts,
            #[serde(flatten)]
            tensors: tensors.map(|tensors| object! { tensors }),
        });
    }
    let mut text = format!("{}: {}, {}\n", path.display(), known.kind, size_text(bytes));
    for (name, fact) in &known.facts {
        let fact = match fact {
            Value::String(text) => text.clone(),
            Value::Array(items) => shortened(items),
            other => other.to_string(),
        };
        text.push_str(&format!("  {}: {fact}\n", name.replace('_', " ")));
    }
    print(text)?;
    known.tensors.map_or(Ok(()), |tensors| tensors.print())
}

/// The first of many.
fn shortened(items: &[Value]) -> String {
    const MOST: usize = 20;
    let word = |item: &Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
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

    #[test]
    fn an_index_that_cannot_be_read_is_an_error_and_not_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.zst");
        // As if it failed between the first bytes and the index.
        let error = packed(&path, Packing::Zstd).map(drop).expect_err("it is not there");
        let told = describe(&error);
        assert!(told.contains("a.zst") && told.contains("No such file"), "{told}");
    }
}
