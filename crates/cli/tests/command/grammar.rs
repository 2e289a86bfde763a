//! Every command has the grammar that the table in the guide gives: its input, its output, what
//! happens to an existing file, `--json`, and standard input.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use clap::{Arg, Command, CommandFactory, ValueHint};
use swath_cli::cli::Cli;
use swath_cli::input::Input;

use crate::child::{code, stderr, stdout, swath};
use crate::study::earlier_study;

const GUIDE: &str = include_str!("../../../../docs/guide/command.md");

/// A row of the table: what it says of one command.
struct Row {
    words: Vec<&'static str>,
    without_path: &'static str,
    output: &'static str,
    existing: &'static str,
    json: &'static str,
}

fn rows() -> Vec<Row> {
    let lines = GUIDE.lines().skip_while(|line| !line.starts_with("| Command | Input |"));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, _, without_path, output, existing, json] = cells[..] else {
            panic!("six columns: {line}")
        };
        let words = name.trim_matches('`').split(' ').collect();
        Row { words, without_path, output, existing, json }
    };
    rows.map(row).collect()
}

impl Row {
    fn name(&self) -> String {
        self.words.join(" ")
    }

    /// Its definition.
    fn command(&self) -> Command {
        let mut command = Cli::command();
        command.build();
        for word in &self.words {
            let below = command.find_subcommand(word).cloned();
            command = below.unwrap_or_else(|| panic!("no command {}", self.name()));
        }
        command
    }

    fn has_output(&self) -> bool {
        self.output.ends_with("or `-o`")
    }
}

fn flag<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(name))
}

/// The commands that do something themselves.
fn leaves(command: &Command, prefix: &str, found: &mut Vec<String>) {
    let is_shown = |it: &&Command| it.get_name() != "help" && !it.is_hide_set();
    for below in command.get_subcommands().filter(is_shown) {
        let name = format!("{prefix}{}", below.get_name());
        if !below.is_subcommand_required_set() {
            found.push(name.clone());
        }
        leaves(below, &format!("{name} "), found);
    }
}

#[test]
fn the_table_has_every_command_once() {
    let mut all = Vec::new();
    leaves(&Cli::command(), "", &mut all);
    let mut listed: Vec<String> = rows().iter().map(Row::name).collect();
    all.sort();
    listed.sort();
    assert_eq!(listed, all);
}

#[test]
fn the_table_agrees_with_the_definitions() {
    for row in rows() {
        let (name, command) = (row.name(), row.command());
        let has = |name| flag(&command, name).is_some();
        assert_eq!(has("json"), row.json != "–", "{name}: --json");
        let short = command.get_arguments().any(|arg| arg.get_short() == Some('o'));
        assert_eq!(short, row.output.contains("`-o`"), "{name}: -o");
        let word = command.get_positionals().any(|arg| arg.get_id() == "to");
        assert_eq!(word, row.has_output(), "{name}: the word");
        for (flag, long) in [("`--force`", "force"), ("`--no-clobber`", "no-clobber")] {
            assert_eq!(row.existing.contains(flag), has(long), "{name}: {flag}");
        }
        let reads = command.get_arguments().any(|arg| arg.get_default_values() == ["-"]);
        assert_eq!(reads, row.without_path != "–", "{name}: standard input");
    }
}

/// A folder with an input for each command.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let bench = Self(folder);
        bench.file("text", "some text\n");
        bench.file("table.csv", "a,b\n1,2\n");
        bench.file(
            "contracts",
            "1\n42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.759422392871532\n",
        );
        assert_eq!(code(&bench.run(&["compress", "text", "packed"], None)), 0);
        for study in ["a", "b"] {
            earlier_study(&bench.0.path().join(study), 1.8);
        }
        for folder in ["into", "other"] {
            fs::create_dir(bench.0.path().join(folder)).expect("room");
        }
        bench
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("room");
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, words: &[&str], input: Option<&str>) -> Output {
        let mut command = swath();
        command.args(words).current_dir(self.0.path());
        if let Some(input) = input {
            let file = fs::File::open(self.path(input)).expect("there");
            command.stdin(Stdio::from(file));
        }
        command.output().expect("it starts")
    }
}

