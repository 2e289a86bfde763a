//! Runs a single-pass kernel over an input, through a map where that is faster.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;

use anyhow::Result;
use swath::maps::Guard;
use swath::{Engine, ReadOptions, Scanned, Source};
use swath_os::file_system::is_remote;

use super::several::{LongFiles, SHORT};
use crate::failure::TOO_MANY_FILES;
use crate::input::Input;

/// The computation over the bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kernel {
    /// The sum of all bytes.
    Sum,
    /// The count of newlines.
    Newlines,
}

impl Kernel {
    fn of_source(self, options: &ReadOptions, source: Source) -> swath::Result<Scanned<u64>> {
        match self {
            Self::Sum => options.sum(source),
            Self::Newlines => options.count(source, b'\n'),
        }
    }

    fn of_map(
        self,
        options: &ReadOptions,
        guard: Guard<'_>,
        input: &Input,
    ) -> swath::Result<Scanned<u64>> {
        match self {
            Self::Sum => options.sum_mapped(guard, input.name()),
            Self::Newlines => options.count_mapped(guard, input.name(), b'\n'),
        }
    }
}

/// Whether a program, here or on a server, answers for the file.
fn has_program(facts: &Metadata, file: &File) -> bool {
    // The look-up costs a call.
    rustix::fs::major(facts.dev()) == 0 && is_remote(file)
}

/// Runs `kernel` over `input`. The library may map a file in the page cache, where it measures a map to be faster,
/// under a guard that turns a fault into a message and exit code 2. A short file costs less than its map.
pub(super) fn consume(
    input: &Input,
    options: &ReadOptions,
    kernel: Kernel,
    engine: Engine,
    long: &LongFiles,
) -> Result<Scanned<u64>> {
    let opened = input.open().and_then(|file| Ok((file.metadata()?, file)));
    // A folder may be one of segments. If opening fails, the library opens the file again and returns
    // a better error.
    // On FUSE it also opens the file itself, to see what it is.
    let is_plain = |(facts, file): &(Metadata, File)| {
        !facts.is_dir()
            && (input.path().is_none() || !has_program(facts, file) || engine == Engine::Map)
    };
    let opened = opened.ok();
    let _turn = opened.as_ref().and_then(|(facts, _)| long.turn(facts.len()));
    let Some((facts, file)) = opened.filter(is_plain) else {
        return Ok(kernel.of_source(options, input.source()?)?);
    };
    let may_map = facts.is_file() && facts.len() > SHORT;
    if may_map || engine == Engine::Map {
        let guard = Guard::install(&file, input.name())?;
        match kernel.of_map(options, guard, input) {
            // A map takes three descriptors, a read takes one.
            Err(error)
                if error.raw_os_error() == Some(TOO_MANY_FILES) && engine != Engine::Map => {}
            mapped => return Ok(mapped?),
        }
    }
    Ok(kernel.of_source(options, Source::file(file, input.name()))?)
}
