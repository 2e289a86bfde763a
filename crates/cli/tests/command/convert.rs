//! Formats for numbers become each other, and nothing is lost or made up on the way.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::child::{code, run, run_with_input, shell, stderr, stdout, word};

const GRAPH: &str = "%%MatrixMarket matrix coordinate real general\n\
    % a comment\n\
    3 4 4\n\
    3 4 0.5\n\
    1 2 -2\n\
    1 1 1e300\n\
    2 3 0.1\n";

/// The same, row by row.
const BY_ROWS: [(u64, u64, f64); 4] = [(1, 2, -2.0), (1, 1, 1e300), (2, 3, 0.1), (3, 4, 0.5)];

const TABLE: &str = "x,y,z\n1,2.5,-3\n4,,6\n7,8e-3,9\n";

struct Setting {
    folder: tempfile::TempDir,
}

impl Setting {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("written");
        path
    }

    /// Converts and expects that to work.
    fn convert(&self, from: &str, to: &str, flags: &[&str]) -> PathBuf {
        let (from, to) = (self.path(from), self.path(to));
        let words = ["convert", word(&from), word(&to)];
        let output = run(words.iter().chain(flags));
        assert_eq!(code(&output), 0, "{from:?} to {to:?}: {output:?}");
        to
    }

    /// Converts and expects a refusal that leaves nothing.
    fn refused(&self, from: &str, to: &str, flags: &[&str]) -> String {
        let (from, to) = (self.path(from), self.path(to));
        let words = ["convert", word(&from), word(&to)];
        let output = run(words.iter().chain(flags));
        assert_eq!(code(&output), 2, "{output:?}");
        assert!(!to.exists() || flags.is_empty(), "something is left");
        stderr(&output)
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("text")
}

/// Entries as they stand in a Matrix Market file.
fn entries(path: &Path) -> Vec<(u64, u64, f64)> {
    let text = text(path);
    let lines = text.lines().filter(|line| !line.starts_with('%')).skip(1);
    let entry = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let id = |at: usize| words[at].parse().expect("an id");
        (id(0), id(1), words.get(2).map_or(1.0, |value| value.parse().expect("a value")))
    };
    lines.map(entry).collect()
}

#[test]
fn a_matrix_goes_through_every_format_and_comes_back() {
    let setting = Setting::new();
    let graph = setting.file("graph.mtx", GRAPH);
    let stored = entries(&graph);
    for between in ["a.csv", "a.arrow", "a.el", "a.mm"] {
        setting.convert("graph.mtx", between, &[]);
        let back = setting.convert(between, "back.mtx", &["--force"]);
        assert_eq!(entries(&back), stored, "{between}");
    }
    setting.convert("graph.mtx", "a.npz", &[]);
    let back = setting.convert("a.npz", "back.mtx", &["--force"]);
    assert_eq!(entries(&back), BY_ROWS);
    setting.convert("a.npz", "b.csv", &[]);
    setting.convert("b.csv", "b.npz", &[]);
    let again = setting.convert("b.npz", "back.mtx", &["--force"]);
    assert_eq!(entries(&again), BY_ROWS);
    assert_eq!(text(&setting.path("b.csv")).lines().next(), Some("row,column,value"));
}

