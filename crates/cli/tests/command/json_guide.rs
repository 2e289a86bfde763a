//! The guide has every key that `--json` prints, and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::child::{code, swath};
use crate::study::earlier_study;

const GUIDE: &str = include_str!("../../json.md");

/// Rows of a section of the guide: the key, and the section that the row links to.
type Section = Vec<(&'static str, Option<&'static str>)>;

/// Returns the sections by their headings.
fn sections() -> BTreeMap<&'static str, Section> {
    let (mut all, mut name) = (BTreeMap::new(), "");
    for line in GUIDE.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            name = heading.trim_matches('`');
        } else if let Some(row) = line.strip_prefix("| `") {
            let key = row.split('`').next().expect("a key");
            let links = row.split("](#").skip(1).filter_map(|rest| rest.split(')').next());
            let section: &mut Section = all.entry(name).or_default();
            if key.ends_with('…') {
                section.extend(links.map(|link| (key, Some(link))));
            } else {
                section.push((key, None));
            }
        }
    }
    all
}

/// A key of the guide, and the sections and rows that lead to it.
type Keys = Vec<(String, Vec<Row>)>;

/// A row: the section that it is in, its key, and its link.
type Row = (&'static str, &'static str, Option<&'static str>);

/// Adds the keys of a section, with those of the sections that it links to.
fn resolve(all: &BTreeMap<&'static str, Section>, name: &str, prefix: &str, keys: &mut Keys) {
    let (&name, section) =
        all.iter().find(|(other, _)| anchor(other) == anchor(name)).expect("a section");
    for &(key, link) in section {
        let row = (name, key, link);
        let Some(link) = link else {
            keys.push((format!("{prefix}{key}"), vec![row]));
            continue;
        };
        let before = keys.len();
        resolve(all, link, &format!("{prefix}{}", key.trim_end_matches('…')), keys);
        keys[before..].iter_mut().for_each(|(_, rows)| rows.push(row));
    }
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    heading.to_lowercase().replace(' ', "-").replace('`', "")
}

/// Adds the paths of all keys in a value.
fn add_keys(value: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let path = match prefix {
                    "" => key.clone(),
                    prefix => format!("{prefix}.{key}"),
                };
                add_keys(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| add_keys(item, &format!("{prefix}[]"), found));
        }
        _ => {}
    }
}

/// Whether a key of the guide stands for a key that was printed.
fn fits(documented: &str, printed: &str) -> bool {
    match documented.strip_suffix('*') {
        Some(prefix) => {
            printed.strip_prefix(prefix).is_some_and(|name| !name.contains(['.', '[']))
        }
        None => documented == printed,
    }
}

/// A folder with inputs.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("room");
    }

    /// Runs a line, and returns its JSON from standard output, else from standard error.
    fn json(&self, line: &str) -> Vec<Value> {
        let words: Vec<&OsStr> =
            line.split(' ').map(|word| OsStr::from_bytes(odd(word))).collect();
        let mut command = swath();
        command.args(words).current_dir(self.0.path());
        let output = command.env("XDG_CONFIG_HOME", self.path("config")).output();
        let output = output.expect("it starts");
        assert!(code(&output) <= 1, "{line}: {output:?}");
        let lines = |bytes: &[u8]| -> Vec<Value> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
        };
        let printed = lines(&output.stdout);
        let printed = if printed.is_empty() { lines(&output.stderr) } else { printed };
        assert!(!printed.is_empty(), "{line}: {output:?}");
        printed
    }

    /// Runs a line that only makes something.
    fn make(&self, line: &str) {
        let output = swath().args(line.split(' ')).current_dir(self.0.path()).output();
        let output = output.expect("it starts");
        assert_eq!(code(&output), 0, "{line}: {output:?}");
    }
}

/// A name that is not UTF-8.
fn odd(word: &str) -> &[u8] {
    if word == "ODD" { b"odd\xff" } else { word.as_bytes() }
}

