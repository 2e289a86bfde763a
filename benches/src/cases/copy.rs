//! Copying a warm file, against cp(1): until the kernel has it, and until the device has it.

use crate::bench::{Bench, Input, Residency, Size};
use crate::case::{Case, Goal};
use crate::contestants::control;
use crate::contestants::write::{empty, sum};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use swath::OutputOptions;
use swath::copy::{CopyOptions, Reflink};
use swath::sink::Durability;
use swath_study::harness::{Contestant, Work, timed};
use swath_study::peers::Absent;

const CP: &str = "cp";
const CP_SYNC: &str = "cp && sync";
const SWATH: &str = "swath::copy, not synced";
const SWATH_SYNC: &str = "swath::copy";

/// What a serial program may be beaten by: see the record.
const SHARE: f64 = 1.0;

/// Compares copies that share no blocks.
pub(super) fn build<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    let swath = |sync| {
        move |from: &Path, to: &Path| {
            let options = CopyOptions::new()
                .with_output(OutputOptions::new().with_durability(sync))
                .with_reflink(Reflink::Never);
            options.copy(from, to)?;
            Ok(())
        }
    };
    let mut contestants = vec![
        contestant(bench, input, SWATH, swath(Durability::None)),
        contestant(bench, input, SWATH_SYNC, swath(Durability::Full)),
    ];
    let mut absent = Vec::new();
    for (name, line) in [
        (CP, r#"exec cp --reflink=never "$0" "$1""#),
        (CP_SYNC, r#"cp --reflink=never "$0" "$1" && exec sync "$1""#),
    ] {
        match Command::new("cp").arg("--version").stdout(Stdio::null()).status() {
            Ok(_) => contestants.push(contestant(bench, input, name, move |from, to| {
                let status = Command::new("sh").args(["-c", line]).arg(from).arg(to).status();
                ensure!(status.context("no shell")?.success(), "{line} failed");
                Ok(())
            })),
            Err(error) => absent.push(Absent::new(name, error.to_string())),
        }
    }
    contestants.push(control::memory(bench));
    let goals =
        vec![Goal::speed(SWATH, SHARE, &[CP]), Goal::speed(SWATH_SYNC, SHARE, &[CP_SYNC])];
    Ok(Case { contestants, absent, goals })
}

fn contestant<'b>(
    bench: &'b Bench,
    input: &'b Input,
    name: &str,
    copy: impl Fn(&Path, &Path) -> Result<()> + 'b,
) -> Contestant<'b> {
    let folder = bench.output("copied");
    let target = folder.clone();
    let run = move || {
        let (copied, timing) = timed(|| copy(&input.path, &target.join("copy")))?;
        copied?;
        let (bytes, sum) = sum(&target)?;
        fs::remove_dir(&target)?;
        Ok(Work::new(bytes, sum).with_timing(timing))
    };
    Contestant::new(name, input.expected(1), run).with_before(move || {
        bench.bring(input, Residency::Warm)?;
        empty(&folder, input.len())
    })
}
