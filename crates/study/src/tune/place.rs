//! The folder that is measured: files in it, what is possible there, and the runs themselves.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use swath::{
    Buffer, CancelToken, Files, Guard, IngestOptions, Mirrored, PageCache, Profile,
    ReadOptions, Reuse,
};
use swath_os::advise::{FileAdvice, advise_file};
use swath_os::file_system::{FileSystem, file_system};
use swath_os::machine;

use super::Clock;
use super::setting::Needs;
use crate::cache::{self, ColdBy};
use crate::many::residency::{make_all_warm, resident_share};
use crate::many::tree::{Spread, Tree, make};
use crate::random::word;
use crate::session::Hidden;

/// The file is no longer: it is to be read some hundred times.
const MOST: u64 = 96 << 20;
/// Below this, threads and devices hardly show.
const LEAST: u64 = 1 << 20;
/// What is written at one time.
const BLOCK: usize = 4 << 20;
/// A file that is short: four workers' worth.
const SHORT: u64 = 16 << 20;
/// Lengths that may be small.
pub(super) const SMALL: [u64; 4] = [128 << 10, 256 << 10, 512 << 10, 1 << 20];
/// Each of two copies.
const COPY: u64 = 24 << 20;
/// Small files, and the length of each.
const TREE: Tree = Tree { files: 600, size: 10_000, spread: Spread::Even, seed: 1 };
/// Files that changed so shortly ago are looked at twice, which is not what is to be measured.
const YOUNG: Duration = Duration::from_millis(4200);
/// The share of pages that may be left when a file is out of the page cache.
const TOLERANCE: f64 = 0.01;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Case {
    Warm,
    WarmShort,
    WarmStream,
    WarmSum,
    WarmSumShort,
    Cold,
    ColdShort,
    ColdStream,
    ColdSum,
    Direct,
    DirectShort,
    Once,
    OnceShort,
    OnceSum,
    /// Reads of so many bytes.
    Small(u64),
    FilesWarm,
    FilesCold,
    Copies,
    CopiesWarm,
}

/// A file that was made.
struct Made {
    path: PathBuf,
    len: u64,
    sum: u64,
}

/// See the [module](self).
pub(super) struct Place {
    file: Made,
    /// How much of the file is read: less where that takes long.
    len: Cell<u64>,
    /// Small files, and when they were made.
    tree: Option<(Vec<PathBuf>, Instant)>,
    copies: OnceCell<[Made; 2]>,
    clock: Clock,
    notes: Vec<String>,
    cold: Option<String>,
    direct: Option<String>,
    ring: Option<String>,
    /// Cases whose bytes have been added up.
    checked: RefCell<HashSet<Case>>,
    /// The sum of the first so many bytes of the file, for all lengths that are read.
    sums: Vec<(u64, u64)>,
    folder: Hidden,
}

