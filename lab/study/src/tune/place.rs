//! The measured folder: files in it, and the kinds of reads that are possible there.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use swath::{CancelToken, PageCache, ReadOptions};
use swath_os::advise::{FileAdvice, advise_file};
use swath_os::file_system::{FileSystem, file_system};
use swath_os::machine;

use super::case::{SHORT, SMALL, TuneCase};
use super::clock::BudgetClock;
use crate::cache::{self, ColdBy};
use crate::facts::room;
use crate::many::tree::{Spread, Tree, make};
use swath_os::hidden::Hidden;
use swath_plan::random::word;

/// The most bytes of the file, which is read some hundred times.
const MOST: u64 = 96 << 20;
/// The least bytes of the file: less shows no effect of threads and devices.
const LEAST: u64 = 1 << 20;
/// Bytes written at one time.
const BLOCK: usize = 4 << 20;
/// Bytes of each of two copies.
pub(super) const COPY: u64 = 24 << 20;
/// The most small files, and their length.
const TREE: Tree = Tree { files: 600, size: 10_000, spread: Spread::Even, seed: 1 };

/// The requirement of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// Files that can be dropped from the page cache.
    Cold,
    /// Reads past the page cache.
    Direct,
    /// Reads past the page cache through a ring.
    Ring,
}

/// A file that was made.
pub(super) struct PlacedFile {
    pub(super) path: PathBuf,
    pub(super) len: u64,
    sum: u64,
}

/// Small files that were made.
pub(super) struct SmallFiles {
    pub(super) tree: Tree,
    pub(super) paths: Vec<PathBuf>,
    pub(super) made: Instant,
}

/// The measured folder.
pub(super) struct TunePlace {
    pub(super) file: PlacedFile,
    /// Bytes of the file to read: fewer on a slow device.
    len: Cell<u64>,
    pub(super) small: Option<SmallFiles>,
    pub(super) copies: OnceCell<[PlacedFile; 2]>,
    pub(super) clock: BudgetClock,
    pub(super) notes: Vec<String>,
    /// The reason why files cannot be dropped from the page cache, if they cannot.
    pub(super) cold: Option<String>,
    /// The reason why files cannot be read past the page cache, if they cannot.
    direct: Option<String>,
    /// The reason why a ring cannot read files, if it cannot.
    ring: Option<String>,
    /// Cases whose bytes have been checked.
    pub(super) checked: RefCell<HashSet<TuneCase>>,
    /// The sum of the first bytes of the file, for each length that is read.
    pub(super) sums: Vec<(u64, u64)>,
    pub(super) folder: Hidden,
}

impl TunePlace {
    /// Makes the files in a hidden folder, and tries the kinds of reads.
    ///
    /// # Errors
    ///
    /// If the file cannot be made or read there.
    pub(super) fn make(
        parent: &Path,
        clock: BudgetClock,
        seed: u64,
        cancel: &CancelToken,
    ) -> Result<Self> {
        let folder = Hidden::make(parent, ".swath-tune")?;
        let room = room(folder.path())?;
        let memory = machine::memory_at_hand().unwrap_or(u64::MAX);
        let most = MOST.min(room / 8).min(memory / 8);
        ensure!(
            most >= LEAST,
            "cannot measure in {}: an eighth of what is free there and of the memory at hand are \
             {most} bytes, {LEAST} are the least",
            parent.display()
        );
        let until = Instant::now() + clock.budget / 6;
        let wish = Wish { most, seed, until };
        let file = write(folder.path().join("file"), wish, cancel)?;
        let mut place = Self {
            len: Cell::new(file.len),
            file,
            small: None,
            copies: OnceCell::new(),
            clock,
            notes: Vec::new(),
            cold: None,
            direct: None,
            ring: None,
            checked: RefCell::default(),
            sums: Vec::new(),
            folder,
        };
        if place.file.len < MOST {
            let text = format!("measured with a file of {} MiB: ", place.file.len >> 20);
            let why = match most < MOST {
                true => "there is little space or memory",
                false => "writing it took long",
            };
            place.notes.push(text + why);
        }
        place.explore(cancel)?;
        place.plant();
        Ok(place)
    }

