//! `swath job` where something is wrong: an error that says what, and right bytes in the end.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::child::{code, ending_signals, is_root, stderr, swath};
use crate::jobs::{Bench, names};

#[test]
fn what_cannot_be_divided_is_refused_with_what_to_do() {
    let bench = Bench::new();
    bench.file("in", "text\n".repeat(1000));
    fs::create_dir(bench.path("d")).expect("room");
    for format in ["zstd", "gzip", "bzip2"] {
        bench.done(&format!("compress in packed.{format} --format {format}"));
    }
    bench.done("study fib 8 segments --bytes 100 --mode segments");
    for (line, wanted) in [
        ("out packed.zstd", "cannot divide packed.zstd into lines: it is compressed; try: run"),
        ("out in packed.gzip", "pass --division inputs"),
        ("out packed.bzip2", "it is compressed"),
        ("out d", "cannot divide d: it is a folder; try: name the files in it"),
        (
            "out segments",
            "it is a folder of segments; try: copy it to one file with `swath cp`",
        ),
        ("out /dev/null", "it is not a regular file, and several processes are to read it"),
        ("out --parts 0", "neither inputs nor parts; try: name inputs, or pass --parts"),
        (
            "out /dev/stdin",
            "it is standard input, which other processes cannot read; try: write",
        ),
        ("out nosuch", "cannot inspect nosuch: No such file"),
        ("in in --force", "it is an input of the job; try: name another output"),
        ("d in", "Is a directory"),
        ("/dev/null in", "try: "),
        ("no/such/out in", "No such file or directory"),
        ("out in --parts 1000001", "try: request fewer or larger parts"),
        ("out in --folder d", "choose a folder that does not exist"),
        ("d in --segments", "segments need a new folder"),
    ] {
        let said = bench.refused(&format!("job plan {line}"));
        assert!(said.contains(wanted), "{line}: {said}");
    }
    for (line, wanted) in [
        ("job plan in", "tip: name the inputs after the output"),
        ("job plan out -", "tip: write standard input to a file first"),
        ("job plan - in", "tip: name a file: a commit cannot write to standard output"),
        ("job status -", "tip: name the folder of the job"),
        ("job plan out in --width 0", "at least 1 byte"),
        ("job plan out in --width 4 --division lines", "cannot be used with"),
        ("job plan out in --parts 2 --part-size 1k", "cannot be used with"),
        ("job plan out in --segments --folder x", "cannot be used with"),
        ("job run j 1 cat", "tip: write '--' before the command"),
        ("job run j 1", "swath job run FOLDER PART -- COMMAND"),
        ("job run j -- cat", "tip: name the parts and the command"),
        ("job run j 1 --all -- cat", "cannot be used with"),
        ("job run j 3-1 -- cat", "expected parts by their numbers from 0"),
        ("job run j  -- cat", "no part is named; is a variable empty?"),
        ("job run -j 4 j 1 -- cat", "tip: pass '--workers'"),
        ("job sweep .", "tip: pass '--older-than'"),
        ("job sweep --older-than 7 .", "90s, 30min, 12h, 7d or 2w"),
    ] {
        let output = bench.run(line);
        assert_eq!(code(&output), 2, "{line}");
        assert!(stderr(&output).contains(wanted), "{line}: {}", stderr(&output));
    }
    let left = ["d", "in", "packed.bzip2", "packed.gzip", "packed.zstd", "segments"];
    assert_eq!(bench.names(), left);
    // Whole inputs may be compressed: their command decompresses them.
    bench.done("job plan out packed.gzip packed.gzip --division inputs --parts 2 --folder j");
    bench.done("job run j 0-1 -- gzip -dc");
    bench.done("job commit j");
    assert_eq!(bench.read("out"), "text\n".repeat(2000).as_bytes());
}

#[test]
fn a_target_without_a_name_and_a_uri_of_something_else_are_refused() {
    let bench = Bench::new();
    bench.file("in", "text\n");
    for (line, wanted) in [
        ("/ in", "cannot create /: it is a folder, and the output needs a name of its own"),
        (".. in", "cannot create ..: it is a folder"),
        ("../.. in", "try: name a file in it"),
        (". in", "Is a directory"),
        ("/ in --segments", "cannot create /: it is a folder"),
    ] {
        let said = bench.refused(&format!("job plan {line}"));
        assert!(said.contains(wanted), "{line}: {said}");
    }
    for (line, wanted) in [
        ("s3://b/out in", "`s3://` cannot be read"),
        ("out s3://b/in", "`s3://` cannot be read"),
        ("out file://other/in", "`other` is another machine"),
    ] {
        let output = bench.run(&format!("job plan {line}"));
        assert_eq!(code(&output), 2, "{line}");
        assert!(stderr(&output).contains(wanted), "{line}: {}", stderr(&output));
    }
    assert_eq!(bench.names(), ["in"]);
}