/// JSON objects have no order, and libraries move columns.
#[test]
fn a_list_of_entries_is_one_whatever_the_order_of_its_columns() {
    let setting = Setting::new();
    let real = "%%MatrixMarket matrix coordinate real general\n4 5 2\n1 2 0.5\n4 5 -7.0\n";
    let complex =
        "%%MatrixMarket matrix coordinate complex general\n4 5 2\n1 2 0.5 1.0\n4 5 2.0 -7.0\n";
    for (name, matrix, orders) in [
        ("real", real, &[[2, 0, 1, 3], [0, 2, 1, 3], [1, 0, 2, 3], [2, 1, 0, 3]][..]),
        ("complex", complex, &[[3, 2, 1, 0], [2, 0, 3, 1], [0, 1, 3, 2]]),
    ] {
        let source = setting.file(&format!("{name}.mtx"), matrix);
        let table = text(&setting.convert(&format!("{name}.mtx"), &format!("{name}.csv"), &[]));
        for order in orders {
            let moved = |line: &str| {
                let cells: Vec<&str> = line.split(',').collect();
                let cells: Vec<&str> =
                    order.iter().filter_map(|&at| cells.get(at).copied()).collect();
                cells.join(",") + "\n"
            };
            setting.file("moved.csv", &table.lines().map(moved).collect::<String>());
            setting.convert("moved.csv", "moved.jsonl", &["--force"]);
            for between in ["moved.csv", "moved.jsonl"] {
                let back = setting.convert(between, "back.mtx", &["--force"]);
                assert_eq!(entries(&back), entries(&source), "{name} {order:?} {between}");
            }
        }
    }
    setting.file("more.csv", "id,row,column,value\n1,0,0,1\n");
    let output =
        run(["convert", word(&setting.path("more.csv")), word(&setting.path("more.mtx"))]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("there is not `value` alone"), "{output:?}");
}

#[test]
fn a_table_goes_through_every_format_and_comes_back() {
    let setting = Setting::new();
    setting.file("table.csv", TABLE);
    for between in ["a.tsv", "a.arrow"] {
        setting.convert("table.csv", between, &[]);
        let back = text(&setting.convert(between, "back.csv", &["--force"]));
        assert_eq!(back, "x,y,z\n1,2.5,-3\n4,,6\n7,0.008,9\n", "{between}");
    }
    setting.convert("table.csv", "a.npy", &[]);
    let back = text(&setting.convert("a.npy", "back.csv", &["--force", "--decimals", "3"]));
    assert_eq!(back, "1.000,2.500,-3.000\n4.000,nan,6.000\n7.000,0.008,9.000\n");
}

#[test]
fn a_symmetric_matrix_is_expanded_unless_told_otherwise() {
    let setting = Setting::new();
    let head = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n";
    setting.file("half.mtx", &format!("{head}3 1 5\n"));
    let whole = setting.convert("half.mtx", "whole.mtx", &[]);
    assert_eq!(entries(&whole), [(3, 1, 5.0), (1, 3, -5.0)]);
    let half = setting.convert("half.mtx", "kept.mtx", &["--symmetric", "keep"]);
    assert_eq!(text(&half), format!("{head}3 1 5\n"));
    let error = setting.refused("half.mtx", "half.npz", &["--symmetric", "keep"]);
    assert!(error.contains("symmetric"), "{error}");
}

#[test]
fn duplicates_are_summed_and_rows_sorted_if_asked_for() {
    let setting = Setting::new();
    setting.file("twice.el", "2 1 0.5\n0 1 1\n2 1 0.25\n");
    let summed = setting.convert("twice.el", "summed.mtx", &["--duplicates", "sum"]);
    assert_eq!(entries(&summed), [(1, 2, 1.0), (3, 2, 0.75)]);
    let one = setting.convert("twice.el", "one.mtx", &["--base", "0", "--sort"]);
    assert_eq!(entries(&one), [(1, 2, 1.0), (3, 2, 0.5), (3, 2, 0.25)]);
}

#[test]
fn what_cannot_be_converted_is_2_with_the_line_and_leaves_nothing() {
    let setting = Setting::new();
    setting.file("bad.mtx", &GRAPH.replace("2 3 0.1", "2 3 0.x"));
    let error = setting.refused("bad.mtx", "bad.npz", &["--force"]);
    assert!(error.contains("line 7") && error.contains("0.x"), "{error}");
    setting.file("graph.mtx", GRAPH);
    let error = setting.refused("graph.mtx", "graph.npy", &["--force"]);
    assert!(error.contains("sparse"), "{error}");
    let error = setting.refused("graph.mtx", "graph.unknown", &["--force"]);
    assert!(error.contains("--to"), "{error}");
    setting.file("gaps.csv", TABLE);
    let error = setting.refused("gaps.csv", "gaps.mtx", &["--force"]);
    assert!(error.contains("column 2"), "{error}");
    setting.file("there.npz", "old");
    let error = setting.refused("graph.mtx", "there.npz", &[]);
    assert!(error.contains("--force"), "{error}");
    assert_eq!(text(&setting.path("there.npz")), "old");
    let error = setting.refused("graph.mtx", "graph.mtx", &[]);
    assert!(error.contains("it is the input"), "{error}");
    let error = setting.refused("missing.mtx", "out.npz", &["--force"]);
    assert!(error.contains("missing.mtx"), "{error}");
    setting.file("not.npz", "PK\x03\x04 and nothing else");
    let error = setting.refused("not.npz", "not.mtx", &["--force"]);
    assert!(error.contains("not.npz"), "{error}");
}

