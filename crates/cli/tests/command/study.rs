//! `swath study` measures, says what came of it, and leaves nothing but its results.

use std::fs;

use crate::child::{code, run, stderr, stdout, swath};

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
    assert_eq!(fs::read_dir(data.path()).expect("there").count(), 0, "left behind");
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
        (&["--data", here, "--out", file], "cannot leave a study in"),
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
        command.args(words).arg("--out").arg(&page).output().expect("started")
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
    // The page replaces none of the studies.
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
    // What is no study is refused, and the page stays as it was.
    fs::write(folder.path().join("other.json"), "{}").expect("room");
    let output = swath()
        .args(["study", "compare"])
        .arg(&before)
        .arg(folder.path().join("other.json"))
        .arg("--out")
        .arg(&page)
        .output()
        .expect("started");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("other.json"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&page).expect("still there"), html);
}
