//! `swath study fib`: study E's benchmark, a Fibonacci tree in which every call writes.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::{Args, ValueHint};
use rayon::ThreadPool;
use serde::Serialize;
use swath::append::{self, AppendOptions, Committed, Mode, OrderedOptions};
use swath::sink::FileKind;
use swath_study::cheerio;
use swath_study::fib::{Fib as Tree, fill};
use swath_study::forks::branch;
use twox_hash::XxHash3_64;

use super::pool;
use crate::args::{
    Files, OutputArgs, count, input, parse_memory_size, parse_size, whole, words,
};
use crate::command::target::{exists, needs_file, refused};
use crate::command::{Command, Outcome};
use crate::door::stands;
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{complain, tell, wrote};
use crate::report::{
    PathJson, ReportName, bytes_per_s, counted, object, size_text, time_and_speed, time_text,
};

/// `swath study fib`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath study fib 23 fib.bin --bytes 10KiB
  swath study fib 23 --bytes 10KiB --mode segments --workers 4 -o fib.segments
  swath study fib 17 --verify -o fib.bin    compares with the serial program")]
pub struct Fib {
    /// Which Fibonacci number: 23 makes 92,735 calls
    #[arg(value_name = "N", value_parser = whole::<u32>(0..=60))]
    pub n: u32,

    /// Bytes that each call writes when it begins
    #[arg(long, value_name = "SIZE", value_parser = parse_memory_size, default_value = "10KiB", allow_negative_numbers = true)]
    pub bytes: usize,

    /// The file, or the folder of segments; it appears in one step, once it is complete
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::AnyPath, required_unless_present = "output")]
    pub to: Option<Input>,

    /// Where the bytes of parallel strands go: a plain file, segments, or outputs without an order
    #[arg(long, value_name = "MODE", value_parser = words(FIB_MODES), default_value = "plain")]
    pub mode: FibMode,

    /// Bytes of stolen strands that may wait in memory for their place in the file; 0 chooses
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub memory: u64,

    /// Read it back and compare it with what the serial program writes
    #[arg(long)]
    pub verify: bool,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Where to write it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Where the bytes of parallel strands go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FibMode {
    /// In the order of the serial program.
    Ordered(Mode),
    /// One file, in no order.
    Global,
    /// A file for each thread, in no order.
    LocalFiles,
}

/// Local mode is left out, because all calls would write to the same place.
const FIB_MODES: &[(&str, FibMode)] = &[
    ("plain", FibMode::Ordered(Mode::Plain)),
    ("segments", FibMode::Ordered(Mode::Segments)),
    ("global", FibMode::Global),
    ("local-files", FibMode::LocalFiles),
];

impl Command for Fib {
    fn run(&self) -> Result<Outcome> {
        let Some(tree) = Tree::new(self.n, self.bytes as u64) else {
            let text = format!("cannot count the bytes of fib({})", self.n);
            return Err(Refused::new(text, "choose a smaller number").into());
        };
        let path = self.path()?;
        let (pool, fallbacks) = pool(self.workers)?;
        let workers = pool.current_num_threads();
        let begun = Instant::now();
        let (committed, written) =
            leave(self, path, &tree, &pool).map_err(|error| refused(error, path))?;
        let (elapsed, written) = (begun.elapsed(), written - begun);
        let ran = Ran { committed, elapsed, commit: elapsed - written, workers, fallbacks };
        let difference =
            if self.verify { Some(first_difference(self, path, &tree)?) } else { None };
        wrote(path, report(self, &tree, ran, difference))?;
        let Some(Some(offset)) = difference else { return Ok(Outcome::Done) };
        let path = path.shown();
        complain(format!("{path} is not what the serial program writes from byte {offset} on"));
        Ok(Outcome::Differs)
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::of_output(&self.output, &self.to))
    }
}

impl Fib {
    /// Returns the library's options for these words.
    pub fn options(&self) -> AppendOptions {
        AppendOptions::new()
            .with_output(self.output.output_options())
            .with_memory_limit(self.memory)
    }

    /// Returns its name in reports.
    fn label(&self) -> &OsStr {
        self.output.flag.or(&self.to).map_or(OsStr::new("-"), Input::label)
    }

    /// Returns the output, which must not exist without --force: the commit would find that out too, but
    /// only after the whole tree has run.
    fn path(&self) -> Result<&Path> {
        let Some(Input::Path(path)) = self.output.flag.or(&self.to) else {
            return Err(needs_file("study fib").into());
        };
        let found = stands(path).ok().flatten();
        ensure!(
            !self.output.refuses() || matches!(found, None | Some(FileKind::Special)),
            exists(path)
        );
        Ok(path)
    }
}

/// The result of a run.
struct Ran {
    committed: Committed,
    elapsed: Duration,
    commit: Duration,
    workers: usize,
    fallbacks: Vec<String>,
}

