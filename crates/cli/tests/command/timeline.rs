//! `--timeline FILE`: every command that moves bytes leaves a trace that viewers open, of what it
//! did and nothing else.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::child::{code, run, run_with_input, shell, stderr, stdout, word};
use serde_json::Value;

/// A folder, an input in it, and where the trace goes.
struct Stage {
    folder: tempfile::TempDir,
    input: PathBuf,
    trace: PathBuf,
}

const LEN: u64 = 3_000_001;

impl Stage {
    fn new() -> Self {
        Self::of(&swath_reference::bytes(1, usize::try_from(LEN).expect("small")))
    }

    fn of(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let [input, trace] = ["input", "trace.json"].map(|name| folder.path().join(name));
        std::fs::write(&input, bytes).expect("written");
        Self { folder, input, trace }
    }

    fn path(&self, name: &str) -> String {
        word(&self.folder.path().join(name)).to_owned()
    }

    /// Runs a command with the flag, and returns the bytes of each activity.
    fn bytes_of(&self, words: &[&str]) -> BTreeMap<String, u64> {
        let words: Vec<&str> =
            words.iter().copied().chain(["--timeline", word(&self.trace)]).collect();
        let output = run(&words);
        assert_eq!(code(&output), 0, "{words:?}: {}", stderr(&output));
        checked(&self.trace, words[0]).0
    }
}

fn len_of(path: impl AsRef<Path>) -> u64 {
    std::fs::metadata(path).expect("it is there").len()
}

/// Nanoseconds, from microseconds with digits after the point.
fn nanos(value: &Value) -> u64 {
    let micros = value.as_f64().expect("a number");
    assert!(micros >= 0.0, "{value}");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
    let nanos = (micros * 1000.0).round() as u64;
    nanos
}

/// Spans as the file has them: begin, end, lane.
type Spans = BTreeMap<u64, Vec<(u64, u64)>>;

/// Reads a trace and finds nothing wrong with it; the bytes of each activity, and of each file.
fn checked(path: &Path, command: &str) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
    let text = std::fs::read(path).expect("there is a trace");
    let trace: Value = serde_json::from_slice(&text).expect("JSON");
    let about = &trace["otherData"];
    assert_eq!((&about["command"], &about["dropped_spans"]), (&command.into(), &0.into()));
    let (mut bytes, mut files) = (BTreeMap::new(), BTreeMap::new());
    let (mut spans, mut names) = (Spans::new(), BTreeMap::new());
    let mut counters: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    let mut count = 0;
    for event in trace["traceEvents"].as_array().expect("a list") {
        let name = event["name"].as_str().expect("a name").to_owned();
        let args = &event["args"];
        let lane = event["tid"].as_u64();
        match event["ph"].as_str().expect("a phase") {
            "X" => {
                count += 1;
                let (start, len) = (nanos(&event["ts"]), nanos(&event["dur"]));
                spans.entry(lane.expect("a lane")).or_default().push((start, start + len));
                let moved = args["bytes"].as_u64().expect("a count");
                *bytes.entry(name.clone()).or_default() += moved;
                if name == "read" {
                    let file = args["file"].as_str().expect("a path");
                    *files.entry(file.to_owned()).or_default() += moved;
                }
            }
            "M" if name == "thread_name" => {
                names.insert(lane.expect("a lane"), args["name"].to_string());
            }
            "M" => {}
            "C" => {
                let value = args["value"].as_u64().expect("never negative");
                counters.entry(name).or_default().push((nanos(&event["ts"]), value));
            }
            other => panic!("nothing else is written: {other}"),
        }
    }
    assert_eq!(about["spans"].as_u64(), Some(count));
    for (lane, spans) in &mut spans {
        assert!(names.contains_key(lane), "lane {lane} has a name");
        check_lane(spans);
    }
    for (name, values) in &counters {
        assert!(values.is_sorted_by_key(|(at, _)| *at), "{name}: {values:?}");
        assert_eq!(values.last().map(|(_, value)| *value), Some(0), "{name} ends with nothing");
    }
    for word in ["read", "write"] {
        let moved = bytes.get(word).copied().unwrap_or(0);
        let rates = counters.get(&format!("{word} bytes/s"));
        assert_eq!(rates.is_some(), moved > 0, "{word}");
        check_rates(rates.map_or(&[], Vec::as_slice), moved);
    }
    if let Some(in_flight) = counters.get("reads in flight") {
        let most = in_flight.iter().map(|(_, value)| *value).max();
        assert!(most <= Some(spans.len() as u64), "one in each lane: {in_flight:?}");
    }
    (bytes, files)
}