#[test]
fn info_says_what_files_hold() {
    let setting = Setting::new();
    let graph = setting.file("graph.mtx", GRAPH);
    let table = setting.file("table.csv", TABLE);
    setting.convert("graph.mtx", "a.npz", &[]);
    setting.convert("table.csv", "a.npy", &[]);
    let (npz, npy) = (setting.path("a.npz"), setting.path("a.npy"));
    let contracts = setting.path("options.txt");
    let made = run(["gen", "options", "3", "-o", word(&contracts)]);
    assert_eq!(code(&made), 0, "{made:?}");
    let paths = [&graph, &table, &npz, &npy, &contracts].map(|path| word(path));
    let output = run(["info", "--json"].iter().chain(&paths));
    assert_eq!(code(&output), 0, "{output:?}");
    let facts: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(facts[0]["kind"], "Matrix Market");
    assert_eq!((&facts[0]["rows"], &facts[0]["columns"]), (&3.into(), &4.into()));
    assert_eq!((&facts[0]["entries"], &facts[0]["field"]), (&4.into(), &"real".into()));
    assert_eq!((&facts[1]["rows"], &facts[1]["names"][2]), (&3.into(), &"z".into()));
    assert_eq!(
        (&facts[2]["kind"], &facts[2]["entries"]),
        (&"compressed rows".into(), &4.into())
    );
    assert_eq!((&facts[3]["type"], &facts[3]["shape"][1]), (&"<f8".into(), &3.into()));
    assert_eq!(
        (&facts[4]["kind"], &facts[4]["contracts"]),
        (&"option contracts".into(), &3.into())
    );
    let missing = run(["info", word(&graph), word(&setting.path("missing"))]);
    assert_eq!(code(&missing), 1, "{missing:?}");
    assert!(stderr(&missing).contains("missing"), "{missing:?}");
}

#[test]
fn info_lists_the_tensors_of_a_file_and_of_an_index() {
    let setting = Setting::new();
    let header = r#"{"__metadata__":{"format":"pt"},"a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"\u001bb":{"dtype":"U8","shape":[],"data_offsets":[24,25]}}"#;
    let data = [b'x'; 25];
    let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat();
    let made = |name: &str, bytes: &[u8]| {
        let path = setting.path(name);
        fs::write(&path, bytes).expect("written");
        path
    };
    let (named, plain) = (made("model.safetensors", &file), made("plain", &file));
    let index = r#"{"weight_map":{"a.weight":"model.safetensors"}}"#;
    let index = setting.file("model.safetensors.index.json", index);
    let output = run(["info", "--json", word(&named), word(&plain), word(&index)]);
    assert_eq!(code(&output), 0, "{output:?}");
    let facts: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(facts.len(), 3);
    for facts in &facts {
        assert_eq!((&facts["kind"], &facts["count"]), (&"tensors".into(), &2.into()));
        assert_eq!(
            (&facts["data_bytes"], &facts["metadata"]["format"]),
            (&25.into(), &"pt".into())
        );
        let tensor = &facts["tensors"][0];
        assert_eq!((&tensor["name"], &tensor["dtype"]), (&"a.weight".into(), &"F32".into()));
        assert_eq!((&tensor["shape"][1], &tensor["bytes"]), (&3.into(), &24.into()));
        assert_eq!(tensor["offset_bytes"], 8 + header.len());
    }
    assert_eq!(facts[2]["tensors"][1]["shard"], "model.safetensors");
    let output = run(["info", word(&named)]);
    let text = stdout(&output);
    assert!(text.contains("a.weight: F32 [2, 3], 24 bytes"), "{text}");
    assert!(text.contains(r"\u{1b}b: U8 [], 1 byte"), "nothing that a terminal obeys: {text}");
    let cut = made("cut.safetensors", &file[..file.len() - 1]);
    let output = run(["info", word(&cut)]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("the tensors end at byte"), "{output:?}");
}

