//! Several inputs: after an error on one, the work continues with the others.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use anyhow::Result;
use swath::Report;
use swath_os::locks::{Mutex, MutexGuard};

use super::Outcome;
use crate::args::{FlowArgs, ReadArgs};
use crate::failure::{describe, is_closed_pipe};
use crate::input::Input;
use crate::output::{OutputError, complain, print_json};
use crate::report::{PathJson, object};

/// Calls `work` for each of `inputs`; the outcome shows whether none, some or all were done.
pub(super) fn each(
    inputs: &[Input],
    json: bool,
    mut work: impl FnMut(&Input) -> Result<()>,
) -> Result<Outcome> {
    let (mut done, mut failed) = (0, 0);
    for input in inputs {
        let ended = match work(input) {
            Err(error) if !is_closed_pipe(&error) && !error.is::<OutputError>() => {
                failed += 1;
                let error = describe(&error);
                complain(&error);
                let json = json.then(|| {
                    object! {
                        #[serde(flatten)]
                        path: PathJson::from(input.label()),
                        error,
                    }
                });
                json.map_or(Ok(()), |json| print_json(&json))
            }
            ended => ended.map(|()| done += 1),
        };
        match ended {
            // Further lines could not be written either; earlier failures still count.
            Err(error) if failed > 0 && is_closed_pipe(&error) => break,
            ended => ended?,
        }
    }
    Ok(match (done, failed) {
        (_, 0) => Outcome::Done,
        (0, _) => Outcome::NotDone,
        _ => Outcome::Differs,
    })
}

/// Length up to which a file occupies a thread only for a moment.
pub(super) const SHORT: u64 = 1 << 20;
/// Up to this many files are read one by one, each with a progress bar.
const FEW: usize = 8;

/// Returns the number of files to read at one time by kernels that give a long file to all cores: one, if there are
/// few files or the costs of each are reported.
pub(super) fn at_once(inputs: &[Input], how: &ReadArgs) -> usize {
    let one_by_one = inputs.len() <= FEW || how.engine.usage;
    if one_by_one { 1 } else { threads(inputs, &how.flow) }
}

/// Returns the number of files to read at one time, each by one thread: one, if the rate of all is limited.
pub(super) fn threads(inputs: &[Input], flow: &FlowArgs) -> usize {
    let threads = match flow.workers {
        _ if flow.rate.is_some() => 1,
        0 => thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    };
    threads.min(inputs.len())
}

/// Long files, which take turns: each is read by all cores.
#[derive(Default)]
pub(super) struct LongFiles(Mutex<()>);

impl LongFiles {
    /// Waits for the turn of a file of this length; a short one needs none.
    pub(super) fn turn(&self, len: u64) -> Option<MutexGuard<'_, ()>> {
        (len > SHORT).then(|| self.0.lock())
    }
}

/// As [`each`], in two steps: `compute` on several threads at once, then `show` in the order of the inputs, on this
/// thread. While a result is missing, this thread computes those of short files: waking it for each would take as long
/// as the work.
pub(super) fn each_of_several<T: Send>(
    inputs: &[Input],
    threads: usize,
    json: bool,
    compute: impl Fn(&Input) -> Result<T> + Sync,
    mut show: impl FnMut(&Input, T) -> Result<()>,
) -> Result<Outcome> {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, results) = mpsc::channel();
    let work = |sender: mpsc::Sender<_>| {
        while let Some((index, input)) = claim(inputs, &next, &is_over) {
            // There is no receiver if the results could not be printed.
            let _ = sender.send((index, compute(input)));
        }
    };
    thread::scope(|scope| {
        let work = &work;
        for _ in 0..threads {
            let sender = sender.clone();
            let started = thread::Builder::new().spawn_scoped(scope, move || work(sender));
            if started.is_err() {
                break;
            }
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut order = 0..;
        let outcome = each(inputs, json, |input| {
            let index = order.next().unwrap_or(usize::MAX);
            let result = loop {
                early.extend(results.try_iter());
                if let Some(result) = early.remove(&index) {
                    break result;
                }
                if let Some((at, short)) = claim_short(inputs, &next) {
                    early.insert(at, compute(short));
                    continue;
                }
                match results.recv() {
                    Ok((at, result)) => early.insert(at, result),
                    // If there is no other thread, this one computes it.
                    Err(_) => break compute(input),
                };
            };
            show(input, result?)
        });
        is_over.store(true, Ordering::Relaxed);
        outcome
    })
}

/// Takes the next input, if there is one and its result is awaited.
fn claim<'i>(
    inputs: &'i [Input],
    next: &AtomicUsize,
    is_over: &AtomicBool,
) -> Option<(usize, &'i Input)> {
    if is_over.load(Ordering::Relaxed) {
        return None;
    }
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, inputs.get(index)?))
}

/// Takes the next input, if it is a short file.
fn claim_short<'i>(inputs: &'i [Input], next: &AtomicUsize) -> Option<(usize, &'i Input)> {
    loop {
        let index = next.load(Ordering::Relaxed);
        let input = inputs.get(index)?;
        let facts = fs::metadata(input.path()?).ok()?;
        if !facts.is_file() || facts.len() > SHORT {
            return None;
        }
        if next.compare_exchange(index, index + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            return Some((index, input));
        }
    }
}

/// Returns the line `value  path` as the standard tools print it: if the path has a newline or a
/// backslash, it is escaped, and the line starts with a backslash.
pub(super) fn line(value: &str, path: &OsStr) -> Vec<u8> {
    around(&format!("{value}  "), path, "")
}

