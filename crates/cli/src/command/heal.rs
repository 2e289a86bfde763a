//! `swath heal`: makes the bad chunks of copies good.

use anyhow::Result;
use serde::Serialize;
use swath::heal::{Healed, HealedCopy};

use super::Outcome;
use super::manifest::{ExtentJson, bad_text};
use crate::args::mirror::{Against, Heal};
use crate::failure::{Refused, describe_error};
use crate::output::{print, print_json, wrote_all};
use crate::progress::Bar;
use crate::report::{PathJson, size_text, time_text};
use crate::same_file::is_same_file;

#[derive(Serialize)]
struct Json {
    bytes: u64,
    elapsed_s: f64,
    copies: Vec<CopyJson>,
}

#[derive(Serialize)]
struct CopyJson {
    #[serde(flatten)]
    path: PathJson,
    /// Bytes it had; `null`: it could not be opened.
    bytes_before: Option<u64>,
    trouble: Option<String>,
    /// What kept it from being healed.
    error: Option<String>,
    was_good: bool,
    bad: Vec<ExtentJson>,
    healed: bool,
    healed_bytes: u64,
    cloned_bytes: u64,
    copied_bytes: u64,
}

pub(super) fn run(args: &Heal) -> Result<Outcome> {
    if let Against::Manifest(manifest) = &args.verify_against
        && let Some(copy) = args.paths.iter().find(|path| is_same_file(path, manifest))
    {
        let what = format!("cannot heal {}: it is the manifest itself", copy.display());
        return Err(Refused::new(what, "name copies of the file").into());
    }
    let against = args.verify_against.verify()?;
    let (read, bar) = Bar::attach(args.read_options(), !args.json);
    let options = args.options(read);
    let healed = match args.dry_run {
        true => options.examine(&args.paths, &against)?,
        false => options.heal(&args.paths, &against)?,
    };
    drop(bar);
    let written = healed.copies.iter().filter(|copy| copy.rewritten.is_some());
    let written = written.map(|copy| &copy.path);
    if args.json {
        wrote_all(written, print_json(&json(&healed)))?;
    } else {
        wrote_all(written, print(text(args, &healed)))?;
    }
    if let Some(error) = healed.failure() {
        return Err(error.into());
    }
    let all_good = healed.copies.iter().all(|copy| copy.was_good(healed.len));
    Ok(if all_good || !args.dry_run { Outcome::Done } else { Outcome::Differs })
}

fn json(healed: &Healed) -> Json {
    let copy = |copy: &HealedCopy| {
        let rewritten = copy.rewritten.unwrap_or_default();
        CopyJson {
            path: copy.path.as_os_str().into(),
            bytes_before: copy.len_before,
            trouble: copy.trouble.clone(),
            error: copy.error.as_ref().map(|error| describe_error(&**error)),
            was_good: copy.was_good(healed.len),
            bad: copy.bad.iter().map(ExtentJson::from).collect(),
            healed: copy.rewritten.is_some(),
            healed_bytes: rewritten.healed_bytes,
            cloned_bytes: rewritten.cloned_bytes,
            copied_bytes: rewritten.copied_bytes,
        }
    };
    Json {
        bytes: healed.len,
        elapsed_s: healed.elapsed.as_secs_f64(),
        copies: healed.copies.iter().map(copy).collect(),
    }
}

fn text(args: &Heal, healed: &Healed) -> String {
    let mut text = String::new();
    for copy in &healed.copies {
        text += &format!("{}: {}\n", copy.path.display(), state(healed, copy));
        if let Some(error) = &copy.error {
            text += &format!("  not healed: {}\n", describe_error(&**error));
        } else if let Some(trouble) = &copy.trouble {
            text += &format!("  {trouble}\n");
        } else {
            text += &bad_text(&copy.bad);
        }
    }
    let (len, elapsed) = (size_text(healed.len), time_text(healed.elapsed));
    let done = if args.dry_run { "looked at" } else { "done" };
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
        Some(len) if len != healed.len => format!("bad, {len} bytes instead of {}", healed.len),
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