/// Makes the inputs of all lines.
fn prepared() -> Bench {
    let bench = Bench::new();
    bench.file("text", "some text\n".repeat(300_000));
    fs::copy(bench.path("text"), bench.path("copy")).expect("room");
    fs::write(bench.path("x").with_file_name(OsStr::from_bytes(b"odd\xff")), "a\n")
        .expect("room");
    bench.file("words", "some words\n");
    bench.file("bytes", [0, 1, 2, 255]);
    bench.file("table.csv", "a,b\n1,2\n");
    let (long, longer) = ("a".repeat(70), "b".repeat(70));
    bench.file("lost.csv", "a,b\n007,0.1000000000000000055\n");
    bench.file("odd.csv", format!("t,t,\n{long},1,x\n1,2\n{longer},,\n"));
    bench.file("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 0.5\n");
    let header = r#"{"__metadata__":{"format":"pt"},"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    let len = (header.len() as u64).to_le_bytes();
    bench.file("m.safetensors", [&len, header.as_bytes(), b"xy"].concat());
    bench.file("m.safetensors.index.json", r#"{"weight_map":{"w":"m.safetensors"}}"#);
    for folder in ["into", "other", "tree", "jobs", "several", "mixed"] {
        fs::create_dir(bench.path(folder)).expect("room");
    }
    bench.file("mixed/1.jsonl", "{\"a\":1}\n");
    bench.file("mixed/2.jsonl", "{\"a\":[1]}\n");
    bench.file("several/1.csv", "a,b\n1,2\n");
    bench.file("several/2.csv", "a,b\n007,0.1000000000000000055\n1\n");
    bench.file("tree/a", "a");
    bench.file("tree/b", "b");
    earlier_study(&bench.path("before"), 1.8);
    earlier_study(&bench.path("after"), 1.01);
    for line in [
        "gen options 3 contracts",
        "gen edges --scale 3 g.el",
        "convert g.mtx g.npz",
        "convert g.mtx g.arrow",
        "convert table.csv t.npy",
        "compress text text.zst",
        "manifest text -o sums",
        "study fib 8 segments --bytes 100 --mode segments",
        "job plan new2 words --parts 3 --division bytes --folder job2",
        "job plan new3 text --parts 2 --folder job3 --width 10",
        "job run job3 --all -- cat",
        "job plan job4 words --segments",
        "job run job4 0 -- cat",
        "job plan new5 text --folder job5",
        "job plan new6 text --folder jobs/job6",
    ] {
        bench.make(line);
    }
    bench.file("in-0", "#!/bin/sh\nexit $SWATH_PART\n");
    let runs = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(bench.path("in-0"), runs).expect("ours");
    bench.file("noindex.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0");
    let bad = "some text\n".repeat(299_999) + "some tezt\n";
    bench.file("bad", bad);
    bench.file("list", "e3069283  text\n00000000  missing\n");
    bench.file("tagged", "XXH3_2d06800538d394c2  text\n");
    bench
}

/// Lines whose output has the keys of each section.
const LINES: &[(&str, &[&str])] = &[
    (
        "swath read",
        &[
            "read --json --usage --repeat 2 --verify text",
            "read --json text --mirror copy --verify-against vote --workers 2",
            "read --json text --classes 2",
        ],
    ),
    (
        "swath ingest",
        &[
            "ingest --json --order inode tree",
            "ingest --json --hash xxh3 --on-error collect tree missing",
        ],
    ),
    (
        "swath sum",
        &[
            "sum --json text missing ODD",
            "sum --json --hash xxh3 text",
            "sum --json --hash crc32c text",
            "sum --json --hash blake3 text",
        ],
    ),
    (
        "swath sum --check",
        &["sum --json --hash crc32c --check list", "sum --json --check tagged"],
    ),
    ("swath scan", &["scan --json text missing"]),
    ("swath cat", &["cat --json words", "cat --json -d text.zst", "cat --json segments"]),
    ("swath cp", &["cp --json text c1", "cp --json segments c2"]),
    ("swath mirror", &["mirror --json text into --manifest m1", "mirror --json text other"]),
    ("swath manifest", &["manifest --json text m2", "manifest --json --check sums bad"]),
    ("swath heal", &["heal --json --verify-against manifest=sums bad copy new"]),
    ("swath job plan", &["job plan --json new1 text --parts 2 --folder job1"]),
    ("swath job run", &["job run --json job2 0-2 -- ./in-0"]),
    ("swath job write", &["job write job2 2"]),
    ("swath job status", &["job status --json job2", "job status --json job3"]),
    ("swath job commit", &["job commit --json job3", "job commit --json job4"]),
    ("swath job abort", &["job abort --json job5"]),
    ("swath job sweep", &["job sweep --json --older-than 0s jobs"]),
    ("swath compress", &["compress --json text z1", "compress --json text -"]),
    ("swath decompress", &["decompress --json text.zst d1"]),
    ("swath price", &["price --json contracts p1", "price --json contracts -"]),
    ("swath convert", &["convert --json g.mtx c.npz", "convert --json g.mtx -o - --to csv"]),
    (
        "swath head",
        &[
            "head --json --ragged set-aside odd.csv",
            "head --json --dtypes a=i8 lost.csv",
            "head --json --dtypes a=i8 --ragged set-aside several",
            "head --json mixed",
            "head --json g.arrow",
        ],
    ),
    (
        "swath info",
        &[
            "info --json --ragged set-aside --columns 0,1 odd.csv",
            "info --json g.mtx g.el g.npz g.arrow t.npy table.csv contracts words bytes",
            "info --json text.zst noindex.gz segments m.safetensors.index.json missing",
        ],
    ),
    (
        "swath gen",
        &[
            "gen bytes --json 1kB g1",
            "gen mtx --json --scale 3 g2",
            "gen tree --json --files 2 --size 10 g3",
            "gen csv --json 1kB -o -",
        ],
    ),
    ("swath demo", &["demo --json --all --size 64KiB --dir ."]),
    ("swath study fib", &["study fib --json 5 f1 --bytes 10 --verify"]),
    ("swath study", &["study --json --smoke --only d-advice,b-small,a-threads --data . -o s1"]),
    ("swath study --list", &["study --json --list"]),
    ("swath study compare", &["study compare --json before after c.html"]),
    ("swath study report", &["study report --json before"]),
    (
        "swath tune",
        &[
            "tune --json --budget 1 --path .",
            "tune --json --show --path .",
            "tune --json --clear --path .",
        ],
    ),
];

#[test]
fn every_key_is_in_the_guide_and_every_key_of_the_guide_is_printed() {
    let (bench, guide) = (prepared(), sections());
    let (mut used, mut wrong) = (BTreeSet::<Row>::new(), Vec::new());
    for &(name, lines) in LINES {
        let (mut keys, mut printed) = (Vec::new(), BTreeSet::new());
        resolve(&guide, name, "", &mut keys);
        for line in lines {
            bench.json(line).iter().for_each(|value| add_keys(value, "", &mut printed));
        }
        for key in &printed {
            let rows: Vec<_> = keys.iter().filter(|(known, _)| fits(known, key)).collect();
            if rows.is_empty() {
                wrong.push(format!("{name}: `{key}` is not in the guide"));
            }
            used.extend(rows.iter().flat_map(|(_, rows)| rows));
        }
    }
    for (&name, section) in &guide {
        for &(key, link) in section {
            // What a machine lacks is absent, and whether anything is faster is not known before.
            let depends = [
                "settings.*",
                "key.uuid",
                "measured[].taken",
                "measured[].ratio",
                "experiments[].claims[].verdicts[].of_limit.…",
            ];
            if !used.contains(&(name, key, link)) && !depends.contains(&key) {
                wrong.push(format!("{name}: `{key}` of the guide is never printed ({link:?})"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_command_with_the_flag_has_a_section() {
    use clap::CommandFactory;
    let guide = sections();
    for verb in swath_cli::cli::Cli::command().get_subcommands() {
        let has = verb.get_arguments().any(|arg| arg.get_long() == Some("json"));
        let name = format!("swath {}", verb.get_name());
        assert!(!has || guide.contains_key(name.as_str()), "{name}");
    }
}

#[test]
fn numbers_end_with_their_unit() {
    // Quotients, places in a chart, and keys whose meaning names the unit.
    let known = ["calls_per_file", "gain", "noise", "noise_below", "parallelism", "estimate"];
    let known = [&known[..], &["lower", "upper", "x", "*", "start", "left", "right"]].concat();
    let known = [&known[..], &["tolerance", "largest_difference"]].concat();
    for line in GUIDE.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [key, kind, _] = cells[..] else { panic!("{line}: {} cells", cells.len()) };
        let name = key.trim_matches('`').rsplit('.').next().expect("a key");
        let has_unit = ["_s", "seconds", "share"].iter().any(|end| name.ends_with(end));
        let has_unit = has_unit || name.contains("ratio");
        assert!(!kind.starts_with("number") || has_unit || known.contains(&name), "{line}");
    }
}
