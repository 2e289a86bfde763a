//! Serial-append under attack: plain files, segments, checkpoints, tickets.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use swath::OutputOptions;

use swath::append::{Append, AppendOptions, Mode, OrderedOptions};
use swath::sink::Fs;
use swath_plan::segment::manifest::Manifest;

use swath_reference::battery::Battery;

use crate::crash::attack::{Failure, Reached, State, Subject, attack, target};
use crate::crash::simulated::{Abilities, SimulatedFs};

const OLD: &[u8] = b"the old bytes, longer than one block";

/// The writes of strands to one output, including checkpoints.
type Script = fn(&Append, &Reached) -> Result<(), Failure>;

/// An output from old to new, over the states that its checkpoints commit.
struct Appended {
    mode: Mode,
    old: State,
    script: Script,
    /// The bytes of the checkpoints and the commit, in order.
    leaves: &'static [&'static str],
    /// Appends the new bytes to the old ones.
    goes_on: bool,
}

impl Appended {
    fn options(&self, fs: Arc<dyn Fs>) -> AppendOptions {
        // Buffers that are full at once, and no memory to wait in: every path goes to the disk.
        let options = AppendOptions::new()
            .with_mode(self.mode)
            .with_output(OutputOptions::new().with_fs(fs));
        options.with_buffer_size(16).with_memory_limit(1)
    }

    fn is_folder(&self) -> bool {
        self.mode == Mode::Segments
    }

    fn run(&self, out: Append, reached: &Reached) -> Result<(), Failure> {
        (self.script)(&out, reached)?;
        out.commit()?;
        Ok(())
    }
}

impl Subject for Appended {
    fn prepare(&self, fs: &SimulatedFs) {
        if let Some(old) = &self.old {
            let out = self.options(Arc::new(fs.clone())).create(target("out"));
            let mut out = out.expect("begun");
            out.write_all(old).expect("written");
            out.commit().expect("committed");
            fs.settle();
        }
    }

    fn states(&self) -> Vec<State> {
        let old = self.old.clone();
        let before = if self.goes_on { old.clone().unwrap_or_default() } else { Vec::new() };
        let left = self.leaves.iter().map(|left| Some([&before, left.as_bytes()].concat()));
        [old].into_iter().chain(left).collect()
    }

    fn write(&self, fs: Arc<dyn Fs>, reached: &Reached) -> Result<(), Failure> {
        let options = self.options(fs);
        let out = match self.goes_on {
            true => options.append_to_existing(target("out"))?,
            false => options.create(target("out"))?,
        };
        self.run(out, reached)
    }

    fn write_again(&self, fs: Arc<dyn Fs>) -> Result<(), Failure> {
        let mut out = self.options(fs).create(target("out"))?;
        if let (true, Some(old)) = (self.goes_on, &self.old) {
            out.write_all(old)?;
        }
        // Its checkpoints make other states when the old bytes are written with it.
        let last = self.leaves.last().expect("a commit");
        match self.leaves.len() {
            1 => self.run(out, &Reached::default()),
            _ => {
                out.write_all(last.as_bytes())?;
                out.commit()?;
                Ok(())
            }
        }
    }

    fn read(&self, fs: &SimulatedFs) -> Result<State, String> {
        if self.is_folder() { read_segments(fs) } else { Ok(fs.read(&target("out"))) }
    }

    fn names(&self, state: &State) -> Vec<String> {
        state.iter().map(|_| String::from("out")).collect()
    }

    fn keeps_both(&self) -> bool {
        self.is_folder()
    }

    fn strays(&self, fs: &SimulatedFs, state: &State) -> Vec<String> {
        let allowed = self.names(state);
        let mut strays = fs.names(&self.folder());
        strays.retain(|name| !allowed.contains(name));
        if self.is_folder() && state.is_some() {
            let manifest = manifest(fs).ok().flatten().expect("it was read before");
            let named = |name: &String| {
                name == "MANIFEST" || manifest.segments().iter().any(|it| *it.name == **name)
            };
            strays.extend(fs.names(&target("out")).into_iter().filter(|name| !named(name)));
        }
        strays
    }
}

/// Tickets returned in another order than they were taken.
struct Tickets {
    old: State,
}

impl Subject for Tickets {
    fn prepare(&self, fs: &SimulatedFs) {
        if let Some(old) = &self.old {
            fs.prepare(&target("out"), old);
        }
    }

    fn states(&self) -> Vec<State> {
        vec![self.old.clone(), Some(b"first, second, which is longer, third".to_vec())]
    }

    fn write(&self, fs: Arc<dyn Fs>, _: &Reached) -> Result<(), Failure> {
        let options = OrderedOptions::new()
            .with_output(OutputOptions::new().with_fs(fs))
            .with_window(3)
            .with_chunk_size(16);
        let out = options.ordered(target("out"))?;
        let (mut first, mut second) = (out.ticket()?, out.ticket()?);
        let mut third = out.ticket()?;
        third.write_all(b"third")?;
        third.done()?;
        second.write_all(b"second, which is longer, ")?;
        second.done()?;
        first.write_all(b"first, ")?;
        first.done()?;
        out.commit()?;
        Ok(())
    }

    fn read(&self, fs: &SimulatedFs) -> Result<State, String> {
        Ok(fs.read(&target("out")))
    }