#[test]
fn a_folder_that_is_not_a_job_and_a_part_that_there_is_not_are_refused() {
    let bench = Bench::new();
    bench.file("in", "a\nb\nc\n");
    fs::create_dir(bench.path("d")).expect("room");
    bench.done("job plan out in --folder j --parts 3");
    for words in ["run X 0 -- cat", "read X 0", "write X 0", "status X", "commit X", "abort X"]
    {
        for (folder, wanted) in [
            ("d", "which contains a file `JOB`"),
            ("in", "which contains"),
            ("no", "check the path"),
        ] {
            let said = bench.refused(&format!("job {}", words.replace('X', folder)));
            assert!(said.contains(wanted) && said.contains(folder), "{words}: {said}");
        }
    }
    for words in ["run j 3 -- cat", "run j 0-3 -- cat", "read j 3", "write j 3"] {
        let said = bench.refused(&format!("job {words}"));
        assert!(said.contains("part 3 of ") && said.contains("it has parts 0 to 2"), "{said}");
    }
    bench.file("j/JOB", "damaged");
    assert!(bench.refused("job status j").contains("it is not the plan of a job"));
}

#[test]
fn a_plan_that_was_edited_is_refused_in_words_of_its_own() {
    let bench = Bench::new();
    bench.file("in", "a\nb\nc\n");
    bench.done("job plan out in --folder j --parts 3");
    let plan = String::from_utf8(bench.read("j/JOB")).expect("text");
    for (from, to, wanted) in [
        ("\"lines\"", "\"records\"", "what it says has the CRC-32C "),
        ("\"lines\"", "\"words\"", "lacks a value, or has a wrong one"),
        ("\"durable\":true,", "", "lacks a value, or has a wrong one"),
        ("\"version\"", "version", "it is not JSON at byte 2"),
        ("}", "", "it ends too early"),
        ("[0,0,2]", "[0,0,1]", "part 1 does not begin where the part before it ends"),
    ] {
        let edited = match from {
            "}" => plan.trim_end_matches(['}', ']']).to_owned(),
            _ => plan.replacen(from, to, 1),
        };
        assert_ne!(edited, plan, "{from}");
        bench.file("j/JOB", &edited);
        for words in ["status j", "run j 0 -- cat", "commit j", "abort j"] {
            let said = bench.refused(&format!("job {words}"));
            let told = "it is not the plan of a job, or was changed after it was planned: ";
            assert!(said.contains(told) && said.contains(wanted), "{from}: {said}");
            assert!(
                said.contains("; try: put it back as it was, or plan the job again"),
                "{said}"
            );
        }
    }
}

#[test]
fn work_that_is_done_and_cannot_be_reported_is_named() {
    let bench = Bench::new();
    bench.file("in", "a\nb\n");
    bench.done("job plan out in --folder j --parts 2");
    bench.done("job plan other in --folder k");
    for (words, wanted) in [
        ("run j --all -- cat", "did 2 parts of "),
        ("commit j --keep", "wrote "),
        ("sweep --older-than 0s .", "removed 2 folders of jobs"),
        ("plan out in --folder j --force", "wrote "),
        ("abort j", "removed "),
    ] {
        let line = format!("cd \"$1\"; exec \"$0\" job {words} > /dev/full");
        let output = crate::child::shell(&line, &[bench.path("").as_ref()]);
        let said = stderr(&output);
        assert_eq!(code(&output), 2, "{words}: {said}");
        assert!(said.contains(wanted) && said.contains(", but cannot report it: "), "{said}");
        assert!(said.contains("No space left on device"), "{words}: {said}");
    }
    assert_eq!(bench.names(), ["in", "out"]);
    assert_eq!(bench.read("out"), b"a\nb\n");
}

#[test]
fn a_command_that_cannot_be_started_is_an_error_with_what_to_do() {
    let bench = Bench::new();
    bench.done("job plan out --folder j --parts 3");
    for (command, wanted) in [
        (
            "./nosuch",
            "cannot start ./nosuch: No such file or directory (os error 2); try: check",
        ),
        ("/", "cannot start /: Permission denied (os error 13); try: check the name"),
        ("", "cannot start a command without a name: No such file"),
    ] {
        let said = bench.refused(&format!("job run j --all -- {command}"));
        assert!(said.contains(wanted), "{said}");
    }
    assert_eq!(names(&bench.path("j")), ["JOB"]);
}

