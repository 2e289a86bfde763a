//! `cargo xtask dist`: makes a release, and tries its files.
//!
//! ```text
//! last commit → stage → each part: make → files in OUT      try → in a clean environment
//!                       a target is missing → "not made", and the command that installs it
//! all files → THIRD-PARTY licences, SBOM, SHA256SUMS
//! ```
//!
//! A release holds the last commit and nothing else. No part stops the next one: at the end there
//! is a list of what was made, what was tried, what is missing and what failed.
//! `docs/releasing.md` has the order of a release.

mod aarch64;
mod binary;
mod c_archive;
mod clean;
mod command;
mod crates;
mod deb;
mod licences;
mod linked;
mod msrv;
mod part;
mod python;
mod release;
mod sbom;
mod size;
mod source;
mod sums;
mod target;
mod tools;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::builder::PossibleValuesParser;

use crate::workspace::Workspace;
use crate::{deny, programs, torture};
use part::{Made, Part};
use release::Release;

/// The words after `dist`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct DistWish {
    /// Where to [default: target/dist/out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Make this part; may be repeated [default: all]
    #[arg(long, value_name = "PART")]
    #[arg(value_parser = PossibleValuesParser::new(PARTS.iter().map(|it| it.name)))]
    only: Vec<String>,
    /// Try each part in a clean environment
    #[arg(long = "try")]
    attempt: bool,
    /// Fail where this machine cannot make a part
    #[arg(long)]
    strict: bool,
    /// Compile without optimisation, to try the rest; sizes are not judged
    #[arg(long)]
    quick: bool,
}

impl DistWish {
    fn includes(&self, part: &Part) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == part.name)
    }
}

/// Cheap parts first.
const PARTS: [Part; 12] = [
    Part { name: "source", make: source::make, attempt: source::attempt },
    Part { name: "deny", make: check_licences, attempt: part::nothing_to_try },
    Part { name: "msrv", make: msrv::check, attempt: part::nothing_to_try },
    Part { name: "crates", make: crates::make, attempt: crates::attempt },
    Part { name: "command", make: command::make, attempt: command::attempt },
    Part { name: "deb", make: deb::make, attempt: deb::attempt },
    Part { name: "c", make: c_archive::make, attempt: c_archive::attempt },
    Part { name: "wheel", make: python::wheel, attempt: python::try_wheel },
    Part { name: "wheel-musl", make: python::wheel_musl, attempt: python::look_at_musl },
    Part {
        name: "wheel-free-threaded",
        make: python::wheel_free_threaded,
        attempt: python::try_free_threaded,
    },
    Part { name: "sdist", make: python::sdist, attempt: python::try_sdist },
    Part { name: "aarch64", make: aarch64::make, attempt: aarch64::attempt },
];

/// The outcome of one part.
struct Outcome {
    name: &'static str,
    made: Result<Made>,
    /// The trials, and their results.
    tried: Result<Vec<String>>,
}

/// Makes the parts and prints their outcomes.
pub(crate) fn run(workspace: &Workspace, wish: &DistWish) -> Result<()> {
    if !wish.quick {
        torture::ensure_current(workspace)?;
    }
    let out = wish.out.clone().unwrap_or_else(|| workspace.target().join("dist/out"));
    let release = Release::stage(workspace, &std::path::absolute(out)?, wish.quick)?;
    let mut outcomes = Vec::new();
    for part in PARTS.iter().filter(|part| wish.includes(part)) {
        println!("── {}", part.name);
        let outcome = one(&release, part, wish.attempt);
        println!("{}", shown(&outcome));
        outcomes.push(outcome);
    }
    sums::write(release.out())?;
    if wish.quick {
        println!("note: made with --quick, for trying only: not optimised, sizes not judged");
    }
    println!("── summary, in {}", release.out().display());
    for outcome in &outcomes {
        println!("{}", shown(outcome));
    }
    judge(wish, &outcomes)
}

