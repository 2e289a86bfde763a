//! `swath scan`: counts newlines, as `wc -l` does.

use anyhow::Result;
use clap::{Args, ValueHint};
use swath::{Report, Scanned};

use super::consume::{Kernel, consume};
use super::several::{LongFiles, at_once, each, each_of_several, line, note_fallbacks};
use super::{Command, Outcome};
use crate::args::{Files, ReadArgs, input};
use crate::input::Input;
use crate::output::{print, print_json};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, details, headline, object, report_json};

/// `swath scan`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath scan access.log                   as wc -l
  zcat access.log.gz | swath scan
  swath scan --json --usage logs/*.log
  swath scan --follow-size first growing.log")]
pub struct Scan {
    /// The files; `-` is standard input
    #[arg(value_name = "PATH", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub paths: Vec<Input>,

    /// Print a line of JSON for each file, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// How to read.
    #[command(flatten)]
    pub how: ReadArgs,
}

impl Command for Scan {
    fn run(&self) -> Result<Outcome> {
        let profiles = Profiles::new(self.how.flow.profile);
        let (threads, long) = (at_once(&self.paths, &self.how), LongFiles::default());
        let compute = |input: &Input| {
            let options = profiles.apply(self.how.options(), input);
            // Several bars would overwrite each other.
            let (options, _bar) = Bar::attach(options, !self.json && threads == 1);
            consume(input, &options, Kernel::Newlines, self.how.engine.engine, &long)
        };
        let mut total: u64 = 0;
        let mut each_shown = |input: &Input, scanned: Scanned<u64>| {
            total = total.saturating_add(scanned.value);
            note_fallbacks(input, &scanned.report);
            show(self, input, &scanned)
        };
        let outcome = match threads {
            1 => each(&self.paths, self.json, |input| each_shown(input, compute(input)?)),
            _ => each_of_several(&self.paths, threads, self.json, compute, each_shown),
        }?;
        if self.paths.len() > 1 && !self.json && outcome != Outcome::NotDone {
            print(line(&total.to_string(), "total".as_ref()))?;
        }
        Ok(outcome)
    }

    fn writes(&self) -> bool {
        false
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::beside(&self.how.timeline).inputs(&self.paths))
    }
}

fn show(args: &Scan, input: &Input, scanned: &Scanned<u64>) -> Result<()> {
    if args.json {
        return print_json(&object! {
            #[serde(flatten)]
            path: PathJson::from(input.label()),
            newlines: scanned.value,
            #[serde(flatten)]
            report: report_json(&scanned.report),
        });
    }
    let mut text = line(&scanned.value.to_string(), input.label());
    text.extend_from_slice(usage_lines(&scanned.report).as_bytes());
    Ok(print(text)?)
}

fn usage_lines(report: &Report) -> String {
    match report.usage {
        Some(_) => format!("  {}\n{}", headline(report), details(report)),
        None => String::new(),
    }
}
