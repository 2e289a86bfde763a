//! `swath study` measures, says what came of it, and leaves nothing but its results.

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::child::{code, run, shell, stderr, stdout, swath};

#[test]
fn the_list_has_every_experiment_and_nothing_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = swath().args(["study", "--list"]).current_dir(folder.path()).output();
    let text = stdout(&output.expect("started"));
    for id in ["a-threads", "a-copies", "b-small", "d-advice"] {
        assert!(text.contains(id), "{text}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 0);
}

#[test]
fn the_list_is_json_when_it_is_asked_for() {
    let text =
        stdout(&run(["study", "--list", "--json", "--only", "a-engines,e-append-orders"]));
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let list = json.as_array().expect("a list");
    assert_eq!(list.len(), 2);
    let words = list[1]["claims"][0]["source"]["words"].as_str().expect("words");
    assert!(words.contains("in practice as effective"), "{words}");
    for one in list {
        for claim in one["claims"].as_array().expect("claims") {
            assert!(claim["rule"].as_str().is_some_and(|rule| !rule.is_empty()), "{claim}");
        }
        assert!(one["full_minutes"].as_u64().is_some_and(|minutes| minutes > 0), "{one}");
    }
}

#[test]
fn a_shell_completes_the_names_of_experiments() {
    for shell in ["bash", "zsh", "fish"] {
        let text = stdout(&run(["completions", shell]));
        assert!(text.contains("a-priorities-family"), "{shell}");
    }
    let help = stdout(&run(["study", "--help"]));
    assert!(!help.contains("a-priorities-family"), "{help}");
}

/// An older version's study, with one claim that the rules of today judge otherwise.
const SCHEMA_1: &str = r#"{"schema": 1, "version": "0", "started": 0, "machine": [],
    "method": {"extent": "quick", "rounds": 5, "seed": 1, "cold_by": "x"},
    "folders": [{"path": "/data", "facts": []}], "limits": [], "experiments": [
    {"id": "a-priorities-range", "study": "A", "figure": "f", "charts": [], "state": "done",
     "claim": "However many priorities there are, loading takes the same time.",
     "absent": [], "finding": {"verdict": "no", "because": "1.8", "of_limit": null},
     "noise": null, "runs": [RUNS]}]}"#;

pub(crate) fn earlier_study(folder: &std::path::Path, slowest: f64) {
    let mut runs = Vec::new();
    for round in 0..5 {
        for (x, seconds) in [(100.0, 1.0), (500.0, (1.0 + slowest) / 2.0), (1000.0, slowest)] {
            runs.push(format!(
                r#"{{"folder": 0, "series": "barrier between batches", "x": {x}, "state": "warm",
                   "round": {round}, "order": 0, "seconds": {seconds}, "bytes": 1}}"#
            ));
        }
    }
    fs::create_dir_all(folder).expect("a folder");
    let text = SCHEMA_1.replace("RUNS", &runs.join(","));
    fs::write(folder.join("study.json"), text).expect("room");
}

#[test]
fn an_earlier_study_is_judged_anew_and_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = folder.path().join("study");
    earlier_study(&study, 1.8);
    let output = swath().args(["study", "report"]).arg(&study).output().expect("started");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    // The range is what was measured; what threads gain by it was not.
    let counts = "2 claims of the five studies, judged separately for warm and cold files, gave \
                  2 verdicts: 1 holds here, 0 do not hold, 1 is undecided, 0 cannot be asked here.";
    assert!(stdout(&output).contains(counts), "{}", stdout(&output));
    for left in ["summary.md", "report.html"] {
        let text = fs::read_to_string(study.join(left)).expect("left");
        assert!(text.contains(counts), "{left}");
        assert!(text.contains("Linear dependency of range of priorities with time"), "{left}");
        assert!(
            text.contains("1000 priorities take 1.80 × [1.80, 1.80] as long as 100"),
            "{left}"
        );
    }
    let nothing = folder.path().join("nothing");
    let output = swath().args(["study", "report"]).arg(&nothing).output().expect("started");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("nothing") && stderr(&output).contains("; try: "));
}

#[test]
fn the_page_of_a_study_that_is_kept_compressed_is_that_of_the_study() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = folder.path().join("study");
    earlier_study(&study, 1.8);
    let page = |name: &str| {
        let out = folder.path().join(name);
        let mut command = swath();
        let output =
            command.args(["study", "report"]).arg(&study).arg("--out").arg(&out).output();
        let output = output.expect("started");
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        fs::read_to_string(out.join("report.html")).expect("left")
    };
    let plain = page("plain");
    let file = study.join("study.json");
    let mut command = swath();
    let output = command.arg("compress").arg(&file).arg(study.join("study.json.zst")).output();
    assert_eq!(code(&output.expect("started")), 0);
    fs::remove_file(&file).expect("there");
    assert_eq!(page("kept"), plain);
    // Cut off, it is not a study.
    let kept = study.join("study.json.zst");
    let bytes = fs::read(&kept).expect("there");
    fs::write(&kept, &bytes[..bytes.len() - 1]).expect("room");
    let output = swath().args(["study", "report"]).arg(&study).output().expect("started");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("study.json.zst"), "{}", stderr(&output));
}

