//! `swath gen tree`: many files in one folder.
//!
//! Files are generated in a hidden folder next to it, or in it if it exists and is empty, and moved
//! once all of them are complete. The next run removes what a killed run has left there.

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

use anyhow::Result;
use clap::{Args, ValueHint};
use swath::sink::FileKind;
use swath_os::hidden::Hidden;
use swath_study::many::tree::{self, Spread, TreeFiles};

use crate::args::{OutFlag, count, input, parse_size, whole, words};
use crate::command::target::needs_file;
use crate::command::{Command, Outcome};
use crate::door::{above, stands};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{tell, wrote};
use crate::report::{
    PathJson, ReportName, bytes_per_s, counted, object, size_text, time_and_speed,
};
use crate::signal::remove_on_signal;

/// A tree of files.
#[derive(Debug, Args)]
pub struct Tree {
    /// How many files
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub files: u64,

    /// The size of each; with a power law, the mean
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true)]
    pub size: u64,

    /// Files of one size, or few large and many small ones
    #[arg(long, value_name = "SPREAD", value_parser = words(Spread::WORDS), default_value = "even")]
    pub spread: Spread,

    /// The folder; created if it does not exist, refused if it holds anything
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::DirPath, required_unless_present = "output")]
    pub to: Option<Input>,

    /// The word OUT as a flag.
    #[command(flatten)]
    pub flag: OutFlag,

    /// Another seed makes other files
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX), default_value_t = 0)]
    pub seed: u64,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
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
        let Some(Input::Path(path)) = self.flag.or(&self.to) else {
            return Err(needs_file("gen tree").into());
        };
        let start = Instant::now();
        let made = make(&recipe, path, self.workers).map_err(|error| {
            let what = format!("cannot make {}", path.shown());
            Refused::new(what, hint(&error)).with_source(error)
        })?;
        let elapsed = start.elapsed();
        let json = object! {
            #[serde(flatten)]
            path: PathJson::from(path),
            files: made.files,
            folders: made.folders,
            bytes: made.bytes,
            smallest_bytes: made.smallest,
            largest_bytes: made.largest,
            lines: made.lines,
            sum: made.sum,
            seed: self.seed,
            elapsed_s: elapsed.as_secs_f64(),
            bytes_per_s: bytes_per_s(made.bytes, elapsed),
        };
        let (name, time) = (path.shown(), time_and_speed(made.bytes, elapsed));
        let text = format!("{name}: {}, in {time}\n", text(&made));
        wrote(path, tell(self.json, &json, text))?;
        Ok(Outcome::Done)
    }
}

/// The prefix of the names of hidden folders.
const KIND: &str = ".swath-tree";

fn make(recipe: &tree::Tree, output: &Path, workers: usize) -> io::Result<TreeFiles> {
    let is_new = is_free(output)?;
    let parent = if is_new { above(output) } else { output };
    let hidden = Hidden::make_telling(parent, KIND, remove_on_signal())
        .map_err(|error| error.downcast().unwrap_or_else(io::Error::other))?;
    // Many threads create the files, and end when this path leads nowhere: see `hidden::remove`.
    let tree = hidden.path().join("tree");
    let made = tree::make(recipe, &tree, workers)?;
    if is_new {
        fs::rename(&tree, output)?
    } else {
        move_all(&tree, output)?
    }
    Ok(made)
}

/// Returns whether nothing exists there. An empty folder is allowed, also with leftovers of killed
/// runs.
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

/// Moves everything in `from` to another folder, or nothing.
fn move_all(from: &Path, to: &Path) -> io::Result<()> {
    let mut moved: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let path = to.join(entry.file_name());
        if let Err(error) = fs::rename(entry.path(), &path) {
            // Moved back, to be removed there. The first error is returned; another one would only
            // hide it.
            for path in &moved {
                let _ = path.file_name().map(|name| fs::rename(path, from.join(name)));
            }
            return Err(error);
        }
        moved.push(path);
    }
    Ok(())
}

fn text(made: &TreeFiles) -> String {
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
        io::ErrorKind::DirectoryNotEmpty => "choose a new folder with -o, or empty this one",
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotADirectory => "choose another folder with -o",
        _ => "make fewer files, or smaller ones",
    }
}
