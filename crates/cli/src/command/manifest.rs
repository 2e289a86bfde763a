//! `swath manifest`: the checksums of a file's chunks, written or compared.

use std::fs::Metadata;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::{Extent, ReadOptions, manifest};

use super::{Command, Outcome};
use crate::args::{Files, ProfileArgs, TimelineArgs, input, parse_size};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{tell, wrote};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, counted, headline, object, report_json, size_text};
use crate::same_file::{is_same_file, is_stdin};

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

impl Command for Manifest {
    fn run(&self) -> Result<Outcome> {
        match &self.check {
            Some(manifest) => check(self, manifest),
            None => make(self),
        }
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(
            Files::beside(&self.timeline)
                .input(&self.path)
                .paths(&self.output)
                .paths(&self.check),
        )
    }
}

/// Some bytes of a file, for programs.
pub(super) fn extents_json(extents: &[Extent]) -> Vec<impl Serialize> {
    let json = |it: &Extent| object! { offset: it.offset(), length: it.len() };
    extents.iter().map(json).collect()
}

fn make(args: &Manifest) -> Result<Outcome> {
    let target = target(args)?;
    refuse(args, &target)?;
    let options = Profiles::new(args.profile).apply(options(args), &args.path);
    let (options, bar) = Bar::attach(options, !args.json);
    let scanned = options.checksums(args.path.source()?, args.chunk_size)?;
    drop(bar);
    manifest::save(&target, &scanned.value)?;
    let json = object! {
        #[serde(flatten)]
        path: PathJson::from(args.path.label()),
        manifest: PathJson::from(&target),
        chunk_size_bytes: scanned.value.chunk_size().get(),
        #[serde(flatten)]
        report: report_json(&scanned.report),
    };
    let chunks = counted(scanned.value.count(), "checksum");
    let headline = headline(&scanned.report);
    let text = format!("{}: {chunks} of {}: {headline}\n", target.display(), args.path);
    wrote(&target, tell(args.json, &json, text))?;
    Ok(Outcome::Done)
}

fn options(args: &Manifest) -> ReadOptions {
    ReadOptions::new().with_timeline(args.timeline.handle())
}

/// What would destroy the file, or wait for ever.
fn refuse(args: &Manifest, target: &Path) -> Result<()> {
    let is_input = match &args.path {
        Input::Path(path) => is_same_file(path, target),
        Input::Stdin => is_stdin(target),
    };
    if is_input {
        let what =
            format!("cannot write the manifest to {}: it is the file itself", target.display());
        return Err(Refused::new(what, "-o with another name").into());
    }
    // A pipe of the shell's has no path that leads to it, and somebody writes it already.
    if let Input::Path(path) = &args.path
        && path.canonicalize().and_then(|path| path.metadata()).is_ok_and(is_pipe)
    {
        let what = format!("cannot read {path}: it is a named pipe", path = path.display());
        return Err(Refused::new(what, "`swath manifest -o NAME - < PIPE`").into());
    }
    Ok(())
}

fn is_pipe(facts: Metadata) -> bool {
    facts.file_type().is_fifo()
}

fn target(args: &Manifest) -> Result<PathBuf> {
    match (&args.output, &args.path) {
        (Some(output), _) => Ok(output.clone()),
        (None, Input::Path(path)) => {
            let mut target = path.clone().into_os_string();
            target.push(".manifest");
            Ok(target.into())
        }
        (None, Input::Stdin) => {
            let what = "cannot name the manifest after standard input";
            Err(Refused::new(what, "-o with a name").into())
        }
    }
}

fn check(args: &Manifest, manifest: &Path) -> Result<Outcome> {
    let checked = options(args).check(args.path.source()?, &manifest::load(manifest)?)?;
    let json = object! {
        #[serde(flatten)]
        path: PathJson::from(args.path.label()),
        manifest: PathJson::from(&manifest),
        bytes: checked.len,
        expected_bytes: checked.expected_len,
        bad: extents_json(&checked.bad),
        verified: checked.is_right(),
    };
    let mut text = match checked.is_right() {
        true => format!("{}: right, {}\n", args.path, size_text(checked.len)),
        false => format!("{}: not what it should be\n", args.path),
    };
    if checked.len != checked.expected_len {
        text += &format!("  {} bytes instead of {}\n", checked.len, checked.expected_len);
    }
    text += &bad_text(&checked.bad);
    tell(args.json, &json, text)?;
    Ok(if checked.is_right() { Outcome::Done } else { Outcome::Differs })
}

/// A line for each run of bad chunks, the first of many.
pub(super) fn bad_text(bad: &[Extent]) -> String {
    const SHOWN: usize = 10;
    let mut text = String::new();
    for extent in bad.iter().take(SHOWN) {
        text += &format!("  bad: bytes {extent}\n");
    }
    if let more @ 1.. = bad.len().saturating_sub(SHOWN) {
        text += &format!("  and in {} more\n", counted(more as u64, "place"));
    }
    text
}
