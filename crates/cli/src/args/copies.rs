//! The flags for reading a file from several copies.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueHint};
use swath::mirror::{Hedging, Mirrored, SharedDevice, Verify};
use swath::{Source, manifest};

use super::words::{input, named_path, whole};
use crate::input::Input;

/// Further copies of a file, and how their chunks are verified.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Copies")]
pub struct CopiesArgs {
    /// Another copy of the file; may be repeated
    ///
    /// Up to 64 copies, including the file. Copies on different devices are read in parallel. Chunks
    /// that are missing or bad in one copy are read from another, and the report says so.
    #[arg(long = "mirror", value_name = "PATH", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub mirrors: Vec<Input>,

    /// Verify each chunk: `manifest=PATH`, or `vote` (more than half of the copies)
    #[arg(long, value_name = "WHAT", value_parser = parse_against)]
    pub verify_against: Option<Against>,

    /// Repeat slow reads on another copy: at most this many of 1000 reads [default: 20]
    #[arg(long, value_name = "PERMILLE", value_parser = whole::<u32>(0..=u32::MAX.into()), num_args = 0..=1, require_equals = true, default_missing_value = "20", requires = "mirrors")]
    pub hedge: Option<u32>,
}

/// The reference for comparing chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// A file that `swath manifest` has written.
    Manifest(PathBuf),
    /// The other copies.
    Vote,
}

pub(crate) fn parse_against(word: &str) -> Result<Against, String> {
    match word.split_once('=') {
        Some(("manifest", path)) if !path.is_empty() => {
            Ok(Against::Manifest(named_path(path.into())?))
        }
        None if word == "vote" => Ok(Against::Vote),
        _ => Err(String::from("use manifest=PATH or vote")),
    }
}

impl Against {
    /// Returns the library's form; reads a manifest.
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
    /// Whether copies or a reference are given.
    pub fn is_used(&self) -> bool {
        !self.mirrors.is_empty() || self.verify_against.is_some()
    }

    /// Returns `path` and its copies as one source; `path` alone without these flags. `shared`: how to read
    /// copies on one device.
    ///
    /// # Errors
    ///
    /// The errors of [`Input::source`], and of reading the manifest.
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
