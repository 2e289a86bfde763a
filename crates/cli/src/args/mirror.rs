//! What is said about copies: the flags of whoever reads them, and of `mirror`, `manifest` and
//! `heal`.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueHint};
use swath::heal::HealOptions;
use swath::mirror::{Hedging, MirrorOptions, Mirrored, SharedDevice, Verify};
use swath::sink::{Durability, HardLinks, Replace};
use swath::{OutputOptions, ReadOptions, Source, manifest};

use super::copy::{DURABILITY, HARD_LINKS};
use super::read::ProfileArgs;
use super::size::parse_size;
use super::timeline::TimelineArgs;
use super::verbs::input;
use super::words::words;
use crate::input::Input;

/// Further copies of a file, and how they are believed.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Copies")]
pub struct CopiesArgs {
    /// A further copy of the file; may be repeated
    ///
    /// There may be 64 copies, the file among them. Copies on different devices are read side by side. What one of them lacks, or has wrong,
    /// is read from another one, and the report says so.
    #[arg(long = "mirror", value_name = "PATH", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub mirrors: Vec<Input>,

    /// Compare each chunk: `manifest=PATH`, or `vote` (more than half of the copies)
    #[arg(long, value_name = "WHAT", value_parser = parse_against)]
    pub verify_against: Option<Against>,

    /// Read again from another copy what takes long: at most so many of 1000 reads [default: 20]
    #[arg(long, value_name = "PERMILLE", num_args = 0..=1, require_equals = true, default_missing_value = "20", requires = "mirrors")]
    pub hedge: Option<u32>,
}

/// What chunks are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// A file that `swath manifest` has written.
    Manifest(PathBuf),
    /// Each other.
    Vote,
}

fn parse_against(word: &str) -> Result<Against, String> {
    match word.split_once('=') {
        Some(("manifest", path)) if !path.is_empty() => Ok(Against::Manifest(path.into())),
        None if word == "vote" => Ok(Against::Vote),
        _ => Err(String::from("use manifest=PATH or vote")),
    }
}

impl Against {
    /// Returns it as the library takes it; a manifest is read here.
    ///
    /// # Errors
    ///
    /// If the manifest cannot be read, or is damaged.
    pub fn verify(&self) -> Result<Verify> {
        Ok(match self {
            Self::Vote => Verify::Vote,
            Self::Manifest(path) => Verify::Manifest(Arc::new(manifest::load(path)?)),
        })
    }
}

impl CopiesArgs {
    /// Whether anything is said.
    pub fn is_used(&self) -> bool {
        !self.mirrors.is_empty() || self.verify_against.is_some()
    }

    /// Returns `path` and its copies as one source; `path` alone if nothing is said. Copies of one
    /// device are read as `shared` says.
    ///
    /// # Errors
    ///
    /// Those of [`Input::source`], and of reading the manifest.
    pub fn source(&self, path: &Input, shared: SharedDevice) -> Result<Source> {
        if !self.is_used() {
            return Ok(path.source()?);
        }
        let mut copies = vec![path.source()?];
        for mirror in &self.mirrors {
            copies.push(mirror.source()?);
        }
        let mut mirrored = Mirrored::new(copies).with_shared_device(shared);
        if let Some(against) = &self.verify_against {
            mirrored = mirrored.with_verify(against.verify()?);
        }
        if let Some(permille) = self.hedge {
            mirrored = mirrored.with_hedging(Hedging::permille(permille));
        }
        Ok(mirrored.into())
    }
}

/// `swath mirror`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath mirror data.bin --into /mnt/a /mnt/b
  swath mirror data.bin -n 4 --into /mnt/a /mnt/b --manifest data.bin.manifest
  swath read data.bin --mirror /mnt/a/data.bin --mirror /mnt/b/data.bin")]
pub struct Mirror {
    /// The file to make copies of
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub path: PathBuf,

    /// How many copies [default: one in each folder]
    #[arg(long = "copies", short = 'n', value_name = "K", value_parser = clap::value_parser!(u32).range(1..=63))]
    pub copies: Option<u32>,

    /// The folders that get them, in turn
    ///
    /// A copy has the name of the file; further ones in the same folder end with .2, .3 and so
    /// on. Each is read back from its device before it appears. Existing files of these names are
    /// replaced, as `swath cp` does, unless --no-clobber is given.
    #[arg(long, value_name = "DIR", required = true, num_args = 1.., value_hint = ValueHint::DirPath)]
    pub into: Vec<PathBuf>,

