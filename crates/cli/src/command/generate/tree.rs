//! `swath gen tree`: many files in one folder.

use std::io;
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;
use swath_study::many::tree::{self, Made};

use crate::args::generate::Tree;
use crate::command::Outcome;
use crate::failure::Refused;
use crate::output::{print, print_json, wrote};
use crate::report::{PathJson, bytes_per_s, counted, size_text, time_text};

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
    let made = tree::make(&recipe, &args.output, args.workers).map_err(|error| {
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