    /// Tries to drop the file from the page cache, and to read past it.
    fn explore(&mut self, cancel: &CancelToken) -> Result<()> {
        let options = ReadOptions::new().with_cancel(cancel.clone());
        let loaded = options.read(&self.file.path).context("cannot read the file back")?;
        let sum = swath_simd::sum(&loaded.buffer);
        ensure!(sum == self.file.sum, "the bytes read back differ from those written");
        self.explore_cold(&options)?;
        let lens = [self.len(), SHORT.min(self.len())].into_iter().chain(SMALL);
        for len in lens {
            let first = &loaded.buffer[..usize::try_from(len)?];
            self.sums.push((len, swath_simd::sum(first)));
        }
        Ok(())
    }

    fn explore_cold(&mut self, options: &ReadOptions) -> Result<()> {
        let opened = File::open(&self.file.path)?;
        if file_system(&opened).is_ok_and(|kind| kind == FileSystem::Tmpfs) {
            let why = String::from("the file system is in memory: there is no device");
            self.notes.push(format!("{why}, and nothing to tune but copying"));
            self.cold = Some(why);
        } else if let Err(error) = cache::make_cold(&self.file.path, ColdBy::DontNeed) {
            let why = String::from("files do not leave the page cache here");
            self.notes.push(format!("{why}: {error:#}"));
            self.cold = Some(why);
        }
        if let Some(why) = &self.cold {
            (self.direct, self.ring) = (Some(why.clone()), Some(why.clone()));
            return Ok(());
        }
        let began = Instant::now();
        options.read(&self.file.path)?;
        // Some hundred runs must fit into the budget.
        let (took, bearable) = (began.elapsed(), self.clock.budget / 80);
        if took > bearable {
            let share = bearable.as_secs_f64() / took.as_secs_f64();
            let len = share_of(self.file.len, share);
            self.len.set((len / LEAST * LEAST).clamp(LEAST, self.file.len));
            self.notes.push(format!(
                "the device is slow: {} MiB of the file are read",
                self.len.get() >> 20
            ));
        }
        cache::make_cold(&self.file.path, ColdBy::DontNeed)?;
        let bypass =
            options.clone().with_page_cache(PageCache::Bypass).with_len(self.len.get());
        let report = bypass.read(&self.file.path)?.report;
        if report.direct_bytes == 0 {
            let why = String::from("O_DIRECT is not possible here");
            self.notes.push(why.clone());
            (self.direct, self.ring) = (Some(why.clone()), Some(why));
        } else if report.engine != swath::Engine::Ring {
            self.ring = Some(String::from("io_uring is not usable here"));
            self.notes.extend(self.ring.clone());
        }
        Ok(())
    }

    /// Makes the small files, early, so that they are old enough when they are read.
    fn plant(&mut self) {
        match self.planted() {
            Ok(small) => self.small = Some(small),
            Err(error) => self.notes.push(format!("small files were not measured: {error:#}")),
        }
    }

    /// Makes as many small files as possible in a tenth of the time, or none if these are only a few. The time
    /// for some files, which is long over a network, predicts the time for all.
    fn planted(&self) -> Result<SmallFiles> {
        ensure!(self.clock.elapsed() < self.clock.budget / 2, "no time was left to make them");
        ensure!(
            room(self.folder.path())? / 8 > TREE.files * 16384,
            "there is no room for them"
        );
        let began = Instant::now();
        let some = Tree { files: 24, ..TREE };
        make(&some, &self.folder.path().join("some"), machine::usable_cpus())?;
        let bearable = (self.clock.budget / 10).as_secs_f64();
        let share = bearable / began.elapsed().as_secs_f64().max(1e-9);
        let files = share_of(some.files, share.min(1e6));
        ensure!(files >= 5 * some.files, "making them takes too long");
        let tree = Tree { files: files.min(TREE.files), ..TREE };
        let folder = self.folder.path().join("files");
        make(&tree, &folder, machine::usable_cpus())?;
        let small = SmallFiles { tree, paths: tree.paths(&folder), made: Instant::now() };
        for path in &small.paths {
            // Starts the writeback, after which they can be dropped from the page cache.
            advise_file(&File::open(path)?, 0, 0, FileAdvice::DontNeed)?;
        }
        Ok(small)
    }

    /// Returns the bytes of the file to read.
    pub(super) fn len(&self) -> u64 {
        self.len.get()
    }

    pub(super) fn cores(&self) -> u64 {
        machine::usable_cpus() as u64
    }