#[test]
fn a_generated_graph_is_the_same_at_every_worker_count() {
    let setting = Setting::new();
    let made = |name: &str, workers: &str| {
        let path = setting.path(name);
        let words = ["gen", "mtx", "--scale", "9", "--seed", "5", "-o", word(&path)];
        let output = run(words.iter().chain(&["--workers", workers]));
        assert_eq!(code(&output), 0, "{output:?}");
        text(&path)
    };
    let one = made("one.mtx", "1");
    assert_eq!(one, made("three.mtx", "3"));
    assert!(one.contains("\n512 512 8192\n"), "{}", &one[..100]);
}

#[test]
fn a_banner_is_believed_before_a_name() {
    let setting = Setting::new();
    const TEXT: &str = "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n2 1 5\n";
    for name in ["a.txt", "a.el", "a.wel"] {
        setting.file(name, TEXT);
        let back = setting.convert(name, "back.mtx", &["--force"]);
        assert_eq!(entries(&back), [(2, 1, 5.0), (1, 2, 5.0)], "{name}");
    }
    let refused = setting.refused("a.txt", "b.mtx", &["--from", "edges"]);
    assert!(refused.contains("a Matrix Market file"), "{refused}");
}

#[test]
fn a_flag_that_would_do_nothing_is_refused() {
    let setting = Setting::new();
    setting.file("graph.mtx", GRAPH);
    setting.file("listed.csv", "row,column,value\n1,1,2\n0,0,1\n1,1,5\n");
    setting.convert("graph.mtx", "rows.npz", &[]);
    for (from, to, flags) in [
        ("listed.csv", "a.mtx", ["--duplicates", "sum"].as_slice()),
        ("listed.csv", "a.mtx", &["--sort"]),
        ("rows.npz", "a.mtx", &["--values", "none"]),
        ("rows.npz", "a.csv", &["--symmetric", "keep"]),
        ("graph.mtx", "a.mtx", &["--decimals", "2"]),
        ("graph.mtx", "a.npz", &["--base", "1"]),
        ("graph.mtx", "a.csv", &["--header", "no"]),
        ("rows.npz", "a.csv", &["--delimiter", ";"]),
    ] {
        let refused = setting.refused(from, to, flags);
        assert!(refused.contains(&format!("with {}: it is for", flags[0])), "{refused}");
    }
}

#[test]
fn an_integer_that_no_double_is_stays_one_or_is_refused() {
    let setting = Setting::new();
    setting.file("long.csv", "a,b\n9007199254740993,1\n2,2\n");
    setting.convert("long.csv", "long.arrow", &[]);
    let back = setting.convert("long.arrow", "back.csv", &[]);
    assert_eq!(text(&back), "a,b\n9007199254740993,1\n2,2\n");
    // Beside a fraction, what is not zero are doubles.
    setting.file("mixed.csv", "a,b\n9007199254740993,1.5\n");
    for (from, to) in [
        ("long.arrow", "a.npy"),
        ("long.csv", "a.npy"),
        ("mixed.csv", "a.npy"),
        ("mixed.csv", "a.mtx"),
        ("mixed.csv", "a.npz"),
    ] {
        let refused = setting.refused(from, to, &[]);
        assert!(refused.contains("9007199254740993"), "{refused}");
        let reasons = ["no double is that number", "no value of type f64 is this whole number"];
        assert!(reasons.iter().any(|reason| refused.contains(reason)), "{refused}");
    }
    // Beyond 2^53 some are.
    setting.file("power.csv", "a,b\n1152921504606846976,1e300\n-9007199254740994,0.5\n");
    setting.convert("power.csv", "power.npy", &[]);
}

