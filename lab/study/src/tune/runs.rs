//! The timed runs: each case runs as `auto` does with a profile, and its bytes are checked.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use swath::ingest::{Files, IngestOptions};
use swath::mirror::Mirrored;
use swath::reading::Reuse;
use swath::{Buffer, CancelToken, PageCache, Profile, ReadOptions};

use super::case::{SHORT, TuneCase};
use super::place::{COPY, PlacedFile, TunePlace, Wish, write};
use crate::cache::{self, ColdBy, make_all_warm, make_written_cold};
use crate::facts::room;
use crate::fields::sums::mapped;

/// The age of a file below which Swath checks it twice, which must not be measured.
const YOUNG: Duration = Duration::from_millis(4200);

impl TunePlace {
    /// Runs a case once, as `auto` does with this profile; returns its seconds.
    ///
    /// # Errors
    ///
    /// If a file cannot be prepared or read, or has other bytes than were written.
    pub(super) fn seconds(
        &self,
        case: TuneCase,
        profile: Profile,
        cancel: &CancelToken,
    ) -> Result<f64> {
        let profile = Arc::new(profile);
        let options = ReadOptions::new().with_cancel(cancel.clone());
        let options = options.with_profile(Arc::clone(&profile));
        let whole = options.clone().with_len(self.len());
        let short = options.clone().with_len(SHORT.min(self.len()));
        match case {
            TuneCase::Warm => self.read(case, &whole, cache::make_warm),
            TuneCase::WarmShort => self.read(case, &short, cache::make_warm),
            TuneCase::Cold => self.read(case, &whole, make_cold),
            TuneCase::ColdShort => self.read(case, &short, make_cold),
            TuneCase::Direct | TuneCase::DirectShort => {
                let options = if case == TuneCase::Direct { whole } else { short };
                self.read(case, &options.with_page_cache(PageCache::Bypass), make_cold)
            }
            TuneCase::Once | TuneCase::OnceShort => {
                let options = if case == TuneCase::Once { whole } else { short };
                self.read(case, &options.with_reuse(Reuse::Once), make_cold)
            }
            TuneCase::WarmStream => self.stream(&whole, cache::make_warm),
            TuneCase::ColdStream => self.stream(&whole, make_cold),
            TuneCase::ColdSum => self.sum(&whole, make_cold),
            TuneCase::OnceSum => self.sum(&whole.with_reuse(Reuse::Once), make_cold),
            TuneCase::SmallCold(len) if self.cold.is_none() => {
                self.small_cold(&options.with_len(len), len)
            }
            TuneCase::Small(len) | TuneCase::SmallCold(len) => {
                self.small(&options.with_len(len), len)
            }
            // If files cannot be dropped from the page cache, all are warm.
            TuneCase::FilesCold if self.cold.is_some() => {
                self.files(&profile, cancel, make_all_warm)
            }
            TuneCase::FilesWarm => self.files(&profile, cancel, make_all_warm),
            TuneCase::FilesCold => self.files(&profile, cancel, make_all_cold),
            TuneCase::Copies => self.mirrored(&options, &profile, make_cold),
            TuneCase::CopiesWarm => self.mirrored(&options, &profile, cache::make_warm),
        }
    }

    fn read(
        &self,
        case: TuneCase,
        options: &ReadOptions,
        prepare: impl Fn(&Path) -> Result<()>,
    ) -> Result<f64> {
        prepare(&self.file.path)?;
        let (loaded, seconds) = timed(|| Ok(options.read(&self.file.path)?))?;
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
        let (bytes, seconds) = timed(|| {
            let mut reader = options.reader(&self.file.path)?;
            let mut bytes = 0;
            while let len @ 1.. = reader.fill_buf()?.len() {
                reader.consume(len);
                bytes += len as u64;
            }
            Ok(bytes)
        })?;
        ensure!(bytes == self.len(), "read {bytes} bytes instead of {}", self.len());
        Ok(seconds)
    }

    /// Sums as the command does: under a guard, through a map if the profile says so.
    fn sum(&self, options: &ReadOptions, prepare: impl Fn(&Path) -> Result<()>) -> Result<f64> {
        let path = &self.file.path;
        prepare(path)?;
        let (summed, seconds) = timed(|| mapped(options, path))?;
        self.check(summed.report.bytes, summed.value)?;
        Ok(seconds)
    }

    /// Checks that the first `len` bytes have the sum of the written ones.
    fn check(&self, len: u64, sum: u64) -> Result<()> {
        let path = self.file.path.display();
        ensure!(
            self.sums.contains(&(len, sum)),
            "the first {len} bytes of {path} are not those that were written"
        );
        Ok(())
    }

    /// Times many reads: one is too short to measure.
    fn small(&self, options: &ReadOptions, len: u64) -> Result<f64> {
        const READS: u32 = 48;
        cache::make_warm(&self.file.path)?;
        let (last, seconds) = timed(|| {
            let mut last = Buffer::default();
            for _ in 0..READS {
                last = options.read(&self.file.path)?.buffer;
            }
            Ok(last)
        })?;
        self.check(len, swath_simd::sum(&last))?;
        Ok(seconds / f64::from(READS))
    }

    fn small_cold(&self, options: &ReadOptions, len: u64) -> Result<f64> {
        const READS: u32 = 8;
        let mut seconds = 0.0;
        for _ in 0..READS {
            make_cold(&self.file.path)?;
            let (loaded, took) = timed(|| Ok(options.read(&self.file.path)?))?;
            seconds += took;
            ensure!(loaded.buffer.len() as u64 == len, "the read was short");
        }
        Ok(seconds / f64::from(READS))
    }

    fn files(
        &self,
        profile: &Arc<Profile>,
        cancel: &CancelToken,
        prepare: impl Fn(&[PathBuf]) -> Result<()>,
    ) -> Result<f64> {
        let small = self.small.as_ref().context("small files were not made")?;
        let young = YOUNG.saturating_sub(small.made.elapsed());
        if !young.is_zero() && young * 4 < self.clock.left() {
            std::thread::sleep(young);
        }
        prepare(&small.paths)?;
        let read = ReadOptions::new().with_cancel(cancel.clone());
        let options = IngestOptions::new().with_read(read.with_profile(Arc::clone(profile)));
        let (ingested, seconds) = timed(|| Ok(options.ingest(Files::paths(&small.paths))?))?;
        let bytes = ingested.report().bytes;
        ensure!(
            bytes == small.tree.files * small.tree.size,
            "{bytes} bytes came of the small files"
        );
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
        let mirrored = Mirrored::new(paths).with_shared_device(profile.shared_device());
        let (loaded, seconds) = timed(|| Ok(options.read(mirrored)?))?;
        ensure!(loaded.buffer.len() as u64 == copies[0].len, "the read was short");
        Ok(seconds)
    }

    /// Returns two copies, made on first use.
    fn copies(&self) -> Result<&[PlacedFile; 2]> {
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

/// Returns the result of `work`, and its seconds.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let began = Instant::now();
    let done = work()?;
    Ok((done, began.elapsed().as_secs_f64()))
}

fn make_cold(path: &Path) -> Result<()> {
    cache::make_cold(path, ColdBy::DontNeed)
}

/// Makes files cold; their writeback began when they were made.
fn make_all_cold(paths: &[PathBuf]) -> Result<()> {
    make_written_cold(paths, ColdBy::DontNeed)
}
