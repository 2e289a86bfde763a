//! Copies the lines that contain a pattern (fewer than 1 %) to a file in order, compared with ripgrep.

use crate::bench::{Bench, Size};
use crate::child;
use crate::contestants::file::RIPGREP;
use crate::contestants::write::into_folder;
use anyhow::Result;
use std::path::Path;
use swath::Pattern;
use swath_study::fields::contracts::unsynced;
use swath_study::limits::memory_sum;
use swath_study::measure::{Entrants, Goal, Outcome};
use swath_study::workload::{FileContent, Style, Table};

const OURS: &str = "swath transform_containing";
const PATTERN: &str = "0.500";

fn ours(input: &Path, folder: &Path) -> Result<()> {
    let output = unsynced(&folder.join("out"))?;
    let pattern = Pattern::new(PATTERN.as_bytes());
    let each = |line: &[u8], out: &mut Vec<u8>| -> swath::Result<()> {
        out.extend_from_slice(line);
        out.push(b'\n');
        Ok(())
    };
    swath::records(input).transform_containing(&pattern, output, each)?;
    Ok(())
}

/// Compares with `rg` where it is installed.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let table = Table { columns: 8, style: Style::Fractions(6) };
    let input = bench.input(FileContent::Csv(table), size)?.input.path.clone();
    let text = std::fs::read_to_string(&input)?;
    let kept: String = text.split_inclusive('\n').filter(|it| it.contains(PATTERN)).collect();
    let sum = memory_sum(kept.as_bytes(), 1);
    let (expected, room) = (Outcome { bytes: kept.len() as u64, checksum: sum }, kept.len());
    let (path, other) = (input.clone(), input);
    let here = vec![into_folder(bench, OURS, expected, room, move |to| ours(&path, to))];
    let mut entrants = Entrants::new(here, [Goal::speed(OURS, 1.2, &[RIPGREP])]);
    entrants.add(bench.ripgrep(RIPGREP).map(|_| {
        into_folder(bench, RIPGREP, expected, room, move |to| {
            let words = ["rg".as_ref(), "-NF".as_ref(), PATTERN.as_ref(), other.as_os_str()];
            child::run(&to.join("out"), &words).map(drop)
        })
    }));
    Ok(entrants)
}