/// A command without its output: the words, where its input is among them, and a name for its output.
fn case(name: &str) -> (Vec<&'static str>, Option<&'static str>, &'static str) {
    let (line, input, output) = match name {
        "read" | "ingest" | "sum" | "scan" | "cat" | "info" => ("text", Some("text"), ""),
        "head" => ("table.csv", Some("table.csv"), ""),
        "cp" | "manifest" | "compress" => ("text", Some("text"), "out"),
        "decompress" => ("packed", Some("packed"), "out"),
        "price" => ("contracts", Some("contracts"), "out"),
        "convert" => ("table.csv", Some("table.csv"), "out.tsv"),
        "mirror" => ("text", None, "into"),
        "gen bytes" | "gen letters" | "gen csv-numbers" | "gen csv" => ("1kB", None, "out"),
        "gen mtx" | "gen edges" => ("--scale 4", None, "out"),
        "gen options" => ("3", None, "out"),
        "gen tree" => ("--files 2 --size 1", None, "out"),
        "study fib" => ("3 --bytes 10", None, "out"),
        "study compare" => ("a b", None, "out.html"),
        "study report" => ("a", None, "out"),
        _ => panic!("a case for {name}"),
    };
    (line.split(' ').collect(), input, output)
}

#[test]
fn the_output_is_a_word_or_a_flag_and_both_are_refused() {
    for row in rows().iter().filter(|row| row.has_output()) {
        let (input, _, out) = case(&row.name());
        let before = [&row.words[..], &input].concat();
        for named in [vec![out], vec!["-o", out]] {
            let bench = Bench::new();
            let output = bench.run(&[&before[..], &named].concat(), None);
            assert_eq!(code(&output), 0, "{}: {output:?}", row.name());
            assert!(bench.path(out).exists(), "{}", row.name());
        }
        let bench = Bench::new();
        let output = bench.run(&[&before[..], &[out, "-o", out]].concat(), None);
        assert_eq!(code(&output), 2, "{}: {output:?}", row.name());
        assert!(stderr(&output).contains("cannot be used with"), "{output:?}");
    }
}

/// Returns the bytes of a file, or of the file of this name in a folder.
fn content(path: &Path) -> Vec<u8> {
    let path = if path.is_dir() { path.join("study.json") } else { path.to_owned() };
    fs::read(path).expect("there")
}

#[test]
fn an_existing_output_is_refused_or_replaced_as_the_table_says() {
    for row in rows().iter().filter(|row| row.has_output()) {
        let (name, bench) = (row.name(), Bench::new());
        let (input, _, out) = case(&name);
        let words = [&row.words[..], &input, &[out]].concat();
        // The file that the command would write.
        let at = match name.as_str() {
            "mirror" => bench.path("into/text"),
            "gen tree" => bench.path("out/mine"),
            "study report" => bench.path("out/study.json"),
            _ => bench.path(out),
        };
        fs::create_dir_all(at.parent().expect("a folder")).expect("room");
        fs::write(&at, "old").expect("room");
        let again = |flags: &[&str]| {
            let output = bench.run(&[&words[..], flags].concat(), None);
            (code(&output), content(&at) != b"old", stderr(&output))
        };
        if row.existing.contains("`--no-clobber`") {
            let (status, replaced, said) = again(&["--no-clobber"]);
            assert_eq!((status, replaced), (2, false), "{name}: {said}");
            assert_eq!(again(&[]).0, 0, "{name}");
            assert_ne!(content(&at), b"old", "{name}");
            continue;
        }
        let (status, replaced, said) = again(&[]);
        assert_eq!((status, replaced), (2, false), "{name}: {said}");
        if row.existing.contains("`--force`") {
            let hint = ": it exists; try: pass --force to replace it, or name another output\n";
            assert!(said.starts_with("swath: cannot write ") && said.ends_with(hint), "{said}");
            let (status, replaced, said) = again(&["--force"]);
            assert_eq!((status, replaced), (0, true), "{name}: {said}");
        }
    }
}

