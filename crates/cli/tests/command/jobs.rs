//! `swath job`: all parts together are the serial pipe `cat INPUTS | COMMAND`, whatever the inputs,
//! the division and the number of parts.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;
use swath_reference::battery::Battery;

use crate::child::{code, stderr, stdout, swath};

/// A folder in which lines of a shell run; `"$0"` is the command.
pub(crate) struct Bench(tempfile::TempDir);

impl Bench {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("room");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("there")
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.run_words(&line.split(' ').collect::<Vec<_>>())
    }

    pub(crate) fn run_words<W: AsRef<OsStr>>(&self, words: &[W]) -> Output {
        let output = swath().current_dir(self.0.path()).args(words).output();
        output.expect("it starts")
    }

    /// Runs a line that must succeed; returns what it prints.
    pub(crate) fn done(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{line}");
        stdout(&output)
    }

    /// Runs a line that must not be done; returns what it complains.
    pub(crate) fn refused(&self, line: &str) -> String {
        let output = self.run(line);
        let said = stderr(&output);
        assert_eq!(code(&output), 2, "{line}: {said}");
        assert!(!said.contains("panicked") && output.stdout.is_empty(), "{line}: {output:?}");
        assert_eq!(said.matches("; try: ").count(), 1, "{line}: {said}");
        said
    }

    pub(crate) fn names(&self) -> Vec<String> {
        names(self.0.path())
    }
}

pub(crate) fn names(folder: &std::path::Path) -> Vec<String> {
    let name = |it: std::io::Result<fs::DirEntry>| {
        it.expect("listed").file_name().into_string().expect("text")
    };
    let mut names: Vec<String> = fs::read_dir(folder).expect("a folder").map(name).collect();
    names.sort();
    names
}

/// The output of a pipe.
fn serial(bench: &Bench, inputs: &str, command: &str) -> Vec<u8> {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("cat {inputs} | {command}")]).current_dir(bench.path(""));
    shell.output().expect("a shell starts").stdout
}

/// Whether a job's output is that of the pipe.
fn assert_is_serial(bench: &Bench, plan: &str, inputs: &str, command: &str) {
    let plan = format!("job plan out {inputs} --folder j --durability none {plan}");
    bench.done(&plan);
    let run = ["job", "run", "j", "--all", "--workers", "2", "--", "sh", "-c", command];
    let output = bench.run_words(&run);
    assert_eq!(code(&output), 0, "{plan}: {}", stderr(&output));
    bench.done("job commit j");
    let right = serial(bench, inputs, command);
    assert!(bench.read("out") == right, "{plan}, {command}: {:?}", bench.read("out"));
    fs::remove_file(bench.path("out")).expect("written");
    assert!(!bench.path("j").exists(), "{plan}");
}

#[test]
fn every_division_of_small_files_is_the_serial_pipe() {
    let bench = Bench::new();
    bench.file("a", "one\ntwo\n\nthree\n");
    bench.file("b", "no end");
    bench.file("c", " but here\nlast");
    bench.file("none", "");
    bench.file("w", "aaaabbbbccccdddd");
    for parts in [1, 2, 3, 5, 16, 40] {
        for inputs in ["a", "a none b c", "b none none c a", "none", "b b b"] {
            // A line is a record.
            assert_is_serial(&bench, &format!("--parts {parts}"), inputs, "sed 's/^/> /'");
        }
        for division in ["bytes", "inputs", "groups"] {
            let plan = format!("--parts {parts} --division {division}");
            assert_is_serial(&bench, &plan, "a w none b", "tr a-z A-Z");
        }
        assert_is_serial(
            &bench,
            &format!("--parts {parts} --width 4"),
            "w none w",
            "sed 's/..../<&>/g'",
        );
    }
}

/// The output of a job whose parts are done in turn by the command, of whole lines or bytes, and by a
/// program that knows only what the part says.
fn mixed(bench: &Bench, command: &str, work: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let plan = swath::job::open(bench.path("j")).expect("a job");
    for part in plan.parts() {
        let index = part.index().to_string();
        if part.index() % 2 == 0 {
            let words = ["job", "run", "j", &index, "--", "sh", "-c", command];
            let output = bench.run_words(&words);
            assert_eq!(code(&output), 0, "{}", stderr(&output));
            continue;
        }
        let mut bytes = Vec::new();
        for piece in part.contents().expect("the plan says which") {
            let options = swath::ReadOptions::new().with_offset(piece.offset);
            let read = options.with_len(piece.len).read(&piece.path).expect("read");
            bytes.extend_from_slice(&read.buffer);
        }
        let mut out = part.writer().expect("begun");
        std::io::Write::write_all(&mut out, &work(&bytes)).expect("room");
        out.finish().expect("finished");
    }
    bench.done("job commit j");
    let found = bench.read("out");
    fs::remove_file(bench.path("out")).expect("written");
    found
}

