//! `swath study compare`: two studies side by side.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath_study::page::{self, Changed, Compared, Differs};
use swath_study::results::{Holds, Results};
use swath_study::session::{file_of, judged_anew, load};

use super::pool;
use crate::command::{Command, Outcome};
use crate::failure::Refused;
use crate::output::{tell, wrote};
use crate::report::{object, table};
use crate::same_file::is_same_file;

/// `swath study compare`
#[derive(Debug, Args)]
pub struct Compare {
    /// A: a study.json, compressed or not, or the folder that it is in
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub left: PathBuf,

    /// B: how many times as fast it is as A is what is told
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    pub right: PathBuf,

    /// Where to leave the page of both
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    #[arg(default_value = "compared.html")]
    pub out: PathBuf,

    /// Print JSON: a row for each series at each place
    #[arg(long)]
    pub json: bool,
}

impl Command for Compare {
    fn run(&self) -> Result<Outcome> {
        for input in [&self.left, &self.right] {
            let file = file_of(input);
            if is_same_file(&file, &self.out) {
                let what = format!("the page would replace {}", file.display());
                return Err(Refused::new(what, "--out with another name").into());
            }
        }
        let study = |path| {
            let hint = "the study.json that swath study leaves, or the folder that it is in";
            // By the same rules, so that nothing but what was measured can differ.
            load(path).map(judged_anew).map_err(|error| Refused::hinted(error, hint))
        };
        let (left, right) = (study(&self.left)?, study(&self.right)?);
        let (before, after) = (&left.method.extent, &right.method.extent);
        if before != after {
            let what =
                format!("one study is {before}, the other {after}: their files differ in size");
            return Err(Refused::new(what, "two of the same extent").into());
        }
        let (pool, _) = pool(0)?;
        let rows = pool.install(|| page::compare(&left, &right));
        if rows.is_empty() {
            let (left, right) = (self.left.display(), self.right.display());
            let what = format!("{left} and {right} have no experiment in common");
            return Err(Refused::new(what, "two studies of the same experiments").into());
        }
        let html = page::render_comparison(&left, &right)?;
        swath::write(&self.out, html)?;
        let verdicts = page::changed(&left, &right);
        let (left, right) = (side(&left), side(&right));
        let json = object! { left, right, verdicts: &verdicts, rows: &rows };
        let text =
            format!("{}{}{}\n", verdicts_text(&verdicts), text(&rows), self.out.display());
        wrote(&self.out, tell(self.json, &json, text))?;
        Ok(Outcome::Done)
    }
}

fn side(results: &Results) -> impl Serialize {
    let Results { version, started, machine, .. } = results;
    object! { version, started, machine }
}

/// What changed first: that is what two machines are compared for.
fn verdicts_text(verdicts: &[Changed]) -> String {
    if verdicts.is_empty() {
        return "no verdict changed\n".to_owned();
    }
    let word = |verdict: Option<Holds>| verdict.map_or("not judged", Holds::words);
    let mut changed = table(["changed", "files", "A", "B", "control, A and B", "because"]);
    for one in verdicts {
        changed.add_row([
            format!("{}: {}", one.id, one.claim),
            one.state.files().to_owned(),
            word(one.left).to_owned(),
            word(one.right).to_owned(),
            format!("{}, {}", one.left_noise, one.right_noise),
            format!("A: {} B: {}", one.left_because, one.right_because),
        ]);
    }
    format!("{changed}\n")
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