/// Bytes a second, times the seconds that they are of, are the bytes.
fn check_rates(rates: &[(u64, u64)], moved: u64) {
    let of = |pair: &[(u64, u64)]| pair[0].1 as f64 * (pair[1].0 - pair[0].0) as f64 / 1e9;
    let sum: f64 = rates.windows(2).map(of).sum();
    let apart = (sum - moved as f64).abs();
    assert!(apart < 2.0 + sum / 1e4, "{sum} of {moved} bytes are in {rates:?}");
}

/// Spans of one lane are nested, or follow each other.
fn check_lane(spans: &mut [(u64, u64)]) {
    spans.sort_unstable_by_key(|&(start, end)| (start, std::cmp::Reverse(end)));
    let mut around: Vec<u64> = Vec::new();
    for &(start, end) in spans.iter() {
        around.retain(|&open| open > start);
        assert!(around.iter().all(|&open| end <= open), "{start}..{end} in {around:?}");
        around.push(end);
    }
}

#[test]
fn what_is_read_is_in_the_spans_whatever_reads_it() {
    let stage = Stage::new();
    let input = word(&stage.input);
    for words in [
        &["read", input][..],
        &["read", "--engine", "serial", "--chunk-size", "10000", input],
        &["read", "--engine", "pool", "--workers", "5", input],
        &["read", "--engine", "ring", "--page-cache", "bypass", input],
        &["read", "--engine", "map", input],
        &["read", "--classes", "10", "--chunks", "100", input],
        &["sum", input],
        &["sum", "--engine", "map", input],
        &["sum", "--hash", "xxh3", input],
        &["sum", "--hash", "blake3", input],
        &["sum", "--hash", "crc32c", input],
        &["scan", "--workers", "3", input],
    ] {
        let bytes = stage.bytes_of(words);
        assert_eq!(bytes.get("read"), Some(&LEN), "{words:?}");
        if words[0] != "read" {
            assert_eq!(bytes.get("compute"), Some(&LEN), "{words:?}");
        }
    }
    let twice = stage.bytes_of(&["read", "--repeat", "2", input]);
    assert_eq!(twice.get("read"), Some(&(2 * LEN)), "both runs are in it");
}

#[test]
fn what_is_copied_or_piped_on_is_in_the_spans_at_both_ends() {
    let stage = Stage::new();
    let (input, copy) = (word(&stage.input), stage.path("copy"));
    let bytes = stage.bytes_of(&["cat", input]);
    assert_eq!((bytes.get("read"), bytes.get("write")), (Some(&LEN), Some(&LEN)));
    let bytes = stage.bytes_of(&["cp", "--reflink", "never", input, &copy]);
    assert_eq!((bytes.get("read"), bytes.get("write")), (Some(&LEN), Some(&LEN)));
    assert_eq!(bytes.get("commit"), Some(&LEN));
    let folder = stage.path("copies");
    std::fs::create_dir(&folder).expect("a folder");
    let bytes = stage.bytes_of(&["mirror", input, "-n", "2", "--into", &folder]);
    assert_eq!(bytes.get("write"), Some(&(2 * LEN)));
    assert_eq!(bytes.get("read"), Some(&(5 * LEN)), "once for the sums, twice for each copy");
    let sums = stage.path("sums");
    let bytes = stage.bytes_of(&["manifest", "-o", &sums, input]);
    assert_eq!((bytes.get("read"), bytes.get("compute")), (Some(&LEN), Some(&LEN)));
    let bytes = stage.bytes_of(&["manifest", "--check", &sums, input]);
    assert_eq!((bytes.get("read"), bytes.get("compute")), (Some(&LEN), Some(&LEN)));

    let mut damaged = std::fs::read(&copy).expect("it is there");
    damaged[2_000_000] ^= 1;
    std::fs::write(&copy, damaged).expect("written");
    let against = format!("manifest={sums}");
    let bytes = stage.bytes_of(&["heal", "--verify-against", &against, input, &copy]);
    assert!(bytes.get("write").or(bytes.get("copy")).is_some_and(|&bytes| bytes > 0));
    assert!(bytes["read"] >= 3 * LEN, "both copies, and what was made is read back");
    assert_eq!(std::fs::read(&copy).ok(), std::fs::read(input).ok());
}

