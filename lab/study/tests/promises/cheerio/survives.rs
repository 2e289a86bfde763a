//! Tests the modes without an order against failures and power loss.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use swath::append::{AppendOptions, OrderedOptions};
use swath::sink::Fs;
use swath::{OutputOptions, WriteOptions};
use swath_reference::battery::Battery;
use swath_study::cheerio::{self, Output};

use crate::cheerio::attack::{Failure, Reached, State, Subject, attack, target};
use crate::cheerio::simulated::{Abilities, SimulatedFs};

const OLD: &[u8] = b"the old bytes, longer than one block";
const NEW: &[u8] = b"few bytes";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Global,
    Local,
    LocalFiles,
}

/// An output that replaces an old state with a new one.
struct Unordered {
    mode: Mode,
    old: State,
}

impl Unordered {
    fn begin(&self, len: usize, fs: Arc<dyn Fs>) -> swath::Result<Output> {
        let path = target("out");
        let out = match self.mode {
            Mode::Global => cheerio::global(
                path,
                OrderedOptions::new().with_output(OutputOptions::new().with_fs(fs)),
            )?,
            Mode::Local => cheerio::local(
                path,
                len as u64,
                &WriteOptions::new().with_output(OutputOptions::new().with_fs(fs)),
            )?,
            Mode::LocalFiles => {
                let options = AppendOptions::new()
                    .with_output(OutputOptions::new().with_fs(fs))
                    .with_memory_limit(1);
                cheerio::local_files(path, options)?
            }
        };
        Ok(out.with_buffer_size(16))
    }

    fn leave(&self, bytes: &[u8], fs: Arc<dyn Fs>) -> Result<(), Failure> {
        let out = self.begin(bytes.len(), fs)?;
        let mut w = out.writer();
        w.write_all(bytes)?;
        w.finish()?;
        // The library's error tells whether the outcome is known.
        out.commit().map_err(|error| match error.downcast::<swath::Error>() {
            Ok(error) => Failure::from(error),
            Err(error) => Failure::from(error),
        })?;
        Ok(())
    }
}

impl Subject for Unordered {
    fn prepare(&self, fs: &SimulatedFs) {
        if let Some(old) = &self.old {
            self.leave(old, Arc::new(fs.clone())).expect("committed");
            fs.settle();
        }
    }

    fn states(&self) -> Vec<State> {
        vec![self.old.clone(), Some(NEW.to_vec())]
    }

    fn write(&self, fs: Arc<dyn Fs>, _: &Reached) -> Result<(), Failure> {
        self.leave(NEW, fs)
    }

    fn read(&self, fs: &SimulatedFs) -> Result<State, String> {
        if self.mode == Mode::LocalFiles { read_files(fs) } else { Ok(fs.read(&target("out"))) }
    }

    fn names(&self, state: &State) -> Vec<String> {
        state.iter().map(|_| String::from("out")).collect()
    }

    fn keeps_both(&self) -> bool {
        self.mode == Mode::LocalFiles
    }

    fn strays(&self, fs: &SimulatedFs, state: &State) -> Vec<String> {
        let mut strays = fs.names(&self.folder());
        strays.retain(|name| state.is_none() || name != "out");
        if self.mode == Mode::LocalFiles && state.is_some() {
            let manifest = fs.read(&target("out/MANIFEST")).expect("it was read before");
            let mut inside = fs.names(&target("out"));
            inside.retain(|name| name != "MANIFEST" && !is_named(&manifest, name));
            strays.extend(inside);
        }
        strays
    }
}

/// Returns whether the manifest, in which names are plain text, contains the name of a file.
fn is_named(manifest: &[u8], name: &str) -> bool {
    manifest.windows(name.len()).any(|part| part == name.as_bytes())
}

/// Reads the only file beside the manifest: one strand writes one file.
fn read_files(fs: &SimulatedFs) -> Result<State, String> {
    if !fs.names(Path::new("/d")).contains(&String::from("out")) {
        return Ok(None);
    }
    let folder = target("out");
    let manifest = fs.read(&folder.join("MANIFEST"));
    let manifest = manifest.ok_or_else(|| String::from("a folder without a manifest"))?;
    let mut names = fs.names(&folder);
    names.retain(|name| is_named(&manifest, name));
    let [name] = &names[..] else { return Err(format!("segments {names:?}")) };
    Ok(fs.read(&folder.join(name)))
}

#[test]
fn the_modes_without_an_order_survive_every_failure_and_every_crash() {
    let modes = [Mode::Global, Mode::Local, Mode::LocalFiles].into_iter();
    let all = modes.flat_map(|mode| Abilities::KINDS.map(|abilities| (mode, abilities)));
    let all = all.flat_map(|(mode, abilities)| {
        [None, Some(OLD.to_vec())].map(|old| (mode, abilities, old))
    });
    for (mode, abilities, old) in Battery::of_list("combinations", 5, all) {
        let subject = Unordered { mode, old };
        let found = attack(&subject, abilities);
        found.unwrap_or_else(|wrong| {
            panic!("{abilities:?}, {mode:?}, old {:?}: {wrong}", subject.old)
        });
    }
}
