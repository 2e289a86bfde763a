//! Compresses numbers, manuals and programs with all cores, compared with the usual tools.

use crate::bench::Bench;
use crate::contestants::compress::{Packing, Tool, swath, tool};
use anyhow::Result;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::rc::Rc;
use swath::ReadOptions;
use swath_study::measure::{Entrants, Goal, Input};
use swath_study::workload::{FileContent, Generated, Recipe, generate};

/// The name of Swath's entrant.
const SWATH: &str = "swath compress";

const ZSTD: &str = "zstd -3";
const ZSTD_THREADS: &str = "zstd -3 -T";
const PZSTD: &str = "pzstd -3";
const PIGZ: &str = "pigz -6";
const PBZIP2: &str = "pbzip2";

const ZSTD_TOOLS: &[Tool] = &[
    Tool { name: PZSTD, program: "pzstd", line: r#"exec pzstd -3 -q -p "$2" -o "$1" "$0""# },
    Tool {
        name: ZSTD_THREADS,
        program: "zstd",
        line: r#"exec zstd -3 -q -T"$2" -o "$1" "$0""#,
    },
    Tool { name: ZSTD, program: "zstd", line: r#"exec zstd -3 -q -o "$1" "$0""# },
];
const GZIP_TOOLS: &[Tool] =
    &[Tool { name: PIGZ, program: "pigz", line: r#"exec pigz -6 -p "$2" -c "$0" > "$1""# }];
const BZIP2_TOOLS: &[Tool] = &[
    Tool { name: PBZIP2, program: "pbzip2", line: r#"exec pbzip2 -p"$2" -c "$0" > "$1""# },
    Tool { name: "lbzip2", program: "lbzip2", line: r#"exec lbzip2 -n "$2" -c "$0" > "$1""# },
];

/// Folders with realistic input: manuals and data, and programs.
const FOLDERS: [&str; 2] = ["/usr/share", "/usr/lib"];

/// Makes the file to compress: a third numbers, the rest from files of this system.
fn input(bench: &Bench, packing: Packing) -> Result<Rc<Input>> {
    let size: u64 = match (bench.quick, packing) {
        (true, _) => 1 << 20,
        (false, Packing::Zstd) => 480 << 20,
        (false, Packing::Gzip) => 120 << 20,
        (false, Packing::Bzip2) => 45 << 20,
    };
    eprintln!("making the archive");
    bench.stage.made("archive", |path| {
        let recipe =
            Recipe { kind: FileContent::CsvNumbers, size: size / 3, seed: bench.rounds.seed };
        generate(recipe, path, 0)?;
        let mut file = File::options().append(true).open(path)?;
        for folder in FOLDERS {
            // A missing folder makes the file shorter.
            append_files(Path::new(folder), &mut file, size / 3)?;
        }
        let sum = ReadOptions::new().sum(path)?;
        Ok(Generated { bytes: sum.report.bytes, lines: 0, sum: sum.value })
    })
}

/// Appends up to `left` bytes of the files below `folder`, in order of name; returns the number of
/// bytes missing.
fn append_files(folder: &Path, out: &mut impl Write, mut left: u64) -> Result<u64> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(left) };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let Ok(facts) = fs::symlink_metadata(&path) else { continue };
        if left == 0 {
            break;
        }
        if facts.is_dir() {
            left = append_files(&path, out, left)?;
        } else if facts.is_file()
            && let Ok(file) = File::open(&path)
        {
            left -= io::copy(&mut file.take(left), out)?;
        }
    }
    Ok(left)
}

/// Compares speed, size and memory.
pub(super) fn build(bench: &Bench, packing: Packing) -> Result<Entrants> {
    let input = input(bench, packing)?;
    let (tools, goals) = match packing {
        Packing::Zstd => (
            ZSTD_TOOLS,
            vec![
                Goal::speed(SWATH, 1.15, &[PZSTD]),
                Goal::speed(SWATH, 1.2, &[ZSTD_THREADS]),
                Goal::size(SWATH, 1.01, ZSTD),
                Goal::peak_mib(SWATH, 96.0),
            ],
        ),
        Packing::Gzip => {
            (GZIP_TOOLS, vec![Goal::speed(SWATH, 1.5, &[PIGZ]), Goal::size(SWATH, 1.0, PIGZ)])
        }
        Packing::Bzip2 => (BZIP2_TOOLS, vec![Goal::speed(SWATH, 1.0, &[PBZIP2])]),
    };
    let mut entrants = Entrants::new([swath(bench, &input, SWATH, packing)?], goals);
    tools.iter().for_each(|known| entrants.add(tool(bench, &input, known)));
    Ok(entrants)
}