#[test]
fn the_first_line_tells_what_stands_between_numbers() {
    let setting = Setting::new();
    for (name, flags) in [
        ("a;b\n1;2\n", [].as_slice()),
        ("a\tb\n1\t2\n", &[]),
        ("a:b\n1:2\n", &["--delimiter", ":"]),
        ("a||b\n1||2\n", &["--delimiter", "||"]),
        ("a\t\tb\n1\t\t2\n", &["--delimiter", "\\t\\t"]),
        ("a§b\n1§2\n", &["--delimiter", "§"]),
        ("  a   b\n  1   2\n", &[]),
        ("a b \n1\t 2 \n", &["--delimiter", "blanks"]),
    ] {
        setting.file("other.csv", name);
        let plain = setting.convert("other.csv", "plain.csv", &[flags, &["--force"]].concat());
        assert_eq!(text(&plain), "a,b\n1,2\n", "{name:?}");
    }
    for odd in ["5", "ab", ""] {
        let (from, to) = (setting.path("other.csv"), setting.path("odd.csv"));
        let output = run(["convert", word(&from), word(&to), "--delimiter", odd]);
        assert_eq!(code(&output), 2, "{output:?}");
        assert!(stderr(&output).contains("one ASCII character"), "{output:?}");
    }
}

#[test]
fn lines_that_end_with_carriage_returns_alone_are_refused() {
    let setting = Setting::new();
    setting.file("old.csv", "x\r1\r2\r3\r");
    let told = setting.refused("old.csv", "new.npy", &["--force"]);
    assert!(told.contains("on line 1 at byte 1: a carriage return inside a line"), "{told}");
    let output = run(["info", word(&setting.path("old.csv"))]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("try: end lines with newlines: tr"), "{output:?}");
}

#[test]
fn some_columns_of_a_table_with_text_are_converted() {
    let setting = Setting::new();
    setting.file("people.csv", "id,name,score\n1,\"Smith, J.\",2.5\n2,José,NULL\n");
    let told = setting.refused("people.csv", "a.npy", &["--force"]);
    assert!(
        told.contains(
            "on line 2 at byte 16: not a value of type f64 in column `name`: `\"Smith, J.\"`"
        ),
        "{told}"
    );
    assert!(told.contains("try: select columns of numbers with --columns"), "{told}");
    setting.convert("people.csv", "a.npy", &["--columns", "score", "--force"]);
    let typed = setting.convert("people.csv", "a.csv", &["--columns", "score"]);
    assert_eq!(text(&typed), "score\n2.5\nNA\n");
    let flags = ["--columns", "score,0", "--missing-words", "NULL,-"];
    let plain = setting.convert("people.csv", "plain.csv", &flags);
    assert_eq!(text(&plain), "score,id\n2.5,1\n,2\n");
}

#[test]
fn compressed_text_is_converted_as_it_is() {
    let setting = Setting::new();
    for (name, text) in [("graph.mtx", GRAPH), ("edges.el", "0 1\n1 2\n"), ("table.csv", TABLE)]
    {
        let (plain, packed) = (setting.file(name, text), setting.path(&format!("{name}.gz")));
        let output = run(["compress", word(&plain), word(&packed)]);
        assert_eq!(code(&output), 0, "{output:?}");
        let end = if name == "table.csv" { "csv" } else { "mtx" };
        let to = |of: &str| format!("{name}.{of}.{end}");
        let wanted = setting.convert(name, &to("plain"), &[]);
        let got = setting.convert(&format!("{name}.gz"), &to("packed"), &[]);
        assert_eq!(fs::read(got).expect("there"), fs::read(wanted).expect("there"), "{name}");
        let output = run(["info", "--json", word(&packed)]);
        let facts: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(facts["kind"], "compressed", "{facts}");
    }
    let told = setting.refused("table.csv", "new.npy.gz", &["--force"]);
    assert!(told.contains("cannot tell the format of the output"), "{told}");
    let output = run(["info", "--format", "csv", word(&setting.path("table.csv.gz"))]);
    assert!(stdout(&output).contains("rows: 3"), "{output:?}");
}

