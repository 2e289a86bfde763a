//! Random reads of one large file past the page cache: the limit for reading small cold files.

use crate::bench::Bench;
use anyhow::Result;
use std::fs::{self, File};
use std::io;
use std::rc::Rc;
use swath_study::fields::grove::Grove;
use swath_study::many::device::{Reads, by_ring, by_threads};
use swath_study::measure::{Entrant, Entrants, Input, Meter, Outcome};
use swath_study::peers::Absent;
use swath_study::results::State;
use swath_study::workload::{FileContent, Recipe, generate};

/// A large file with a place for each small file, as long as that file is on the device.
struct Large {
    input: Rc<Input>,
    size: usize,
    /// The sum of the first byte of each place.
    first: u64,
}

impl Large {
    fn make(bench: &Bench, files: &Grove) -> Result<Self> {
        let size = Reads::size_for(files.made.largest);
        let input = bench.stage.made("random-reads", |path| {
            let recipe = Recipe {
                kind: FileContent::Bytes,
                size: files.made.files * size as u64,
                seed: 1,
            };
            Ok(generate(recipe, path, 0)?)
        })?;
        let bytes = fs::read(&input.path)?;
        let first = bytes.iter().step_by(size).map(|&byte| u64::from(byte)).sum();
        Ok(Self { input, size, first })
    }
}

/// Reads a file with many reads in flight.
type Engine = fn(&File, Reads) -> io::Result<u64>;

const ENGINES: [(&str, Engine); 2] = [("ring", by_ring), ("threads", by_threads)];

/// Returns the names of the limit at a depth, one for each engine.
pub(crate) fn names(depth: u32) -> [String; 2] {
    ENGINES.map(|(by, _)| format!("limit: random O_DIRECT reads, {by}, {depth}"))
}

/// Adds the limit at each of `depths` to the entrants, or the reason why it is absent.
pub(crate) fn add(
    bench: &Bench,
    files: &Grove,
    depths: &[u32],
    entrants: &mut Entrants,
) -> Result<()> {
    let large = Large::make(bench, files)?;
    for &depth in depths {
        for (name, (_, engine)) in names(depth).into_iter().zip(ENGINES) {
            let entrant = entrant(&large, &name, engine, depth);
            entrants.add(entrant.map_err(|error| Absent::new(&name, error.to_string())));
        }
    }
    Ok(())
}

fn entrant(large: &Large, name: &str, engine: Engine, depth: u32) -> io::Result<Entrant> {
    let file = File::open(&large.input.path)?;
    let reads = Reads { size: large.size, depth, seed: 1 };
    // A refusal of the kernel shows now.
    engine(&file, reads)?;
    let work = move |input: &Input, meter: &mut Meter| {
        Ok(Outcome { checksum: meter.measure(|| engine(&file, reads))??, ..input.expected() })
    };
    Ok(large.input.entrant(name, State::Cold, work).giving(large.first))
}