/// Returns the line `NAME (path) = value`, with the same escapes.
pub(super) fn tagged_line(name: &str, value: &str, path: &OsStr) -> Vec<u8> {
    around(&format!("{name} ("), path, &format!(") = {value}"))
}

fn around(before: &str, path: &OsStr, after: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(before.len() + path.len() + after.len() + 2);
    if must_escape(path) {
        line.push(b'\\');
    }
    line.extend_from_slice(before.as_bytes());
    escape(path, &mut line);
    line.extend_from_slice(after.as_bytes());
    line.push(b'\n');
    line
}

/// Whether a path would break its line, or look as if it were escaped.
pub(super) fn must_escape(path: &OsStr) -> bool {
    path.as_bytes().iter().any(|byte| b"\n\r\\".contains(byte))
}

/// Appends a path, escaped where necessary; for a terminal, also its control characters.
pub(super) fn escape(path: &OsStr, line: &mut Vec<u8>) {
    let is_seen =
        path.as_bytes().iter().any(u8::is_ascii_control) && io::stdout().is_terminal();
    for byte in path.as_bytes() {
        match byte {
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            b'\\' => line.extend_from_slice(b"\\\\"),
            byte if is_seen && byte.is_ascii_control() => line.extend(byte.escape_ascii()),
            &byte => line.push(byte),
        }
    }
}

/// Reports fallbacks on standard error; standard output has only results.
pub(super) fn note_fallbacks(input: &Input, report: &Report) {
    for fallback in &report.fallbacks {
        complain(format!("note: {input}: {fallback}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::time::Duration;

    #[test]
    fn a_line_holds_one_path_whatever_its_name() {
        assert_eq!(line("12", OsStr::new("plain name")), b"12  plain name\n");
        assert_eq!(line("12", OsStr::new("a\nb\\c")), b"\\12  a\\nb\\\\c\n");
        assert_eq!(line("12", OsStr::from_bytes(b"\xff")), b"12  \xff\n");
        assert_eq!(tagged_line("CRC32C", "12", OsStr::new("a)")), b"CRC32C (a)) = 12\n");
        assert_eq!(tagged_line("CRC32C", "12", OsStr::new("a\n")), b"\\CRC32C (a\\n) = 12\n");
    }

    #[test]
    fn results_are_shown_in_order_whichever_is_ready_first() {
        let inputs: Vec<Input> =
            (0..40).map(|at| Input::Path(format!("{at}").into())).collect();
        for threads in [0, 1, 3, 50] {
            let compute = |input: &Input| {
                let number: u64 = input.to_string().parse()?;
                thread::sleep(Duration::from_millis(number % 3));
                anyhow::ensure!(number % 10 != 7, "seven");
                Ok(number)
            };
            let mut shown = Vec::new();
            let show = |_: &Input, number| {
                shown.push(number);
                Ok(())
            };
            let outcome = each_of_several(&inputs, threads, false, compute, show);
            assert_eq!(outcome.expect("nothing is printed"), Outcome::Differs);
            let wanted: Vec<u64> = (0..40).filter(|number| number % 10 != 7).collect();
            assert_eq!(shown, wanted, "{threads} threads");
        }
        let fails = |_: &Input, _| Err(OutputError::from(io::Error::other("full")).into());
        assert!(each_of_several(&inputs, 2, false, |_| Ok(()), fails).is_err());
    }

    #[test]
    fn short_files_are_claimed_once_each_and_others_are_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let named = |name: &str| Input::Path(folder.path().join(name));
        for (name, len) in [("a", 0), ("b", SHORT), ("c", SHORT + 1)] {
            let file = fs::File::create(folder.path().join(name)).expect("it is created");
            file.set_len(len).expect("it has that length");
        }
        let inputs = [named("a"), named("b"), named("c"), named("a")];
        let next = AtomicUsize::new(0);
        let claim = || claim_short(&inputs, &next).map(|(at, _)| at);
        assert_eq!([claim(), claim(), claim(), claim()], [Some(0), Some(1), None, None]);
        for other in [Input::Stdin, named(""), named("none"), Input::Path("/dev/null".into())] {
            assert_eq!(claim_short(&[other], &AtomicUsize::new(0)).map(|(at, _)| at), None);
        }
        for threads in [0, 1, 4] {
            let inputs: Vec<Input> = (0..200).map(|_| named("a")).collect();
            let computed = AtomicUsize::new(0);
            let compute = |_: &Input| Ok(computed.fetch_add(1, Ordering::Relaxed));
            let mut shown = Vec::new();
            let show = |_: &Input, at| {
                shown.push(at);
                Ok(())
            };
            let outcome = each_of_several(&inputs, threads, false, compute, show);
            assert_eq!(outcome.expect("nothing is printed"), Outcome::Done);
            shown.sort_unstable();
            assert_eq!(shown, (0..200).collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[test]
    fn some_skipped_is_1_and_all_skipped_is_2() {
        let inputs = [Input::Path("/nonexistent/a".into()), Input::Stdin];
        let refuse = |input: &Input| match input {
            Input::Stdin => Ok(()),
            Input::Path(_) => Err(anyhow::anyhow!("refused by this test")),
        };
        let outcome = |inputs| each(inputs, false, refuse).expect("nothing is printed");
        assert_eq!(outcome(&inputs), Outcome::Differs);
        assert_eq!(outcome(&inputs[..1]), Outcome::NotDone);
        assert_eq!(outcome(&inputs[1..]), Outcome::Done);
    }
}
