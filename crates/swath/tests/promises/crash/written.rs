//! The real writers: `write`, `create` and others, under attack.

use std::sync::Arc;

use swath::copy::CopyOptions;
use swath::sink::{self, Fs, Replace};
use swath::{OutputOptions, ReadOptions, WriteOptions};
use swath_reference::battery::Battery;

use crate::crash::attack::{Durability, Failure, Reached, State, Subject};
use crate::crash::attack::{attack, fail_everywhere, target};
use crate::crash::disk::Call;
use crate::crash::simulated::{Abilities, SimulatedFs};

/// One file, from old to new.
struct OneFile<W> {
    old: State,
    new: Vec<u8>,
    write: W,
}

impl<W: Fn(Arc<dyn Fs>, &[u8]) -> Result<(), Failure>> Subject for OneFile<W> {
    fn prepare(&self, fs: &SimulatedFs) {
        fs.prepare(&target("other"), b"of another user");
        if let Some(old) = &self.old {
            fs.prepare(&target("out"), old);
        }
    }

    fn states(&self) -> Vec<State> {
        vec![self.old.clone(), Some(self.new.clone())]
    }

    fn write(&self, fs: Arc<dyn Fs>, _: &Reached) -> Result<(), Failure> {
        (self.write)(fs, &self.new)
    }

    fn read(&self, fs: &SimulatedFs) -> Result<State, String> {
        match fs.read(&target("other")) {
            Some(bytes) if bytes == b"of another user" => Ok(fs.read(&target("out"))),
            other => Err(format!("another file is {other:?}")),
        }
    }

    fn names(&self, state: &State) -> Vec<String> {
        let out = state.as_ref().map(|_| String::from("out"));
        out.into_iter().chain([String::from("other")]).collect()
    }
}

const OLD: &[u8] = b"the old bytes, longer than one block";

const LENGTHS: [u8; 4] = [0, 1, 36, 50];

fn bytes(len: u8) -> Vec<u8> {
    (1..=len).collect()
}

fn everywhere(write: impl Fn(Arc<dyn Fs>, &[u8]) -> Result<(), Failure>) {
    let files = [None, Some(OLD.to_vec())].into_iter();
    let files = files.flat_map(|old| LENGTHS.map(|len| (old.clone(), len)));
    let all =
        Abilities::KINDS.into_iter().flat_map(|it| files.clone().map(move |one| (it, one)));
    for (abilities, (old, len)) in Battery::of_list("power-cuts", 3, all) {
        let found = attack(&OneFile { old, new: bytes(len), write: &write }, abilities);
        found.unwrap_or_else(|wrong| panic!("{abilities:?}, {len} bytes: {wrong}"));
    }
}

fn options(fs: Arc<dyn Fs>) -> WriteOptions {
    options_of(output(fs))
}

fn output(fs: Arc<dyn Fs>) -> OutputOptions {
    OutputOptions::new().with_fs(fs).with_workers(1)
}

fn options_of(output: OutputOptions) -> WriteOptions {
    WriteOptions::new().with_output(output).with_chunk_size(16)
}

#[test]
fn a_written_buffer_survives_every_failure_and_every_crash() {
    everywhere(|fs, bytes| Ok(options(fs).write(target("out"), bytes).map(|_| ())?));
}

#[test]
fn a_file_written_in_any_order_survives_every_failure_and_every_crash() {
    everywhere(|fs, bytes| {
        let out = options(fs).create(target("out"), bytes.len() as u64)?;
        for (index, piece) in bytes.chunks(20).enumerate().rev() {
            out.write_at(piece, 20 * index as u64)?;
        }
        Ok(out.commit()?)
    });
}

#[test]
fn a_file_of_several_processes_survives_every_failure_and_every_crash() {
    everywhere(|fs, bytes| {
        let draft =
            options(Arc::clone(&fs)).create_shared(target("out"), bytes.len() as u64)?;
        let mut receipts = Vec::new();
        for (index, piece) in bytes.chunks(20).enumerate().rev() {
            let out = options(Arc::clone(&fs)).open_shared(draft.token())?;
            out.write_at(piece, 20 * index as u64)?;
            receipts.push(out.finish()?);
        }
        Ok(draft.commit(&receipts)?)
    });
}

