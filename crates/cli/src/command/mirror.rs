//! `swath mirror`: makes copies of a file, and reads each back.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::{Args, ValueHint};
use swath::mirror::MirrorOptions;
use swath::sink::{Durability, FileKind, Replace};
use swath::{OutputOptions, ReadOptions};

use super::manifest::{self, save};
use super::target::{Target, kept};
use super::{Command, Outcome};
use crate::args::{Files, TimelineArgs, input, path, whole, words};
use crate::door::stands;
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{tell, wrote_all};
use crate::progress::Bar;
use crate::report::{PathJson, ReportName, object, size_text, texts, time_text};
use crate::same_file::is_same_file;

/// `swath mirror`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath mirror data.bin /mnt/a /mnt/b
  swath mirror data.bin -n 4 --into /mnt/a /mnt/b --manifest data.bin.manifest
  swath read data.bin --mirror /mnt/a/data.bin --mirror /mnt/b/data.bin")]
pub struct Mirror {
    /// The file to copy
    #[arg(value_name = "FILE", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub path: PathBuf,

    /// The folders that get the copies, in turn
    ///
    /// A copy has the name of the file; further copies in the same folder end with .2, .3 and so
    /// on. Each is read back from its device before it appears. Existing files of these names are
    /// replaced, as cp(1) does, unless --no-clobber is given.
    #[arg(value_name = "DIR", required_unless_present = "into", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub to: Vec<PathBuf>,

    /// The words DIR as a flag; give one of the two
    #[arg(long, short = 'o', visible_alias = "output", value_name = "DIR", num_args = 1.., conflicts_with = "to", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub into: Vec<PathBuf>,

    /// How many copies [default: one in each folder]
    #[arg(long = "copies", short = 'n', value_name = "K", value_parser = whole::<u32>(1..=63))]
    pub copies: Option<u32>,

    /// Also write the checksums of the file to PATH, or to standard output if it is `-`; an older
    /// manifest there is replaced
    #[arg(long, value_name = "PATH", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub manifest: Option<Input>,

    /// Wait until the device has the copies, so that they survive a power cut
    #[arg(long, value_name = "HOW", value_parser = words(Durability::WORDS), default_value = "full")]
    pub durability: Durability,

    /// Do not replace existing files; without this flag they are replaced, as cp(1) does
    #[arg(long)]
    pub no_clobber: bool,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl Command for Mirror {
    fn run(&self) -> Result<Outcome> {
        let targets = targets(self)?;
        let manifest = self.manifest(&targets)?;
        let (read, bar) = Bar::attach(self.read_options(), !self.json);
        let options = self.options(read);
        let output = manifest.as_ref().map(|target| manifest::output(target, self.replace()));
        let input = swath::Input::open_at_once(&self.path)?;
        let made = options.mirror(&input, &targets).map_err(kept)?;
        drop(bar);
        if let Some((manifest, output)) = manifest.as_ref().zip(output) {
            save(manifest, &made.checksums, output, &input)?;
        }
        let json = object! {
            #[serde(flatten)]
            path: PathJson::from(&self.path),
            copies: made.copies.iter().map(PathJson::from).collect::<Vec<_>>(),
            manifest: manifest.as_ref().map(|target| PathJson::from(&target.label())),
            bytes: made.checksums.len(),
            elapsed_s: made.elapsed.as_secs_f64(),
            notes: texts(&made.notes),
        };
        let (bytes, elapsed) = (size_text(made.checksums.len()), time_text(made.elapsed));
        let mut text =
            format!("{}: {bytes}, copied and read back in {elapsed}\n", self.path.shown());
        for copy in &made.copies {
            text += &format!("  {}\n", copy.shown());
        }
        if let Some(target) = &manifest {
            text += &format!("  checksums in {}\n", Path::new(&target.label()).shown());
        }
        for note in &made.notes {
            text += &format!("  note: {note}\n");
        }
        match manifest {
            // Standard output has the manifest.
            Some(Target::Stdout) => Target::Stdout.tell(self.json, &json, "")?,
            _ => wrote_all(&made.copies, tell(self.json, &json, text))?,
        }
        Ok(Outcome::Done)
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.timeline).path(&self.path).inputs(&self.manifest))
    }
}