#[test]
fn a_dash_is_standard_output_or_refused_and_never_a_file() {
    for row in rows().iter().filter(|row| row.has_output()) {
        let (name, bench) = (row.name(), Bench::new());
        let (input, _, _) = case(&name);
        let to: &[&str] = match name.as_str() {
            "convert" => &["-o", "-", "--to", "tsv"],
            _ => &["-o", "-"],
        };
        let output = bench.run(&[&row.words[..], &input, to].concat(), None);
        assert!(!bench.path("-").exists(), "{name}");
        if ["cp", "mirror", "gen tree", "study fib", "study report"].contains(&name.as_str()) {
            assert_eq!((code(&output), output.stdout.len()), (2, 0), "{name}: {output:?}");
            assert!(stderr(&output).contains("./-"), "{output:?}");
        } else {
            assert_eq!((code(&output), stderr(&output)), (0, String::new()), "{name}");
            assert!(!output.stdout.is_empty(), "{name}");
        }
    }
}

/// Adds the arguments of all commands that name files, each with the words that lead to it.
fn add_names(command: &Command, prefix: &str, found: &mut Vec<(String, Arg)>) {
    let names_file = |arg: &&Arg| {
        let hint = arg.get_value_hint();
        [ValueHint::FilePath, ValueHint::DirPath, ValueHint::AnyPath].contains(&hint)
    };
    let own = command.get_arguments().filter(names_file);
    found.extend(own.map(|arg| (format!("{prefix} {}", arg.get_id()), arg.clone())));
    for below in command.get_subcommands() {
        add_names(below, &format!("{prefix} {}", below.get_name()), found);
    }
}

#[test]
fn every_name_of_a_file_takes_a_dash_for_a_stream_or_refuses_it() {
    let mut all = Vec::new();
    add_names(&Cli::command(), "swath", &mut all);
    assert!(all.len() > 40, "{all:?}");
    for (name, arg) in all {
        let only = Arg::new("only").value_parser(arg.get_value_parser().clone());
        match Command::new("only").arg(only).try_get_matches_from(["only", "-"]) {
            Ok(found) => {
                let found = found.get_one::<Input>("only");
                assert_eq!(found, Some(&Input::Stdin), "{name}");
            }
            Err(error) => assert!(error.to_string().contains("./-"), "{name}: {error}"),
        }
    }
}