/// Runs the tree and commits its output; also returns when the commit began.
fn leave(
    args: &Fib,
    path: &Path,
    tree: &Tree,
    pool: &ThreadPool,
) -> Result<(Committed, Instant)> {
    let out = match args.mode {
        FibMode::Ordered(mode) => {
            let out = args.options().with_mode(mode).create(path)?;
            out.scope(|w| pool.install(|| branch(tree, tree.root(), w)))?;
            let written = Instant::now();
            return Ok((pool.install(|| out.commit())?, written));
        }
        FibMode::Global => cheerio::global(
            path,
            OrderedOptions::new().with_output(args.output.output_options()),
        )?,
        FibMode::LocalFiles => cheerio::local_files(path, args.options())?,
    };
    let mut w = out.writer();
    pool.install(|| branch(tree, tree.root(), &mut w))?;
    w.finish()?;
    let written = Instant::now();
    Ok((pool.install(|| out.commit())?, written))
}

/// Prints the report, and where the output differs if it was compared.
fn report(args: &Fib, tree: &Tree, ran: Ran, difference: Option<Option<u64>>) -> Result<()> {
    let is_serial = difference.map(|difference| difference.is_none());
    let mut lines = text(args, tree, &ran);
    if difference == Some(None) {
        lines += match args.mode {
            FibMode::Ordered(_) => "  byte for byte what the serial program writes\n",
            _ => "  what every call wrote is there, whole\n",
        };
    }
    tell(args.output.json, &json(args, tree, ran, is_serial), lines)
}

/// Returns where the output first differs from that of the serial program, if it does. Without an order,
/// the records of the calls are compared, and the offset is that of their end.
fn first_difference(args: &Fib, path: &Path, tree: &Tree) -> io::Result<Option<u64>> {
    let mut back = append::open(path)?;
    if matches!(args.mode, FibMode::Ordered(_)) {
        return tree.first_difference(back);
    }
    let mut bytes = vec![0; args.bytes];
    let mut expected = Vec::new();
    for call in tree.serial() {
        fill(call.index, &mut bytes);
        expected.push(XxHash3_64::oneshot(&bytes));
    }
    let mut actual = Vec::with_capacity(expected.len());
    while actual.len() < expected.len() {
        match back.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            other => other?,
        }
        actual.push(XxHash3_64::oneshot(&bytes));
    }
    expected.sort_unstable();
    actual.sort_unstable();
    let is_same = expected == actual && back.read(&mut [0])? == 0;
    Ok(if is_same { None } else { Some(actual.len() as u64 * args.bytes as u64) })
}

fn json(args: &Fib, tree: &Tree, ran: Ran, is_serial: Option<bool>) -> impl Serialize {
    let Ran { committed, elapsed, commit, workers, fallbacks } = ran;
    object! {
        #[serde(flatten)]
        path: PathJson::from(args.label()),
        bytes: committed.bytes,
        elapsed_s: elapsed.as_secs_f64(),
        commit_s: commit.as_secs_f64(),
        bytes_per_s: bytes_per_s(committed.bytes, elapsed),
        workers,
        work_calls: tree.calls(),
        span_calls: tree.span(),
        parallelism: tree.parallelism(),
        forks: committed.forks,
        steals: committed.steals,
        extents: committed.extents,
        logs: committed.logs,
        in_place_bytes: committed.in_place,
        logged_bytes: committed.logged,
        cloned_bytes: committed.cloned,
        copied_bytes: committed.copied,
        is_serial,
        fallbacks,
    }
}

fn text(args: &Fib, tree: &Tree, ran: &Ran) -> String {
    let &Ran { committed, elapsed, commit, workers, ref fallbacks } = ran;
    let mut text = format!(
        "{}: {} in {}\n  {}, the commit took {}\n",
        Path::new(args.label()).shown(),
        size_text(committed.bytes),
        time_and_speed(committed.bytes, elapsed),
        counted(workers as u64, "worker"),
        time_text(commit),
    );
    text += &format!(
        "  {} of work, {} of span: parallelism {:.0}\n  {}, {}, {}",
        counted(tree.calls(), "call"),
        counted(tree.span(), "call"),
        tree.parallelism(),
        counted(committed.forks, "fork"),
        counted(committed.steals, "steal"),
        counted(committed.extents, "extent"),
    );
    if committed.logs > 0 {
        text += &format!(" in {}", counted(committed.logs, "log"));
    }
    text.push('\n');
    for (bytes, what) in [
        (committed.in_place, "written in place"),
        (committed.logged, "written to logs"),
        (committed.cloned, "moved by sharing blocks"),
        (committed.copied, "moved by copying"),
    ] {
        if bytes > 0 {
            text += &format!("  {} {what}\n", size_text(bytes));
        }
    }
    for fallback in fallbacks {
        text += &format!("  instead: {fallback}\n");
    }
    text
}