#[test]
fn a_timeline_is_not_put_into_the_folder_of_the_job() {
    let bench = Bench::new();
    bench.file("in", "a\n");
    bench.done("job plan out in --folder j");
    for words in [
        "run j 0 --timeline j/x -- cat",
        "read j 0 --timeline ./j/x",
        "commit j --timeline j/x",
    ] {
        let said = bench.refused(&format!("job {words}"));
        assert!(said.contains("it is in j, which the command works on"), "{said}");
    }
    assert_eq!(names(&bench.path("j")), ["JOB"]);
    bench.done("job run j 0 --timeline x -- cat");
}

#[test]
fn an_input_that_has_grown_is_an_error_with_what_to_do() {
    let bench = Bench::new();
    bench.file("in", "a\n".repeat(4 << 20));
    bench.done("job plan out in --folder j --parts 1");
    let grow = "head -c 1; echo more >> in; cat > /dev/null";
    let grow = ["job", "run", "j", "0", "--", "sh", "-c", grow];
    let output = bench.run_words(&grow);
    assert_eq!(code(&output), 2, "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("plan the job again") && !said.contains("follow"), "{said}");
    assert_eq!(names(&bench.path("j")), ["JOB"]);
}

#[test]
fn a_job_of_another_user_is_an_error_that_says_so() {
    let bench = Bench::new();
    bench.file("in", "a\n");
    bench.done("job plan out in --folder j");
    if !is_root() {
        return swath_reference::skip("root", "cannot become another user");
    }
    // The folders above may be closed too: the copy of the command is where all may go.
    let open = tempfile::tempdir().expect("a folder");
    let all = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(open.path(), all).expect("ours");
    let program = open.path().join("swath");
    fs::copy(env!("CARGO_BIN_EXE_swath"), &program).expect("room");
    let moved = open.path().join("j");
    let copied = Command::new("cp").arg("-a").arg(bench.path("j")).arg(&moved).status();
    assert!(copied.expect("cp starts").success());
    for words in [&["status"][..], &["commit"], &["abort"], &["run", "--missing"]] {
        let mut command = Command::new(&program);
        command.arg("job").args(words).arg(&moved).uid(65_534).gid(65_534);
        if words.len() > 1 {
            command.args(["--", "cat"]);
        }
        let output = command.output().expect("it starts");
        assert_eq!(code(&output), 2, "{output:?}");
        assert!(stderr(&output).contains("Permission denied"), "{}", stderr(&output));
    }
    assert_eq!(names(&moved), ["JOB"]);
}

#[test]
fn an_input_that_fails_ends_the_command_before_it_sees_an_end() {
    let bench = Bench::new();
    let file = File::create(bench.path("in")).expect("room");
    file.set_len(200 << 20).expect("a sparse file");
    bench.done("job plan out in --folder j --parts 1 --division bytes");
    let cut = "head -c 1 > /dev/null; : > in; cat > /dev/null; touch seen; echo all";
    let output = bench.run_words(&["job", "run", "j", "0", "--", "sh", "-c", cut]);
    let said = stderr(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(said.contains("cannot do part 0 of "), "{said}");
    assert!(said.contains(" in at bytes ") || said.contains("/in at bytes "), "{said}");
    assert!(!bench.path("seen").exists(), "the command saw an end that is not one");
    assert_eq!(names(&bench.path("j")), ["JOB"]);
    let said = bench.refused("job run j 0 -- cat");
    assert!(
        said.contains("it had 209715200 bytes when the job was planned, and has 0"),
        "{said}"
    );
}

#[test]
fn an_output_that_appears_and_a_commit_that_runs_are_told() {
    let bench = Bench::new();
    bench.file("in", "a\n");
    bench.done("job plan out in --folder j");
    bench.done("job run j 0 -- cat");
    bench.file("out", "another program's");
    let said = bench.refused("job commit j");
    assert!(said.contains("File exists") && said.contains("try: move it away"), "{said}");
    fs::remove_file(bench.path("out")).expect("there");
    let together: Vec<Child> = (0..4)
        .map(|_| {
            let mut command = swath();
            command.args(["job", "commit", "j"]).current_dir(bench.path(""));
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
        })
        .collect();
    let mut done = 0;
    for child in together {
        let output = child.wait_with_output().expect("it ends");
        done += usize::from(output.status.success());
        let said = stderr(&output);
        let is_told = [
            "is committing or removing",
            "a finished job is removed",
            "or the job is over",
            "No such file",
        ];
        assert!(said.is_empty() || is_told.iter().any(|it| said.contains(it)), "{said}");
    }
    assert!(done >= 1);
    assert_eq!(bench.read("out"), b"a\n");
    assert_eq!(bench.names(), ["in", "out"]);
}

#[test]
fn a_file_of_a_stranger_keeps_the_folder_and_the_output_stands() {
    let bench = Bench::new();
    bench.file("in", "a\n");
    bench.done("job plan out in --folder j");
    bench.done("job run j 0 -- cat");
    bench.file("j/notes", "mine");
    let output = bench.run("job commit j");
    let said = stderr(&output);
    assert_eq!(code(&output), 1, "{said}");
    assert!(
        said.contains("wrote ") && said.contains("notes in it is not of the job"),
        "{said}"
    );
    assert_eq!((bench.read("out"), bench.read("j/notes")), (b"a\n".to_vec(), b"mine".to_vec()));
    // What attempts wrote is in the output, and nothing else is removed.
    assert_eq!(names(&bench.path("j")), ["COMMITTED", "JOB", "notes"]);
    fs::remove_file(bench.path("j/notes")).expect("there");
    bench.done("job commit j");
    assert_eq!(bench.names(), ["in", "out"]);
}

pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub(crate) fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    Command::new("kill").args(["-s", signal, &id]).status().expect("kill starts");
}

#[test]
fn a_signal_ends_the_command_first_and_nothing_is_kept() {
    for (signal, number) in ending_signals() {
        let bench = Bench::new();
        bench.file("in", "a\n".repeat(1_000_000));
        bench.done("job plan out in --folder j --parts 2");
        let work = "trap 'echo $1 > got; exit 0' INT TERM HUP; echo half; touch ready$SWATH_PART; \
                    while :; do sleep 0.01; done";
        let mut child = swath()
            .args(["job", "run", "j", "0-1", "--workers", "2", "--", "sh", "-c", work])
            .current_dir(bench.path(""))
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        for part in ["ready0", "ready1"] {
            until(part, || bench.path(part).exists());
        }
        send(signal, &child);
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.signal(), Some(number), "{ended}");
        let said = std::io::read_to_string(child.stderr.take().expect("piped")).expect("text");
        // A shell may name the signal that ended a program of its own.
        assert!(!said.contains("swath:"), "{said}");
        until("the command was sent a signal", || bench.path("got").exists());
        assert_eq!(names(&bench.path("j")), ["JOB"]);
        assert!(!Path::new(&bench.path("out")).exists());
    }
}