impl Mirror {
    /// Returns the target of the manifest, if one is requested. Refuses, before any copy, a target that must
    /// not replace an existing file.
    fn manifest(&self, copies: &[PathBuf]) -> Result<Option<Target>> {
        let Some(to) = &self.manifest else { return Ok(None) };
        let target = manifest::target(&Input::Path(self.path.clone()), Some(to))?;
        target.refuse_terminal("a manifest", None)?;
        target.refuse_input(&Input::Path(self.path.clone()))?;
        if let Target::Path(path) = &target {
            if let Some(copy) = copies.iter().find(|copy| is_same_file(copy, path)) {
                let (path, copy) = (path.shown(), copy.shown());
                let what =
                    format!("cannot write the manifest to {path}: it is the copy {copy}");
                return Err(Refused::new(what, "choose another name for --manifest").into());
            }
            self.refuse_existing(path)?;
        }
        Ok(Some(target))
    }

    /// Refuses to replace a file that is not a manifest.
    fn refuse_existing(&self, path: &Path) -> Result<()> {
        if !matches!(stands(path), Ok(Some(FileKind::File))) {
            return Ok(());
        }
        let hint = if self.no_clobber {
            "leave out --no-clobber to replace it, or choose another name for --manifest"
        } else if swath::manifest::load(path).is_err() {
            "choose another name for --manifest: this file is not a manifest"
        } else {
            return Ok(());
        };
        let what = format!("cannot write the manifest to {}: it exists", path.shown());
        Err(Refused::new(what, hint).into())
    }

    fn folders(&self) -> &[PathBuf] {
        if self.into.is_empty() { &self.to } else { &self.into }
    }

    fn replace(&self) -> Replace {
        if self.no_clobber { Replace::Refused } else { Replace::Allowed }
    }

    /// Returns the library's options for reading the file.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::new().with_timeline(self.timeline.handle())
    }

    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> MirrorOptions {
        MirrorOptions::new()
            .with_output(
                OutputOptions::new()
                    .with_durability(self.durability)
                    .with_replace(self.replace()),
            )
            .with_read(read)
    }
}

/// Returns the path of each copy: the file's name in each folder in turn.
fn targets(args: &Mirror) -> Result<Vec<PathBuf>> {
    let Some(name) = args.path.file_name() else {
        let what = format!("cannot make copies of {}: it has no name", args.path.shown());
        return Err(Refused::new(what, "name a file").into());
    };
    let folders = args.folders();
    for folder in folders {
        let what = || format!("cannot make a copy in {}", folder.shown());
        let kind = stands(folder).map_err(|error| {
            let hint = "check who owns the symbolic links in its path, or name another folder";
            Refused::new(what(), hint).with_source(error)
        })?;
        let hint = "create it first, or name another folder";
        ensure!(kind.is_some(), Refused::new(what() + ": it does not exist", hint));
        let is_folder = kind == Some(FileKind::Folder);
        ensure!(is_folder, Refused::new(what() + ": it is not a folder", "name a folder"));
    }
    let own = args.path.parent().map(|parent| canonical(parent, "."));
    let count = args.copies.map_or(folders.len(), |count| count as usize);
    refuse_twins(&folders[..count.min(folders.len())])?;
    let target = |index: usize| {
        let (round, folder) = (index / folders.len(), &folders[index % folders.len()]);
        let mut target = OsString::from(name);
        // In the folder of the file itself, the plain name is taken.
        if round > 0 || own.as_ref() == Some(&canonical(folder, "")) {
            target.push(format!(".{}", round + 1));
        }
        folder.join(target)
    };
    Ok((0..count).map(target).collect())
}

/// Refuses a folder that is named twice: the copies there would have one name.
fn refuse_twins(folders: &[PathBuf]) -> Result<()> {
    let mut seen = HashSet::new();
    match folders.iter().find(|folder| !seen.insert(canonical(folder, ""))) {
        Some(twin) => {
            let twin = twin.shown();
            let what = format!("cannot make two copies in {twin}: it is named twice");
            let hint = "name it once and pass `--copies 2`, or name another folder";
            Err(Refused::new(what, hint).into())
        }
        None => Ok(()),
    }
}

fn canonical(folder: &Path, empty: &str) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(empty) } else { folder };
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
