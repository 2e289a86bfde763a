//! Times whole commands beside those that people use today, from the start of the process to its end.
//!
//! The inputs are made by the command itself, lie in the page cache, and are removed again: 15 GB. Each
//! command writes to `/dev/null`, or to a file that is removed before. A command of milliseconds runs
//! often in one timed run.

use crate::args::Beside;
use crate::bench;
use crate::case::measured;
use crate::child::{self, Told};
use crate::record::Folder;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, absolute};
use swath_study::cache::{ColdBy, make_cold};
use swath_study::measure::{self, Absent, Entrant, Entrants, Goal, Meter};

/// How ours is compared with the others.
enum Aim {
    /// At most this multiple of the time of the best.
    Time(f64),
    /// At least this multiple of the speed of the best.
    Speed(f64),
    /// At most this multiple of the size of the first, and at least the speed of the best.
    Size(f64),
}

/// Commands that do the same.
struct CommandCase {
    name: &'static str,
    /// How often each runs in one timed run.
    times: u32,
    /// Ours, whose first word is that of the build.
    ours: &'static str,
    /// The names and words of the others.
    others: &'static [(&'static str, &'static str)],
    aim: Aim,
    /// The input that leaves the page cache before each run.
    cold: Option<&'static str>,
}

const fn case(
    name: &'static str,
    ours: &'static str,
    others: &'static [(&'static str, &'static str)],
) -> CommandCase {
    CommandCase { name, times: 1, ours, others, aim: Aim::Speed(1.0), cold: None }
}

/// Adding up a file's bytes without a profile, by `auto` and by each engine.
const fn auto(
    name: &'static str,
    ours: &'static str,
    others: &'static [(&'static str, &'static str)],
) -> CommandCase {
    case(name, ours, others).aim(Aim::Speed(0.97))
}