#[test]
fn a_copy_survives_every_failure_and_every_crash() {
    // Made once: the real file system is the slow part.
    let sources = LENGTHS.map(|len| {
        let source = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR"));
        let source = source.expect("a temporary file");
        std::fs::write(source.path(), bytes(len)).expect("written");
        source
    });
    everywhere(|fs, bytes| {
        let index = LENGTHS.iter().position(|&len| usize::from(len) == bytes.len());
        let source = sources[index.expect("one of them")].path();
        let options = CopyOptions::new()
            .with_output(OutputOptions::new().with_fs(fs))
            .with_read(ReadOptions::new().with_workers(1).with_chunk_size(16));
        Ok(options.copy(source, target("out")).map(|_| ())?)
    });
}

#[test]
fn a_file_that_must_be_new_survives_every_failure_and_every_crash() {
    for abilities in [Abilities::ALL, Abilities::FEW] {
        // The next run may find it there, which is not a failure.
        let write = |fs: Arc<dyn Fs>, bytes: &[u8]| {
            let options = options_of(output(fs).with_replace(Replace::Refused));
            match options.write(target("out"), bytes) {
                Err(error) if error.io_kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
                written => Ok(written.map(|_| ())?),
            }
        };
        let subject = OneFile { old: None, new: bytes(50), write };
        attack(&subject, abilities).unwrap_or_else(|wrong| panic!("{abilities:?}: {wrong}"));
    }
}

#[test]
fn without_durability_every_failure_still_leaves_the_old_file_or_the_new() {
    for abilities in Abilities::KINDS {
        let write = |fs: Arc<dyn Fs>, bytes: &[u8]| {
            let options = options_of(output(fs).with_durability(sink::Durability::None));
            Ok(options.write(target("out"), bytes).map(|_| ())?)
        };
        let subject = OneFile { old: Some(OLD.to_vec()), new: bytes(50), write };
        let found = fail_everywhere(&subject, abilities, Durability::NotPromised);
        found.unwrap_or_else(|wrong| panic!("{abilities:?}: {wrong}"));
    }
}

/// The calls that make bytes and names durable, in order.
fn order_of_a_commit(old: Option<&[u8]>, durability: sink::Durability) -> Vec<Call> {
    let fs = SimulatedFs::new(Abilities::ALL);
    fs.prepare_folder(&target(""));
    if let Some(old) = old {
        fs.prepare(&target("out"), old);
    }
    let options = options_of(output(Arc::new(fs.clone())).with_durability(durability));
    options.write(target("out"), b"new").expect("written");
    let matters = [Call::Write, Call::Attributes, Call::Sync, Call::Link, Call::Rename];
    let mut calls = fs.calls();
    calls.retain(|call| matters.contains(call) || *call == Call::SyncFolder);
    calls
}

/// The last sync of the file leaves no trace in the result: XFS reports only there that it has
/// lost the rename.
#[test]
fn a_commit_makes_its_calls_in_the_order_of_the_design() {
    use Call::{Attributes, Link, Rename, Sync as SyncFile, SyncFolder, Write};
    assert_eq!(
        order_of_a_commit(None, sink::Durability::Full),
        [Write, SyncFile, Link, SyncFolder, SyncFile]
    );
    assert_eq!(
        order_of_a_commit(Some(OLD), sink::Durability::Full),
        [Write, Attributes, SyncFile, Link, Rename, SyncFolder, SyncFile]
    );
    assert_eq!(order_of_a_commit(None, sink::Durability::None), [Write, Link]);
    assert_eq!(
        order_of_a_commit(Some(OLD), sink::Durability::None),
        [Write, Attributes, Link, Rename]
    );
}
