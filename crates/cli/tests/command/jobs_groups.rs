//! `swath job run` and the programs that a command starts: they end, stop and go on with it, and none of
//! them takes a failed read for the end of its input.

use std::fs;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::child::{code, stderr, stdout, swath};
use crate::jobs::{Bench, names};
use crate::jobs_trouble::{send, until};

/// A job of one part whose second input is opened after its first one has been read.
fn two_inputs() -> Bench {
    let bench = Bench::new();
    bench.file("one", "a\n".repeat(2 << 20));
    bench.file("two", "b\n");
    bench.done("job plan out one two --folder j --parts 1 --division bytes");
    bench
}

fn run_shell(bench: &Bench, work: &str) -> Output {
    bench.run_words(&["job", "run", "j", "0", "--", "sh", "-c", work])
}

fn assert_nothing_is_kept(bench: &Bench, output: &Output) {
    let said = stderr(output);
    assert_eq!(code(output), 2, "{said}");
    assert!(said.contains("cannot do part 0 of ") && said.contains("two"), "{said}");
    assert!(!bench.path("seen").exists(), "a program saw an end that is not one");
    assert_eq!(names(&bench.path("j")), ["JOB"]);
}

#[test]
fn a_read_that_fails_after_the_command_has_exited_with_0_is_an_error() {
    // The second input is gone when it is to be read, and as it was when the part is done.
    let bench = two_inputs();
    let work = "exec 3<&0; (head -c 1 > /dev/null; mv two away; cat; mv away two; touch seen) <&3 & \
                exit 0";
    assert_nothing_is_kept(&bench, &run_shell(&bench, work));
    // Its output may be closed long before.
    let bench = two_inputs();
    let work = "exec 3<&0; (exec > /dev/null; head -c 1; mv two away; cat; mv away two; touch seen) \
                <&3 & exit 0";
    assert_nothing_is_kept(&bench, &run_shell(&bench, work));
}

#[test]
fn a_read_that_fails_ends_all_programs_of_a_pipe() {
    let bench = two_inputs();
    let work =
        "{ head -c 1; mv two away; cat; mv away two; } | { cat > /dev/null; touch seen; }";
    assert_nothing_is_kept(&bench, &run_shell(&bench, work));
}

#[test]
fn a_part_ends_when_no_program_holds_its_output_as_in_a_pipe_of_a_shell() {
    let bench = Bench::new();
    bench.file("in", "a\n");
    bench.done("job plan out in --folder j");
    let work = "(until test -e go; do sleep 0.01; done; echo late) & (sleep 0.1; touch go) & echo early";
    let output = run_shell(&bench, work);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    bench.done("job commit j");
    assert_eq!(bench.read("out"), b"early\nlate\n");
}

/// Starts a part of a shell whose pipe waits for ever; returns it when the programs of the pipe, whose
/// numbers are in the files `p0` and `p1`, are there.
fn waiting_pipe(bench: &Bench) -> Child {
    bench.file("in", "a\n".repeat(1 << 20));
    bench.done("job plan out in --folder j --parts 1");
    // Neither starts others: one that waits for a stopped child is not stopped itself.
    let work = "sh -c 'head -c 1; echo $$ > p0; exec sleep 600' | \
                sh -c 'echo $$ > p1; read one; read two; touch seen'";
    let mut command = swath();
    command.args(["job", "run", "j", "0", "--", "sh", "-c", work]).current_dir(bench.path(""));
    // A group that a shell could let go on: it can be stopped.
    let child = command.process_group(0).stderr(Stdio::piped()).spawn().expect("it starts");
    for name in ["p0", "p1"] {
        until(name, || fs::read(bench.path(name)).is_ok_and(|id| id.ends_with(b"\n")));
    }
    child
}

/// The state of a process, as ps(1) prints it; `X` if it is gone.
fn state_of(id: &str) -> char {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap_or('X')
}

fn is_over(id: &str) -> bool {
    ['X', 'Z'].contains(&state_of(id))
}

fn ids(bench: &Bench) -> [String; 2] {
    ["p0", "p1"].map(|name| {
        let text = fs::read_to_string(bench.path(name)).expect("a number");
        text.trim().to_owned()
    })
}

