//! `swath demo`: measures every engine beside the limits of this machine.

use anyhow::Result;

use super::Outcome;
use crate::args::verbs;
use crate::demo;
use crate::output::{print, print_json};

pub(super) fn run(args: &verbs::Demo) -> Result<Outcome> {
    let findings = demo::measure(args.size, args.dir.as_deref())?;
    if args.json {
        print_json(&demo::json(&findings))?;
    } else {
        print(demo::text(&findings))?;
    }
    Ok(if findings.is_right() { Outcome::Done } else { Outcome::Differs })
}
