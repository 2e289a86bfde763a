//! `swath convert`: converts numbers or tables to another format.

mod args;
mod batches;
mod entries;
pub(crate) mod format;
mod listing;
mod matrix;
mod notes;
mod numbers;
pub(super) mod several;
pub(super) mod size;
mod table;

pub(crate) use args::Convert;

use self::format::Format;
use self::size::Size;
use super::target::{Target, exists, refused};
use super::{Command, Outcome};
use crate::args::Files;
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{OutputError, complain};
use crate::progress::Bar;
use crate::report::{
    PathJson, ReportName, bytes_per_s, counted, object, size_text, time_and_speed,
};
use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::slice;
use std::time::{Duration, Instant};
use swath::{Access, Output, OutputOptions, ReadOptions, Source};
use swath_formats::matrix::{MatrixOptions, has_banner};
use swath_formats::table::BatchesWritten;
use swath_os::hidden::Hidden;

/// The report of a converted table or matrix.
struct Converted {
    size: Size,
    read: Instant,
    /// Bytes written.
    bytes: u64,
    /// Facts that the new format cannot express.
    notes: Vec<String>,
}

impl Converted {
    fn new(size: Size, read: Instant) -> Self {
        Self { size, read, bytes: 0, notes: Vec::new() }
    }

    /// Adds the report of a written table.
    fn add_written(&mut self, written: &BatchesWritten) {
        self.bytes = written.bytes_out;
        if written.not_finite > 0 {
            self.notes.push(format!(
                "numbers that are NaN or infinite, written as null, since JSON has none: {}",
                written.not_finite
            ));
        }
    }
}

/// One conversion: the flags, the opened input, and the output.
struct Conversion<'w> {
    words: &'w Convert,
    input: swath::Input,
    /// All files of the table if there are several; the first one is the input.
    files: Vec<PathBuf>,
    /// The open files: their names may lead elsewhere later.
    inputs: Vec<swath::Input>,
    /// The access that all inputs allow, if they are files.
    access: Option<Access>,
    target: Target,
    /// How the output is written: to the place where its path led at the beginning.
    output: OutputOptions,
    /// The file for formats that need one: the output, or a temporary file for a stream.
    file: PathBuf,
    /// The temporary file for a stream.
    temporary: Option<Hidden>,
}

impl<'w> Conversion<'w> {
    fn new(
        words: &'w Convert,
        input: swath::Input,
        files: Vec<PathBuf>,
        target: Target,
        output: OutputOptions,
    ) -> Result<Self> {
        let (file, temporary) = match &target {
            Target::Path(path) if !target.is_stream() => (path.clone(), None),
            _ => {
                let folder = Hidden::make(&std::env::temp_dir(), "swath-convert")
                    .map_err(|error| Refused::hinted(error.into(), "name a file with -o"))?;
                (folder.path().join("out"), Some(folder))
            }
        };
        let mut access = input.access()?;
        let mut inputs = Vec::new();
        if let Some((first, others)) = files.split_first() {
            inputs.push(input.clone());
            let mut all = access_of(first, &input)?;
            for path in others {
                let input = swath::Input::open_at_once(path)?;
                all = all.and(access_of(path, &input)?);
                inputs.push(input);
            }
            access = Some(Access::new(0o666, None).and(all));
        }
        Ok(Self { words, input, files, inputs, access, target, output, file, temporary })
    }

    /// Returns the options for writing a file: a new one gets the readers of the input.
    fn output(&self) -> OutputOptions {
        let options = self.output.clone().with_workers(self.words.workers);
        match self.access {
            Some(access) => options.with_permissions(access),
            None => options,
        }
    }

    /// Returns the output for text, which can be a stream.
    fn text(&self) -> Result<Output> {
        if self.temporary.is_none() {
            return Ok(Output::from(&self.file));
        }
        let (stream, name) = self.target.stream()?;
        Ok(Output::stream(stream, name))
    }

    /// Returns the bytes of all files.
    fn len(&self) -> u64 {
        self.all_inputs().iter().filter_map(swath::Input::len).sum()
    }

    /// Returns the sources of a table.
    fn sources(&self) -> Vec<Source> {
        self.all_inputs().iter().map(Source::from).collect()
    }

    fn all_inputs(&self) -> &[swath::Input] {
        if self.inputs.is_empty() { slice::from_ref(&self.input) } else { &self.inputs }
    }