#[test]
fn what_comes_from_a_pipe_is_in_the_spans_too() {
    let stage = Stage::new();
    let words = ["sum", "-", "--timeline", word(&stage.trace)];
    let output = run_with_input(&words, &[7; 500_000]);
    assert_eq!(stdout(&output), "3500000  -\n");
    let (bytes, files) = checked(&stage.trace, "sum");
    assert_eq!((bytes["read"], bytes["compute"]), (500_000, 500_000));
    assert_eq!(files.get("<stdin>"), Some(&500_000));
}

#[test]
fn many_files_are_there_by_their_names() {
    let stage = Stage::of(b"");
    let folder = stage.folder.path().join("many");
    std::fs::create_dir(&folder).expect("a folder");
    for index in 0..200 {
        let bytes = vec![1; index * 100];
        std::fs::write(folder.join(format!("{index}")), bytes).expect("written");
    }
    for words in [
        &["ingest", word(&folder)][..],
        &["ingest", "--workers", "3", "--hash", "xxh3", word(&folder)],
    ] {
        stage.bytes_of(words);
        let (_, files) = checked(&stage.trace, "ingest");
        for index in 0..200_u64 {
            let path = folder.join(index.to_string());
            assert_eq!(files.get(word(&path)), Some(&(index * 100)), "{words:?}");
        }
    }
}

#[test]
fn what_is_compressed_priced_and_converted_is_in_the_spans() {
    let stage = Stage::new();
    let input = word(&stage.input);
    let [packed, plain] = ["packed.zst", "plain"].map(|name| stage.path(name));
    let bytes = stage.bytes_of(&["compress", "--block-size", "200KiB", input, &packed]);
    assert_eq!((bytes["read"], bytes["write"]), (LEN, len_of(&packed)));
    assert!(bytes["compute"] > 0);
    let bytes = stage.bytes_of(&["decompress", &packed, &plain]);
    assert_eq!((bytes["read"], bytes["write"]), (len_of(&packed), LEN));

    let [options, prices] = ["options", "prices"].map(|name| stage.path(name));
    let bytes = stage.bytes_of(&["gen", "options", "20000", "-o", &options]);
    assert_eq!(bytes["write"], len_of(&options));
    let bytes = stage.bytes_of(&["price", &options, "-o", &prices]);
    assert_eq!((bytes["read"], bytes["write"]), (len_of(&options), len_of(&prices)));

    let [csv, npy, arrow, back] =
        ["t.csv", "t.npy", "t.arrow", "back.csv"].map(|name| stage.path(name));
    let rows: String = (0..50_000).map(|row| format!("{row},{}\n", row * 3)).collect();
    std::fs::write(&csv, &rows).expect("written");
    let bytes = stage.bytes_of(&["convert", &csv, &npy]);
    assert!(bytes["read"] >= len_of(&csv) && bytes["parse"] >= len_of(&csv), "{bytes:?}");
    assert_eq!(bytes["write"], len_of(&npy));
    for (from, to) in [(&npy, &back), (&csv, &arrow)] {
        let bytes = stage.bytes_of(&["convert", from, to]);
        assert_eq!(bytes["write"], len_of(to), "{from}");
    }
    let bytes = stage.bytes_of(&["convert", "--force", &arrow, &back]);
    // What lies between batches is not read.
    assert!((len_of(&arrow) * 9 / 10..=len_of(&arrow)).contains(&bytes["read"]), "{bytes:?}");
    assert_eq!(bytes["write"], len_of(&back));

    let [mtx, npz] = ["g.mtx", "g.npz"].map(|name| stage.path(name));
    let bytes = stage.bytes_of(&["gen", "mtx", "--scale", "10", "-o", &mtx]);
    assert_eq!(bytes["write"], len_of(&mtx));
    let bytes = stage.bytes_of(&["convert", &mtx, &npz]);
    assert!(bytes["read"] > 0 && bytes["parse"] > 0 && bytes["write"] > 0, "{bytes:?}");
    let bytes = stage.bytes_of(&["convert", "--force", &npz, &mtx]);
    assert!(bytes["read"] >= len_of(&npz) / 2 && bytes["write"] == len_of(&mtx), "{bytes:?}");
}