#[test]
fn parts_that_the_command_and_another_program_do_in_turn_are_the_serial_pipe() {
    let bench = Bench::new();
    bench.file("a", "one\ntwo\n\nthree\n");
    bench.file("b", "no end");
    bench.file("c", " but here\nlast");
    bench.file("none", "");
    let marked = |bytes: &[u8]| -> Vec<u8> {
        let lines = bytes.split_inclusive(|&byte| byte == b'\n');
        lines.flat_map(|line| [b"> ", line].concat()).collect()
    };
    let lists = ["a", "a none b c", "b none none c a", "none", "b b b"];
    let all = (1..8).flat_map(|parts| lists.map(|inputs| (parts, inputs)));
    for (parts, inputs) in Battery::of_list("combinations", 12, all) {
        bench.done(&format!("job plan out {inputs} --folder j --parts {parts}"));
        let found = mixed(&bench, "sed 's/^/> /'", marked);
        let what = format!("{inputs}, {parts} parts");
        assert_eq!(found, serial(&bench, inputs, "sed 's/^/> /'"), "{what}");
        for division in ["bytes", "inputs", "groups"] {
            let how = format!("--folder j --parts {parts} --division {division}");
            bench.done(&format!("job plan out {inputs} {how}"));
            let found = mixed(&bench, "tr a-z A-Z", <[u8]>::to_ascii_uppercase);
            assert_eq!(found, serial(&bench, inputs, "tr a-z A-Z"), "{inputs}, {how}");
        }
    }
}

#[test]
fn parts_of_records_are_done_by_the_program_that_planned_them_and_by_no_command() {
    let bench = Bench::new();
    bench.file("in", "one\ntwo\nthree\n");
    let plan = |folder: &str| {
        let options =
            swath::job::JobOptions::new().with_parts(2).with_folder(bench.path(folder));
        options.plan([bench.path("in")], bench.path("out")).expect("planned")
    };
    let planned = plan("j");
    for words in [
        "run j 0 -- cat",
        "run j --all -- cat",
        "read j 0",
        "write j 0",
        "run j --missing -- cat",
    ] {
        let said = bench.refused(&format!("job {words}"));
        let told = "cannot do parts of j: the job is divided by records, and where these end is known only";
        assert!(said.contains(told), "{said}");
        assert!(
            said.contains("; try: do its parts with that program, or plan the job with"),
            "{said}"
        );
    }
    assert_eq!(names(&bench.path("j")), ["JOB"]);
    assert!(bench.done("job status j").contains("divided: 1 input, records"));
    assert!(bench.done("job status j --json").contains("\"division\":\"records\""));
    for part in planned.parts() {
        let mut out = part.writer().expect("begun");
        let whole =
            swath::records(bench.path("in")).with_starting_in(part.pieces()[0].extent());
        let blocks =
            whole.map_blocks(|it| -> swath::Result<Vec<u8>> { Ok(it.to_bytes().to_vec()) });
        std::io::Write::write_all(&mut out, &blocks.expect("read").concat()).expect("room");
        out.finish().expect("finished");
    }
    bench.done("job commit j");
    assert_eq!(bench.read("out"), bench.read("in"));
    fs::remove_file(bench.path("out")).expect("there");
    plan("j");
    bench.done("job abort j");
    plan("j");
    assert!(bench.done("job sweep --older-than 0s .").contains("j: removed"));
    // The command does not offer it.
    let output = bench.run("job plan out in --division records");
    assert!(code(&output) == 2 && stderr(&output).contains("lines"), "{output:?}");
    // Without inputs there are no records.
    let none: [&str; 0] = [];
    let options = swath::job::JobOptions::new().with_parts(2).with_folder(bench.path("j"));
    options.plan(none, bench.path("out")).expect("planned");
    let tell = ["job", "run", "j", "--all", "--", "sh", "-c", "echo $SWATH_PART"];
    assert_eq!(code(&bench.run_words(&tell)), 0);
    bench.done("job commit j");
    assert_eq!(bench.read("out"), b"0\n1\n");
}

#[test]
fn a_plan_takes_file_uris_as_the_other_commands_do() {
    let bench = Bench::new();
    bench.file("a b", "one\n");
    let uri = |name: &str| format!("file://{}", bench.path(name).display());
    let folder = bench.done(&format!("job plan {} {}", uri("out"), uri("a%20b")));
    assert!(folder.starts_with(&format!("{}.job-", bench.path("out").display())), "{folder}");
    bench.done(&format!("job run {} 0 -- cat", folder.trim_end()));
    bench.done(&format!("job commit {}", folder.trim_end()));
    assert_eq!(bench.read("out"), b"one\n");
}