    /// Writes the temporary file to the stream, if there is one.
    fn finish(&self) -> Result<()> {
        // The temporary file of the beginning, even if the output's name has changed.
        if self.temporary.is_some() && self.file.exists() {
            let mut file = File::open(&self.file)?;
            let mut out = BufWriter::with_capacity(1 << 20, self.target.stream()?.0);
            io::copy(&mut file, &mut out).map_err(OutputError::from)?;
            out.flush().map_err(OutputError::from)?;
        }
        Ok(())
    }

    /// Returns the name of the output in messages.
    fn name(&self) -> PathBuf {
        self.target.label().into()
    }
}

/// Returns who may use one of several files. Without an access, a pipe has taken the place of the file.
fn access_of(path: &Path, input: &swath::Input) -> Result<Access> {
    input.access()?.with_context(|| {
        let what = format!("cannot read {}: it is a pipe or a device", path.shown());
        Refused::new(what, "name the files that are one table")
    })
}

impl Command for Convert {
    fn run(&self) -> Result<Outcome> {
        // Before the input is read: a later link is not followed.
        let named = self.output.flag.or(&self.to).and_then(Input::path);
        let named: Vec<&Path> = named.into_iter().collect();
        let output = self.output.output_options().in_same_folders(&named);
        let (input, files) = opened(&self.from)?;
        let first = files.first().map(PathBuf::as_path).or(self.from.path());
        let (from, to) = formats(self, &input, first)?;
        check_several(self, &files, from, to)?;
        if let Some((flag, what)) = self.idle_flag(from, to) {
            let refused =
                format!("cannot convert {from} to {to} with {flag}: it is for {what}");
            bail!(Refused::new(refused, "leave it out, or convert to an .mtx file first"));
        }
        let named = |path: &Path| path.file_name().map(|_| path.with_extension(to.word()));
        let target = Target::choose(&self.from, self.output.flag.or(&self.to), named)?;
        if !to.is_text() {
            target.refuse_terminal("bytes that are not text", Some(self.output.existing))?;
        }
        check_target(self, &files, &target)?;
        let job = Conversion::new(self, input, files, target, output)?;
        let start = Instant::now();
        let done = match (from.is_matrix(), to.is_matrix()) {
            (true, true) => matrix::to_matrix(&job, from, to),
            (true, false) => entries::of_matrix(&job, from, to),
            (false, false) => table::to_table(&job, from, to),
            (false, true) => entries::of_table(&job, from, to),
        };
        let done = done.map_err(|error| refused(error, &job.file))?;
        job.finish()?;
        let (read, write) = (done.read - start, done.read.elapsed());
        for note in &done.notes {
            complain(format!("note: {note}"));
        }
        report(&job, [from, to], done, read, write)
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::of_output(&self.output, &self.to).input(&self.from))
    }
}

/// Opens the input. If it stands for several files, opens the first one and returns all names.
fn opened(from: &Input) -> Result<(swath::Input, Vec<PathBuf>)> {
    match several::of(from)? {
        None => Ok((from.seekable()?, Vec::new())),
        Some(files) => {
            let input = swath::Input::open_at_once(&files[0])?;
            access_of(&files[0], &input)?;
            Ok((input, files))
        }
    }
}

/// Refuses several files that are not one table.
fn check_several(args: &Convert, files: &[PathBuf], from: Format, to: Format) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let refused = |what: &str, hint| {
        let what = format!("cannot convert {} {what}", counted(files.len() as u64, "file"));
        Err(Refused::new(what, hint).into())
    };
    if !from.is_table_text() || to.is_matrix() {
        return refused(&format!("from {from} to {to}"), "convert one at a time");
    }
    if args.output.flag.or(&args.to).is_none() {
        return refused("to an output without a name", "name it, as in `all.arrow`");
    }
    Ok(())
}

/// Endings of compressed files that are not decompressed here, and hints.
const PACKED: [(&str, &str); 2] =
    [("xz", "decompress it first: xz -d <OLD >NEW"), ("zip", "unpack it first: unzip")];