#[test]
fn text_that_decompresses_to_more_than_there_is_memory_for_is_refused() {
    // A block of a zstd frame that stands for 128 KiB of one byte; 1 GiB of them, on one line.
    const RUN: u32 = (128 << 10) << 3 | 1 << 1;
    let setting = Setting::new();
    let block = [RUN.to_le_bytes()[..3].to_vec(), b"1".to_vec()].concat();
    let bomb = [b"\x28\xb5\x2f\xfd\x00\x38".to_vec(), block.repeat(8 << 10)].concat();
    let path = setting.path("bomb.csv.zst");
    fs::write(&path, [bomb, vec![1, 0, 0]].concat()).expect("room");
    let script = r#"ulimit -v 700000; exec "$0" convert "$1" "$2""#;
    let to = setting.path("a.npy");
    let output = shell(script, &[path.as_os_str(), to.as_os_str()]);
    assert_eq!(code(&output), 2, "{output:?}");
    let told = stderr(&output);
    assert!(told.contains("bomb.csv.zst") && told.contains("memory"), "{told}");
}

#[test]
fn a_text_that_is_no_list_of_edges_says_that_its_name_was_believed() {
    let setting = Setting::new();
    let path = setting.file("notes.txt", "hello\n");
    let output = run(["info", word(&path)]);
    let told = stderr(&output);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(told.contains("a name that ends in .txt is taken for a list of edges"), "{told}");
    assert!(told.contains("try: pass --format csv for a table, or use `swath scan`"), "{told}");
    let path = setting.file("tried.txt", "1 2; try: x\n");
    let told = stderr(&run(["info", word(&path)]));
    assert!(
        told.contains("`1 2; try: x`: a name that"),
        "the text may look like a hint: {told}"
    );
    let edges = setting.file("edges.txt", "0 1\n1 2\n");
    assert!(stdout(&run(["info", word(&edges)])).contains("edge list"));
    // What becomes a table is read as `head` reads it.
    for (name, wanted) in [("notes.txt", "hello\n"), ("edges.txt", "0,1\n1,2\n")] {
        setting.convert(name, "table.csv", &["--force", "--header", "no"]);
        assert_eq!(text(&setting.path("table.csv")), wanted);
    }
    assert_eq!(entries(&setting.convert("edges.txt", "a.mtx", &[])).len(), 2);
}

#[test]
fn columns_that_spaces_align_are_counted_as_they_are_read() {
    let setting = Setting::new();
    let path = setting.file("aligned.csv", "   1.000    2.000\n  10.500   -3.250\n");
    let output = run(["info", "--json", word(&path)]);
    let facts: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&facts["rows"], &facts["columns"]), (&2.into(), &2.into()), "{facts}");
    let plain = setting.convert("aligned.csv", "plain.csv", &[]);
    assert_eq!(text(&plain), "1.0,2.0\n10.5,-3.25\n");
}

#[test]
fn a_matrix_without_entries_comes_back_and_a_stream_needs_its_format() {
    let setting = Setting::new();
    setting.file("none.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n");
    setting.convert("none.mtx", "none.csv", &[]);
    let back = setting.convert("none.csv", "back.mtx", &[]);
    assert!(text(&back).ends_with("\n0 0 0\n"), "{}", text(&back));
    let output = run_with_input(&["convert", "-", "-o", "a.csv"], b"1 2\n");
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("input: standard input has no name; try: pass --from"));
    let output = run(["convert", word(&back), "-"]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("output: standard output has no name; try: pass --to"));
    assert!(!Path::new("-").exists());
}