#[test]
fn verdicts_that_changed_come_first_when_two_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    earlier_study(&before, 1.8);
    earlier_study(&after, 1.01);
    let compare = |right: &std::path::Path, words: &[&str]| {
        let mut command = swath();
        command.args(["study", "compare"]).arg(&before).arg(right).args(words);
        command.arg("--force").arg("--out").arg(folder.path().join("both.html"));
        command.output().expect("started")
    };
    let text = stdout(&compare(&after, &[]));
    let (verdict, ratios) = (text.find("does not hold"), text.find("B as fast as A"));
    assert!(verdict.is_some() && verdict < ratios, "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&compare(&after, &["--json"]))).expect("JSON");
    let [changed] = json["verdicts"].as_array().expect("verdicts").as_slice() else {
        panic!("{json}")
    };
    assert_eq!((&changed["left"], &changed["right"]), (&"yes".into(), &"no".into()));
    let page = fs::read_to_string(folder.path().join("both.html")).expect("left");
    assert!(page.find("Changed verdicts") < page.find("B is</th>"));
    assert!(stdout(&compare(&before, &[])).starts_with("no verdict changed"));
}

#[test]
fn a_small_study_leaves_its_rows_and_says_what_holds() {
    let (data, out) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let words = ["study", "--smoke", "--only", "a-threads,a-memory,d"];
    let output = swath()
        .args(words)
        .arg("--data")
        .arg(data.path())
        .arg("--out")
        .arg(out.path())
        .output()
        .expect("started");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("a-threads") && text.contains("undecided"), "{text}");
    assert_eq!(fs::read_dir(data.path()).expect("there").count(), 0, "files are left");
    assert!(text.contains("verdicts: "), "the counts: {text}");
    assert!(out.path().join("summary.md").exists());
    let page = fs::read_to_string(out.path().join("report.html")).expect("left");
    assert!(page.contains("a-threads") && page.contains("</html>"));
    let json = fs::read(out.path().join("study.json")).expect("left");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let experiments = json["experiments"].as_array().expect("a list");
    assert_eq!(experiments.len(), 5);
    for one in experiments {
        assert_eq!(one["state"], "done", "{one}");
        // What a machine does not allow is named.
        let count = |key: &str| one[key].as_array().expect("rows").len();
        assert!(count("runs") > 0 || one["id"] == "a-memory" && count("absent") > 0, "{one}");
    }
}

#[test]
fn small_jobs_of_real_processes_are_measured_and_simulated() {
    let (data, out) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut command = swath();
    command.args(["study", "--smoke", "--only", "s", "--data"]).arg(data.path());
    let output = command.arg("--out").arg(out.path()).output().expect("started");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(fs::read_dir(data.path()).expect("there").count(), 0, "files are left");
    let json = fs::read(out.path().join("study.json")).expect("left");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let mut all = json["experiments"].as_array().expect("a list").iter();
    let one = all.find(|one| one["id"] == "s-cluster").expect("it ran");
    let runs = one["runs"].as_array().expect("rows");
    assert_eq!((one["state"].as_str(), runs.len()), (Some("done"), 13));
    for run in runs {
        let metric = |name: &str| run["metrics"][name].as_f64().expect("a number");
        assert!(metric("simulated_over_measured") > 0.0 && metric("attempts") >= 8.0, "{run}");
    }
    let summary = fs::read_to_string(out.path().join("summary.md")).expect("left");
    assert!(summary.contains("<!-- part: s-cluster: simulated over measured -->\n| case |"));
    let page = fs::read_to_string(out.path().join("report.html")).expect("left");
    assert!(page.contains("Scale: jobs of many processes") && !page.contains("Study S"));
}

