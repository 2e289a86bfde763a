//! `swath export`: a folder of segments as one plain file.

use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

use super::{Outcome, pool};
use crate::args::append::Export;
use crate::failure::Refused;
use crate::output::{print, print_json, wrote};
use crate::report::{PathJson, bytes_per_s, counted, size_text, time_text};

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    source: PathJson,
    bytes: u64,
    extents: u64,
    elapsed_s: f64,
    bytes_per_s: f64,
    fallbacks: Vec<String>,
}

pub(super) fn run(args: &Export) -> Result<Outcome> {
    let Some(opened) = args.from.segments()? else {
        let hint = "`swath cp` for a file; a folder of segments holds a file named MANIFEST";
        let text = format!("cannot export {}: it is no folder of segments", args.from);
        return Err(Refused::new(text, hint).into());
    };
    let begun = Instant::now();
    let (pool, fallbacks) = pool(args.leave.workers)?;
    let exported = pool.install(|| opened.export(&args.to, &args.options()));
    let (bytes, elapsed) = (exported?, begun.elapsed());
    let extents = opened.extents() as u64;
    let reported = if args.leave.json {
        print_json(&Json {
            path: args.to.as_os_str().into(),
            source: args.from.label().into(),
            bytes,
            extents,
            elapsed_s: elapsed.as_secs_f64(),
            bytes_per_s: bytes_per_s(bytes, elapsed),
            fallbacks,
        })
    } else {
        let speed = bytes_per_s(bytes, elapsed) / 1e9;
        let mut text = format!(
            "{}: {} in {}, {speed:.2} GB/s\n  from {}, their checksums compared\n",
            args.to.display(),
            size_text(bytes),
            time_text(elapsed),
            counted(extents, "extent"),
        );
        fallbacks.iter().for_each(|what| text += &format!("  instead: {what}\n"));
        print(text).map_err(Into::into)
    };
    wrote(&args.to, reported)?;
    Ok(Outcome::Done)
}