const CASES: [CommandCase; 42] = [
    case("start", "swath --version", &[("cat", "cat --version"), ("rg", "rg --version")]).times(50).aim(Aim::Time(1.1)),
    case("cat 8 KiB", "swath cat small", &[("cat", "cat small")]).times(50).aim(Aim::Time(1.25)),
    case("sum 8 KiB", "swath sum small", &[("cat", "cat small")]).times(50).aim(Aim::Time(1.25)),
    case("xxh3 of 8 KiB", "swath sum --hash xxh3 small", &[("xxhsum", "xxhsum -H3 small"), ("cat", "cat small")]).times(50).aim(Aim::Time(1.25)),
    case("cp 8 KiB", "swath cp --durability none small out", &[("cp", "cp small out")]).times(50).aim(Aim::Time(1.25)),
    case("compress 8 KiB", "swath compress --durability none small out", &[("zstd", "zstd -qf -o out small")]).times(50).aim(Aim::Time(1.2)),
    auto("auto: sum of 64 MiB", "swath sum --no-profile middle.0", &[
            ("pool", "swath sum --no-profile --engine pool middle.0"),
            ("map", "swath sum --no-profile --engine map middle.0"),
            ("serial", "swath sum --no-profile --engine serial middle.0"),
        ]).times(10),
    auto("auto: sum of 2 GiB", "swath sum --no-profile bytes", &[
            ("pool", "swath sum --no-profile --engine pool bytes"),
            ("map", "swath sum --no-profile --engine map bytes"),
            ("serial", "swath sum --no-profile --engine serial bytes"),
        ]),
    auto("auto: sum of 8 GiB", "swath sum --no-profile large", &[
            ("pool", "swath sum --no-profile --engine pool large"),
            ("map", "swath sum --no-profile --engine map large"),
        ]),
    case("cat 64 MiB", "swath cat middle.0", &[("cat", "cat middle.0")]).times(10),
    case("xxh3 of 64 MiB", "swath sum --hash xxh3 middle.0", &[("xxhsum", "xxhsum -H3 middle.0")]).times(10).aim(Aim::Speed(1.5)),
    case("blake3 of 64 MiB", "swath sum --hash blake3 middle.0", &[("b3sum", "b3sum middle.0")]).times(10),
    case("xxh3 of 8 files of 64 MiB", "swath sum --hash xxh3 middle.0 middle.1 middle.2 middle.3 middle.4 middle.5 middle.6 middle.7", &[("xargs -P2 xxhsum", "ls middle.? | xargs -P2 -n4 xxhsum -H3")]).times(2),
    case("xxh3 of 1,000 files of 10 KB, by name", "ls few/*/* | xargs swath sum --hash xxh3", &[("xargs -P2 xxhsum", "ls few/*/* | xargs -P2 -n500 xxhsum -H3")]).times(10),
    case("scan of 1,000 files of 10 KB, by name", "ls few/*/* | xargs swath scan", &[("rg", "ls few/*/* | xargs rg -c ^"), ("wc", "ls few/*/* | xargs wc -l")]).times(10).aim(Aim::Speed(1.3)),
    case("sum of 1,000 files of 10 KB, by name", "ls few/*/* | xargs swath sum", &[("rg", "ls few/*/* | xargs rg -c ^")]).times(10).aim(Aim::Speed(1.3)),
    case("blake3 of 2 GiB", "swath sum --hash blake3 bytes", &[("b3sum", "b3sum bytes")]).aim(Aim::Speed(1.1)),
    case("ingest 100,000 files of 10 KB", "swath ingest tree", &[("rg", "rg -uuu -c no-such-word-in-any-file tree || true")]),
    case("count lines of 512 MiB", "swath scan letters", &[("rg", "rg -c ^ letters"), ("wc", "wc -l letters")]).times(2).aim(Aim::Speed(1.3)),
    case("zstd, one frame, to standard output", "swath decompress letters.zst -", &[("zstd", "zstd -dcq letters.zst")]),
    case("zstd, one frame, to a file", "swath decompress --durability none letters.zst out", &[("zstd", "zstd -dqf -o out letters.zst")]),
    case("gzip, one member, to a file", "swath decompress --durability none part.gz out", &[
            ("libdeflate-gunzip", "libdeflate-gunzip -kc part.gz > out"),
            ("pigz", "pigz -dc part.gz > out"),
            ("gzip", "gzip -dc part.gz > out"),
        ]),
    case("gzip, members of ours, to a file", "swath decompress --durability none ours.gz out", &[
            ("libdeflate-gunzip", "libdeflate-gunzip -kc ours.gz > out"),
            ("pigz", "pigz -dc ours.gz > out"),
        ]).aim(Aim::Speed(1.2)),
    case("BGZF, to a file", "swath decompress --durability none part.bgz out", &[
            ("bgzip", "bgzip -@2 -dc part.bgz > out"),
            ("libdeflate-gunzip", "libdeflate-gunzip -kc part.bgz > out"),
        ]).aim(Aim::Speed(1.2)),
    case("bzip2, to a file", "swath decompress --durability none part.bz2 out", &[
            ("lbzip2", "lbzip2 -dc part.bz2 > out"),
            ("bzip2", "bzip2 -dc part.bz2 > out"),
        ]).aim(Aim::Speed(0.9)),
    case("compress to zstd, level 19", "swath compress --durability none --level 19 lines out", &[("zstd -T2", "zstd -q -19 -T2 -c lines > out")]),
    case("compress to gzip, level 6", "swath compress --durability none --format gzip --level 6 part out", &[("pigz", "pigz -6c part > out")]).aim(Aim::Size(1.005)),
    case("compress to bgzf, level 6", "swath compress --durability none --format bgzf --level 6 part out", &[("bgzip", "bgzip -@2 -l6 -c part > out")]).aim(Aim::Size(1.005)),
    case("compress to bzip2", "swath compress --durability none --format bzip2 part out", &[("lbzip2", "lbzip2 -n2 -c part > out")]).aim(Aim::Speed(0.9)),
    case("compress a log to bzip2", "swath compress --durability none --format bzip2 lines out", &[("lbzip2", "lbzip2 -n2 -c lines > out")]).aim(Aim::Speed(0.9)),
    case("2 GiB into a pipe", "swath cat bytes | wc -c", &[("cat", "cat bytes | wc -c"), ("pv, which splices", "pv -q bytes | wc -c")]).aim(Aim::Speed(2.0)),
    case("2 GiB out of a pipe", "cat bytes | swath cat -", &[("cat", "cat bytes | cat"), ("pv, which splices", "cat bytes | pv -q")]),
    case("2 GiB out of one pipe into another", "cat bytes | swath cat - | wc -c", &[
            ("cat", "cat bytes | cat | wc -c"),
            ("pv, which splices", "cat bytes | pv -q | wc -c"),
        ]),
    case("cp 2 GiB", "swath cp --durability none --reflink never bytes out", &[("cp", "cp --reflink=never bytes out")]),
    case("ingest 300,000 files of 1 KB", "swath ingest many", &[("rg", "rg -uuu -c no-such-word-in-any-file many || true")]),
    case("xxh3 of 8 GiB", "swath sum --hash xxh3 large", &[("xxhsum", "xxhsum -H3 large")]).aim(Aim::Speed(1.5)),
    case("scan of 8 GiB", "swath scan large", &[("wc", "wc -l large")]).aim(Aim::Speed(1.3)),
    // Last: they leave no other input in the page cache.
    auto("auto: sum of 64 MiB, cold", "swath sum --no-profile middle.0", &[
            ("pool", "swath sum --no-profile --engine pool middle.0"),
            ("pool, 1 worker", "swath sum --no-profile --engine pool --workers 1 middle.0"),
            ("map", "swath sum --no-profile --engine map middle.0"),
        ]).cold("middle.0"),
    auto("auto: sum of 2 GiB, cold", "swath sum --no-profile bytes", &[
            ("pool", "swath sum --no-profile --engine pool bytes"),
            ("pool, 1 worker", "swath sum --no-profile --engine pool --workers 1 bytes"),
            ("map", "swath sum --no-profile --engine map bytes"),
        ]).cold("bytes"),
    auto("auto: read of 2 GiB, cold", "swath read --no-profile bytes", &[
            ("pool", "swath read --no-profile --engine pool bytes"),
            ("pool, 1 worker", "swath read --no-profile --engine pool --workers 1 bytes"),
            ("ring", "swath read --no-profile --engine ring bytes"),
        ]).cold("bytes"),
    auto("auto: sum of 2 GiB, cold, past the page cache", "swath sum --no-profile --page-cache bypass bytes", &[
            ("4 workers", "swath sum --no-profile --page-cache bypass --workers 4 bytes"),
            ("8 workers", "swath sum --no-profile --page-cache bypass --workers 8 bytes"),
            ("read", "swath read --no-profile --page-cache bypass bytes"),
        ]).cold("bytes"),
    case("xxh3 of 32 GiB, a hole", "swath sum --hash xxh3 hole", &[("xxhsum", "xxhsum -H3 hole")]),
];