    /// Write the checksums of the file there, too
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub manifest: Option<PathBuf>,

    /// Wait until the device has them, so that a power cut does not undo it
    #[arg(long, value_name = "HOW", value_parser = words(DURABILITY), default_value = "full")]
    pub durability: Durability,

    /// Do not replace existing files
    #[arg(long)]
    pub no_clobber: bool,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl Mirror {
    /// Returns the library's options for reading the file.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::new().with_timeline(self.timeline.handle())
    }

    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> MirrorOptions {
        let replace = if self.no_clobber { Replace::Refused } else { Replace::Allowed };
        MirrorOptions::new()
            .with_output(
                OutputOptions::new().with_durability(self.durability).with_replace(replace),
            )
            .with_read(read)
    }
}

/// `swath manifest`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath manifest data.bin
  swath manifest -o sums data.bin
  swath manifest --check data.bin.manifest /mnt/a/data.bin")]
pub struct Manifest {
    /// The file; `-` is standard input
    #[arg(value_name = "FILE", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub path: Input,

    /// Where to write the checksums [default: FILE.manifest]
    #[arg(long, short, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Compare the file with these checksums instead; exit status 1 if it differs
    #[arg(long, value_name = "MANIFEST", value_hint = ValueHint::FilePath, conflicts_with_all = ["output", "chunk_size"])]
    pub check: Option<PathBuf>,

    /// Bytes of a chunk
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1MiB", allow_negative_numbers = true)]
    pub chunk_size: u64,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// Whether what was measured is used.
    #[command(flatten)]
    pub profile: ProfileArgs,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

/// `swath heal`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath heal --verify-against vote a.bin b.bin c.bin
  swath heal --verify-against manifest=data.manifest data.bin /mnt/a/data.bin
  swath heal --dry-run --verify-against vote a.bin b.bin c.bin")]
pub struct Heal {
    /// The copies of one file, at most 64; missing ones are made
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::FilePath)]
    pub paths: Vec<PathBuf>,

    /// What is right: `manifest=PATH`, or `vote` (more than half of the copies)
    #[arg(long, value_name = "WHAT", value_parser = parse_against)]
    pub verify_against: Against,

    /// Only say what is bad; exit status 1 if anything is
    #[arg(long)]
    pub dry_run: bool,

    /// Wait until the device has it, and read back from there
    #[arg(long, value_name = "HOW", value_parser = words(DURABILITY), default_value = "full")]
    pub durability: Durability,

    /// A copy with further names: refuse, or break away from them
    #[arg(long, value_name = "HOW", value_parser = words(HARD_LINKS), default_value = "refuse")]
    pub hard_links: HardLinks,

    /// Threads; 0 chooses
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl Heal {
    /// Returns the library's options for reading the copies.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::new().with_workers(self.workers).with_timeline(self.timeline.handle())
    }

    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> HealOptions {
        HealOptions::new()
            .with_output(
                OutputOptions::new()
                    .with_durability(self.durability)
                    .with_hard_links(self.hard_links),
            )
            .with_read(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        copies: CopiesArgs,
    }

    fn parsed(words: &[&str]) -> Result<CopiesArgs, clap::Error> {
        Only::try_parse_from(["only"].iter().chain(words)).map(|only| only.copies)
    }

    #[test]
    fn what_chunks_are_compared_with_is_one_of_two() {
        let against = |word| parsed(&["--verify-against", word]).map(|it| it.verify_against);
        assert_eq!(against("vote").expect("a word"), Some(Against::Vote));
        let path = Against::Manifest("a=b".into());
        assert_eq!(against("manifest=a=b").expect("a path"), Some(path));
        for wrong in ["manifest", "manifest=", "vote=3", "", "x=y"] {
            assert!(against(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn second_reads_are_off_unless_asked_for() {
        let hedge = |words: &[&str]| parsed(words).map(|it| it.hedge);
        assert_eq!(hedge(&["--mirror", "b"]).expect("one copy"), None);
        assert_eq!(hedge(&["--mirror", "b", "--hedge"]).expect("on"), Some(20));
        assert_eq!(hedge(&["--mirror", "b", "--hedge=5"]).expect("on"), Some(5));
        assert!(hedge(&["--hedge"]).is_err(), "one copy has no other");
        assert!(!parsed(&[]).expect("nothing is required").is_used());
    }
}
