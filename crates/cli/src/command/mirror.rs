//! `swath mirror`: makes copies of a file, each of them read back.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde::Serialize;
use swath::manifest;
use swath::sink::FileKind;

use super::Outcome;
use crate::args::mirror::Mirror;
use crate::door::stands;
use crate::failure::Refused;
use crate::output::{print, print_json, wrote_all};
use crate::progress::Bar;
use crate::report::{PathJson, size_text, texts, time_text};
use crate::same_file::is_same_file;

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    copies: Vec<PathJson>,
    manifest: Option<PathJson>,
    bytes: u64,
    elapsed_s: f64,
    notes: Vec<String>,
}

pub(super) fn run(args: &Mirror) -> Result<Outcome> {
    let targets = targets(args)?;
    if let Some(manifest) = &args.manifest {
        let mut others = [&args.path].into_iter().chain(&targets);
        if let Some(other) = others.find(|other| is_same_file(other, manifest)) {
            let what = format!(
                "cannot write the manifest to {}: it is {}, the file or a copy of it",
                manifest.display(),
                other.display(),
            );
            return Err(Refused::new(what, "--manifest with another name").into());
        }
    }
    let (read, bar) = Bar::attach(args.read_options(), !args.json);
    let options = args.options(read);
    let made = options.mirror(&args.path, &targets)?;
    drop(bar);
    if let Some(path) = &args.manifest {
        manifest::save(path, &made.checksums)?;
    }
    if args.json {
        let json = Json {
            path: args.path.as_os_str().into(),
            copies: made.copies.iter().map(|path| path.as_os_str().into()).collect(),
            manifest: args.manifest.as_ref().map(|path| path.as_os_str().into()),
            bytes: made.checksums.len(),
            elapsed_s: made.elapsed.as_secs_f64(),
            notes: texts(&made.notes),
        };
        wrote_all(&made.copies, print_json(&json))?;
        return Ok(Outcome::Done);
    }
    let (bytes, elapsed) = (size_text(made.checksums.len()), time_text(made.elapsed));
    let mut text =
        format!("{}: {bytes}, copied and read back in {elapsed}\n", args.path.display());
    for copy in &made.copies {
        text += &format!("  {}\n", copy.display());
    }
    if let Some(path) = &args.manifest {
        text += &format!("  checksums in {}\n", path.display());
    }
    for note in &made.notes {
        text += &format!("  note: {note}\n");
    }
    wrote_all(&made.copies, print(text))?;
    Ok(Outcome::Done)
}

/// The folders in turn, each under the name of the file.
fn targets(args: &Mirror) -> Result<Vec<PathBuf>> {
    let Some(name) = args.path.file_name() else {
        let what = format!("cannot make copies of {}: it has no name", args.path.display());
        return Err(Refused::new(what, "name a file").into());
    };
    for folder in &args.into {
        let what = || format!("cannot make a copy in {}", folder.display());
        let kind = stands(folder).map_err(|error| {
            let hint = "look whose the links on the way to it are, or name another folder";
            Refused::new(what(), hint).with_source(error)
        })?;
        ensure!(
            kind == Some(FileKind::Folder),
            Refused::new(what() + ": it is no folder", "make it first, or name another one")
        );
    }
    let own = args.path.parent().map(|parent| canonical(parent, "."));
    let count = args.copies.map_or(args.into.len(), |count| count as usize);
    let target = |index: usize| {
        let (round, folder) = (index / args.into.len(), &args.into[index % args.into.len()]);
        let mut target = OsString::from(name);
        // Beside the file itself the name is taken from the start.
        if round > 0 || own.as_ref() == Some(&canonical(folder, "")) {
            target.push(format!(".{}", round + 1));
        }
        folder.join(target)
    };
    Ok((0..count).map(target).collect())
}

fn canonical(folder: &Path, empty: &str) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(empty) } else { folder };
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
