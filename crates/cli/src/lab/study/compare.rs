//! `swath study compare`: two studies side by side.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::sink::FileKind;
use swath::{OutputOptions, WriteOptions};
use swath_study::page::{self, Changed, Compared, Differs};
use swath_study::results::{Holds, Results};
use swath_study::session::{file_of, judged_anew, load};

use super::pool;
use crate::args::{ForceFlag, OutFlag, input, path};
use crate::command::target::{Target, exists, refused};
use crate::command::{Command, Outcome};
use crate::door::stands;
use crate::failure::Refused;
use crate::input::Input;
use crate::output::OutputError;
use crate::report::{ReportName, object, table};
use crate::same_file::is_same_file;

/// `swath study compare`
#[derive(Debug, Args)]
pub struct Compare {
    /// A: a study.json, compressed or not, or the folder that it is in
    #[arg(value_name = "A", value_parser = path(), value_hint = ValueHint::AnyPath)]
    pub left: PathBuf,

    /// The study to compare; ratios say how many times as fast as A it is
    #[arg(value_name = "B", value_parser = path(), value_hint = ValueHint::AnyPath)]
    pub right: PathBuf,

    /// The page of both, or `-` for standard output [default: compared.html]
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub to: Option<Input>,

    /// The word OUT as a flag.
    #[command(flatten)]
    pub flag: OutFlag,

    /// Whether it may exist.
    #[command(flatten)]
    pub existing: ForceFlag,

    /// Print JSON, with units in its keys: a row for each series at each place
    #[arg(long)]
    pub json: bool,
}

impl Command for Compare {
    fn run(&self) -> Result<Outcome> {
        let target = self.target()?;
        let study = |path| {
            let hint = "name a study.json of `swath study`, or the folder that it is in";
            // Both are judged by the same rules, so that only the measurements can differ.
            load(path).map(judged_anew).map_err(|error| Refused::hinted(error, hint))
        };
        let (left, right) = (study(&self.left)?, study(&self.right)?);
        let (before, after) = (&left.method.extent, &right.method.extent);
        if before != after {
            let what =
                format!("one study is {before}, the other {after}: their files differ in size");
            return Err(Refused::new(what, "compare two studies of the same extent").into());
        }
        let (pool, _) = pool(0)?;
        let rows = pool.install(|| page::compare(&left, &right));
        if rows.is_empty() {
            let (left, right) = (self.left.shown(), self.right.shown());
            let what = format!("{left} and {right} have no experiment in common");
            return Err(
                Refused::new(what, "compare two studies of the same experiments").into()
            );
        }
        let html = page::render_comparison(&left, &right)?;
        write(&target, &html, self.existing)?;
        let verdicts = page::changed(&left, &right);
        let label = target.label();
        let page = Path::new(&label).shown();
        let (left, right) = (side(&left), side(&right));
        let json = object! { left, right, verdicts: &verdicts, rows: &rows };
        let text = format!("{}{}{page}\n", verdicts_text(&verdicts), text(&rows));
        target.tell(self.json, &json, &text)?;
        Ok(Outcome::Done)
    }
}

impl Compare {
    /// Returns the target of the page. It must not replace a study, nor any other file without
    /// --force.
    fn target(&self) -> Result<Target> {
        let path = match self.flag.or(&self.to) {
            Some(Input::Stdin) => return Ok(Target::Stdout),
            Some(Input::Path(path)) => path.clone(),
            None => PathBuf::from("compared.html"),
        };
        for input in [&self.left, &self.right] {
            let file = file_of(input);
            if is_same_file(&file, &path) {
                let what = format!("the page would replace {}", file.shown());
                return Err(Refused::new(what, "choose another name with -o").into());
            }
        }
        if !self.existing.force && matches!(stands(&path), Ok(Some(FileKind::File))) {
            return Err(exists(&path).into());
        }
        Ok(Target::at(path)?)
    }
}

fn write(target: &Target, html: &str, existing: ForceFlag) -> Result<()> {
    match target {
        Target::Path(path) if !target.is_stream() => {
            let output = OutputOptions::new().with_replace(existing.replace());
            let written = WriteOptions::new().with_output(output).write(path, html);
            written.map(drop).map_err(|error| refused(error.into(), path))
        }
        _ => Ok(target.stream()?.0.write_all(html.as_bytes()).map_err(OutputError::from)?),
    }
}

fn side(results: &Results) -> impl Serialize {
    let Results { version, started, machine, .. } = results;
    object! { version, started, machine }
}

/// Returns the changed verdicts, which come first: they are the purpose of a comparison.
fn verdicts_text(verdicts: &[Changed]) -> String {
    if verdicts.is_empty() {
        return "no verdict changed\n".to_owned();
    }
    let word = |verdict: Option<Holds>| verdict.map_or("not judged", Holds::word);
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

/// Returns a line for each experiment: the range of its ratios, and how many are on which side.
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