#[test]
fn what_is_appended_and_copied_is_in_the_spans() {
    let stage = Stage::of(b"");
    let [segments, file, plain] = ["segments", "file", "plain"].map(|name| stage.path(name));
    let fib = ["study", "fib", "10", "--bytes", "10KiB"];
    let words = [&fib[..], &["--mode", "segments", "-o", &segments]].concat();
    let bytes = stage.bytes_of(&words);
    assert_eq!(bytes["write"], 177 * 10240, "fib(10) makes 177 calls");
    let bytes = stage.bytes_of(&[&fib[..], &["-o", &plain]].concat());
    assert!(bytes["write"] >= 177 * 10240, "spilled bytes are written twice");
    let bytes = stage.bytes_of(&["cp", &segments, &file]);
    assert_eq!((bytes["read"], bytes["write"]), (177 * 10240, 177 * 10240));
    let bytes = stage.bytes_of(&["cat", &segments]);
    assert_eq!((bytes["read"], bytes["write"]), (177 * 10240, 177 * 10240));
}

#[test]
fn a_command_that_fails_leaves_a_trace_of_what_it_did() {
    let stage = Stage::new();
    let missing = stage.path("missing");
    let words = ["sum", word(&stage.input), &missing, "--timeline", word(&stage.trace)];
    let output = run(words);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let (bytes, _) = checked(&stage.trace, "sum");
    assert_eq!(bytes["read"], LEN);
    let output = run(["read", &missing, "--timeline", word(&stage.trace)]);
    assert_eq!(code(&output), 2);
    assert_eq!(checked(&stage.trace, "read").0, BTreeMap::new(), "it replaced the first one");
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is_done() {
    let stage = Stage::new();
    let (input, copy) = (word(&stage.input), stage.path("copy"));
    let link = stage.path("link");
    std::os::unix::fs::symlink(&stage.input, &link).expect("a link");
    let refused = |words: &[&str], told: &str| {
        let output: Output = run(words);
        assert_eq!(code(&output), 2, "{words:?}");
        let text = stderr(&output);
        assert!(text.contains("timeline") && text.contains(told), "{words:?}: {text}");
        assert!(text.contains("; try: "), "{text}");
        assert!(!Path::new(&copy).exists(), "{words:?}");
        assert_eq!(len_of(input), LEN, "{words:?}");
    };
    refused(&["cp", input, &copy, "--timeline", input], "which the command works on");
    refused(&["cp", input, &copy, "--timeline", &link], "which the command works on");
    refused(&["cp", input, &copy, "--timeline", &copy], "which the command works on");
    let output = run(["cp", input, &copy, "--timeline", "-"]);
    assert!(code(&output) == 2 && stderr(&output).contains("a file of this name is ./-"));
    assert!(stderr(&output).contains("--timeline") && !Path::new(&copy).exists(), "{output:?}");
    let nowhere = stage.path("nowhere/trace.json");
    let output = run(["cp", input, &copy, "--timeline", &nowhere]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains(&nowhere), "{}", stderr(&output));
    assert!(!Path::new(&copy).exists());
    let folder = word(stage.folder.path());
    let output = run(["sum", input, "--timeline", folder]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains(folder) && stdout(&output).is_empty());
    assert_eq!(code(&run(["info", input, "--timeline", word(&stage.trace)])), 2);
}

#[test]
fn nothing_but_an_earlier_trace_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("in");
    std::fs::create_dir(&input).expect("a folder");
    let (one, other) = (input.join("one"), folder.path().join("data"));
    for path in [&one, &other] {
        std::fs::write(path, "not to be lost").expect("room");
    }
    for path in [&one, &other] {
        let output = crate::child::swath()
            .arg("ingest")
            .arg(&input)
            .arg("--timeline")
            .arg(path)
            .output();
        let output = output.expect("started");
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains("is not a timeline"), "{}", stderr(&output));
        assert_eq!(std::fs::read_to_string(path).expect("still there"), "not to be lost");
    }
    let trace = folder.path().join("trace.json");
    for _ in 0..2 {
        let output = crate::child::swath()
            .arg("ingest")
            .arg(&input)
            .arg("--timeline")
            .arg(&trace)
            .output();
        assert_eq!(code(&output.expect("started")), 0);
        assert!(len_of(&trace) > 0);
    }
}