/// The commands that make the inputs, and those that make tiny ones.
const MADE: [(&str, &str); 15] = [
    ("swath gen bytes 2GiB -o bytes", "swath gen bytes 1MiB -o bytes"),
    ("swath gen bytes 8KiB -o small", "swath gen bytes 8KiB -o small"),
    ("swath gen letters 512MiB -o letters", "swath gen letters 1MiB -o letters"),
    ("swath gen letters 128MiB -o part", "swath gen letters 1MiB -o part"),
    ("zstd -q letters", "zstd -q letters"),
    ("gzip -6c part > part.gz", "gzip -6c part > part.gz"),
    ("bzip2 -k part", "bzip2 -k part"),
    ("swath compress --format gzip part ours.gz", "swath compress --format gzip part ours.gz"),
    (
        "swath compress --format bgzf part part.bgz",
        "swath compress --format bgzf part part.bgz",
    ),
    (
        "seq 400000 | sed 's|.*|10.0.&.7 - - GET /index.html?id=& HTTP/1.1 200|' > lines",
        "seq 4000 | sed 's|.*|10.0.&.7 - - GET /index.html?id=& HTTP/1.1 200|' > lines",
    ),
    (
        "swath gen tree --files 100000 --size 10kB -o tree",
        "swath gen tree --files 100 --size 1kB -o tree",
    ),
    (
        "swath gen tree --files 1000 --size 10kB -o few",
        "swath gen tree --files 10 --size 1kB -o few",
    ),
    (
        "swath gen tree --files 300000 --size 1kB -o many",
        "swath gen tree --files 30 --size 1kB -o many",
    ),
    ("swath gen bytes 8GiB -o large", "swath gen bytes 1MiB -o large"),
    ("truncate -s 32G hole", "truncate -s 1M hole"),
];

/// Files of the same size, made by one command each.
const MIDDLE: usize = 8;

const OURS: &str = "swath";
const OUT: &str = "out";

/// A line of words, or one for a shell, in which the first word `swath` is the build.
fn words(line: &str, program: &Path) -> Vec<OsString> {
    if line.contains(['|', '>']) {
        let program = program.to_string_lossy();
        let line = match line.strip_prefix("swath ") {
            Some(rest) => format!("'{program}' {rest}"),
            None => line.replace(" swath ", &format!(" '{program}' ")),
        };
        return vec!["sh".into(), "-c".into(), line.into()];
    }
    line.split(' ')
        .map(|word| if word == OURS { program.into() } else { word.into() })
        .collect()
}

/// Runs a line `times` times; returns the sums of their times.
fn run(line: &str, times: u32, program: &Path) -> Result<Told> {
    let words = words(line, program);
    let mut all = Told::default();
    for _ in 0..times {
        _ = fs::remove_file(OUT);
        let told =
            child::run(Path::new("/dev/null"), &words).with_context(|| line.to_owned())?;
        all.seconds += told.seconds;
        all.cpu_seconds =
            Some(all.cpu_seconds.unwrap_or(0.0) + told.cpu_seconds.unwrap_or(0.0));
        all.peak_bytes = all.peak_bytes.max(told.peak_bytes);
    }
    Ok(Told { seconds: all.seconds / f64::from(times), ..all })
}