#[test]
fn a_worker_of_a_small_job_refuses_what_is_not_a_task() {
    let output = shell(r#"echo nothing | "$0" study worker"#, &[]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, "ready\n"), "{output:?}");
    assert!(stderr(&output).contains("this is not a task"), "{}", stderr(&output));
    // It is not for people.
    assert!(!stdout(&run(["man", "--list"])).contains("study-worker"));
    assert!(!stdout(&run(["study", "--help"])).contains("\n  worker"));
}

#[test]
fn the_first_signal_ends_it_soon_and_says_what_a_second_one_does() {
    let (data, out) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let left = || fs::read_dir(data.path()).expect("there").count();
    let mut command = swath();
    command.args(["study", "--smoke", "--data"]).arg(data.path()).arg("--out").arg(out.path());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("started");
    // The first experiment is kept.
    let output = interrupted(child, &|| out.path().join("study.json").exists());
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    for said in [
        "Ctrl-C again ends it at once",
        "what was finished is kept; try: continue with --resume",
    ] {
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    assert_eq!(left(), 0, "files are left");
    assert!(out.path().join("study.json").exists());
}

/// Interrupts a study as soon as something holds, and waits for its end.
fn interrupted(child: Child, holds: &dyn Fn() -> bool) -> Output {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not begin");
        sleep(Duration::from_millis(1));
    }
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().expect("started");
    assert!(sent.success());
    child.wait_with_output().expect("ended")
}

#[test]
fn a_study_that_measured_nothing_is_2_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let [data, out] = ["data", "new/out"].map(|name| folder.path().join(name));
    fs::create_dir(&data).expect("room");
    let left = || fs::read_dir(&data).expect("there").count();
    let mut command = swath();
    command.args(["study", "--smoke", "--data"]).arg(&data).arg("-o").arg(&out);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    // It listens to signals before it makes anything.
    let output = interrupted(child, &|| left() > 0);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{output:?}");
    let said = "swath: stopped before anything was measured; try: start the study again\n";
    assert!(stderr(&output).ends_with(said), "{}", stderr(&output));
    assert!(left() == 0 && !out.parent().expect("new").exists(), "it leaves something");
    // Nor where its files cannot be made.
    let line = r#"ulimit -f 8; exec "$0" study --smoke --only b-small --data "$1" -o "$2""#;
    let output = shell(line, &[data.as_os_str(), out.as_os_str()]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(left() == 0 && !out.parent().expect("new").exists(), "it leaves something");
}

#[test]
fn what_is_not_there_is_refused_with_what_to_try() {
    let output = run(["study", "--only", "z-nothing"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("z-nothing") && stderr(&output).contains("--list"));
    let out = tempfile::tempdir().expect("a folder");
    let words = ["study", "--smoke", "--only", "a-threads", "--data", "/nowhere", "--out"];
    let output = swath().args(words).arg(out.path()).output().expect("started");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("/nowhere"), "{}", stderr(&output));
    let here = out.path().to_str().expect("UTF-8");
    let file = out.path().join("file");
    fs::write(&file, "{ }").expect("room");
    let file = file.to_str().expect("UTF-8");
    let only = ["study", "--smoke", "--only", "a-threads"];
    for (more, told) in [
        (["--data", here, "--data", here].as_slice(), "given twice"),
        (&["--data", file], "cannot measure in"),
        (&["--data", "/proc"], "cannot measure in"),
        (&["--data", here, "--out", file], "cannot write a study to"),
    ] {
        let output = run(only.iter().chain(more).copied());
        let text = stderr(&output);
        assert_eq!(code(&output), 2, "{more:?}: {text}");
        assert!(text.contains(told) && text.contains("; try: "), "{more:?}: {text}");
    }
    for other in [file, "/nowhere", here] {
        let output = run(["study", "compare", file, other]);
        let text = stderr(&output);
        assert_eq!(code(&output), 2, "{text}");
        assert!(text.contains(file) && text.contains("; try: "), "{text}");
    }
}

#[test]
fn a_study_that_is_there_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = folder.path().join("study.json");
    fs::write(&study, "somebody's").expect("room");
    let words = ["study", "--smoke", "--only", "d-advice", "--data"];
    let run = |more: &[&str]| {
        let mut command = swath();
        command.args(words).arg(folder.path()).arg("--out").arg(folder.path()).args(more);
        command.output().expect("started")
    };
    for more in [&[][..], &["--resume"]] {
        let output = run(more);
        assert_eq!(code(&output), 2, "{more:?}");
        assert!(stderr(&output).contains("study.json"), "{}", stderr(&output));
        assert_eq!(fs::read_to_string(&study).expect("still there"), "somebody's");
    }
}

#[test]
fn two_studies_are_put_side_by_side() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = |name: &str| {
        let out = folder.path().join(name);
        let words = ["study", "--smoke", "--only", "d-advice", "--data"];
        let output = swath().args(words).arg(folder.path()).arg("--out").arg(&out).output();
        assert_eq!(code(&output.expect("started")), 0);
        out
    };
    let (before, after) = (study("before"), study("after"));
    let page = folder.path().join("both.html");
    let compare = |words: &[&str]| {
        let mut command = swath();
        command.args(["study", "compare"]).arg(&before).arg(after.join("study.json"));
        command.args(words).arg("--force").arg("--out").arg(&page).output().expect("started")
    };
    let output = compare(&[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("d-advice") && stdout(&output).contains("both.html"));
    let html = fs::read_to_string(&page).expect("left");
    assert!(html.contains("Two studies side by side") && html.contains("d-advice"));
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&compare(&["--json"]))).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    assert!(
        rows.iter().any(|row| row["series"] == "all cores" && row["ratio"]["lower"].is_f64())
    );
    // The page must not replace a study.
    let study = before.join("study.json");
    let output = swath()
        .args(["study", "compare"])
        .arg(&before)
        .arg(&after)
        .arg("--out")
        .arg(&study)
        .output();
    let output = output.expect("started");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("would replace"), "{}", stderr(&output));
    // A file that is not a study is refused, and the page is unchanged.
    fs::write(folder.path().join("other.json"), "{}").expect("room");
    let output = swath()
        .args(["study", "compare"])
        .arg(&before)
        .arg(folder.path().join("other.json"))
        .args(["--force", "--out"])
        .arg(&page)
        .output()
        .expect("started");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("other.json"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&page).expect("still there"), html);
}
