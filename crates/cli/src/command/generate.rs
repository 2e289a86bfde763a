//! `swath gen`: makes a reproducible input.

use std::io;
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;
use swath_study::workload::{Kind, Recipe, Style, Table, generate};

use super::Outcome;
use crate::args::generate::{Bytes, Csv, Gen, NumberStyle, What};
use crate::failure::Refused;
use crate::output::{print, print_json};
use crate::report::{PathJson, bytes_per_s, size_text, time_text};

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    bytes: u64,
    lines: u64,
    sum: u64,
    seed: u64,
    elapsed_s: f64,
    bytes_per_s: f64,
}

pub(super) fn run(args: &Gen) -> Result<Outcome> {
    match &args.what {
        What::Bytes(bytes) => make_bytes(Kind::Bytes, bytes),
        What::Letters(bytes) => make_bytes(Kind::Letters, bytes),
        What::CsvNumbers(bytes) => make_bytes(Kind::CsvNumbers, bytes),
        What::Csv(csv) => make_bytes(Kind::Csv(table(csv)), &csv.bytes),
    }
}

fn table(csv: &Csv) -> Table {
    let decimals = |default| csv.decimals.map_or(default, usize::from);
    let style = match csv.style {
        NumberStyle::Integers => Style::Integers,
        NumberStyle::Fractions => Style::Fractions(decimals(17)),
        NumberStyle::Fixed => Style::Fixed(decimals(6)),
    };
    Table { columns: usize::try_from(csv.columns).unwrap_or(usize::MAX), style }
}

fn make_bytes(kind: Kind, bytes: &Bytes) -> Result<Outcome> {
    let args = &bytes.made;
    let start = Instant::now();
    let recipe = Recipe { kind, size: bytes.size, seed: args.seed };
    let made = generate(recipe, &args.output, args.workers).map_err(|error| {
        let what = format!("cannot make {}", args.output.display());
        Refused::new(what, hint(&error)).with_source(error)
    })?;
    let elapsed = start.elapsed();
    let speed = bytes_per_s(made.bytes, elapsed);
    if args.json {
        print_json(&Json {
            path: args.output.as_os_str().into(),
            bytes: made.bytes,
            lines: made.lines,
            sum: made.sum,
            seed: args.seed,
            elapsed_s: elapsed.as_secs_f64(),
            bytes_per_s: speed,
        })?;
    } else {
        print(format!(
            "{}: {}, {} newlines, byte sum {}, in {}, {:.2} GB/s\n",
            args.output.display(),
            size_text(made.bytes),
            made.lines,
            made.sum,
            time_text(elapsed),
            speed / 1e9
        ))?;
    }
    Ok(Outcome::Done)
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "make the folder first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "another folder with -o"
        }
        io::ErrorKind::FileTooLarge => "a smaller size",
        _ => "the name of a regular file with -o",
    }
}