/// Returns the formats of input and output.
fn formats(
    args: &Convert,
    input: &swath::Input,
    first: Option<&Path>,
) -> Result<(Format, Format)> {
    let unknown = |what: &str, path: &Path, flag| {
        let end = path.extension().unwrap_or_default();
        let packed = PACKED.iter().find(|(known, _)| end.eq_ignore_ascii_case(known));
        let what = format!("cannot tell the format of {what} from the name {}", path.shown());
        Refused::new(what, packed.map_or(flag, |(_, hint)| hint))
    };
    let output = args.output.flag.or(&args.to).and_then(Input::path);
    let read = |beside| first.and_then(|path| Format::of_input(path, beside));
    let fixed = args.table.is_fixed().then_some(Format::Fixed);
    let told = args.from_format.or(fixed);
    let from = told.or_else(|| read(args.to_format));
    let to = args.to_format.or_else(|| Format::of_output(output?, from));
    // An ending may depend on the other format, once that is known.
    let from = told.or_else(|| read(to)).or(from);
    let from = match (from, told) {
        // The banner is more reliable than the name.
        (Some(Format::Edges | Format::Csv), None) if detected(input) == Some(Format::Mtx) => {
            Some(Format::Mtx)
        }
        (None, _) => detected(input),
        (from, _) => from,
    };
    let Some(from) = from else {
        let flag = "pass --from FORMAT";
        let refused = match first {
            Some(path) => unknown("the input", path, flag),
            None => Refused::new(nameless("input"), flag),
        };
        return Err(refused.into());
    };
    let Some(to) = to else {
        let refused = match (output, args.output.flag.or(&args.to)) {
            (Some(path), _) => unknown("the output", path, "pass --to FORMAT"),
            (None, Some(_)) => Refused::new(nameless("output"), "pass --to FORMAT"),
            (None, None) => Refused::new(
                "cannot tell the format of the output: there is no OUT",
                "name it, as in `table.npy`, or pass --to FORMAT",
            ),
        };
        return Err(refused.into());
    };
    Ok((from, to))
}

/// Returns the error for standard `input` or `output`, which has no name to show its format.
fn nameless(way: &str) -> String {
    format!("cannot tell the format of the {way}: standard {way} has no name")
}

/// Returns the format by the first bytes, if they show it; errors are reported by later reads.
fn detected(input: &swath::Input) -> Option<Format> {
    // A byte order mark and the banner.
    const HEAD: u64 = 17;
    let len = input.len().unwrap_or(0).min(HEAD);
    let head = ReadOptions::new().with_workers(1).with_len(len).read(input).ok()?.buffer;
    let begins = [
        (&b"\x93NUMPY"[..], Format::Npy),
        (b"ARROW1", Format::Arrow),
        (b"\xff\xff\xff\xff", Format::Arrows),
        (b"PK\x03\x04", Format::Npz),
    ];
    if has_banner(&head) {
        return Some(Format::Mtx);
    }
    begins.iter().find(|(begin, _)| head.starts_with(begin)).map(|&(_, format)| format)
}

/// Refuses, before any input is read, outputs that would be refused at the end.
fn check_target(args: &Convert, files: &[PathBuf], target: &Target) -> Result<()> {
    target.refuse_input(&args.from)?;
    for path in files {
        target.refuse_input(&Input::Path(path.clone()))?;
    }
    let Target::Path(path) = target else { return Ok(()) };
    ensure!(!path.exists() || target.is_stream() || !args.output.refuses(), exists(path));
    Ok(())
}

/// Returns the library's options for reading a matrix, and its progress bar.
fn matrix_options(job: &Conversion<'_>, from: Format) -> (MatrixOptions, Bar) {
    let output = &job.words.output;
    let (read, bar) = Bar::attach(output.read_options(), !output.json);
    (job.words.matrix_options(from, read), bar)
}

fn report(
    job: &Conversion<'_>,
    [from, to]: [Format; 2],
    Converted { size, notes, bytes: bytes_out, .. }: Converted,
    read: Duration,
    write: Duration,
) -> Result<Outcome> {
    let label = job.target.label();
    let bytes_in = job.len();
    let (in_speed, out_speed) = (bytes_per_s(bytes_in, read), bytes_per_s(bytes_out, write));
    let json = object! {
        #[serde(flatten)]
        path: PathJson::from(&label),
        source: PathJson::from(job.words.from.label()),
        from: from.word(),
        to: to.word(),
        rows: size.rows,
        columns: size.columns,
        // Entries of a matrix, values of a table.
        values: size.values,
        bytes_in,
        bytes_out,
        read_s: read.as_secs_f64(),
        write_s: write.as_secs_f64(),
        bytes_in_per_s: in_speed,
        bytes_out_per_s: out_speed,
        // Facts that the new format cannot express.
        notes,
    };
    let text = format!(
        "{}: {} × {}, {}\n  \
         {} read in {}; {} written in {}\n",
        Path::new(&label).shown(),
        size.rows,
        size.columns,
        counted(size.values, "value"),
        size_text(bytes_in),
        time_and_speed(bytes_in, read),
        size_text(bytes_out),
        time_and_speed(bytes_out, write),
    );
    job.target.tell(job.words.output.json, &json, &text)?;
    Ok(Outcome::Done)
}