fn entrant(name: &str, line: &'static str, times: u32, program: &Path) -> Entrant {
    let program = program.to_owned();
    let work = move |meter: &mut Meter| {
        let outcome = run(line, times, &program)?.tell(meter);
        if let Ok(facts) = fs::metadata(OUT) {
            meter.note("left_bytes", facts.len() as f64);
        }
        Ok(outcome)
    };
    Entrant::new(name, measure::Outcome::default(), work)
}

/// The words that find a program: the first of a line, or of what a shell runs last, but for the counter at
/// the end of a pipe.
fn program_of(line: &str) -> &str {
    let line = line.strip_suffix(" | wc -c").unwrap_or(line);
    let last = line.rsplit("| ").next().unwrap_or(line);
    let mut words = last.split(' ');
    match words.next() {
        Some("xargs") => words.find(|word| !word.starts_with('-')).unwrap_or_default(),
        Some("true") | None => line.split(' ').next().unwrap_or_default(),
        Some(word) => word,
    }
}

impl CommandCase {
    const fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }

    const fn aim(self, aim: Aim) -> Self {
        Self { aim, ..self }
    }

    const fn cold(self, input: &'static str) -> Self {
        Self { cold: Some(input), ..self }
    }

    fn entrants(&self, program: &Path) -> Entrants {
        let mut here = vec![entrant(OURS, self.ours, self.times, program)];
        let mut absent = Vec::new();
        for &(name, line) in self.others {
            let program_name = program_of(line);
            match if program_name == OURS { Ok(()) } else { child::find(program_name) } {
                Ok(()) => here.push(entrant(name, line, self.times, program)),
                Err(reason) => absent.push(Absent::new(name, reason)),
            }
        }
        let rivals: Vec<&str> = self.others.iter().map(|(name, _)| *name).collect();
        let goals = match self.aim {
            Aim::Time(multiple) => vec![Goal::time(OURS, multiple, &rivals)],
            Aim::Speed(share) => vec![Goal::speed(OURS, share, &rivals)],
            Aim::Size(multiple) => {
                vec![Goal::size(OURS, multiple, rivals[0]), Goal::speed(OURS, 1.0, &rivals)]
            }
        };
        if let Some(input) = self.cold {
            here = here
                .into_iter()
                .map(|it| it.with_before(|| make_cold(Path::new(input), ColdBy::DontNeed)))
                .collect();
        }
        let mut entrants = Entrants::new(here, goals);
        absent.into_iter().for_each(|it| entrants.add(Err(it)));
        entrants
    }
}

/// Writes a record.
pub(crate) fn record(wish: &Beside) -> Result<()> {
    let program = absolute(&wish.program)?;
    let rounds = bench::rounds(if wish.quick { 2 } else { wish.place.rounds }, 1);
    let (mut folder, _data) = Folder::of_commands(&wish.place, "Whole commands beside others")?;
    make(&program, wish.quick)?;
    for case in CASES.iter().filter(|case| wish.place.wants(case.name)) {
        folder.run(case.name, || measured(case.entrants(&program), rounds))?;
    }
    folder.end()
}

/// Makes the inputs in the current folder.
fn make(program: &Path, quick: bool) -> Result<()> {
    for (full, tiny) in MADE {
        run(if quick { tiny } else { full }, 1, program)?;
    }
    for which in 0..MIDDLE {
        let size = if quick { "1MiB" } else { "64MiB" };
        let line = format!("swath gen bytes {size} --seed {which} -o middle.{which}");
        run(&line, 1, program)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_programs_of_lines_are_found() {
        for (line, program) in [
            ("cat small", "cat"),
            ("pigz -dc part.gz > out", "pigz"),
            ("ls middle.? | xargs -P2 -n4 xxhsum -H3", "xxhsum"),
            ("rg -uuu -c word tree || true", "rg"),
            ("cat bytes | pv -q | wc -c", "pv"),
            ("pv -q bytes | wc -c", "pv"),
            ("wc -l letters", "wc"),
        ] {
            assert_eq!(program_of(line), program, "{line}");
        }
    }

    #[test]
    fn the_build_is_the_word_swath_of_a_line() {
        let program = PathBuf::from("/a b/swath");
        assert_eq!(words("swath cat small", &program), ["/a b/swath", "cat", "small"]);
        let line = "ls few | xargs swath sum";
        assert_eq!(words(line, &program), ["sh", "-c", "ls few | xargs '/a b/swath' sum"]);
        let line = "swath cat a > out";
        assert_eq!(words(line, &program), ["sh", "-c", "'/a b/swath' cat a > out"]);
    }
}
