//! `swath gen tree`: many files in one folder.
//!
//! They are made in a hidden folder beside it, or in it if it is there and empty, and moved when all
//! of them are whole. What a killed run has left goes with the next one there.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;
use swath::sink::FileKind;
use swath_study::hidden::Hidden;
use swath_study::many::tree::{self, Made};

use crate::args::generate::Tree;
use crate::command::Outcome;
use crate::door::{above, stands};
use crate::failure::Refused;
use crate::output::{print, print_json, wrote};
use crate::report::{PathJson, bytes_per_s, counted, size_text, time_text};
use crate::signal::remove_on_signal;

/// How the names of hidden folders begin.
const KIND: &str = ".swath-tree";

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    files: u64,
    folders: u64,
    bytes: u64,
    smallest_bytes: u64,
    largest_bytes: u64,
    lines: u64,
    sum: u64,
    seed: u64,
    elapsed_s: f64,
    bytes_per_s: f64,
}

pub(super) fn run(args: &Tree) -> Result<Outcome> {
    let recipe =
        tree::Tree { files: args.files, size: args.size, spread: args.spread, seed: args.seed };
    let start = Instant::now();
    let made = make(&recipe, args).map_err(|error| {
        let what = format!("cannot make {}", args.output.display());
        Refused::new(what, hint(&error)).with_source(error)
    })?;
    let elapsed = start.elapsed();
    let speed = bytes_per_s(made.bytes, elapsed);
    if args.json {
        let json = Json {
            path: args.output.as_os_str().into(),
            files: made.files,
            folders: made.folders,
            bytes: made.bytes,
            smallest_bytes: made.smallest,
            largest_bytes: made.largest,
            lines: made.lines,
            sum: made.sum,
            seed: args.seed,
            elapsed_s: elapsed.as_secs_f64(),
            bytes_per_s: speed,
        };
        wrote(&args.output, print_json(&json))?;
    } else {
        let (path, time) = (args.output.display(), time_text(elapsed));
        let text = format!("{path}: {}, in {time}, {:.2} GB/s\n", text(&made), speed / 1e9);
        wrote(&args.output, print(text))?;
    }
    Ok(Outcome::Done)
}

fn make(recipe: &tree::Tree, args: &Tree) -> io::Result<Made> {
    let output = &args.output;
    let is_new = is_free(output)?;
    let parent = if is_new { above(output) } else { output };
    let hidden = Hidden::make(parent, KIND)
        .map_err(|error| error.downcast().unwrap_or_else(io::Error::other))?;
    remove_on_signal(hidden.path());
    let tree = hidden.path().join("tree");
    let made = tree::make(recipe, &tree, args.workers)?;
    match is_new {
        true => fs::rename(&tree, output)?,
        false => move_all(&tree, output)?,
    }
    Ok(made)
}

/// Whether nothing stands there. An empty folder may, and in it what killed runs have left.
fn is_free(output: &Path) -> io::Result<bool> {
    match stands(output)? {
        None => fs::metadata(above(output)).map(|_| true),
        Some(FileKind::Folder) => {
            for entry in fs::read_dir(output)? {
                if !entry?.file_name().to_string_lossy().starts_with(KIND) {
                    return Err(io::ErrorKind::DirectoryNotEmpty.into());
                }
            }
            Ok(false)
        }
        Some(_) => Err(io::ErrorKind::NotADirectory.into()),
    }
}

/// Moves all that is in `from` to another folder, or nothing of it.
fn move_all(from: &Path, to: &Path) -> io::Result<()> {
    let mut moved = Vec::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let path = to.join(entry.file_name());
        if let Err(error) = fs::rename(entry.path(), &path) {
            // The error is on its way; nobody is left to tell another.
            moved.iter().for_each(|path| drop(fs::remove_dir_all(path)));
            return Err(error);
        }
        moved.push(path);
    }
    Ok(())
}

fn text(made: &Made) -> String {
    let sizes = if made.smallest == made.largest {
        format!("of {}", size_text(made.largest))
    } else {
        format!("of {} to {}", size_text(made.smallest), size_text(made.largest))
    };
    format!(
        "{} {sizes} in {}, {} together, {} newlines, byte sum {}",
        counted(made.files, "file"),
        counted(made.folders, "folder"),
        size_text(made.bytes),
        made.lines,
        made.sum,
    )
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "make the folder above it first",
        io::ErrorKind::DirectoryNotEmpty => "a new folder with -o, or empty this one",
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotADirectory => "another folder with -o",
        _ => "fewer files, or smaller ones",
    }
}
