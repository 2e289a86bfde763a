//! Compressors, each a process of its own, and the check of what they made.

use crate::bench::{Bench, Input, Residency};
use crate::contestants::program;
use anyhow::{Context, Result};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use swath::append::{OrderedOptions, ordered_to};
use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions};
use swath_formats::compressed::{CompressOptions, DecompressOptions, Format};
use swath_study::harness::{Contestant, Work};
use swath_study::peers::Absent;

/// What is compressed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Zstd,
    Gzip,
    Bzip2,
}

impl Packing {
    /// Returns what it is called here and in the library.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
        }
    }
}

/// A compressor: its name, and the line of a shell that runs it. `$0` is the input, `$1` the
/// output, `$2` the number of threads.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) line: &'static str,
}

/// A tool that people use today.
pub(crate) fn tool<'b>(
    bench: &'b Bench,
    input: &'b Input,
    tool: &Tool,
) -> Result<Contestant<'b>, Absent> {
    let Tool { name, program, line } = *tool;
    program::find(program).map_err(|reason| Absent::new(name, reason))?;
    let threads = bench.workers.to_string();
    Ok(contestant(bench, input, name, move |output| {
        let words = ["sh", "-c", line].map(OsString::from);
        let files = [&input.path, output].map(|path| path.as_os_str().to_owned());
        let words: Vec<_> =
            words.into_iter().chain(files).chain([threads.clone().into()]).collect();
        program::run(Path::new("/dev/null"), &words)
    }))
}

/// This library.
pub(crate) fn swath<'b>(
    bench: &'b Bench,
    input: &'b Input,
    name: &str,
    packing: Packing,
) -> Contestant<'b> {
    contestant(bench, input, name, move |output| {
        let program = std::env::current_exe().context("cannot find this program")?;
        let workers = bench.workers.to_string();
        let words: [&OsStr; 6] = [
            program.as_ref(),
            "compress".as_ref(),
            packing.word().as_ref(),
            input.path.as_ref(),
            output.as_ref(),
            workers.as_ref(),
        ];
        program::run(Path::new("/dev/null"), &words)
    })
}

fn contestant<'b>(
    bench: &'b Bench,
    input: &'b Input,
    name: &str,
    run: impl Fn(&Path) -> Result<Work> + 'b,
) -> Contestant<'b> {
    let output = bench.output("packed");
    let target = output.clone();
    let run = move || {
        let work = run(&target)?;
        let left = fs::metadata(&target)?.len();
        let (bytes, checksum) = unpacked(&target)?;
        fs::remove_file(&target)?;
        Ok(Work { bytes, checksum, left_bytes: Some(left), ..work })
    };
    Contestant::new(name, input.expected(1), run).with_before(move || {
        let _ = fs::remove_file(&output);
        bench.bring(input, Residency::Warm)
    })
}

/// What this program does when it is started to compress.
pub(crate) fn compress(format: &str, path: &Path, output: &Path, workers: usize) -> Result<()> {
    let format = Format::WORDS.iter().find(|(word, _)| *word == format);
    let &(_, format) = format.context("no such format")?;
    let output = OrderedOptions::new()
        .with_output(OutputOptions::new().with_durability(Durability::None))
        .ordered(output)?;
    CompressOptions::new()
        .with_format(format)
        .with_read(ReadOptions::new().with_workers(workers))
        .compress(path, output)?;
    Ok(())
}

/// Counts and sums what is written to it.
#[derive(Clone, Default)]
struct Summing(Arc<Mutex<(u64, u64)>>);

impl Write for Summing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut so_far = self.0.lock().expect("nobody panics with it");
        so_far.0 += bytes.len() as u64;
        so_far.1 += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts and sums what the file at `path` decompresses to.
fn unpacked(path: &Path) -> Result<(u64, u64)> {
    let sum = Summing::default();
    let output = ordered_to(sum.clone(), Path::new("sum"));
    DecompressOptions::new().decompress(path, output)?;
    let (bytes, sum) = *sum.0.lock().expect("nobody panics with it");
    Ok((bytes, sum))
}