fn one(release: &Release, part: &Part, attempt: bool) -> Outcome {
    let made = (part.make)(release);
    let tried = match &made {
        Ok(Made::Files { files, .. }) if attempt => (part.attempt)(release, files),
        _ => Ok(Vec::new()),
    };
    Outcome { name: part.name, made, tried }
}

fn shown(outcome: &Outcome) -> String {
    let mut lines = Vec::new();
    match &outcome.made {
        Ok(Made::Files { files, notes }) => {
            lines.extend(files.iter().map(|path| format!("made     {}", size::shown(path))));
            lines.extend(notes.iter().map(|note| format!("note     {note}")));
        }
        Ok(Made::Checked(notes)) => {
            lines.extend(notes.iter().map(|note| format!("checked  {note}")));
        }
        Ok(Made::Missing { lacks, install }) => {
            lines.push(format!("not made: {lacks}; try: {install}"));
        }
        Err(error) => lines.push(format!("FAILED   {error:#}")),
    }
    match &outcome.tried {
        Ok(tried) => lines.extend(tried.iter().map(|line| format!("tried    {line}"))),
        Err(error) => lines.push(format!("FAILED   when tried: {error:#}")),
    }
    let lines: Vec<_> =
        lines.iter().map(|line| format!("{:20} {line}", outcome.name)).collect();
    lines.join("\n")
}

/// Fails if a part failed. A missing target is a failure if the caller named the part, or passed
/// `--strict`.
fn judge(wish: &DistWish, outcomes: &[Outcome]) -> Result<()> {
    let failed = outcomes.iter().filter(|it| it.made.is_err() || it.tried.is_err());
    let mut bad: Vec<_> = failed.map(|it| format!("{} failed", it.name)).collect();
    if wish.strict || !wish.only.is_empty() {
        let missing = outcomes.iter().filter(|it| matches!(it.made, Ok(Made::Missing { .. })));
        bad.extend(missing.map(|it| format!("{} was not made", it.name)));
    }
    if bad.is_empty() { Ok(()) } else { bail!("{}", bad.join(", ")) }
}

/// Checks licences, sources and duplicates, as a part.
fn check_licences(release: &Release) -> Result<Made> {
    if !programs::are_there(release.workspace()) {
        programs::install(release.workspace())?;
    }
    Ok(match deny::check(release.workspace())? {
        true => Made::Checked(vec![String::from("licences, bans, sources")]),
        false => Made::missing("cargo-deny", "cargo install cargo-deny --locked"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(made: Result<Made>) -> Outcome {
        Outcome { name: "aarch64", made, tried: Ok(Vec::new()) }
    }

    fn missing() -> Result<Made> {
        Ok(Made::Missing { lacks: "the target".into(), install: "rustup target add x".into() })
    }

    #[test]
    fn a_missing_target_fails_only_where_it_was_named_or_all_are_required() {
        let lenient = DistWish::default();
        let named = DistWish { only: vec!["aarch64".into()], ..DistWish::default() };
        let strict = DistWish { strict: true, ..DistWish::default() };
        assert!(judge(&lenient, &[outcome(missing())]).is_ok());
        assert!(judge(&named, &[outcome(missing())]).is_err());
        assert!(judge(&strict, &[outcome(missing())]).is_err());
    }

    #[test]
    fn a_part_that_failed_or_did_not_work_fails_the_whole() {
        let wish = DistWish::default();
        let made = || Made::Files { files: Vec::new(), notes: Vec::new() };
        assert!(judge(&wish, &[outcome(Ok(made()))]).is_ok());
        assert!(judge(&wish, &[outcome(Err(anyhow::anyhow!("no")))]).is_err());
        let mut broken = outcome(Ok(made()));
        broken.tried = Err(anyhow::anyhow!("the binary is dynamic"));
        assert!(shown(&broken).contains("FAILED   when tried: the binary is dynamic"));
        assert!(judge(&wish, &[broken]).is_err());
    }

    #[test]
    fn what_is_missing_is_said_with_the_command_that_installs_it() {
        let line = shown(&outcome(missing()));
        assert!(line.ends_with("not made: the target; try: rustup target add x"), "{line}");
    }
}