#[test]
fn a_manifest_of_copies_goes_to_standard_output() {
    let bench = Bench::new();
    let made = bench.run(&["mirror", "text", "into", "--manifest", "-"], None);
    assert_eq!((code(&made), stderr(&made)), (0, String::new()));
    assert!(bench.path("into/text").exists() && !bench.path("-").exists());
    assert_eq!(made.stdout, bench.run(&["manifest", "text", "-"], None).stdout);
    let made = bench.run(&["mirror", "text", "other", "--manifest", "-", "--json"], None);
    assert!(stderr(&made).contains(r#""manifest":{"path":"-"}"#), "{made:?}");
}

#[test]
fn bytes_that_are_not_text_reach_a_terminal_only_by_force() {
    let bench = Bench::new();
    for (words, flag) in [
        ("compress text -", " --force"),
        ("manifest text -", " --force"),
        ("gen bytes 10 -", " --force"),
        ("convert table.csv - --to npy", " --force"),
        ("convert table.csv - --to arrow", " --force"),
        ("convert table.csv - --to arrows", " --force"),
        ("mirror text into --manifest -", ""),
        ("gen csv 10 -", "text"),
        ("convert table.csv - --to tsv", "text"),
        ("convert table.csv - --to jsonl", "text"),
        ("decompress packed -", "text"),
    ] {
        let run = |flag: &str| {
            let line = format!("{} {words}{flag}", env!("CARGO_BIN_EXE_swath"));
            let mut script = std::process::Command::new("script");
            script.args(["-qec", &line, "/dev/null"]).current_dir(bench.0.path());
            script.stdin(Stdio::null()).output()
        };
        let Ok(output) = run("") else {
            return swath_reference::skip("script", "it cannot be started");
        };
        if flag == "text" {
            assert_eq!(code(&output), 0, "{words}: {}", stdout_of(&output));
            continue;
        }
        let said = stdout_of(&output);
        assert_eq!(code(&output), 2, "{words}: {said}");
        assert!(said.contains(" to a terminal; try: name an output file"), "{said}");
        assert_eq!(said.contains("--force"), !flag.is_empty(), "{said}");
        if !flag.is_empty() {
            assert_eq!(code(&run(flag).expect("as before")), 0, "{words}");
        }
    }
}

#[test]
fn standard_output_is_not_the_file_that_is_read() {
    let bench = Bench::new();
    for (line, file) in [
        ("cat text >> text", "text"),
        ("cat - < text >> text", "text"),
        ("cat --starting-in 0.. text >> text", "text"),
        ("cat table.csv --mirror text >> text", "text"),
        ("cat -d packed >> packed", "packed"),
        // Open for both, and written from its start.
        ("cat text 1<> text", "text"),
        ("compress - - < text >> text", "text"),
        ("decompress packed - >> packed", "packed"),
        ("manifest text - >> text", "text"),
        ("price contracts - >> contracts", "contracts"),
        ("convert table.csv - --to tsv >> table.csv", "table.csv"),
    ] {
        let before = fs::read(bench.path(file)).expect("there");
        let mut shell = std::process::Command::new("sh");
        let line = format!("exec \"$0\" {line}");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_swath")]).current_dir(bench.0.path());
        let output = shell.stdin(Stdio::null()).output().expect("a shell starts");
        let hint = "swath: cannot write to standard output: it is the input; try: name another output\n";
        assert_eq!((code(&output), stderr(&output).as_str()), (2, hint), "{line}");
        assert!(fs::read(bench.path(file)).expect("there") == before, "{line}");
    }
    // There is nothing left to read.
    fs::write(bench.path("empty"), "").expect("room");
    for line in ["cat empty >> empty", "(cat > rest; \"$0\" cat) < text >> text"] {
        let line = if line.starts_with('(') { line.into() } else { format!("\"$0\" {line}") };
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_swath")]).current_dir(bench.0.path());
        let output = shell.stdin(Stdio::null()).output().expect("a shell starts");
        assert_eq!(code(&output), 0, "{line}: {output:?}");
    }
}

#[test]
fn without_a_path_standard_input_is_read() {
    for row in rows().iter().filter(|row| row.without_path != "–") {
        let (name, bench) = (row.name(), Bench::new());
        let (input, file, out) = case(&name);
        bench.file("list", "text\n");
        let flags: &[&str] = match name.as_str() {
            "convert" => &["--from", "csv", "--to", "tsv"],
            "cp" => &["-o", out],
            _ => &[],
        };
        let file = if name == "ingest" { Some("list") } else { file };
        let output = bench.run(&[&row.words[..], flags].concat(), file);
        assert_eq!(code(&output), 0, "{name}: {output:?}");
        // As with the path, but for the name.
        let to: &[&str] = if row.has_output() && name != "cp" { &["-o", "-"] } else { &[] };
        let named = bench.run(&[&row.words[..], &input, flags, to].concat(), None);
        if !["read", "ingest", "info", "cp"].contains(&name.as_str()) {
            let expected = stdout_of(&named).replace("  text\n", "  -\n");
            assert_eq!(stdout_of(&output), expected, "{name}");
        }
    }
}

fn stdout_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_terminal_is_not_read_without_being_named() {
    let bench = Bench::new();
    for row in rows().iter().filter(|row| row.without_path != "–") {
        let flags = if row.name() == "cp" { " -o out" } else { "" };
        let line = format!("{} {}{flags}", env!("CARGO_BIN_EXE_swath"), row.name());
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(bench.0.path());
        let Ok(output) = script.stdin(Stdio::null()).output() else {
            return swath_reference::skip("script", "it cannot be started");
        };
        let said = stdout_of(&output);
        assert_eq!(code(&output), 2, "{}: {said}", row.name());
        assert!(said.contains("standard input is a terminal; name a file"), "{said}");
    }
}

#[test]
fn a_command_that_needs_a_path_says_so() {
    for row in rows().iter().filter(|row| row.has_output() && row.without_path == "–") {
        let bench = Bench::new();
        let output = bench.run(&row.words, None);
        assert_eq!(code(&output), 2, "{}: {output:?}", row.name());
        assert!(stderr(&output).contains("required"), "{output:?}");
        assert_eq!(stdout(&output), "");
    }
}
