//! `swath scan`: counts newlines, as `wc -l`.

use anyhow::Result;
use serde::Serialize;
use swath::{Report, Scanned};

use super::Outcome;
use super::consume::{Kernel, consume};
use super::several::{each, line, note_fallbacks};
use crate::args::verbs;
use crate::input::Input;
use crate::output::{print, print_json};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, ReportJson, details, headline};

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    newlines: u64,
    #[serde(flatten)]
    report: ReportJson,
}

pub(super) fn run(args: &verbs::Scan) -> Result<Outcome> {
    let profiles = Profiles::new(args.how.flow.profile);
    let mut total: u64 = 0;
    let outcome = each(&args.paths, args.json, |input| {
        let options = profiles.apply(args.how.options(), input);
        let (options, bar) = Bar::attach(options, !args.json);
        let scanned = consume(input, &options, Kernel::Newlines, args.how.engine.engine)?;
        drop(bar);
        total = total.saturating_add(scanned.value);
        note_fallbacks(input, &scanned.report);
        show(args, input, &scanned)
    })?;
    if args.paths.len() > 1 && !args.json && outcome != Outcome::NotDone {
        print(line(&total.to_string(), "total".as_ref()))?;
    }
    Ok(outcome)
}

fn show(args: &verbs::Scan, input: &Input, scanned: &Scanned<u64>) -> Result<()> {
    if args.json {
        return print_json(&Json {
            path: input.label().into(),
            newlines: scanned.value,
            report: ReportJson::from(&scanned.report),
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
