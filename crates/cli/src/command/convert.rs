//! `swath convert`: one format for numbers into another.

mod args;
mod entries;
pub(crate) mod format;
mod matrix;
pub(super) mod size;
mod table;

pub(crate) use args::Convert;

use self::format::Format;
use self::size::Size;
use super::{Command, Outcome};
use crate::args::Files;
use crate::failure::Refused;
use crate::output::{complain, tell, wrote};
use crate::progress::Bar;
use crate::report::{PathJson, bytes_per_s, counted, object, size_text, time_text};
use crate::same_file::is_same_file;
use anyhow::{Result, bail, ensure};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use swath::ReadOptions;
use swath_formats::matrix::{MatrixOptions, has_banner};
use swath_formats::table::TableOptions;

/// What was converted, and when it was all in memory.
struct Converted {
    size: Size,
    read: Instant,
    /// What the new format does not say.
    notes: Vec<String>,
}

impl Converted {
    fn new(size: Size, read: Instant) -> Self {
        Self { size, read, notes: Vec::new() }
    }
}

impl Command for Convert {
    fn run(&self) -> Result<Outcome> {
        check_names(self)?;
        let (from, to) = formats(self)?;
        if let Some((flag, what)) = self.idle_flag(from, to) {
            let refused =
                format!("cannot convert {from} to {to} with {flag}: it is for {what}");
            bail!(Refused::new(refused, "without it, or by way of an .mtx file"));
        }
        check_target(self)?;
        let start = Instant::now();
        let done = match (from.is_matrix(), to.is_matrix()) {
            (true, true) => matrix::to_matrix(self, from, to)?,
            (true, false) => entries::of_matrix(self, from, to)?,
            (false, false) => table::to_table(self, from, to)?,
            (false, true) => entries::of_table(self, from, to)?,
        };
        let (read, write) = (done.read - start, done.read.elapsed());
        for note in &done.notes {
            complain(format!("note: {note}"));
        }
        report(self, from, to, done, read, write)
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.output.timeline).path(&self.input).path(&self.to))
    }
}

/// Ends of names of what is not unpacked here, and what to try.
const PACKED: [(&str, &str); 2] =
    [("xz", "decompress it first: xz -d <OLD >NEW"), ("zip", "unpack it first: unzip")];

fn formats(args: &Convert) -> Result<(Format, Format)> {
    let named = |path: &Path, beside| Format::of(path, beside);
    let known = |format: Option<Format>, path: &Path, flag| {
        format.ok_or_else(|| {
            let what = format!("cannot convert: the name {} says no format", path.display());
            let end = path.extension().unwrap_or_default();
            let packed = PACKED.iter().find(|(known, _)| end.eq_ignore_ascii_case(known));
            Refused::new(what, packed.map_or(flag, |(_, hint)| hint))
        })
    };
    let read = |beside| Format::of_input(&args.input, beside);
    let from = args.from_format.or_else(|| read(args.to_format));
    let to = args.to_format.or_else(|| named(&args.to, from));
    // The end that is told apart by the other one, once that is known.
    let from = args.from_format.or_else(|| read(to)).or(from);
    let from = match (from, args.from_format) {
        // The banner knows better than the name.
        (Some(Format::Edges), None) if says_market(&args.input) => Some(Format::Mtx),
        (from, _) => from,
    };
    Ok((known(from, &args.input, "--from FORMAT")?, known(to, &args.to, "--to FORMAT")?))
}

/// Whether a file says that it is Matrix Market; what cannot be read says so later.
fn says_market(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|facts| facts.is_file());
    // A mark of the byte order and the banner.
    let head = ReadOptions::new().with_workers(1).with_len(17);
    is_file && head.read(path).is_ok_and(|head| has_banner(&head.buffer))
}

/// Files are looked at twice, and replaced in one step: neither goes with a stream.
fn check_names(args: &Convert) -> Result<()> {
    let stream = |path: &Path| path == Path::new("-");
    ensure!(
        !stream(&args.input) && !stream(&args.to),
        Refused::new("cannot convert standard input or output", "the names of files, or ./-")
    );
    Ok(())
}

/// Before anything is read: what would be refused at the end.
fn check_target(args: &Convert) -> Result<()> {
    let what = |why: &str| format!("cannot write {}: {why}", args.to.display());
    if args.to.exists() {
        ensure!(
            !is_same_file(&args.input, &args.to),
            Refused::new(what("it is the input"), "another name for the output")
        );
        let hint = "--force to replace it, or another name";
        ensure!(args.output.force, Refused::new(what("there is such a file"), hint));
    }
    Ok(())
}

/// The library's options for the matrix that is read, and a bar that moves as it is.
fn matrix_options(args: &Convert, from: Format) -> (MatrixOptions, Bar) {
    let (read, bar) = Bar::attach(args.output.read_options(), !args.output.json);
    (args.matrix_options(from, read), bar)
}

/// The same for a table.
fn table_options(args: &Convert, from: Format) -> (TableOptions, Bar) {
    let (read, bar) = Bar::attach(args.output.read_options(), !args.output.json);
    (args.table_options(from, read), bar)
}

fn report(
    args: &Convert,
    from: Format,
    to: Format,
    Converted { size, notes, .. }: Converted,
    read: Duration,
    write: Duration,
) -> Result<Outcome> {
    let len = |path: &Path| {
        fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|facts| facts.len())
    };
    let (bytes_in, bytes_out) = (len(&args.input), len(&args.to).unwrap_or(0));
    let in_speed = bytes_in.map(|bytes| bytes_per_s(bytes, read));
    let out_speed = bytes_per_s(bytes_out, write);
    let json = object! {
        #[serde(flatten)]
        path: PathJson::from(&args.to),
        source: PathJson::from(&args.input),
        from: from.word(),
        to: to.word(),
        rows: size.rows,
        columns: size.columns,
        // Entries of a matrix, values of a table.
        values: size.values,
        // None of a pipe or a device.
        bytes_in,
        bytes_out,
        read_s: read.as_secs_f64(),
        write_s: write.as_secs_f64(),
        bytes_in_per_s: in_speed,
        bytes_out_per_s: out_speed,
        // What the new format does not say.
        notes,
    };
    let took = time_text(read);
    let came = bytes_in.zip(in_speed).map_or_else(
        || format!("read in {took}"),
        |(bytes, speed)| {
            format!("{} read in {took}, {:.2} GB/s", size_text(bytes), speed / 1e9)
        },
    );
    let text = format!(
        "{}: {} × {}, {}\n  \
         {}; {} written in {}, {:.2} GB/s\n",
        args.to.display(),
        size.rows,
        size.columns,
        counted(size.values, "value"),
        came,
        size_text(bytes_out),
        time_text(write),
        out_speed / 1e9,
    );
    wrote(&args.to, tell(args.output.json, &json, text))?;
    Ok(Outcome::Done)
}
