//! Compressors, each in its own process, and the check of their output.

use crate::bench::Bench;
use crate::child;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use swath::ReadOptions;
use swath::append::ordered_to;
use swath_formats::compressed::{CompressOptions, DecompressOptions, Format};
use swath_os::locks::Mutex;
use swath_study::fields::contracts::unsynced;
use swath_study::measure::{Entrant, Input, Meter, Outcome};
use swath_study::peers::Absent;
use swath_study::results::State;

/// The compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Zstd,
    Gzip,
    Bzip2,
}

impl Packing {
    /// Returns the name of the format, here and in the library.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
        }
    }
}

/// A compressor, and the shell command that runs it: `$0` is the input, `$1` the output, `$2` the
/// number of threads.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) line: &'static str,
}

/// Returns an entrant that runs a usual tool.
pub(crate) fn tool(bench: &Bench, input: &Rc<Input>, tool: &Tool) -> Result<Entrant, Absent> {
    let Tool { name, program, line } = *tool;
    child::find(program).map_err(|reason| Absent::new(name, reason))?;
    let threads = bench.workers.to_string();
    Ok(entrant(bench, input, name, move |input, output| {
        vec![
            "sh".into(),
            "-c".into(),
            line.into(),
            input.into(),
            output.into(),
            threads.clone().into(),
        ]
    }))
}

/// Returns an entrant that runs Swath.
pub(crate) fn swath(
    bench: &Bench,
    input: &Rc<Input>,
    name: &str,
    packing: Packing,
) -> Result<Entrant> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let (word, workers) = (packing.word(), bench.workers.to_string());
    Ok(entrant(bench, input, name, move |input, output| {
        let (program, workers) = (program.clone().into(), workers.clone().into());
        vec![program, "compress".into(), word.into(), input.into(), output.into(), workers]
    }))
}

/// Returns an entrant whose arguments depend on input and output.
fn entrant(
    bench: &Bench,
    input: &Rc<Input>,
    name: &str,
    words: impl Fn(&Path, &Path) -> Vec<OsString> + 'static,
) -> Entrant {
    let target = bench.stage.output("packed");
    let output = target.clone();
    let work = move |input: &Input, meter: &mut Meter| {
        child::run(Path::new("/dev/null"), &words(&input.path, &target))?.tell(meter);
        meter.note("left_bytes", fs::metadata(&target)?.len() as f64);
        let (bytes, checksum) = unpacked(&target)?;
        fs::remove_file(&target)?;
        Ok(Outcome { bytes, checksum })
    };
    input.entrant(name, State::Warm, work).with_before(move || {
        let _ = fs::remove_file(&output);
        Ok(())
    })
}

/// Compresses a file; runs in the child process.
pub(crate) fn compress(format: &str, path: &Path, output: &Path, workers: usize) -> Result<()> {
    let format = Format::WORDS.iter().find(|(word, _)| *word == format);
    let &(_, format) = format.context("no such format")?;
    let output = unsynced(output)?;
    CompressOptions::new()
        .with_format(format)
        .with_read(ReadOptions::new().with_workers(workers))
        .compress(path, output)?;
    Ok(())
}

/// A writer that counts and sums its bytes.
#[derive(Clone, Default)]
struct Summing(Arc<Mutex<(u64, u64)>>);

impl Write for Summing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut so_far = self.0.lock();
        so_far.0 += bytes.len() as u64;
        so_far.1 += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts and sums the decompressed bytes of the file at `path`.
fn unpacked(path: &Path) -> Result<(u64, u64)> {
    let sum = Summing::default();
    let output = ordered_to(sum.clone(), Path::new("sum"));
    DecompressOptions::new().decompress(path, output)?;
    let (bytes, sum) = *sum.0.lock();
    Ok((bytes, sum))
}
