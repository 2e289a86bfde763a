//! A writer that is killed at random moments, on the real file system.
//!
//! The child is this test program again; the environment says what to write. It writes version
//! after version of one target. A version contains its own number and length, so that the parent
//! can check that what it finds is complete.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use swath::append::{self, AppendOptions, Mode, OrderedOptions};
use swath::sink::{Durability, Fs};
use swath::{OutputOptions, Reason, WriteOptions};
use swath_reference::battery::{Battery, BatterySize};

use crate::crash::slow::Slow;
use crate::hooked::Hooked;

pub(crate) const HOW: &str = "SWATH_KILLED_WRITER";
pub(crate) const WHERE: &str = "SWATH_KILLED_TARGET";
/// Microseconds until a writer is killed, at most.
const MOST_PATIENCE: u64 = 500_000;

/// How often each way of writing is killed.
const SIZE: BatterySize = BatterySize { slice: 24, full: 100 };

type Written = Result<(), Box<dyn std::error::Error>>;

/// Version `number`: its number, its length, and bytes that follow from both.
pub(crate) fn version(number: u64) -> Vec<u8> {
    let len = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 200_000;
    let mut bytes = Vec::from(number.to_le_bytes());
    bytes.extend(len.to_le_bytes());
    bytes.extend((0..len).map(|index| (number ^ index).to_le_bytes()[0]));
    bytes
}

/// Which version these bytes are; `None` if they are torn.
pub(crate) fn number_of(bytes: &[u8]) -> Option<u64> {
    let number = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    (bytes == version(number)).then_some(number)
}

/// A way of writing a whole version, by name.
fn write(how: &str, path: &Path, number: u64) -> Written {
    let bytes = version(number);
    // A kill loses nothing that the kernel has; sometimes the syncs are done anyway.
    let sync = if number.is_multiple_of(8) { Durability::Full } else { Durability::None };
    let slow = Slow { nameless: how != "named" };
    let slow: Arc<dyn Fs> = Arc::new(Hooked(Arc::new(slow)));
    match how {
        "plain" | "named" => {
            let options = WriteOptions::new().with_output(
                OutputOptions::new().with_durability(sync).with_fs(slow).with_workers(2),
            );
            options.with_chunk_size(65536).write(path, bytes)?;
        }
        "shared" => {
            let options = WriteOptions::new()
                .with_output(OutputOptions::new().with_durability(sync).with_fs(slow))
                .with_chunk_size(30_000);
            let draft = options.create_shared(path, bytes.len() as u64)?;
            let out = options.open_shared(draft.token())?;
            out.write_at(&bytes, 0)?;
            draft.commit(&[out.finish()?])?;
        }
        "quick" => {
            WriteOptions::new()
                .with_output(OutputOptions::new().with_durability(sync))
                .write(path, bytes)?;
        }
        "strands" => strands(path, &bytes, Mode::Plain, (slow, sync))?,
        "segments" => strands(path, &bytes, Mode::Segments, (slow, sync))?,
        "tickets" => {
            let options = OrderedOptions::new()
                .with_output(OutputOptions::new().with_durability(sync).with_fs(slow));
            let out = options.ordered(path)?;
            out.map_ordered(bytes.chunks(30_000), 2, |chunk, ticket| ticket.write_all(chunk))?;
            out.commit()?;
        }
        "naive" => naive(path, &bytes)?,
        other => panic!("no such way: {other}"),
    }
    Ok(())
}

fn strands(
    path: &Path,
    bytes: &[u8],
    mode: Mode,
    (fs, sync): (Arc<dyn Fs>, Durability),
) -> Written {
    let options = AppendOptions::new()
        .with_mode(mode)
        .with_output(OutputOptions::new().with_fs(fs).with_durability(sync));
    let out = options.with_memory_limit(1).with_buffer_size(10_000).create(path)?;
    let mut forks = Vec::new();
    for chunk in bytes.chunks(60_000) {
        forks.push((out.fork()?, chunk));
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = forks
            .into_iter()
            .map(|(mut fork, chunk)| {
                scope.spawn(move || fork.write_all(chunk).map(|()| fork.finish()))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| -> std::io::Result<()> {
            Ok(thread.join().expect("no panic")??)
        })
    })?;
    out.commit()?;
    Ok(())
}

/// Writes as most programs do.
fn naive(path: &Path, bytes: &[u8]) -> Written {
    let file = fs::File::create(path)?;
    for (index, chunk) in bytes.chunks(20_000).enumerate() {
        file.write_all_at(chunk, 20_000 * index as u64)?;
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    if !path.exists() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut opened = append::open(path).map_err(|error| format!("{error:?}"))?;
    opened.read_to_end(&mut bytes).map_err(|error| format!("{error:?}"))?;
    Ok(Some(bytes))
}

/// The child's part; does nothing unless the environment says so.
#[test]
fn a_writer_writes_on_and_on_when_told_to() {
    let (Ok(how), Some(path)) = (std::env::var(HOW), std::env::var_os(WHERE)) else { return };
    let path = Path::new(&path);
    let found = read(path).expect("the parent has looked").unwrap_or_default();
    let mut number = number_of(&found).unwrap_or(0);
    let held = (how == "holder").then(|| WriteOptions::new().create(path, 1 << 20));
    // libtest has begun a line.
    println!("\nready");
    std::io::stdout().flush().expect("the parent reads");
    while held.is_some() {
        std::thread::park();
    }
    loop {
        number += 1;
        write(&how, path, number).unwrap_or_else(|error| panic!("{how}: {error:?}"));
    }
}

/// Starts this program again, for one of its tests.
pub(crate) fn spawn(test: &str, how: &str, path: &Path) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture"]).env(HOW, how).env(WHERE, path);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started")
}

