//! Runs a single-pass kernel over an input, through a map where that is faster.

use anyhow::Result;
use swath::maps::Guard;
use swath::{Engine, ReadOptions, Scanned, Source};

use crate::failure::TOO_MANY_FILES;
use crate::input::Input;

/// Up to this size a map gains nothing, and the file may be one that the kernel makes when it is
/// read, whose length says nothing.
const SMALL: u64 = 4096;

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

/// Runs `kernel` over `input`. The library may map a file that is in the page cache, where it measures that to be
/// faster, under a guard that turns a fault into a message and exit code 2.
pub(super) fn consume(
    input: &Input,
    options: &ReadOptions,
    kernel: Kernel,
    engine: Engine,
) -> Result<Scanned<u64>> {
    let opened = input.open().and_then(|file| Ok((file.metadata()?, file)));
    // A folder may be one of segments. A file that cannot be opened is opened again by the library,
    // whose error is better.
    let Some((facts, file)) = opened.ok().filter(|(facts, _)| !facts.is_dir()) else {
        return Ok(kernel.of_source(options, input.source()?)?);
    };
    let may_map = facts.is_file() && facts.len() > SMALL;
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
