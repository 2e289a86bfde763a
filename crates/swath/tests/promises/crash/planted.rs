//! Writers with a bug: the attack must find each of them, or it proves nothing.

use std::io;
use std::sync::Arc;

use swath::sink::{Fs, FsFile, FsFolder};

use crate::crash::attack::{Failure, Reached, State, Subject, attack, target};
use crate::crash::simulated::{Abilities, SimulatedFs};

const OLD: &[u8] = b"the old bytes, longer than one block";
const NEW: &[u8] = b"NEW BYTES THAT ARE LONGER THAN THE OLD ONES WERE";
const HIDDEN: &str = ".out.hidden";

fn failed(error: io::Error) -> Failure {
    Failure::NotDone(error.to_string())
}

fn unknown(error: io::Error) -> Failure {
    Failure::Unknown(error.to_string())
}

fn fill(file: &dyn FsFile, bytes: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let end = bytes.len().min(done + 16);
        match file.write_at(&bytes[done..end], done as u64)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => done += written,
        }
    }
    Ok(())
}

/// The folder in which all of it happens.
fn folder(fs: &dyn Fs) -> Result<Arc<dyn FsFolder>, Failure> {
    fs.locate(&target("out")).map(|located| located.folder).map_err(failed)
}

fn remove_if_there(folder: &dyn FsFolder, name: &str) -> io::Result<()> {
    match folder.remove(name.as_ref()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// A rename may return an error although it was done: then the outcome is unknown.
fn rename(folder: &dyn FsFolder, from: &str, to: &str) -> Result<(), Failure> {
    let renamed = folder.rename(from.as_ref(), to.as_ref());
    renamed.map_err(|error| match folder.facts(from.as_ref()) {
        Ok(Some(_)) => failed(error),
        _ => unknown(error),
    })
}

/// The steps of a careful writer of one file that it can be made to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forgets {
    Nothing,
    /// Writes under the final name.
    Hiding,
    SyncOfFile,
    SyncOfFolder,
    /// Retries a failed sync.
    ThatSyncFailsOnce,
    /// Renames first, then syncs.
    SyncBeforeRename,
    /// Leaves the hidden name after an error.
    Strays,
    /// Never looks for the hidden name of a killed run.
    StraysOfOthers,
    /// Assumes that a write was complete.
    ShortWrites,
    /// Treats an error of the last sync as "not done".
    UnknownOutcomes,
    /// Treats every error as an unknown outcome.
    ToKnow,
}

struct Careless(Forgets);

impl Careless {
    fn give_name(&self, folder: &dyn FsFolder, file: &dyn FsFile) -> Result<(), Failure> {
        if self.0 != Forgets::SyncBeforeRename && self.0 != Forgets::SyncOfFile {
            let mut synced = file.sync();
            if self.0 == Forgets::ThatSyncFailsOnce {
                synced = synced.or_else(|_| file.sync());
            }
            synced.map_err(failed)?;
        }
        rename(folder, HIDDEN, "out")?;
        let settle = |error| match self.0 {
            Forgets::UnknownOutcomes => failed(error),
            _ => unknown(error),
        };
        if self.0 == Forgets::SyncBeforeRename {
            file.sync().map_err(settle)?;
        }
        if self.0 != Forgets::SyncOfFolder {
            folder.sync().map_err(settle)?;
        }
        Ok(())
    }

    fn write_hidden(&self, fs: &dyn Fs) -> Result<(), Failure> {
        let folder = &*folder(fs)?;
        if self.0 != Forgets::StraysOfOthers {
            remove_if_there(folder, HIDDEN).map_err(failed)?;
        }
        let file = folder.create_new(HIDDEN.as_ref(), 0o666).map_err(failed)?;
        let written = match self.0 {
            Forgets::ShortWrites => file.write_at(NEW, 0).map(|_| ()),
            _ => fill(&*file, NEW),
        };
        let done =
            written.map_err(failed).and_then(|()| Careless(self.0).give_name(folder, &*file));
        if done.is_err() && self.0 != Forgets::Strays {
            let _ = remove_if_there(folder, HIDDEN);
        }
        done
    }

    fn write_in_place(fs: &dyn Fs) -> Result<(), Failure> {
        let folder = folder(fs)?;
        remove_if_there(&*folder, "out").map_err(failed)?;
        let file = folder.create_new("out".as_ref(), 0o666).map_err(failed)?;
        fill(&*file, NEW).map_err(failed)?;
        file.sync().map_err(failed)?;
        folder.sync().map_err(unknown)
    }
}

impl Subject for Careless {
    fn prepare(&self, fs: &SimulatedFs) {
        fs.prepare(&target("out"), OLD);
    }

    fn states(&self) -> Vec<State> {
        vec![Some(OLD.to_vec()), Some(NEW.to_vec())]
    }

    fn write(&self, fs: Arc<dyn Fs>, _: &Reached) -> Result<(), Failure> {
        match self.0 {
            Forgets::Hiding => Self::write_in_place(&*fs),
            Forgets::ToKnow => self.write_hidden(&*fs).map_err(|error| match error {
                Failure::NotDone(why) | Failure::Unknown(why) => Failure::Unknown(why),
            }),
            forgets => Careless(forgets).write_hidden(&*fs),
        }
    }

    fn read(&self, fs: &SimulatedFs) -> Result<State, String> {
        Ok(fs.read(&target("out")))
    }

    fn names(&self, _: &State) -> Vec<String> {
        vec![String::from("out")]
    }
}

#[track_caller]
fn finds(forgets: Forgets, wrong: &str) {
    let found = attack(&Careless(forgets), Abilities::ALL);
    let found = found.expect_err("the attack finds it");
    assert!(found.contains(wrong), "{found}");
}

#[test]
fn a_careful_writer_is_not_accused() {
    attack(&Careless(Forgets::Nothing), Abilities::ALL).expect("nothing is wrong");
}

#[test]
fn a_writer_that_writes_under_the_final_name_is_found() {
    finds(Forgets::Hiding, "a reader finds");
}

#[test]
fn a_commit_without_a_sync_of_the_file_is_found() {
    finds(Forgets::SyncOfFile, "a reader finds no state at all");
}

#[test]
fn a_commit_without_a_sync_of_the_folder_is_found() {
    finds(Forgets::SyncOfFolder, "a reader finds state 0");
}

#[test]
fn a_failed_sync_that_is_tried_again_is_found() {
    finds(
        Forgets::ThatSyncFailsOnce,
        "(Some(Sync))] ended well: a reader finds no state at all",
    );
}

#[test]
fn a_rename_before_the_sync_is_found() {
    finds(Forgets::SyncBeforeRename, "a reader finds no state at all");
}

#[test]
fn a_stray_after_an_error_is_found() {
    finds(Forgets::Strays, ".out.hidden is left");
}

#[test]
fn a_stray_of_a_killed_run_is_found() {
    finds(Forgets::StraysOfOthers, "then the next run");
}

#[test]
fn a_short_write_taken_for_whole_is_found() {
    finds(Forgets::ShortWrites, "Short");
}

#[test]
fn an_unknown_outcome_that_is_not_told_is_found() {
    finds(Forgets::UnknownOutcomes, "a reader finds state 1, allowed are 0..=0");
}

#[test]
fn a_known_outcome_that_is_not_told_is_found() {
    finds(Forgets::ToKnow, "it is known that nothing was named");
}

/// A folder of segments, as `Folder` writes one: each line of the manifest names a segment.
struct CarelessFolder {
    /// Renames the manifest before the segments are synced.
    manifest_first: bool,
    /// Does not sync the names of the segments before the manifest's.
    forgets_names: bool,
    /// Reuses the names of segments.
    reuses_names: bool,
}

impl CarelessFolder {
    fn commit(&self, fs: &dyn Fs) -> Result<(), Failure> {
        let folder = &*folder(fs)?;
        remove_if_there(folder, ".manifest").map_err(failed)?;
        let generation = if self.reuses_names || !exists(folder, "2a")? { "2" } else { "3" };
        let mut manifest = String::new();
        let mut segments = Vec::new();
        for part in ["a", "b"] {
            let name = format!("{generation}{part}");
            remove_if_there(folder, &name).map_err(failed)?;
            let segment = folder.create_new(name.as_ref(), 0o666).map_err(failed)?;
            fill(&*segment, NEW).map_err(failed)?;
            manifest.push_str(&name);
            manifest.push('\n');
            segments.push(segment);
        }
        let sync_all = || segments.iter().try_for_each(|segment| segment.sync());
        if !self.manifest_first {
            sync_all().map_err(failed)?;
        }
        let file = folder.create_new(".manifest".as_ref(), 0o666).map_err(failed)?;
        fill(&*file, manifest.as_bytes()).map_err(failed)?;
        file.sync().map_err(failed)?;
        if !self.forgets_names {
            folder.sync().map_err(failed)?;
        }
        rename(folder, ".manifest", "out")?;
        if self.manifest_first {
            sync_all().map_err(unknown)?;
        }
        folder.sync().map_err(unknown)
    }
}

fn exists(folder: &dyn FsFolder, name: &str) -> Result<bool, Failure> {
    folder.facts(name.as_ref()).map(|facts| facts.is_some()).map_err(failed)
}

impl Subject for CarelessFolder {
    fn prepare(&self, fs: &SimulatedFs) {
        fs.prepare(&target("2a"), OLD);
        fs.prepare(&target("out"), b"2a\n");
    }

    fn states(&self) -> Vec<State> {
        vec![Some(OLD.to_vec()), Some([NEW, NEW].concat())]
    }

    fn write(&self, fs: Arc<dyn Fs>, _: &Reached) -> Result<(), Failure> {
        self.commit(&*fs)
    }

    fn read(&self, fs: &SimulatedFs) -> Result<State, String> {
        let Some(manifest) = fs.read(&target("out")) else { return Ok(None) };
        let manifest = String::from_utf8(manifest).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        for name in manifest.lines() {
            let segment = fs.read(&target(name)).ok_or_else(|| format!("no {name}"))?;
            bytes.extend(segment);
        }
        Ok(Some(bytes))
    }

    /// Segments of any generation may stay: this test is about the order of syncs.
    fn names(&self, _: &State) -> Vec<String> {
        ["out", "2a", "2b", "3a", "3b", ".manifest"].map(String::from).to_vec()
    }
}

const CAREFUL: CarelessFolder =
    CarelessFolder { manifest_first: false, forgets_names: false, reuses_names: false };

#[track_caller]
fn finds_in_folder(folder: &CarelessFolder) {
    let found = attack(folder, Abilities::ALL).expect_err("the attack finds it");
    assert!(found.contains("torn") || found.contains("no state at all"), "{found}");
}

#[test]
fn a_careful_folder_is_not_accused() {
    attack(&CAREFUL, Abilities::ALL).expect("nothing is wrong");
}

#[test]
fn a_manifest_that_is_renamed_before_its_segments_are_synced_is_found() {
    finds_in_folder(&CarelessFolder { manifest_first: true, ..CAREFUL });
}

#[test]
fn a_manifest_that_is_renamed_before_the_names_are_synced_is_found() {
    finds_in_folder(&CarelessFolder { forgets_names: true, ..CAREFUL });
}

#[test]
fn a_segment_whose_name_is_used_again_is_found() {
    finds_in_folder(&CarelessFolder { reuses_names: true, ..CAREFUL });
}

/// Two states, one after the other, each by a careful commit; the first is reported as durable.
struct CarelessLog(Forgets);

impl CarelessLog {
    fn checkpoint(&self, fs: &dyn Fs, forgets: Forgets, bytes: &[u8]) -> Result<(), Failure> {
        let folder = &*folder(fs)?;
        remove_if_there(folder, HIDDEN).map_err(failed)?;
        let file = folder.create_new(HIDDEN.as_ref(), 0o666).map_err(failed)?;
        let done = fill(&*file, bytes).map_err(failed);
        let done = done.and_then(|()| Careless(forgets).give_name(folder, &*file));
        if done.is_err() {
            let _ = remove_if_there(folder, HIDDEN);
        }
        done
    }
}

impl Subject for CarelessLog {
    fn prepare(&self, _: &SimulatedFs) {}

    fn states(&self) -> Vec<State> {
        vec![None, Some(OLD.to_vec()), Some(NEW.to_vec())]
    }

    fn write(&self, fs: Arc<dyn Fs>, reached: &Reached) -> Result<(), Failure> {
        self.checkpoint(&*fs, self.0, OLD)?;
        reached.durable(1);
        self.checkpoint(&*fs, Forgets::Nothing, NEW)
    }

    fn read(&self, fs: &SimulatedFs) -> Result<State, String> {
        Ok(fs.read(&target("out")))
    }

    fn names(&self, _: &State) -> Vec<String> {
        vec![String::from("out")]
    }
}

#[test]
fn a_careful_log_is_not_accused() {
    attack(&CarelessLog(Forgets::Nothing), Abilities::ALL).expect("nothing is wrong");
}

#[test]
fn a_checkpoint_that_is_not_durable_is_found() {
    for forgets in [Forgets::SyncOfFile, Forgets::SyncOfFolder] {
        attack(&CarelessLog(forgets), Abilities::ALL).expect_err("the attack finds it");
    }
}