#[test]
fn every_signal_that_ends_the_program_ends_all_programs_of_the_command() {
    for (signal, number) in [
        ("INT", 2),
        ("QUIT", 3),
        ("ILL", 4),
        ("TRAP", 5),
        ("ABRT", 6),
        ("FPE", 8),
        ("USR1", 10),
        ("USR2", 12),
        ("ALRM", 14),
        ("TERM", 15),
        ("XCPU", 24),
        ("VTALRM", 26),
        ("SYS", 31),
    ] {
        let bench = Bench::new();
        let mut child = waiting_pipe(&bench);
        send(signal, &child);
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.signal(), Some(number), "{ended}");
        for id in ids(&bench) {
            until("each program has ended", || is_over(&id));
        }
        let said = std::io::read_to_string(child.stderr.take().expect("piped")).expect("text");
        // A shell may name the signal that ended a program of its pipe.
        assert!(!said.contains("swath:"), "{said}");
        assert!(!bench.path("seen").exists(), "{signal}: a program saw an end");
        assert_eq!(names(&bench.path("j")), ["JOB"]);
    }
}

#[test]
fn a_program_that_is_stopped_stops_its_command_and_lets_it_go_on() {
    let bench = Bench::new();
    let mut child = waiting_pipe(&bench);
    let [first, second] = ids(&bench);
    let all = [child.id().to_string(), first, second];
    let are = |state: fn(char) -> bool| all.iter().all(|id| state(state_of(id)));
    for _ in 0..2 {
        send("TSTP", &child);
        until("all are stopped", || are(|it| it == 'T'));
        send("CONT", &child);
        until("all go on", || are(|it| "RSD".contains(it)));
    }
    // One that is stopped ends too.
    send("TSTP", &child);
    until("all are stopped", || are(|it| it == 'T'));
    send("TERM", &child);
    send("CONT", &child);
    assert_eq!(child.wait().expect("it ends").signal(), Some(15));
    for id in &all[1..] {
        until("each program has ended", || is_over(id));
    }
}

#[test]
fn a_command_reacts_to_signals_as_if_its_starter_were_a_shell() {
    let bench = Bench::new();
    bench.file("in", "a\n");
    bench.done("job plan out in --folder j");
    let line =
        "trap '' USR1 ALRM; cd \"$1\"; exec \"$0\" job run j 0 -- grep Sig /proc/self/status";
    let output = crate::child::shell(line, &[bench.path("").as_ref()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    bench.done("job commit j");
    let text = String::from_utf8(bench.read("out")).expect("text");
    let bits = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).expect("listed");
        u64::from_str_radix(line.split_whitespace().last().expect("a mask"), 16)
            .expect("a mask")
    };
    assert_eq!(bits("SigBlk"), 0, "{text}");
    let has = |signal: u32| bits("SigIgn") >> (signal - 1) & 1 == 1;
    // What the shell ignores; not SIGPIPE or SIGXFSZ, which the program ignores itself.
    assert_eq!([10, 14, 13, 25].map(has), [true, true, false, false], "{text}");
}

/// Starts a line of a shell at a terminal of its own; what is written to its input is typed.
fn at_a_terminal(bench: &Bench, line: &str) -> Option<Child> {
    let has_script = Command::new("script").arg("--version").stdout(Stdio::null()).status();
    if !has_script.is_ok_and(|status| status.success()) {
        swath_reference::skip("script", "there is no script(1), which makes a terminal");
        return None;
    }
    let line = format!("SWATH={} && {line}", env!("CARGO_BIN_EXE_swath"));
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).env("SHELL", "/bin/sh");
    command.current_dir(bench.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
    Some(command.spawn().expect("it starts"))
}

#[test]
fn a_command_that_wants_the_terminal_fails_and_does_not_wait() {
    let bench = Bench::new();
    bench.file("in", "a\n");
    bench.done("job plan out in --folder j");
    let line = "$SWATH job run j 0 -- sh -c 'read word < /dev/tty && echo read'";
    let Some(child) = at_a_terminal(&bench, line) else { return };
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    assert!(stdout(&output).contains("/dev/tty: No such device"), "{}", stdout(&output));
    assert_eq!(names(&bench.path("j")), ["JOB"]);
}

#[test]
fn what_is_typed_at_a_terminal_reaches_the_command() {
    let bench = Bench::new();
    bench.file("in", "a\n".repeat(1 << 20));
    bench.done("job plan out in --folder j --parts 1");
    bench.file(
        "work",
        "trap 'touch got; exit 0' INT; touch ready; while :; do sleep 0.01; done",
    );
    let Some(mut child) = at_a_terminal(&bench, "exec $SWATH job run j 0 -- sh work") else {
        return;
    };
    until("ready", || bench.path("ready").exists());
    child.stdin.as_mut().expect("piped").write_all(b"\x03").expect("a pipe");
    until("the command has ended", || bench.path("got").exists());
    let output = child.wait_with_output().expect("it ends");
    assert!(!output.status.success(), "{output:?}");
    assert!(!Path::new(&bench.path("out")).exists());
    assert_eq!(names(&bench.path("j")), ["JOB"]);
}