#[test]
fn parts_that_are_read_one_after_the_other_are_the_inputs() {
    let bench = Bench::new();
    let text: String =
        (0..20_000).map(|line| format!("{line} {}\n", "x".repeat(line % 50))).collect();
    bench.file("in", &text);
    let folder = bench.done("job plan out in in --part-size 100kB");
    let folder = folder.trim_end();
    let status = bench.done(&format!("job status {folder} --json"));
    let parts = serde_json::from_str::<Value>(&status).expect("JSON")["parts"].as_u64();
    let part = |index| bench.run_words(&["job", "read", folder, &format!("{index}")]).stdout;
    let all: Vec<Vec<u8>> = (0..parts.expect("a count")).map(part).collect();
    assert!(all.len() > 10 && all.concat() == text.repeat(2).as_bytes());
    assert!(all.iter().all(|part| part.ends_with(b"\n")));
}

#[test]
fn what_a_command_wrote_is_kept_only_if_it_succeeds() {
    let bench = Bench::new();
    bench.file("in", "a\nb\nc\nd\n");
    bench.done("job plan out in --parts 4 --folder j");
    for (command, wanted) in [
        ("echo half; exit 3", "sh exited with 3, so its output was not kept"),
        ("echo half; exit 1", "pass --accept 1"),
        (
            "echo half; kill -9 $$",
            "sh was ended by signal 9 (SIGKILL), so its output was not kept; try: check whether the \
             machine or the job had too little memory",
        ),
        ("sh -c 'kill -SEGV $$'; exit $?", "sh exited with 139 (128 + SIGSEGV)"),
        ("kill -SEGV $$", "try: run the command alone on what `swath job read` gives"),
        ("kill -XCPU $$", "(SIGXCPU), so its output was not kept; try: raise the limit"),
    ] {
        let output = bench.run_words(&["job", "run", "j", "1", "--", "sh", "-c", command]);
        assert_eq!(code(&output), 2, "{output:?}");
        let said = stderr(&output);
        assert!(said.contains("cannot do part 1 of ") && said.contains(wanted), "{said}");
    }
    assert_eq!(names(&bench.path("j")), ["JOB"]);
    assert!(
        bench.refused("job run j 1 -- ./nosuch").contains("cannot start ./nosuch: No such")
    );
    // Of several parts, the others are done.
    let fail_in_2 = "test $SWATH_PART != 2 && cat";
    let output =
        bench.run_words(&["job", "run", "j", "0-3", "--json", "--", "sh", "-c", fail_in_2]);
    assert_eq!(code(&output), 1, "{output:?}");
    let lines: Vec<Value> =
        stdout(&output).lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines.iter().filter(|it| it["error"].is_string()).count(), 1, "{lines:?}");
    assert_eq!(bench.done("job status j --missing"), "2\n");
    let said = bench.refused("job commit j");
    assert!(
        said.contains("part 2 is not done; try: run `swath job run FOLDER --missing"),
        "{said}"
    );
    // grep finds nothing there.
    assert_eq!(code(&bench.run("job run j --missing -- grep x")), 2);
    assert_eq!(code(&bench.run("job run j --missing --accept 1 -- grep x")), 0);
    assert!(bench.done("job run j --missing -- cat").contains("no part is missing"));
    bench.done("job commit j");
    assert_eq!(bench.read("out"), b"a\nb\nd\n");
}

