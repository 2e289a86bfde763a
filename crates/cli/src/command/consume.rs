//! Runs a single-pass kernel over an input, through a map where that is faster.

use anyhow::Result;
use swath::maps::Guard;
use swath::{Engine, ReadOptions, Scanned, Source};

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
    let Some((facts, file)) = opened.ok().filter(|(facts, _)| !facts.is_dir()) else {
        return Ok(kernel.of_source(options, input.source()?)?);
    };
    let _turn = long.turn(facts.len());
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