#[test]
fn a_commit_that_a_signal_ends_is_run_again() {
    let bench = Bench::new();
    let text = "0123456789abcde\n".repeat(1 << 20);
    bench.file("in", &text);
    bench.done("job plan out in --folder j --parts 8");
    assert_eq!(code(&bench.run("job run j --all -- cat")), 0);
    for wait in 0..12 {
        let mut command = swath();
        command.args(["job", "commit", "j"]).current_dir(bench.path("")).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(2 * wait));
        send(if wait % 2 == 0 { "TERM" } else { "INT" }, &child);
        child.wait().expect("it ends");
        if bench.path("out").exists() {
            assert!(bench.read("out") == text.as_bytes(), "torn after {wait}");
        }
        if !bench.path("j/JOB").exists() {
            break;
        }
        assert!(!names(&bench.path("j")).iter().any(|it| it.ends_with("-lock")), "{wait}");
    }
    if bench.path("j/JOB").exists() {
        bench.done("job commit j");
    }
    assert!(bench.read("out") == text.as_bytes());
}

#[test]
fn a_sweep_reports_what_it_removed_and_what_it_could_not() {
    let bench = Bench::new();
    bench.file("in", "a\n");
    bench.done("job plan out in --folder gone");
    bench.done("job plan out in --folder kept");
    bench.file("kept/notes", "mine");
    let output = bench.run("job sweep --older-than 0s .");
    assert_eq!(code(&output), 1, "{output:?}");
    assert_eq!(crate::child::stdout(&output), "./gone: removed\n");
    assert!(stderr(&output).contains("kept: notes in it is not of the job"), "{output:?}");
    assert_eq!(names(&bench.path("kept")), ["JOB", "notes"]);
    assert!(bench.refused("job sweep --older-than 0s .").contains("move that file away"));
    assert!(bench.refused("job abort kept").contains("notes in it is not of the job"));
    assert_eq!(names(&bench.path("kept")), ["JOB", "notes"]);
}