    fn names(&self, state: &State) -> Vec<String> {
        state.iter().map(|_| String::from("out")).collect()
    }
}

#[test]
fn tickets_survive_every_failure_and_every_crash() {
    for abilities in Abilities::KINDS {
        for old in [None, Some(OLD.to_vec())] {
            let subject = Tickets { old };
            let found = attack(&subject, abilities);
            found.unwrap_or_else(|wrong| {
                panic!("{abilities:?}, old {:?}: {wrong}", subject.old)
            });
        }
    }
}

fn manifest(fs: &SimulatedFs) -> Result<Option<Manifest>, String> {
    let bytes = match fs.read(&target("out/MANIFEST")) {
        Some(bytes) => bytes,
        None if fs.names(Path::new("/d")).contains(&String::from("out")) => {
            return Err(String::from("a folder without a manifest"));
        }
        None => return Ok(None),
    };
    let manifest = Manifest::decode(&bytes, crc32c::crc32c_append);
    manifest.map(Some).map_err(|error| format!("the manifest: {error}"))
}

/// Reads as the manifest says, comparing checksums.
pub(crate) fn read_segments(fs: &SimulatedFs) -> Result<State, String> {
    let Some(manifest) = manifest(fs)? else { return Ok(None) };
    let mut bytes = Vec::new();
    for extent in manifest.extents() {
        let name = &*manifest.segments()[extent.segment as usize].name;
        let segment = fs.read(&target("out").join(name));
        let segment = segment.ok_or_else(|| format!("{name} is not there"))?;
        let at = |offset| usize::try_from(offset).expect("small");
        let (start, end) = (at(extent.extent.offset()), at(extent.extent.end()));
        let part = segment.get(start..end).ok_or_else(|| format!("{name} is too short"))?;
        if extent.crc32c.is_some_and(|crc| crc != crc32c::crc32c(part)) {
            return Err(format!("{name} is damaged"));
        }
        bytes.extend_from_slice(part);
    }
    Ok(Some(bytes))
}

fn strands(out: &Append, _: &Reached) -> Result<(), Failure> {
    let (mut first, mut second) = (out.fork()?, out.fork()?);
    (&mut &*out).write_all(b"tail of the trunk, written first")?;
    second.write_all(b"second strand, whose place is not known yet; ")?;
    let mut inner = second.fork();
    second.write_all(b"after its fork; ")?;
    inner.write_all(b"inner; ")?;
    inner.finish()?;
    second.finish()?;
    first.write_all(b"first strand; ")?;
    first.finish()?;
    Ok(())
}

const STRANDS: &[&str] = &["first strand; second strand, whose place is not known yet; \
                            inner; after its fork; tail of the trunk, written first"];

fn little(out: &Append, _: &Reached) -> Result<(), Failure> {
    Ok((&mut &*out).write_all(b"few bytes")?)
}

fn nothing(_: &Append, _: &Reached) -> Result<(), Failure> {
    Ok(())
}

fn log(out: &Append, reached: &Reached) -> Result<(), Failure> {
    (&mut &*out).write_all(b"one, and it is longer than a buffer; ")?;
    out.checkpoint()?;
    reached.durable(1);
    let mut fork = out.fork()?;
    (&mut &*out).write_all(b"three; ")?;
    fork.write_all(b"two, which is also longer than a buffer; ")?;
    fork.finish()?;
    out.checkpoint()?;
    reached.durable(2);
    (&mut &*out).write_all(b"four")?;
    Ok(())
}

const LOG: &[&str] = &[
    "one, and it is longer than a buffer; ",
    "one, and it is longer than a buffer; two, which is also longer than a buffer; three; ",
    "one, and it is longer than a buffer; two, which is also longer than a buffer; three; four",
];

fn survives(mode: Mode, script: Script, leaves: &'static [&'static str], goes_on: bool) {
    let olds = [None, Some(OLD.to_vec())];
    let all = Abilities::KINDS.into_iter().flat_map(|it| olds.clone().map(|old| (it, old)));
    for (abilities, old) in Battery::of_list("power-cuts", 1, all) {
        let subject = Appended { mode, old, script, leaves, goes_on };
        let found = attack(&subject, abilities);
        found.unwrap_or_else(|wrong| {
            panic!("{abilities:?}, {mode:?}, old {:?}: {wrong}", subject.old)
        });
    }
}

#[test]
fn a_plain_file_of_strands_survives_every_failure_and_every_crash() {
    survives(Mode::Plain, strands, STRANDS, false);
    survives(Mode::Plain, little, &["few bytes"], false);
    survives(Mode::Plain, nothing, &[""], false);
}

#[test]
fn segments_of_strands_survive_every_failure_and_every_crash() {
    survives(Mode::Segments, strands, STRANDS, false);
    survives(Mode::Segments, nothing, &[""], false);
}

#[test]
fn checkpoints_of_a_plain_file_survive_every_failure_and_every_crash() {
    survives(Mode::Plain, log, LOG, false);
}

#[test]
fn checkpoints_of_segments_survive_every_failure_and_every_crash() {
    survives(Mode::Segments, log, LOG, false);
}

#[test]
fn what_is_put_behind_old_bytes_survives_every_failure_and_every_crash() {
    survives(Mode::Plain, strands, STRANDS, true);
    survives(Mode::Segments, strands, STRANDS, true);
    survives(Mode::Segments, log, LOG, true);
}