fn start(how: &str, path: &Path) -> Child {
    let mut child = spawn("crash::kill::a_writer_writes_on_and_on_when_told_to", how, path);
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let ready = lines.map_while(Result::ok).find(|line| line == "ready");
    assert!(ready.is_some(), "{how}: {:?}", child.wait());
    child
}

/// A generator of short waits.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(swath_reference::splitmix(seed)() | 1)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// The outcome of the kills.
#[derive(Debug, Default)]
struct Outcome {
    kills: u64,
    versions: u64,
    /// Kills after which other files remained.
    strays: u32,
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("listed");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
    names.sort();
    names
}

/// Kills a writer repeatedly.
///
/// # Errors
///
/// With what is torn, lost or left over.
fn kill_again_and_again(
    how: &str,
    seeds: impl Iterator<Item = u64>,
) -> Result<Outcome, String> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("out");
    let mut outcome = Outcome::default();
    let mut patience = 12_000;
    for (kill, seed) in seeds.enumerate() {
        outcome.kills += 1;
        let mut child = start(how, &path);
        std::thread::sleep(Duration::from_micros(Random::new(seed).below(patience)));
        child.kill().expect("it runs until it is killed");
        child.wait().expect("killed");
        let found = read(&path).map_err(|torn| format!("kill {kill}: {torn}"))?;
        let number = match &found {
            Some(bytes) => number_of(bytes)
                .ok_or_else(|| format!("kill {kill}: {} bytes are torn", bytes.len()))?,
            None if outcome.versions == 0 => 0,
            None => return Err(format!("kill {kill}: nothing is left")),
        };
        if number < outcome.versions {
            return Err(format!("kill {kill}: {number} after {}", outcome.versions));
        }
        // If the device is slow or busy, a writer gets longer before it is killed.
        if number == outcome.versions {
            patience = (patience * 5 / 4).min(MOST_PATIENCE);
        }
        outcome.versions = number;
        outcome.strays += u32::from(names(folder.path()) != ["out"]);
        if kill % 4 == 3 {
            outcome.versions += 1;
            write(how, &path, outcome.versions)
                .map_err(|error| format!("kill {kill}: then the next run: {error:?}"))?;
            check_clean(folder.path(), &path)?;
        }
    }
    Ok(outcome)
}

/// After a run that ended well.
fn check_clean(folder: &Path, path: &Path) -> Result<(), String> {
    let left = names(folder);
    if left != ["out"] {
        return Err(format!("after the next run: {left:?}"));
    }
    if path.is_dir() {
        let manifest = fs::read(path.join("MANIFEST")).expect("there");
        let manifest =
            swath_plan::segment::manifest::Manifest::decode(&manifest, crc32c::crc32c_append);
        let named = manifest.expect("it was read before").segments().len();
        let left = names(path);
        if left.len() != named + 1 {
            return Err(format!("after the next run, {named} segments: {left:?}"));
        }
    }
    Ok(())
}

fn survives(how: &str) {
    let mut battery = Battery::new("kills", SIZE);
    let outcome = kill_again_and_again(how, battery.by_ref());
    let outcome = outcome.unwrap_or_else(|wrong| panic!("{how}: {wrong}"));
    println!("{how}: {outcome:?}");
    assert!(outcome.versions > outcome.kills / 2, "it wrote, {outcome:?}");
}

#[test]
fn a_killed_writer_of_a_buffer_leaves_a_whole_version() {
    survives("plain");
    survives("quick");
}

#[test]
fn a_killed_writer_whose_files_must_have_names_leaves_a_whole_version() {
    survives("named");
}

#[test]
fn a_killed_writer_of_a_shared_draft_leaves_a_whole_version() {
    survives("shared");
}

#[test]
fn killed_strands_leave_a_whole_version() {
    survives("strands");
}

#[test]
fn a_killed_writer_of_segments_leaves_a_whole_version() {
    survives("segments");
}

#[test]
fn killed_tickets_leave_a_whole_version() {
    survives("tickets");
}

#[test]
fn a_writer_under_the_final_name_is_found_when_it_is_killed() {
    let wrong = kill_again_and_again("naive", 0..1000).expect_err("a torn version");
    assert!(wrong.contains("torn"), "{wrong}");
}

/// The lock of a killed process is free, whatever is left of it.
#[test]
fn a_killed_holder_locks_nobody_out() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("out");
    let mut child = start("holder", &path);
    let error = swath::write(&path, b"too early").expect_err("the second writer is refused");
    assert_eq!(error.reason(), Reason::Busy, "{error:?}");
    child.kill().expect("it runs until it is killed");
    child.wait().expect("killed");
    swath::write(&path, b"free").expect("free at once");
    assert_eq!(names(folder.path()), ["out"]);
}