#[test]
fn a_trace_is_not_there_before_the_command_has_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("one"), vec![1; 100_000]).expect("room");
    let run = |words: &[&str]| {
        let output = crate::child::swath().args(words).current_dir(folder.path()).output();
        output.expect("started")
    };
    let output = run(&["ingest", ".", "--json", "--timeline", "trace.json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((code(&output), json["files"].as_u64()), (0, Some(1)), "{json}");
    // A name that the command gives by itself: what was asked for is there, and nothing else.
    let output = run(&["compress", "one", "--timeline", "one.zst"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("is not a timeline"), "{}", stderr(&output));
    let output = run(&["decompress", "one.zst", "two"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(std::fs::read(at("two")).expect("there"), vec![1; 100_000]);
}

#[test]
fn a_trace_goes_to_a_pipe_or_a_device_as_it_is() {
    let stage = Stage::new();
    let line = r#""$0" sum "$1" --timeline /dev/stderr 2> "$2""#;
    let output = shell(line, &[stage.input.as_os_str(), stage.trace.as_os_str()]);
    assert_eq!(code(&output), 0);
    checked(&stage.trace, "sum");
    let line = r#"{ "$0" sum "$1" --timeline /dev/fd/3 3>&1 >/dev/null | cat > "$2"; }"#;
    let output = shell(line, &[stage.input.as_os_str(), stage.trace.as_os_str()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    checked(&stage.trace, "sum");
    let output = run(["sum", word(&stage.input), "--timeline", "/dev/null"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let output = run(["sum", word(&stage.input), "--timeline", "/dev/full"]);
    assert_eq!(code(&output), 2);
    let said =
        "swath: cannot write the timeline to /dev/full: cannot write /dev/full at bytes 0..";
    assert!(stderr(&output).starts_with(said), "{}", stderr(&output));
    // The output is there, and the message says so.
    let copy = stage.path("copy");
    let output = run(["cp", word(&stage.input), &copy, "--timeline", "/dev/full"]);
    assert_eq!((code(&output), len_of(&copy)), (2, LEN));
    let said =
        format!("swath: wrote {copy}, but cannot write the timeline to /dev/full: cannot ");
    assert!(stderr(&output).starts_with(&said), "{}", stderr(&output));
    assert!(stderr(&output).ends_with("; try: free some space, or write less\n"));
}

#[test]
fn what_is_written_in_the_end_goes_into_the_folder_of_the_beginning() {
    // As where a mount ends: the path of the output leads into another folder by then. A pipe holds fewer bytes, so
    // the command has begun.
    let exchanged = r#"cd "$1" && mkdir out && mkfifo words && shift
        "$0" "$@" < words & exec 3> words
        head -c 1000000 /dev/zero >&3
        mv out before && mkdir out; exec 3>&-; wait $!"#;
    for words in
        [&["manifest", "-", "out/sums"][..], &["sum", "-", "--timeline", "out/trace.json"]]
    {
        let stage = Stage::new();
        let words: Vec<&OsStr> = std::iter::once(stage.folder.path().as_os_str())
            .chain(words.iter().map(OsStr::new))
            .collect();
        let output = shell(exchanged, &words);
        assert_eq!(code(&output), 2, "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("leads to another folder"), "{}", stderr(&output));
        for folder in ["out", "before"] {
            let left = std::fs::read_dir(stage.folder.path().join(folder)).expect("a folder");
            assert_eq!(left.count(), 0, "{words:?} left a file in {folder}");
        }
    }
}
