//! `swath manifest`: the checksums of a file's chunks, written or compared.

use std::fs::Metadata;
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::manifest::{self, Checksums};
use swath::sink::{FileKind, Replace};
use swath::{Extent, OutputOptions, ReadOptions, WriteOptions};
use twox_hash::XxHash3_64;

use super::target::{Target, exists, refused};
use super::{Command, Outcome};
use crate::args::{
    Files, ForceFlag, InPlaceFlag, OutFlag, ProfileArgs, TimelineArgs, input, parse_size, path,
};
use crate::door::stands;
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{OutputError, tell};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, ReportName, counted, headline, object, report_json, size_text};

/// `swath manifest`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath manifest data.bin
  swath manifest data.bin sums
  swath manifest --check data.bin.manifest /mnt/a/data.bin")]
pub struct Manifest {
    /// The file; `-` is standard input
    #[arg(value_name = "IN", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub path: Input,

    /// The manifest, a folder for it, or `-` for standard output [default: IN with .manifest
    /// appended; standard output if IN is standard input]
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub to: Option<Input>,

    /// The word OUT as a flag.
    #[command(flatten)]
    pub flag: OutFlag,

    /// Whether it may exist.
    #[command(flatten)]
    pub existing: ForceFlag,

    /// Whether it is written where it is.
    #[command(flatten)]
    pub place: InPlaceFlag,

    /// Compare the file with these checksums instead; exit status 1 if it differs
    #[arg(long, value_name = "MANIFEST", value_parser = path(), value_hint = ValueHint::FilePath, conflicts_with_all = ["to", "output", "force", "in_place", "chunk_size"])]
    pub check: Option<PathBuf>,

    /// Bytes in each chunk
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1MiB", allow_negative_numbers = true)]
    pub chunk_size: u64,

    /// Print JSON, with units in its keys; to standard error if OUT is standard output
    #[arg(long)]
    pub json: bool,

    /// Whether a profile is used.
    #[command(flatten)]
    pub profile: ProfileArgs,

    /// The recording of a timeline.
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
                .inputs(self.flag.or(&self.to))
                .paths(&self.check),
        )
    }
}

impl Manifest {
    /// Returns the treatment of an existing manifest.
    fn replace(&self) -> Replace {
        self.place.or(self.existing.replace())
    }
}

/// Returns extents of a file, for programs.
pub(super) fn extents_json(extents: &[Extent]) -> Vec<impl Serialize> {
    let json = |it: &Extent| object! { offset_bytes: it.offset(), length_bytes: it.len() };
    extents.iter().map(json).collect()
}

fn make(args: &Manifest) -> Result<Outcome> {
    let target = target(&args.path, args.flag.or(&args.to))?;
    target.refuse_terminal("a manifest", Some(args.existing))?;
    target.refuse_input(&args.path)?;
    refuse(args, &target)?;
    let output = output(&target, args.replace());
    let options = Profiles::new(args.profile).apply(options(args), &args.path);
    let (options, bar) = Bar::attach(options, !args.json);
    let input = swath::Input::open(args.path.source()?)?;
    let scanned = options.checksums(&input, args.chunk_size)?;
    drop(bar);
    save(&target, &scanned.value, output, &input)?;
    let label = target.label();
    let json = object! {
        #[serde(flatten)]
        path: PathJson::from(args.path.label()),
        manifest: PathJson::from(&label),
        chunk_size_bytes: scanned.value.chunk_size().get(),
        #[serde(flatten)]
        report: report_json(&scanned.report),
    };
    let chunks = counted(scanned.value.count(), "checksum");
    let headline = headline(&scanned.report);
    let name = Path::new(&label).shown();
    let text = format!("{name}: {chunks} of {}: {headline}\n", args.path);
    target.tell(args.json, &json, &text)?;
    Ok(Outcome::Done)
}

/// Returns the target for the manifest of a file.
pub(super) fn target(from: &Input, to: Option<&Input>) -> Result<Target> {
    Target::choose(from, to, |path| {
        let mut name = path.file_name().map(|_| path.to_owned().into_os_string())?;
        name.push(".manifest");
        Some(name.into())
    })
}

/// Returns the options for writing a manifest, in the folder to which its path leads before the file is read.
pub(super) fn output(target: &Target, replace: Replace) -> OutputOptions {
    let output = OutputOptions::new().with_replace(replace);
    match target {
        Target::Path(path) => output.in_same_folders(&[path]),
        Target::Stdout => output,
    }
}

/// Writes checksums: to a file, completely or not at all, or to a stream. A new file gets the readers of the
/// `input`.
pub(super) fn save(
    target: &Target,
    sums: &Checksums,
    mut options: OutputOptions,
    input: &swath::Input,
) -> Result<()> {
    let bytes = sums.encode(XxHash3_64::oneshot);
    match target {
        Target::Path(path) if !target.is_stream() => {
            if let Some(access) = input.access()? {
                options = options.with_permissions(access);
            }
            let written = WriteOptions::new().with_output(options).write(path, bytes);
            written.map(drop).map_err(|error| refused(error.into(), path))
        }
        _ => Ok(target.stream()?.0.write_all(&bytes).map_err(OutputError::from)?),
    }
}

fn options(args: &Manifest) -> ReadOptions {
    ReadOptions::new().with_timeline(args.timeline.handle())
}

/// Refuses outputs that would fail at the end, and inputs that would wait forever.
fn refuse(args: &Manifest, target: &Target) -> Result<()> {
    if let Target::Path(target) = target
        && args.replace() == Replace::Refused
        && matches!(stands(target), Ok(Some(FileKind::File)))
    {
        return Err(exists(target).into());
    }
    // A shell's pipe has no path that leads to it, and always has a writer.
    if let Input::Path(path) = &args.path
        && path.canonicalize().and_then(|path| path.metadata()).is_ok_and(is_pipe)
    {
        let what = format!("cannot read {path}: it is a named pipe", path = path.shown());
        return Err(Refused::new(what, "run `swath manifest -o NAME - < PIPE`").into());
    }
    Ok(())
}

pub(super) fn is_pipe(facts: Metadata) -> bool {
    facts.file_type().is_fifo()
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
        false => format!("{}: differs from its manifest\n", args.path),
    };
    if checked.len != checked.expected_len {
        text += &format!(
            "  {} instead of {}\n",
            counted(checked.len, "byte"),
            checked.expected_len
        );
    }
    text += &bad_text(&checked.bad);
    tell(args.json, &json, text)?;
    Ok(if checked.is_right() { Outcome::Done } else { Outcome::Differs })
}

/// Returns a line for each run of bad chunks, up to a limit.
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