#[test]
fn a_command_need_not_read_its_input_and_knows_its_part() {
    let bench = Bench::new();
    bench.file("in", "line\n".repeat(2_000_000));
    bench.done("job plan out in --parts 3 --folder j");
    let tell = "head -1; echo $SWATH_PART of $SWATH_PARTS; basename $SWATH_JOB";
    let output = bench.run_words(&["job", "run", "j", "--all", "--", "sh", "-c", tell]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    assert_eq!(code(&bench.run("job run j 1 -- true")), 0, "the newest attempt counts");
    bench.done("job commit j");
    assert_eq!(
        String::from_utf8(bench.read("out")).expect("text"),
        "line\n0 of 3\nj\nline\n2 of 3\nj\n"
    );
}

#[test]
fn too_few_descriptors_for_all_workers_are_fewer_workers() {
    let bench = Bench::new();
    bench.file("in", "line\n".repeat(5000));
    bench.done("job plan out in --parts 40 --folder j");
    let line = "ulimit -n 24; cd \"$1\"; exec \"$0\" job run j --all --workers 20 -- sh -c 'sleep 0.05; cat'";
    let output = crate::child::shell(line, &[bench.path("").as_ref()]);
    assert_eq!((code(&output), stdout(&output).lines().count()), (0, 40), "{output:?}");
    assert!(stderr(&output).contains("note: running fewer commands"), "{output:?}");
    bench.done("job commit j");
    assert_eq!(bench.read("out"), bench.read("in"));
}

#[test]
fn a_job_without_inputs_has_the_output_of_each_part() {
    let bench = Bench::new();
    bench.done("job plan out --parts 12 --folder j");
    let tell = ["job", "run", "j", "0-11", "--", "sh", "-c", "cat; echo $SWATH_PART"];
    assert_eq!(code(&bench.run_words(&tell)), 0);
    bench.done("job commit j");
    let right: String = (0..12).map(|part| format!("{part}\n")).collect();
    assert_eq!(bench.read("out"), right.as_bytes());
}

#[test]
fn what_is_written_by_hand_is_a_part_and_its_receipt_is_that_of_the_library() {
    let bench = Bench::new();
    bench.file("in", "a\nb\n");
    bench.file("mine", "by hand\n");
    bench.done("job plan out in --parts 2 --folder j");
    bench.done("job run j 0 -- cat");
    let line = "\"$0\" job write \"$1\" 1 < \"$2\"";
    let output =
        crate::child::shell(line, &[bench.path("j").as_ref(), bench.path("mine").as_ref()]);
    assert_eq!(code(&output), 0, "{output:?}");
    let done: swath::job::Done = serde_json::from_str(&stdout(&output)).expect("a receipt");
    assert_eq!((done.part, done.len), (1, 8));
    let plan = swath::job::open(bench.path("j")).expect("a job");
    assert_eq!(plan.done().expect("listed")[1], done);
    bench.done("job commit j");
    assert_eq!(bench.read("out"), b"a\nby hand\n");
}

#[test]
fn segments_are_the_output_and_are_read_as_one_file() {
    let bench = Bench::new();
    bench.file("in", "a\nb\nc\n");
    let folder = bench.done("job plan out in --parts 3 --segments");
    assert_eq!(folder, format!("{}\n", bench.path("out").display()));
    bench.done("job run out 0-2 -- tr a-z A-Z");
    bench.done("job commit out");
    bench.done("job commit out");
    assert_eq!(bench.run("cat out").stdout, b"A\nB\nC\n");
    assert!(bench.done("job status out").contains("out: committed"));
    assert!(bench.refused("job abort out").contains("it is committed; try: remove the output"));
    assert_sweeps_nothing(&bench, "job sweep --older-than 0s .");
    assert_eq!(bench.names(), ["in", "out"]);
}

fn assert_sweeps_nothing(bench: &Bench, line: &str) {
    let output = bench.run(line);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, ""), "{output:?}");
    assert!(stderr(&output).contains("note: no folder was removed from ."), "{output:?}");
    assert_eq!(bench.done(&format!("{line} --json")), "");
}

#[test]
fn a_job_ends_with_one_output_and_no_folder() {
    let bench = Bench::new();
    bench.file("in", "a\n");
    let plan = |more: &str| bench.done(format!("job plan out in --folder j {more}").trim_end());
    plan("");
    bench.done("job run j 0 -- cat");
    bench.done("job commit --keep j");
    let status = bench.done("job status j");
    assert!(status.contains("j: committed") && !status.contains("attempt"), "{status}");
    assert!(
        bench.refused("job run j 0 -- cat").contains("it is committed; try: plan a new job")
    );
    assert!(bench.refused("job abort j").contains("run `swath job commit` again"));
    bench.done("job commit j");
    assert_eq!(bench.names(), ["in", "out"]);
    assert!(bench.refused("job commit j").contains("a finished job is removed"));
    // Planned again, and given up.
    let said = bench.refused("job plan out in --folder j");
    assert!(said.contains("cannot write out: it exists; try: pass --force"), "{said}");
    plan("--force");
    bench.done("job run j 0 -- cat");
    assert!(bench.done("job abort j").ends_with("j: removed\n"));
    plan("--force");
    assert!(bench.refused("job sweep --older-than 1h j").contains("`swath job abort`"));
    assert_sweeps_nothing(&bench, "job sweep --older-than 1h .");
    let swept = bench.done("job sweep --older-than 0s . --json");
    let swept: Value = serde_json::from_str(&swept).expect("JSON");
    assert_eq!(swept["was_committed"], false);
    assert_eq!(bench.names(), ["in", "out"]);
}