#[test]
fn streams_are_converted_as_files_are() {
    let setting = Setting::new();
    let graph = setting.file("graph.mtx", GRAPH);
    for to in ["npz", "csv", "arrow", "edges", "mtx"] {
        let name = if to == "edges" { "a.el".to_owned() } else { format!("a.{to}") };
        let wanted = fs::read(setting.convert("graph.mtx", &name, &[])).expect("there");
        let piped = run_with_input(&["convert", "--to", to], GRAPH.as_bytes());
        assert_eq!(code(&piped), 0, "{to}: {piped:?}");
        assert!(piped.stdout == wanted, "{to}");
        let written = run(["convert", word(&graph), "-", "--to", to]);
        assert!(written.stdout == wanted, "{to}: {}", stderr(&written));
    }
    // By their first bytes, or by the flag.
    let npz = fs::read(setting.path("a.npz")).expect("there");
    let back = run_with_input(&["convert", "--to", "mtx"], &npz);
    assert_eq!(code(&back), 0, "{back:?}");
    assert!(stdout(&back).ends_with("2 3 0.1\n3 4 0.5\n"), "{}", stdout(&back));
    let table = run_with_input(&["convert", "--from", "csv", "--to", "tsv"], TABLE.as_bytes());
    assert!(stdout(&table).starts_with("x\ty\tz\n1\t2.5\t-3\n"), "{table:?}");
    let facts = run_with_input(&["info", "--json"], GRAPH.as_bytes());
    let facts: Value = serde_json::from_str(&stdout(&facts)).expect("JSON");
    assert_eq!((&facts["kind"], &facts["path"]), (&"Matrix Market".into(), &"-".into()));
    assert_eq!(facts["bytes"], GRAPH.len());
}

#[test]
fn gaps_of_columns_with_types_do_not_become_numbers() {
    let setting = Setting::new();
    setting.file("gaps.csv", "a,b\n1,2.5\n,3\n");
    setting.convert("gaps.csv", "gaps.arrow", &[]);
    let told = setting.refused("gaps.arrow", "a.npy", &[]);
    assert!(told.contains("values of column `a` are missing"), "{told}");
    let npy = setting.convert("gaps.csv", "gaps.npy", &[]);
    assert!(npy.exists(), "text has no type, and NaN is what numpy makes of a gap");
}

#[test]
fn singles_are_the_shortest_text_in_every_format() {
    let setting = Setting::new();
    setting.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.1\n");
    let singles = ["--values", "f32"];
    assert_eq!(
        text(&setting.convert("a.mtx", "a.csv", &singles)),
        "row,column,value\n0,0,0.1\n"
    );
    setting.file("b.csv", "x\n0.1\n");
    setting.convert("b.csv", "b.arrow", &["--dtypes", "x=f32"]);
    // A header of NumPy, and 0.1.
    let head =
        format!("{:<117}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }");
    let npy = [b"\x93NUMPY\x01\x00\x76\x00", head.as_bytes(), &0.1_f32.to_le_bytes()].concat();
    fs::write(setting.path("c.npy"), npy).expect("written");
    for (from, names) in [("b.arrow", "x"), ("c.npy", "column_1")] {
        for (to, name) in [("out.csv", names), ("out.tsv", names), ("out.jsonl", names)] {
            let made = text(&setting.convert(from, to, &["--force"]));
            let row = if to == "out.jsonl" {
                format!("{{\"{name}\":0.1}}\n")
            } else {
                "0.1\n".into()
            };
            assert!(made.ends_with(&row) && !made.contains("0.10"), "{from} to {to}: {made}");
        }
        let quoted = text(&setting.convert(from, "out.csv", &["--force", "--quoting", "all"]));
        assert!(quoted.ends_with("\"0.1\"\n"), "{quoted}");
    }
}

#[test]
fn names_of_archives_say_what_to_do_first() {
    let setting = Setting::new();
    for (name, hint) in [("t.csv.xz", "xz -d"), ("t.zip", "unzip")] {
        setting.file(name, "anything");
        let told = setting.refused(name, "a.npy", &[]);
        assert!(told.contains("cannot tell the format") && told.contains(hint), "{told}");
    }
}