impl Place {
    /// Makes the files in a hidden folder, and finds out what is possible there.
    ///
    /// # Errors
    ///
    /// If nothing can be made or read there.
    pub(super) fn make(
        parent: &Path,
        (clock, seed): (Clock, u64),
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
            tree: None,
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

    /// Finds out whether files leave the page cache, and can be read past it.
    fn explore(&mut self, cancel: &CancelToken) -> Result<()> {
        let options = ReadOptions::new().with_cancel(cancel.clone());
        let loaded =
            options.read(&self.file.path).context("cannot read back what was written")?;
        let sum = swath_simd::sum(&loaded.buffer);
        ensure!(sum == self.file.sum, "what was written comes back as other bytes");
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
        // Some hundred runs are to fit into the budget.
        let (took, bearable) = (began.elapsed(), self.clock.budget / 80);
        if took > bearable {
            let share = bearable.as_secs_f64() / took.as_secs_f64();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a length"
            )]
            let len = (self.file.len as f64 * share) as u64;
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

    /// Makes the small files, early: they are to have some age when they are read.
    fn plant(&mut self) {
        let folder = self.folder.path().join("files");
        let made = match self.clock.elapsed() > self.clock.budget / 3 {
            true => Err(anyhow::anyhow!("no time was left")),
            false => self.plant_in(&folder),
        };
        match made {
            Ok(paths) => self.tree = Some((paths, Instant::now())),
            Err(error) => self.notes.push(format!("small files were not measured: {error:#}")),
        }
    }

    fn plant_in(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        ensure!(
            room(self.folder.path())? / 8 > TREE.files * 16384,
            "there is no room for them"
        );
        make(&TREE, folder, machine::usable_cpus())?;
        // Of this file system alone: others may have much to write.
        rustix::fs::syncfs(File::open(folder)?)?;
        Ok(TREE.paths(folder))
    }

    /// Bytes of the file that are read.
    pub(super) fn len(&self) -> u64 {
        self.len.get()
    }

    pub(super) fn cores(&self) -> u64 {
        machine::usable_cpus() as u64
    }

    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What keeps a setting from being measured here.
    pub(super) fn lacks(&self, needs: Needs) -> Option<&str> {
        match needs {
            Needs::Nothing => None,
            Needs::Cold => self.cold.as_deref(),
            Needs::Direct => self.direct.as_deref(),
            Needs::Ring => self.ring.as_deref(),
        }
    }

    /// Runs a case once, as `auto` would with this profile; how long it took.
    ///
    /// # Errors
    ///
    /// If it cannot be prepared or read, or gave other bytes than were written.
    pub(super) fn seconds(
        &self,
        case: Case,
        profile: Profile,
        cancel: &CancelToken,
    ) -> Result<f64> {
        let profile = Arc::new(profile);
        let options = ReadOptions::new().with_cancel(cancel.clone());
        let options = options.with_profile(Arc::clone(&profile));
        let whole = options.clone().with_len(self.len());
        let short = options.clone().with_len(SHORT.min(self.len()));
        match case {
            Case::Warm => self.read(case, &whole, cache::make_warm),
            Case::WarmShort => self.read(case, &short, cache::make_warm),
            Case::Cold => self.read(case, &whole, make_cold),
            Case::ColdShort => self.read(case, &short, make_cold),
            Case::Direct | Case::DirectShort => {
                let options = if case == Case::Direct { whole } else { short };
                self.read(case, &options.with_page_cache(PageCache::Bypass), make_cold)
            }
            Case::Once | Case::OnceShort => {
                let options = if case == Case::Once { whole } else { short };
                self.read(case, &options.with_reuse(Reuse::Once), make_cold)
            }
            Case::WarmStream => self.stream(&whole, cache::make_warm),
            Case::ColdStream => self.stream(&whole, make_cold),
            Case::WarmSum => self.sum(&whole, cache::make_warm),
            Case::WarmSumShort => self.sum(&short, cache::make_warm),
            Case::ColdSum => self.sum(&whole, make_cold),
            Case::OnceSum => self.sum(&whole.with_reuse(Reuse::Once), make_cold),
            Case::Small(len) => self.small(&options.with_len(len), len),
            Case::FilesWarm => self.files(&profile, cancel, make_all_warm),
            Case::FilesCold => self.files(&profile, cancel, make_all_cold),
            Case::Copies => self.mirrored(&options, &profile, make_cold),
            Case::CopiesWarm => self.mirrored(&options, &profile, cache::make_warm),
        }
    }

    fn read(
        &self,
        case: Case,
        options: &ReadOptions,
        prepare: impl Fn(&Path) -> Result<()>,
    ) -> Result<f64> {
        prepare(&self.file.path)?;
        let began = Instant::now();
        let loaded = options.read(&self.file.path)?;
        let seconds = began.elapsed().as_secs_f64();
        if self.checked.borrow_mut().insert(case) {
            self.check(loaded.buffer.len() as u64, swath_simd::sum(&loaded.buffer))?;
        }
        Ok(seconds)
    }

    fn stream(
        &self,
        options: &ReadOptions,
        prepare: impl Fn(&Path) -> Result<()>,
    ) -> Result<f64> {
        prepare(&self.file.path)?;
        let began = Instant::now();
        let mut reader = options.reader(&self.file.path)?;
        let mut bytes = 0;
        loop {
            let len = reader.fill_buf()?.len();
            if len == 0 {
                break;
            }
            reader.consume(len);
            bytes += len as u64;
        }
        let seconds = began.elapsed().as_secs_f64();
        ensure!(bytes == self.len(), "{bytes} bytes came instead of {}", self.len());
        Ok(seconds)
    }

    /// As the command sums: under a guard, through a map if that is the way.
    fn sum(&self, options: &ReadOptions, prepare: impl Fn(&Path) -> Result<()>) -> Result<f64> {
        let path = &self.file.path;
        prepare(path)?;
        let began = Instant::now();
        let file = File::open(path)?;
        let summed = options.sum_mapped(Guard::install(&file, path)?, path)?;
        let seconds = began.elapsed().as_secs_f64();
        self.check(summed.report.bytes, summed.value)?;
        Ok(seconds)
    }

    /// Whether so many bytes have the sum that they had when they were written.
    fn check(&self, len: u64, sum: u64) -> Result<()> {
        let path = self.file.path.display();
        ensure!(
            self.sums.contains(&(len, sum)),
            "the first {len} bytes of {path} are not those that were written"
        );
        Ok(())
    }

    /// Many reads: one is too short to be measured.
    fn small(&self, options: &ReadOptions, len: u64) -> Result<f64> {
        const READS: u32 = 48;
        cache::make_warm(&self.file.path)?;
        let mut last = Buffer::default();
        let began = Instant::now();
        for _ in 0..READS {
            last = options.read(&self.file.path)?.buffer;
        }
        let seconds = began.elapsed().as_secs_f64();
        self.check(len, swath_simd::sum(&last))?;
        Ok(seconds / f64::from(READS))
    }

    fn files(
        &self,
        profile: &Arc<Profile>,
        cancel: &CancelToken,
        prepare: impl Fn(&[PathBuf]) -> Result<()>,
    ) -> Result<f64> {
        let (paths, made) = self.tree.as_ref().context("small files were not made")?;
        let young = YOUNG.saturating_sub(made.elapsed());
        if !young.is_zero() && young * 4 < self.clock.left() {
            std::thread::sleep(young);
        }
        prepare(paths)?;
        let options = IngestOptions::new().with_cancel(cancel.clone());
        let options = options.with_profile(Arc::clone(profile));
        let began = Instant::now();
        let ingested = options.collect(Files::paths(paths))?;
        let seconds = began.elapsed().as_secs_f64();
        let bytes = ingested.report().bytes;
        ensure!(bytes == TREE.files * TREE.size, "{bytes} bytes came of the small files");
        Ok(seconds)
    }

    fn mirrored(
        &self,
        options: &ReadOptions,
        profile: &Profile,
        prepare: impl Fn(&Path) -> Result<()>,
    ) -> Result<f64> {
        let copies = self.copies()?;
        for copy in copies {
            prepare(&copy.path)?;
        }
        let paths = copies.each_ref().map(|copy| &copy.path);
        let mirrored = Mirrored::new(paths).with_side_by_side(profile.side_by_side());
        let began = Instant::now();
        let loaded = options.read(mirrored)?;
        let seconds = began.elapsed().as_secs_f64();
        ensure!(loaded.buffer.len() as u64 == copies[0].len, "not every byte came");
        Ok(seconds)
    }

    /// Two copies, made when they are first wanted.
    fn copies(&self) -> Result<&[Made; 2]> {
        if let Some(copies) = self.copies.get() {
            return Ok(copies);
        }
        ensure!(room(self.folder.path())? / 8 > 2 * COPY, "there is no room for two copies");
        let until = Instant::now() + self.clock.left() / 8;
        let most = COPY.min(self.len());
        let wish = Wish { most, seed: 1, until };
        let first = write(self.folder.path().join("first"), wish, &CancelToken::new())?;
        let until = until + self.clock.left();
        let again = Wish { most: first.len, until, ..wish };
        let second = write(self.folder.path().join("second"), again, &CancelToken::new())?;
        ensure!(first.len == second.len, "there was no time for two copies");
        Ok(self.copies.get_or_init(|| [first, second]))
    }
}

fn make_cold(path: &Path) -> Result<()> {
    cache::make_cold(path, ColdBy::DontNeed)
}

/// They have been on the device since they were made.
fn make_all_cold(paths: &[PathBuf]) -> Result<()> {
    cache::settle(|| {
        for path in paths {
            advise_file(&File::open(path)?, 0, 0, FileAdvice::DontNeed)?;
        }
        let share = resident_share(paths)?;
        ensure!(
            share <= TOLERANCE,
            "{:.1} % of the small files stay in the page cache",
            share * 100.0
        );
        Ok(())
    })
}

/// Bytes that may still be written where `folder` is.
fn room(folder: &Path) -> Result<u64> {
    let facts = rustix::fs::statvfs(folder)
        .with_context(|| format!("cannot see how much is free in {}", folder.display()))?;
    Ok(facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// What is to be written.
#[derive(Clone, Copy)]
struct Wish {
    most: u64,
    seed: u64,
    until: Instant,
}

/// Writes bytes that no file system can make smaller: as many as are wanted, or as there is time or
/// room for.
fn write(path: PathBuf, wish: Wish, cancel: &CancelToken) -> Result<Made> {
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
    Ok(Made { path, len, sum })
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    use crate::tune::setting::SETTINGS;

    fn place() -> (tempfile::TempDir, Place) {
        let program = std::env::current_exe().expect("a test has a program");
        let parent = program.parent().expect("which is in a folder");
        let folder = tempfile::tempdir_in(parent).expect("a folder");
        let clock = Clock { began: Instant::now(), budget: Duration::from_secs(3) };
        let place = Place::make(folder.path(), (clock, 1), &CancelToken::new());
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
        for case in [Case::Warm, Case::WarmSum] {
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