    /// Returns the reason why a setting cannot be measured here, if it cannot.
    pub(super) fn lacks(&self, needs: Needs) -> Option<&str> {
        match needs {
            Needs::Nothing => None,
            Needs::Cold => self.cold.as_deref(),
            Needs::Direct => self.direct.as_deref(),
            Needs::Ring => self.ring.as_deref(),
        }
    }
}

/// A file to write.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    pub(super) most: u64,
    pub(super) seed: u64,
    pub(super) until: Instant,
}

/// Writes incompressible bytes: as many as `wish` has, or fewer if time or space runs out.
pub(super) fn write(path: PathBuf, wish: Wish, cancel: &CancelToken) -> Result<PlacedFile> {
    let fail = || format!("cannot write {}", path.display());
    let mut file = File::create_new(&path).with_context(fail)?;
    let mut block = vec![0; BLOCK];
    let (mut len, mut sum) = (0, 0);
    while len < wish.most && (len == 0 || Instant::now() < wish.until) && !cancel.is_cancelled()
    {
        let left = usize::try_from(wish.most - len).unwrap_or(BLOCK).min(BLOCK);
        for (index, bytes) in (len / 8..).zip(block.chunks_mut(8)) {
            bytes.copy_from_slice(&word(wish.seed, index).to_le_bytes()[..bytes.len()]);
        }
        let written = file.write_all(&block[..left]).and_then(|()| file.sync_data());
        match written {
            Ok(()) => {}
            Err(error) if len > 0 && is_full(&error) => {
                file.set_len(len).with_context(fail)?;
                break;
            }
            Err(error) => return Err(error).with_context(fail),
        }
        sum += swath_simd::sum(&block[..left]);
        len += left as u64;
    }
    file.sync_all().with_context(fail)?;
    ensure!(len >= LEAST || cancel.is_cancelled(), "{} has only {len} bytes", path.display());
    Ok(PlacedFile { path, len, sum })
}

/// Returns a share of a count, without the fraction.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn share_of(count: u64, share: f64) -> u64 {
    (count as f64 * share) as u64
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use std::os::unix::fs::FileExt;
    use swath::Profile;

    use crate::tune::setting::SETTINGS;

    fn place() -> (tempfile::TempDir, TunePlace) {
        let program = std::env::current_exe().expect("a test has a program");
        let parent = program.parent().expect("which is in a folder");
        let folder = tempfile::tempdir_in(parent).expect("a folder");
        let clock = BudgetClock { began: Instant::now(), budget: Duration::from_secs(60) };
        let place = TunePlace::make(folder.path(), clock, 1, &CancelToken::new());
        (folder, place.expect("a folder that can be written"))
    }

    #[test]
    fn every_case_of_every_setting_can_be_run_with_every_value() {
        let (_folder, place) = place();
        for setting in &SETTINGS {
            if let Some(why) = place.lacks(setting.needs) {
                swath_reference::skip("tunable-device", why);
                continue;
            }
            for step in (setting.steps)(place.cores()) {
                for &value in &step.values {
                    let profile = (setting.apply)(Profile::default(), value);
                    for &case in step.guards.iter().chain([&step.gain]) {
                        let seconds = place.seconds(case, profile.clone(), &CancelToken::new());
                        let seconds = seconds.expect("it can be run");
                        assert!(seconds > 0.0, "{} {value} {case:?}", setting.name);
                    }
                }
            }
        }
    }

    #[test]
    fn a_file_that_came_out_differently_is_noticed() {
        let (_folder, place) = place();
        let file = File::options().write(true).open(&place.file.path).expect("it is there");
        file.write_all_at(b"other bytes", 77).expect("written");
        for case in [TuneCase::Warm, TuneCase::ColdSum] {
            let ran = place.seconds(case, Profile::default(), &CancelToken::new());
            assert!(ran.is_err(), "{case:?} did not look");
        }
    }

    #[test]
    fn what_is_written_is_as_long_as_there_is_time_and_no_longer_than_wanted() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, most, until| {
            let path = folder.path().join(name);
            let made = write(path.clone(), Wish { most, seed: 5, until }, &CancelToken::new());
            let made = made.expect("room");
            let bytes = std::fs::read(path).expect("there");
            assert_eq!((made.len, made.sum), (bytes.len() as u64, swath_simd::sum(&bytes)));
            made.len
        };
        let now = Instant::now();
        let late = now + Duration::from_secs(60);
        assert_eq!(write("whole", 9 << 20, late), 9 << 20);
        assert_eq!(write("late", 9 << 20, now), BLOCK as u64, "one block at least");
    }
}
