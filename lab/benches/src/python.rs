//! Entrants in Python: a program connected to standard input and output names the entrants, and runs
//! the one whose turn it is.
//!
//! ```text
//! it     {"id": "read, warm", "entrants": ["swath.read", …], "absent": {…}, "goals": […]}
//! this   "swath.read"          whose turn it is
//! it     0.25                  its seconds, prepared before and checked after
//! this   null                  the case is done
//! ```

use crate::bench;
use crate::case::measured;
use crate::record::Folder;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use swath_study::measure::{self, Entrant, Entrants, Goal, Meter};
use swath_study::peers::Absent;

/// One case, as the program describes it.
#[derive(Deserialize)]
struct PythonCase {
    id: String,
    entrants: Vec<String>,
    absent: BTreeMap<String, String>,
    goals: Vec<Goal>,
}

/// Sends the name of the next entrant, or `null` at the end of a case.
fn say(whose: Option<&str>) -> Result<()> {
    writeln!(io::stdout(), "{}", serde_json::to_string(&whose)?)?;
    Ok(io::stdout().flush()?)
}

/// Returns the next line of the program, or `None` if it has ended.
fn answer() -> Result<Option<String>> {
    let mut line = String::new();
    let len = io::stdin().read_line(&mut line).context("cannot read what Python says")?;
    Ok((len > 0).then_some(line))
}

fn entrant(name: String) -> Entrant {
    let series = name.clone();
    Entrant::new(series, measure::Outcome::default(), move |meter: &mut Meter| {
        say(Some(&name))?;
        let line = answer()?.context("Python has ended")?;
        meter.took(line.trim().parse().with_context(|| format!("no seconds: {line:?}"))?);
        Ok(measure::Outcome::default())
    })
}

/// Writes a record of each case that the program sends, after the head of the summary.
pub(crate) fn record(out: &Path, rounds: usize) -> Result<()> {
    let rounds = bench::rounds(rounds, 1);
    let head: String = serde_json::from_str(&answer()?.context("no head")?)?;
    let mut folder = Folder::named(out.to_owned(), head, rounds.seed)?;
    while let Some(line) = answer()? {
        let PythonCase { id, entrants, absent, goals } =
            serde_json::from_str(&line).with_context(|| format!("no case: {line:?}"))?;
        let absent = absent.iter().map(|(name, why)| Absent::new(name, why.as_str()));
        let here = entrants.into_iter().map(entrant).collect();
        let entrants = Entrants { here, absent: absent.collect(), goals };
        folder.run(&id, || measured(entrants, rounds))?;
        say(None)?;
    }
    Ok(())
}