/// A link that a neighbour puts there while the input is read is not followed.
#[test]
fn an_output_whose_path_leads_elsewhere_once_the_input_is_read_is_refused() {
    for to in ["arrow", "csv", "npz"] {
        let setting = Setting::new();
        let (out, secret) = (setting.path("out"), setting.file("secret", "private"));
        let from = if to == "npz" { "mtx" } else { "csv" };
        let text = if to == "npz" { GRAPH } else { TABLE };
        let mut command = crate::child::swath();
        command.args(["convert", "-", "--from", from, "--to", to, "--force", "-o", word(&out)]);
        command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut input = child.stdin.take().expect("it is piped");
        // More than a pipe holds: once it is taken, the command is reading.
        let (head, rest) = text.split_once('\n').expect("a first line");
        let more = if from == "mtx" { "% a comment\n".repeat(20_000) } else { String::new() };
        let rows = if from == "csv" { "1,2,3\n".repeat(40_000) } else { String::new() };
        let begun = format!("{head}\n{more}{rows}");
        std::io::Write::write_all(&mut input, begun.as_bytes()).expect("it reads");
        std::os::unix::fs::symlink(&secret, &out).expect("linked");
        std::io::Write::write_all(&mut input, rest.as_bytes()).expect("it reads");
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        let said = stderr(&output);
        assert_eq!(code(&output), 2, "{to}: {said}");
        assert!(said.contains("; try: "), "{to}: {said}");
        assert_eq!(fs::read_to_string(&secret).expect("there"), "private", "{to}");
    }
}

/// Another program can put both there.
#[test]
fn neither_a_file_named_as_a_pattern_nor_a_manifest_hides_the_tables_of_a_folder() {
    let setting = Setting::new();
    let folder = setting.path("days");
    for name in ["d1.csv", "d2.csv"] {
        fs::create_dir_all(&folder).expect("room");
        fs::write(folder.join(name), "a\n1\n").expect("room");
    }
    let pattern = folder.join("*.csv");
    let run_on = |input: &Path, out: &str| {
        run(["convert", word(input), "--from", "csv", "-o", word(&setting.path(out))])
    };
    assert_eq!(code(&run_on(&pattern, "all.csv")), 0);
    assert_eq!(fs::read_to_string(setting.path("all.csv")).expect("there"), "a\n1\n1\n");
    fs::write(&pattern, "a\n666\n").expect("room");
    assert_eq!(code(&run(["head", word(&pattern)])), 2);
    let output = run_on(&pattern, "none.csv");
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("a pattern that matches 2 others; try: "), "{output:?}");
    let one = folder.join("d?.csv");
    fs::write(&one, "a\n666\n").expect("room");
    assert_eq!(code(&run_on(&one, "none.csv")), 2);
    fs::remove_file(&one).expect("mine");
    // A name that is not a pattern, and the brackets of the advice.
    let open = folder.join("d[1.csv");
    fs::write(&open, "a\n666\n").expect("room");
    assert_eq!(code(&run_on(&open, "open.csv")), 0);
    assert_eq!(code(&run_on(&folder.join("d[[]1.csv"), "brackets.csv")), 0);
    fs::remove_file(&open).expect("mine");
    // The star itself, by a pattern, and a pattern that matches nothing else.
    assert_eq!(code(&run_on(&folder.join("[*].csv"), "star.csv")), 0);
    fs::rename(&pattern, folder.join("*.tsv")).expect("mine");
    assert_eq!(code(&run_on(&folder.join("*.tsv"), "alone.csv")), 0);
    fs::remove_file(folder.join("*.tsv")).expect("mine");

    let segments = setting.path("segments");
    let made =
        run(["study", "fib", "3", word(&segments), "--bytes", "10", "--mode", "segments"]);
    assert_eq!(code(&made), 0, "{made:?}");
    for entry in fs::read_dir(&segments).expect("a folder") {
        let entry = entry.expect("listed");
        fs::copy(entry.path(), folder.join(entry.file_name())).expect("room");
    }
    let output = run_on(&folder, "segments.csv");
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("it has a MANIFEST of segments"), "{output:?}");
    assert!(!setting.path("segments.csv").exists());
}
