//! `swath heal`: repairs the bad chunks of copies.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::heal::{HealOptions, Healed, HealedCopy};
use swath::sink::{Durability, HardLinks};
use swath::{OutputOptions, ReadOptions};

use super::manifest::{bad_text, extents_json};
use super::{Command, Outcome};
use crate::args::{Against, Files, TimelineArgs, count, parse_against, path, words};
use crate::failure::{Refused, describe_error};
use crate::output::{tell, wrote_all};
use crate::progress::Bar;
use crate::report::{PathJson, ReportName, counted, object, size_text, time_text};
use crate::same_file::is_same_file;

/// `swath heal`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath heal --verify-against vote a.bin b.bin c.bin
  swath heal --verify-against manifest=data.manifest data.bin /mnt/a/data.bin
  swath heal --dry-run --verify-against vote a.bin b.bin c.bin")]
pub struct Heal {
    /// The copies of one file, at most 64, which are repaired in place; missing ones are created
    #[arg(value_name = "PATH", required = true, value_parser = path(), value_hint = ValueHint::FilePath)]
    pub paths: Vec<PathBuf>,

    /// How to tell good chunks: `manifest=PATH`, or `vote` (more than half of the copies)
    #[arg(long, value_name = "WHAT", value_parser = parse_against)]
    pub verify_against: Against,

    /// Only report bad chunks; exit status 1 if there are any
    #[arg(long)]
    pub dry_run: bool,

    /// Wait until the device has the written bytes, and read them back from it
    #[arg(long, value_name = "HOW", value_parser = words(Durability::WORDS), default_value = "full")]
    pub durability: Durability,

    /// A copy with other hard links: refuse, or replace this name only
    #[arg(long, value_name = "HOW", value_parser = words(HardLinks::WORDS), default_value = "refuse")]
    pub hard_links: HardLinks,

    /// Threads; 0 chooses
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl Command for Heal {
    fn run(&self) -> Result<Outcome> {
        if let Against::Manifest(manifest) = &self.verify_against
            && let Some(copy) = self.paths.iter().find(|path| is_same_file(path, manifest))
        {
            let what = format!("cannot heal {}: it is the manifest itself", copy.shown());
            return Err(Refused::new(what, "name copies of the file").into());
        }
        let against = self.verify_against.verify()?;
        let (read, bar) = Bar::attach(self.read_options(), !self.json);
        let options = self.options(read);
        let healed = match self.dry_run {
            true => options.examine(&self.paths, &against)?,
            false => options.heal(&self.paths, &against)?,
        };
        drop(bar);
        let written = healed.copies.iter().filter(|copy| copy.rewritten.is_some());
        let written = written.map(|copy| &copy.path);
        let reported = tell(self.json, &json(&healed), text(self, &healed));
        if self.dry_run {
            reported?
        } else {
            wrote_all(written, reported)?
        }
        if let Some(error) = healed.failure() {
            return Err(error.into());
        }
        let all_good = healed.copies.iter().all(|copy| copy.was_good(healed.len));
        Ok(if all_good || !self.dry_run { Outcome::Done } else { Outcome::Differs })
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(
            Files::beside(&self.timeline)
                .paths(&self.paths)
                .against(Some(&self.verify_against)),
        )
    }
}

impl Heal {
    /// Returns the library's options for reading the copies.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::new().with_workers(self.workers).with_timeline(self.timeline.handle())
    }

    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> HealOptions {
        HealOptions::new()
            .with_output(
                OutputOptions::new()
                    .with_durability(self.durability)
                    .with_hard_links(self.hard_links),
            )
            .with_read(read)
    }
}

fn json(healed: &Healed) -> impl Serialize {
    object! {
        bytes: healed.len,
        elapsed_s: healed.elapsed.as_secs_f64(),
        copies: healed.copies.iter().map(|copy| copy_json(healed, copy)).collect::<Vec<_>>(),
    }
}

fn copy_json(healed: &Healed, copy: &HealedCopy) -> impl Serialize {
    let rewritten = copy.rewritten.unwrap_or_default();
    object! {
        #[serde(flatten)]
        path: PathJson::from(&copy.path),
        // The length in bytes; `null`: the copy could not be opened.
        bytes_before: copy.len_before,
        trouble: copy.trouble.clone(),
        // The error if the copy could not be healed.
        error: copy.error.as_ref().map(|error| describe_error(&**error)),
        was_good: copy.was_good(healed.len),
        bad: extents_json(&copy.bad),
        healed: copy.rewritten.is_some(),
        healed_bytes: rewritten.healed_bytes,
        cloned_bytes: rewritten.cloned_bytes,
        copied_bytes: rewritten.copied_bytes,
    }
}

fn text(args: &Heal, healed: &Healed) -> String {
    let mut text = String::new();
    for copy in &healed.copies {
        text += &format!("{}: {}\n", copy.path.shown(), state(healed, copy));
        if let Some(error) = &copy.error {
            text += &format!("  not healed: {}\n", describe_error(&**error));
        } else if let Some(trouble) = &copy.trouble {
            text += &format!("  {trouble}\n");
        } else {
            text += &bad_text(&copy.bad);
        }
    }
    let (len, elapsed) = (size_text(healed.len), time_text(healed.elapsed));
    let done = if args.dry_run { "examined" } else { "done" };
    text += &format!("{len} each, {done} in {elapsed}\n");
    text
}

fn state(healed: &Healed, copy: &HealedCopy) -> String {
    if copy.was_good(healed.len) {
        return String::from("good");
    }
    let found = match copy.len_before {
        None if copy.error.is_some() => String::from("could not be opened"),
        None => String::from("missing"),
        Some(len) if len != healed.len => {
            format!("bad, {} instead of {}", counted(len, "byte"), healed.len)
        }
        Some(_) => String::from("bad"),
    };
    let Some(rewritten) = copy.rewritten else { return found };
    format!(
        "{found}; healed: {} from other copies, {} shared with the old file, {} copied",
        size_text(rewritten.healed_bytes),
        size_text(rewritten.cloned_bytes),
        size_text(rewritten.copied_bytes),
    )
}
