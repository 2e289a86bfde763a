//! `swath cp`: copies a file, or a folder of segments as one, whole or not at all.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde::Serialize;
use swath::copy::Copied;

use super::Outcome;
use crate::args::copy::Cp;
use crate::door::is_folder;
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{print, print_json, wrote};
use crate::progress::Bar;
use crate::report::{PathJson, bytes_per_s, counted, size_text, texts, time_text};

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    source: PathJson,
    bytes: u64,
    /// Of a folder of segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    extents: Option<u64>,
    hole_bytes: u64,
    how: String,
    workers: u64,
    elapsed_s: f64,
    bytes_per_s: f64,
    fallbacks: Vec<String>,
}

pub(super) fn run(args: &Cp) -> Result<Outcome> {
    let target = target(args)?;
    let (read, bar) = Bar::attach(args.read_options(), !args.json);
    let options = args.options(read);
    let extents = args.from.segments()?.map(|opened| opened.extents() as u64);
    let copied = options.copy(args.from.source()?, &target)?;
    drop(bar);
    if args.json {
        let json = Json {
            path: target.as_os_str().into(),
            source: args.from.label().into(),
            bytes: copied.bytes,
            extents,
            hole_bytes: copied.hole_bytes,
            how: copied.how.to_string(),
            workers: copied.workers,
            elapsed_s: copied.elapsed.as_secs_f64(),
            bytes_per_s: bytes_per_s(copied.bytes, copied.elapsed),
            fallbacks: texts(&copied.fallbacks),
        };
        wrote(&target, print_json(&json))?;
    } else {
        wrote(&target, print(format!("{}: {}", target.display(), text(&copied, extents))))?;
    }
    Ok(Outcome::Done)
}

/// The name of the copy: a folder gets it under the name of the original.
fn target(args: &Cp) -> Result<PathBuf> {
    let Input::Path(to) = &args.to else {
        let hint = "`swath cat` for standard output (a file of this name is ./-)";
        return Err(Refused::new("cannot copy to -: it is no name of a file", hint).into());
    };
    if !is_folder(to) {
        return Ok(to.clone());
    }
    let name = args.from.path().and_then(Path::file_name);
    ensure!(
        name.is_some(),
        Refused::new(
            format!("cannot copy {} into {}: it has no name", args.from, to.display()),
            "name the copy as well"
        )
    );
    Ok(name.map_or_else(|| to.clone(), |name| to.join(name)))
}

fn text(copied: &Copied, extents: Option<u64>) -> String {
    let speed = bytes_per_s(copied.bytes, copied.elapsed) / 1e9;
    let mut text = format!(
        "{} in {}, {speed:.2} GB/s\n  {}, {}",
        size_text(copied.bytes),
        time_text(copied.elapsed),
        copied.how,
        counted(copied.workers, "worker"),
    );
    if copied.hole_bytes > 0 {
        text += &format!(", {} in holes", size_text(copied.hole_bytes));
    }
    text.push('\n');
    if let Some(extents) = extents {
        text += &format!("  from {}, their checksums compared\n", counted(extents, "extent"));
    }
    for fallback in &copied.fallbacks {
        text += &format!("  instead: {fallback}\n");
    }
    text
}
