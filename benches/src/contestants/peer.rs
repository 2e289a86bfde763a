//! What people use today, as contestants. Who is not installed is added to the absent.

use crate::contestants::timing::Setting;
use swath_study::harness::{Contestant, Expected, Work, timed};
use swath_study::peers::{self, Absent, PythonLoad};

/// Reads with the standard library, into a vector.
pub(crate) const STD: &str = "std::fs::read";

/// See [`STD`].
pub(crate) fn std_read(setting: Setting<'_>) -> Contestant<'_> {
    let path = &setting.input.path;
    setting.fresh(STD, move || Ok(std::fs::read(path)?))
}

/// Sums through the standard library's buffered reader.
pub(crate) const BUF_READER: &str = "std::io::BufReader 1 MiB";

/// See [`BUF_READER`].
pub(crate) fn buf_reader(setting: Setting<'_>) -> Contestant<'_> {
    let input = setting.input;
    let run = move || {
        let (result, timing) = timed(|| peers::sum_buffered(&input.path))?;
        let (bytes, sum) = result?;
        Ok(Work::new(bytes, sum).with_timing(timing))
    };
    setting.prepared(Contestant::new(BUF_READER, input.expected(1), run))
}

/// Loads with Python, by its own clock.
pub(crate) fn python(setting: Setting<'_>, load: PythonLoad) -> Result<Contestant<'_>, Absent> {
    let Setting { bench, input, .. } = setting;
    let python = bench.python.as_ref().map_err(|absent| named(absent, load.name()))?;
    let run = move || {
        let loaded = python.borrow_mut().load(load, &input.path)?;
        Ok(Work::new(loaded.bytes, loaded.checksum).with_timing(loaded.timing))
    };
    let contestant = Contestant::new(load.name(), input.expected(1), run);
    Ok(setting.prepared_with_memory(contestant))
}

/// Counts lines with ripgrep, its start included.
pub(crate) const RIPGREP: &str = "rg --mmap -c ''";

/// See [`RIPGREP`].
pub(crate) fn ripgrep(setting: Setting<'_>) -> Result<Contestant<'_>, Absent> {
    let Setting { bench, input, .. } = setting;
    let ripgrep = bench.ripgrep.as_ref().map_err(|absent| named(absent, RIPGREP))?;
    let made = input.made;
    let expected = Expected { bytes: made.bytes, checksum: made.lines };
    let run = move || {
        let counted = ripgrep.count_lines(&input.path)?;
        // Its CPU time is another process's.
        Ok(Work { seconds: Some(counted.seconds), ..Work::new(made.bytes, counted.lines) })
    };
    Ok(setting.prepared(Contestant::new(RIPGREP, expected, run)))
}

/// Names the contestant that a missing program stands for.
fn named(absent: &Absent, contestant: &str) -> Absent {
    Absent::new(contestant, absent.reason.clone())
}
