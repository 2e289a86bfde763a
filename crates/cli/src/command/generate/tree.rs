//! `swath gen tree`: many files in one folder.
//!
//! They are made in a hidden folder beside it, or in it if it is there and empty, and moved when all
//! of them are whole. What a killed run has left goes with the next one there.

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

use anyhow::Result;
use clap::{Args, ValueHint};
use swath::sink::FileKind;
use swath_study::hidden::Hidden;
use swath_study::many::tree::{self, Made, Spread};

use crate::args::{parse_size, words};
use crate::command::{Command, Outcome};
use crate::door::{above, stands};
use crate::failure::Refused;
use crate::output::{tell, wrote};
use crate::report::{PathJson, bytes_per_s, counted, object, size_text, time_text};
use crate::signal::remove_on_signal;

/// A tree of files.
#[derive(Debug, Args)]
pub struct Tree {
    /// How many files
    #[arg(long, value_name = "N")]
    pub files: u64,

    /// How long each is; with a power law, the mean
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true)]
    pub size: u64,

    /// Files of one size, or few large and many small ones
    #[arg(long, value_name = "SPREAD", value_parser = words(Spread::WORDS), default_value = "even")]
    pub spread: Spread,

    /// The folder; made if it is not there, refused if it holds something
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Another seed makes other files
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,
}

impl Command for Tree {
    fn run(&self) -> Result<Outcome> {
        let recipe = tree::Tree {
            files: self.files,
            size: self.size,
            spread: self.spread,
            seed: self.seed,
        };
        let start = Instant::now();
        let made = make(&recipe, self).map_err(|error| {
            let what = format!("cannot make {}", self.output.display());
            Refused::new(what, hint(&error)).with_source(error)
        })?;
        let elapsed = start.elapsed();
        let speed = bytes_per_s(made.bytes, elapsed);
        let json = object! {
            #[serde(flatten)]
            path: PathJson::from(&self.output),
            files: made.files,
            folders: made.folders,
            bytes: made.bytes,
            smallest_bytes: made.smallest,
            largest_bytes: made.largest,
            lines: made.lines,
            sum: made.sum,
            seed: self.seed,
            elapsed_s: elapsed.as_secs_f64(),
            bytes_per_s: speed,
        };
        let (path, time) = (self.output.display(), time_text(elapsed));
        let text = format!("{path}: {}, in {time}, {:.2} GB/s\n", text(&made), speed / 1e9);
        wrote(&self.output, tell(self.json, &json, text))?;
        Ok(Outcome::Done)
    }
}

/// How the names of hidden folders begin.
const KIND: &str = ".swath-tree";

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
