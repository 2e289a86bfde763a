//! `swath study compare`: two studies side by side.

use anyhow::Result;
use serde::Serialize;
use swath_study::page::{self, Compared, Differs};
use swath_study::results::Results;
use swath_study::session::{file_of, load};

use super::table;
use crate::args::study::Compare;
use crate::command::{Outcome, pool};
use crate::failure::Refused;
use crate::output::{print, print_json, wrote};
use crate::same_file::is_same_file;

/// What is printed for programs.
#[derive(Serialize)]
struct Json<'r> {
    left: Side<'r>,
    right: Side<'r>,
    rows: &'r [Compared],
}

#[derive(Serialize)]
struct Side<'r> {
    version: &'r str,
    started: u64,
    machine: &'r [(String, String)],
}

impl<'r> Side<'r> {
    fn of(results: &'r Results) -> Self {
        let Results { version, started, machine, .. } = results;
        Self { version, started: *started, machine }
    }
}

pub(super) fn run(args: &Compare) -> Result<Outcome> {
    for input in [&args.left, &args.right] {
        let file = file_of(input);
        if is_same_file(&file, &args.out) {
            let what = format!("the page would replace {}", file.display());
            return Err(Refused::new(what, "--out with another name").into());
        }
    }
    let study = |path| {
        let hint = "the study.json that swath study leaves, or the folder that it is in";
        load(path).map_err(|error| Refused::hinted(error, hint))
    };
    let (left, right) = (study(&args.left)?, study(&args.right)?);
    let (before, after) = (&left.method.extent, &right.method.extent);
    if before != after {
        let what =
            format!("one study is {before}, the other {after}: their files differ in size");
        return Err(Refused::new(what, "two of the same extent").into());
    }
    let (pool, _) = pool(0)?;
    let rows = pool.install(|| page::compare(&left, &right));
    if rows.is_empty() {
        let (left, right) = (args.left.display(), args.right.display());
        let what = format!("{left} and {right} have no experiment in common");
        return Err(Refused::new(what, "two studies of the same experiments").into());
    }
    let html = page::render_comparison(&left, &right)?;
    swath::write(&args.out, html)?;
    if args.json {
        let json = Json { left: Side::of(&left), right: Side::of(&right), rows: &rows };
        wrote(&args.out, print_json(&json))?;
    } else {
        wrote(&args.out, print(format!("{}{}\n", text(&rows), args.out.display())))?;
    }
    Ok(Outcome::Done)
}

/// A line for each experiment: the range of its ratios, and on which side they are.
fn text(rows: &[Compared]) -> String {
    let mut found = table([
        "experiment",
        "B as fast as A, median",
        "from",
        "to",
        "faster",
        "slower",
        "open",
    ]);
    for rows in rows.chunk_by(|left, right| left.id == right.id) {
        let mut ratios: Vec<f64> = rows.iter().map(|row| row.ratio.estimate).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let count = |side| rows.iter().filter(|row| row.differs() == side).count().to_string();
        let number =
            |ratio: Option<&f64>| ratio.map_or_else(String::new, |it| format!("{it:.2}"));
        found.add_row([
            rows.first().map_or_else(String::new, |row| row.id.clone()),
            number(ratios.get(ratios.len() / 2)),
            number(ratios.first()),
            number(ratios.last()),
            count(Differs::Faster),
            count(Differs::Slower),
            count(Differs::Undecided),
        ]);
    }
    format!("{found}\n")
}
