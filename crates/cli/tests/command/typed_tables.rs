//! Tables with text, dates and booleans are shown, described and converted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use swath_reference::battery::BatterySize;

use crate::child::{code, run, run_with_input, shell, stderr, stdout, swath, word};

const PEOPLE: &str = "id,name,born,zip,score,ok\n\
    1,Ann,1980-02-29,01234,1.5,true\n\
    2,\"Bob, Jr.\",,99999,,false\n\
    3,Zoë 日本語,2001-01-01,00001,-7,\n";

struct Setting(tempfile::TempDir);

impl Setting {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn with(files: &[(&str, &[u8])]) -> Self {
        let setting = Self::new();
        for (name, bytes) in files {
            fs::write(setting.path(name), bytes).expect("room");
        }
        setting
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, line: &str) -> Output {
        let words = line.split(' ').filter(|word| !word.is_empty());
        let output = swath().args(words).current_dir(self.0.path()).output();
        output.expect("it starts")
    }

    /// Returns the output of a line that succeeds without a complaint.
    fn printed(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!((code(&output), stderr(&output)), (0, String::new()), "{line}");
        stdout(&output)
    }

    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.printed(line)).expect("JSON")
    }

    /// Returns the complaint about a line that is refused.
    fn refused(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!((code(&output), stdout(&output)), (2, String::new()), "{line}");
        let told = stderr(&output);
        assert!(told.starts_with("swath: ") && !told.contains("panicked"), "{line}: {told}");
        told
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("text")
}

#[test]
fn head_shows_names_types_and_the_first_rows() {
    let setting = Setting::with(&[("people.csv", PEOPLE.as_bytes())]);
    let wanted = [
        " id  name        born        zip    score  ok",
        "i64  text        date        text     f64  bool",
        "  1  Ann         1980-02-29  01234    1.5  true",
        "  2  Bob, Jr.    –           99999      –  false",
        "  3  Zoë 日本語  2001-01-01  00001   -7.0  –",
        "",
    ];
    assert_eq!(setting.printed("head people.csv"), wanted.join("\n"));
    let two = setting.printed("head -n 1 --columns zip,0 people.csv");
    assert_eq!(two, "zip     id\ntext   i64\n01234    1\n");
    let none = setting.printed("head --rows 0 --columns name people.csv");
    assert_eq!(none, "name\nnull\n");
    let json = setting.json("head --json -n 2 people.csv");
    assert_eq!((&json["rows"], &json["columns"]), (&2.into(), &6.into()));
    assert_eq!(json["fields"][3], serde_json::json!({"name": "zip", "type": "text"}));
    let rows = serde_json::json!([
        [1, "Ann", "1980-02-29", "01234", 1.5, true],
        [2, "Bob, Jr.", null, "99999", null, false]
    ]);
    assert_eq!(json["first_rows"], rows);
}

#[test]
fn head_takes_pipes_compressed_text_and_arrow() {
    let setting = Setting::with(&[("people.csv", PEOPLE.as_bytes())]);
    let wanted = setting.printed("head people.csv");
    let piped = run_with_input(&["head"], PEOPLE.as_bytes());
    assert_eq!((code(&piped), stdout(&piped)), (0, wanted.clone()), "{piped:?}");
    setting.printed("compress --format gzip people.csv people.csv.gz");
    assert_eq!(setting.printed("head people.csv.gz"), wanted);
    let packed = fs::read(setting.path("people.csv.gz")).expect("there");
    assert_eq!(stdout(&run_with_input(&["head", "-"], &packed)), wanted);
    for name in ["people.arrow", "people.arrows"] {
        setting.printed(&format!("convert people.csv {name}"));
        let shown = setting.printed(&format!("head -n 2 {name}"));
        let lines: Vec<&str> = shown.lines().collect();
        let rows: Vec<&str> = wanted.lines().collect();
        assert_eq!((lines.len(), lines[0].trim_end()), (4, lines[0]), "{shown}");
        assert!(lines[1].contains("text") && lines[3].contains("Bob, Jr."), "{shown}");
        assert_eq!(lines[2].split_whitespace().last(), rows[2].split_whitespace().last());
        let refused = setting.refused(&format!("head --delimiter ; {name}"));
        assert!(refused.contains("--delimiter") && refused.contains("Arrow"), "{refused}");
    }
    // A pipe that never ends.
    let endless = shell("yes '1,abc' | \"$0\" head -n 1", &[]);
    assert_eq!(stdout(&endless).lines().nth(2), Some("       1  abc"), "{endless:?}");
    let endless = shell("yes '1,abc' | gzip -1 | \"$0\" head -n 1 --header no", &[]);
    assert_eq!(stdout(&endless).lines().nth(2), Some("       1  abc"), "{endless:?}");
}

#[test]
fn files_of_a_folder_or_a_pattern_are_shown_and_described() {
    let setting = Setting::new();
    fs::create_dir(setting.path("days")).expect("made");
    for (name, text) in [("day-9.csv", "n,t\n1,a\n"), ("day-10.csv", "n,t\n2,b\n3,c\n")] {
        fs::write(setting.path("days").join(name), text).expect("room");
    }
    for given in ["days", "days/*.csv", "days/day-{9,10}.csv"] {
        let rows = serde_json::json!([[1, "a"], [2, "b"], [3, "c"]]);
        assert_eq!(
            setting.json(&format!("head --json {given}"))["first_rows"],
            rows,
            "{given}"
        );
        let first = setting.json(&format!("head --json -n 1 {given}"));
        assert_eq!(first["first_rows"], serde_json::json!([[1, "a"]]), "{given}");
        let lines = setting.printed(&format!("info --json {given}"));
        let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let rows: Vec<Value> = rows.map(|it| it["rows"].clone()).collect();
        assert_eq!(rows, [1, 2], "{given}");
    }
    for (name, kind) in [("days.arrow", "i64"), ("days.arrows", "i64")] {
        setting.printed(&format!("convert days {name}"));
        assert_eq!(setting.json(&format!("info --json {name}"))["types"][0], kind);
    }
    fs::create_dir(setting.path("arrow")).expect("made");
    for name in ["day-9", "day-10"] {
        setting.printed(&format!("convert days/{name}.csv arrow/{name}.arrow"));
    }
    let rows = serde_json::json!([[1, "a"], [2, "b"]]);
    assert_eq!(setting.json("head --json -n 2 arrow")["first_rows"], rows);
    fs::write(setting.path("other.csv"), "other\n1\n").expect("room");
    setting.printed("convert other.csv arrow/day-11.arrow --dtypes other=i8");
    assert!(setting.refused("head arrow").contains("day-11.arrow with arrow/day-9.arrow"));
    fs::write(setting.path("days/day-11.csv"), "other\n1\n").expect("room");
    assert!(setting.refused("head days").contains("day-11.csv"));
    assert!(setting.refused("head none-*.csv").contains("no file matches"));
    // Rows of a file that cannot be read are not left out.
    std::os::unix::fs::symlink("gone.csv", setting.path("days/day-12.csv")).expect("made");
    for refused in ["head days", "convert days all.csv"].map(|words| setting.refused(words)) {
        assert!(refused.contains("days/day-12.csv") && refused.contains("link"), "{refused}");
    }
    fs::remove_file(setting.path("days/day-12.csv")).expect("ours");
    let socket = std::os::unix::net::UnixListener::bind(setting.path("days/day-12.csv"));
    if let Err(error) = socket {
        return swath_reference::skip("sockets", error);
    }
    for line in ["convert days all.csv", "convert days/*.csv all.csv", "head days/day-1?.csv"] {
        let refused = setting.refused(line);
        assert!(
            refused.contains("days/day-12.csv") && refused.contains("a socket"),
            "{refused}"
        );
    }
    setting.printed("head days/day-9*");
}

#[test]
fn comments_in_tables_of_numbers_are_none_in_others() {
    let setting = Setting::with(&[
        ("numbers.csv", b"# made by hand\nx,y\n1,2\n# more\n3,4\n"),
        ("texts.csv", b"tag,n\n#a,1\n#b,2\n"),
    ]);
    let numbers = setting.printed("head numbers.csv");
    assert_eq!(numbers, "  x    y\ni64  i64\n  1    2\n  3    4\n");
    let piped =
        run_with_input(&["head"], &fs::read(setting.path("numbers.csv")).expect("there"));
    assert_eq!(stdout(&piped), numbers);
    assert_eq!(setting.json("info --json numbers.csv")["rows"], 2);
    assert_eq!(setting.json("info --json texts.csv")["rows"], 2);
    assert!(setting.printed("head texts.csv").contains("#a"));
}

#[test]
fn no_line_is_wider_than_the_terminal_and_nothing_changes_it() {
    let long = "word ".repeat(40);
    let names: Vec<String> = (0..30).map(|at| format!("column {at}")).collect();
    let row = |value: &str| vec![value; 30].join(",");
    let wide = format!("{}\n{}\n{}\n", names.join(","), row(&long), row("日本語"));
    let odd = "\"a\nb\",\u{1b}[31mred,\u{202e}x\n\"1\n2\",\u{7},3\n";
    let setting = Setting::with(&[("wide.csv", wide.as_bytes()), ("odd.csv", odd.as_bytes())]);
    for line in ["head wide.csv", "info wide.csv", "head odd.csv", "info odd.csv"] {
        let printed = setting.printed(line);
        for line in printed.lines() {
            let width = unicode_width::UnicodeWidthStr::width(line);
            assert!(width <= 80, "{width}: {line}");
        }
        let is_odd = |sign: char| sign != '\n' && (sign.is_control() || sign == '\u{202e}');
        assert!(!printed.contains(is_odd), "{printed:?}");
    }
    assert!(setting.printed("head wide.csv").contains("more columns: column"));
    let shown = setting.printed("head odd.csv");
    assert!(shown.contains("a\\nb") && shown.contains("\\u{1b}[31mred"), "{shown}");
    for width in [20, 33, 120] {
        let line = format!("stty cols {width}; {} head wide.csv", env!("CARGO_BIN_EXE_swath"));
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(setting.0.path());
        let Ok(output) = script.stdin(Stdio::null()).output() else {
            return swath_reference::skip("script", "it cannot be started");
        };
        let shown = stdout(&output);
        let widths =
            shown.lines().map(|it| unicode_width::UnicodeWidthStr::width(it.trim_end()));
        let widest = widths.max().unwrap_or(0);
        assert!(widest <= width && widest + 12 > width, "{widest} of {width}: {shown}");
    }
}

#[test]
fn what_is_no_table_is_refused_with_what_to_try() {
    let binary = b"\x7fELF\x02\x01\0\0\0\0\0\0\xff\xfe".repeat(50);
    let setting = Setting::with(&[
        ("empty", b""),
        ("blank", b"\n\n"),
        ("binary", &binary),
        ("ragged.csv", b"a,b\n1,2\n3\n"),
        ("open.csv", b"a,b\n1,\"2\n3,4\n"),
        ("latin.csv", b"a,b\nK\xf6ln,1\n"),
        ("nul.csv", b"a,b\nK\xf6\0n,1\n"),
        ("sheet.xlsx", b"PK\x03\x04rest of an archive"),
        ("mac.csv", b"a,b\r1,2\r"),
    ]);
    fs::create_dir(setting.path("none")).expect("made");
    for (line, wanted) in [
        ("head empty", "it has no records"),
        ("head blank", "it has no records"),
        ("head none", "there is no file in this folder"),
        ("head missing", "try: check the path"),
        ("head binary", "it is not text; try: run `swath info`"),
        ("head nul.csv", "it is not text; try: run `swath info`"),
        ("head ragged.csv", "on line 3 at byte 8: 1 field where 2 are expected"),
        ("head open.csv", "on line 2 at byte 6: a quote opens here and is never closed"),
        ("head latin.csv", "on line 2 at byte 4"),
        ("head sheet.xlsx", "zip archive"),
        ("head mac.csv", "carriage return"),
        ("head --columns c ragged.csv", "`c`"),
        ("head --dtypes c=i64 ragged.csv", "`c`"),
        ("head --comment , --decimal , ragged.csv", "decimal point"),
        ("head --delimiter . ragged.csv", "decimal point"),
        ("head /dev/zero", "this is a device, and its data may never end"),
    ] {
        let told = setting.refused(line);
        assert!(told.contains(wanted), "{line}: {told}");
    }
    assert!(setting.printed("head --encoding latin-1 latin.csv").contains("Köln"));
    assert!(
        setting
            .printed("info --encoding ISO-8859-2 latin.csv")
            .contains("encoding: iso-8859-2")
    );
    let told = stderr(&setting.run("head --encoding ebcdic latin.csv"));
    assert!(told.contains("`ebcdic` is not an encoding; use utf-8, latin-1"), "{told}");
    let told = setting.refused("head latin.csv");
    assert!(told.contains("or replace such bytes with --encoding-errors"), "{told}");
    for (name, text) in [("latin.csv", "K\u{fffd}ln"), ("nul.csv", "K\u{fffd}\0n")] {
        let output = setting.run(&format!("head --json --encoding-errors replace {name}"));
        let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        assert_eq!((&json["replaced"], &json["first_rows"][0][0]), (&1.into(), &text.into()));
    }
    assert!(setting.printed("head --ragged pad ragged.csv").contains("  3    –"));
    assert_eq!(
        setting.printed("head --skip-footer 1 ragged.csv"),
        "  a    b\ni64  i64\n  1    2\n"
    );
    assert!(
        setting.printed("head --dtypes text,b=f32 --rows 1 ragged.csv").contains("text  f32")
    );
    assert!(
        stdout(&setting.run("head --fields 3 --ragged pad ragged.csv")).contains("column_3")
    );
    let drop = setting.run("head --fields 1 --ragged drop ragged.csv");
    assert_eq!(stdout(&drop), "  a\ni64\n  1\n  3\n");
    assert!(
        stderr(&drop).contains("ragged.csv: 1 line with more fields, which were dropped\n")
    );
    let aside = setting.run("head --ragged set-aside ragged.csv");
    assert_eq!(code(&aside), 0, "{aside:?}");
    assert!(stderr(&aside).contains(": 1 line with more or fewer fields left out: 3\n"));
}

#[test]
fn a_column_alone_needs_no_delimiter_and_no_newline_at_its_end() {
    let one = run_with_input(&["head"], b"name\nAnn\nBob");
    assert_eq!(stdout(&one), "name\ntext\nAnn\nBob\n");
}

#[test]
fn hints_name_flags_of_the_command() {
    let setting = Setting::with(&[
        ("late.csv", b"a,b\n1,2\nx,3\n"),
        ("ragged.csv", b"a,b\n1,2\n3\n"),
        ("latin.csv", b"a,b\nK\xf6ln,1\n"),
        ("nul.csv", b"a\0,b\n1,2\n"),
        ("r.csv", b"a,b\nx,1,2\n"),
    ]);
    for (line, wanted) in [
        (
            "head --dtypes a=i8 late.csv",
            "another type with --dtypes, or add the word to --null-values",
        ),
        ("head ragged.csv", "or set --ragged to pad or set aside such lines"),
        ("info latin.csv", "try: pass the encoding of the file with --encoding"),
        ("info nul.csv", "by its index with --rename"),
        ("head r.csv", "with --skip-rows and --header"),
    ] {
        let told = setting.refused(line);
        assert!(told.contains(wanted) && !told.contains("`types`"), "{line}: {told}");
    }
    let shown = setting.printed("head --rename 0=id nul.csv");
    assert!(shown.trim_start().starts_with("id"), "{shown}");
    let told = setting.refused("head --rename 0=b nul.csv");
    assert!(told.contains("two columns have the name `b`"), "{told}");
}

#[test]
fn a_nul_in_a_field_is_text_for_every_command() {
    let setting = Setting::with(&[("a.csv", b"name,n\nx\0y,1\n")]);
    setting.printed("convert a.csv b.csv");
    let shown = setting.json("head --json a.csv");
    assert_eq!(shown["first_rows"], serde_json::json!([["x\0y", 1]]));
    assert!(!setting.printed("head a.csv").contains('\0'));
    let shown = setting.json("info --json a.csv");
    assert_eq!(shown["fields"][0]["least"], "x\0y");
    let again = setting.json("head --json b.csv");
    assert_eq!(again["first_rows"], shown["first_rows"]);
}

#[test]
fn numbers_since_1970_are_times_if_the_format_says_so() {
    let setting = Setting::with(&[("e.csv", b"t\n1700000000001\n")]);
    let shown = setting.printed("head --formats t=epoch_ms e.csv");
    assert!(shown.contains("2023-11-14T22:13:20.001"), "{shown}");
    let told = setting.refused("head --dtypes t=timestamp[ms] e.csv");
    assert!(told.contains("as its format with --formats if it counts from 1970"), "{told}");
}

#[test]
fn lines_of_json_that_are_not_objects_are_described_as_text() {
    let setting =
        Setting::with(&[("a.jsonl", b"[1,2]\n[3]\n"), ("b.jsonl", b"{\"a\":1}\n[3]\n")]);
    let info = setting.printed("info a.jsonl");
    assert!(info.contains(": text, ") && info.contains("newlines: 2"), "{info}");
    let told = setting.refused("info --rows 5 a.jsonl");
    assert!(told.contains("an object is expected"), "{told}");
    assert!(setting.refused("info b.jsonl").contains("on line 2"));
    let info = setting.printed("info --ragged set-aside b.jsonl");
    assert!(info.contains("1 line without an object left out: 2"), "{info}");
    fs::write(setting.path("d.csv"), "x\ny\n").expect("room");
    fs::write(setting.path("c.jsonl"), "{\"x\":NaN}\n{\"x\":1}\n").expect("room");
    assert!(setting.refused("head c.jsonl").contains("try: set --json-nan to read"));
    assert!(setting.printed("head --json-nan c.jsonl").contains("nan"));
    let told = setting.refused("head --json-nan d.csv");
    assert!(told.contains("`json_nan` only has a meaning in JSON Lines"), "{told}");
}

#[test]
fn nested_json_lines_are_shown_and_converted_and_back() {
    let setting = Setting::new();
    let text = "{\"a\":{\"x\":1,\"y\":[\"p\",\"q\"]},\"b\":[1.5,null]}\n{\"a\":{\"x\":null,\"y\":[]},\"b\":null}\n";
    fs::write(setting.path("a.jsonl"), text).expect("room");
    let head = setting.printed("head --json-nested a.jsonl");
    assert!(head.contains("struct") && head.contains("list"), "{head}");
    assert!(head.contains("{\"x\":1,\"y\":[\"p\",\"q\"]}"), "{head}");
    let info = setting.printed("info --json-nested a.jsonl");
    assert!(info.contains("struct"), "{info}");
    setting.printed("convert --json-nested a.jsonl a.arrow");
    setting.printed("convert a.arrow b.jsonl");
    assert_eq!(fs::read_to_string(setting.path("b.jsonl")).expect("written"), text);
    let told = setting.refused("convert --json-nested a.jsonl a.csv");
    assert!(told.contains("which CSV cannot hold"), "{told}");
    setting.printed("convert a.jsonl a.csv");
    let csv = fs::read_to_string(setting.path("a.csv")).expect("written");
    assert!(csv.contains("\"{\"\"x\"\":1,"), "{csv}");
    assert!(setting.refused("head --json-nested a.arrow").contains("--json-nested"));
}

#[test]
fn a_sheet_in_utf_16_and_an_export_are_read_as_they_are_written() {
    let units: Vec<u8> =
        "Ort\tn\r\nKöln\t1\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let sheet = [b"\xff\xfe", &units[..]].concat();
    let export = b"Ort;Umsatz;Tag\nK\xf6ln;1.234,5;x\n";
    let setting = Setting::with(&[("sheet.csv", &sheet), ("export.csv", export)]);
    assert_eq!(setting.printed("head sheet.csv"), "Ort     n\ntext  i64\nKöln    1\n");
    let json = setting.json("info --json sheet.csv");
    assert_eq!((&json["encoding"], &json["delimiter"]), (&"utf-16le".into(), &"\\t".into()));
    let flags = "--delimiter ; --decimal , --thousands . --encoding latin-1";
    let shown = setting.json(&format!("head --json {flags} export.csv"));
    assert_eq!(shown["first_rows"], serde_json::json!([["Köln", 1234.5, "x"]]));
    setting.printed(&format!("convert {flags} export.csv clean.csv"));
    assert_eq!(text(&setting.path("clean.csv")), "Ort,Umsatz,Tag\nKöln,1234.5,x\n");
    setting.printed("convert sheet.csv clean.tsv");
    assert_eq!(text(&setting.path("clean.tsv")), "Ort\tn\nKöln\t1\n");
}

#[test]
fn info_describes_each_column_and_shows_the_first_rows() {
    let setting = Setting::with(&[("people.csv", PEOPLE.as_bytes())]);
    let wanted = [
        "people.csv: CSV, 144 bytes",
        "  rows: 3",
        "  columns: 6",
        "  delimiter: ,",
        "  header: 1 line",
        "  encoding: utf-8",
        "",
        "  column  type  missing  least       greatest    line",
        "  id      i64         0  1           3              2",
        "  name    text        0  Ann         Zoë 日本語     2",
        "  born    date        1  1980-02-29  2001-01-01     2",
        "  zip     text        0  00001       99999          2",
        "  score   f64         1  -7.0        1.5            2",
        "  ok      bool        1  false       true           2",
        "",
    ];
    let printed = setting.printed("info people.csv");
    let bytes = PEOPLE.len();
    assert_eq!(
        printed.lines().take(15).collect::<Vec<_>>().join("\n"),
        wanted.join("\n").replace("144 bytes", &format!("{bytes} bytes"))
    );
    let rows = setting.printed("head people.csv");
    let indented: String = rows.lines().map(|line| format!("  {line}\n")).collect();
    assert!(printed.ends_with(&indented), "{printed}");
    let json = setting.json("info --json people.csv");
    let score = serde_json::json!({
        "name": "score", "type": "f64", "told": false, "missing": 1,
        "least": -7.0, "greatest": 1.5, "deciding_line": 2
    });
    assert_eq!(json["fields"][4], score);
    assert_eq!((&json["rows"], &json["columns"]), (&3.into(), &6.into()));
    assert_eq!(json["names"][5], "ok");
    assert_eq!(json["first_rows"][2][1], "Zoë 日本語");
    let given = setting.json("info --json --dtypes zip=u32 --rows 2 people.csv");
    assert_eq!(given["fields"][3]["greatest"], 99999);
    assert_eq!((&given["rows"], &given["fields"][3]["told"]), (&2.into(), &true.into()));
    let told = setting.refused("info --dtypes zip=u8 people.csv");
    assert!(told.contains("on line 2") && told.contains("column `zip`"), "{told}");
}

#[test]
fn info_refuses_flags_of_tables_for_what_is_none() {
    let setting = Setting::with(&[
        ("g.mtx", b"%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 0.5\n"),
        ("t.csv", b"a\n1\n"),
    ]);
    let output = setting.run("info --columns a g.mtx t.csv");
    assert_eq!(code(&output), 1, "{output:?}");
    assert!(stderr(&output).contains("--columns, which is for tables"), "{output:?}");
    assert!(stdout(&output).contains("t.csv: CSV"), "{output:?}");
}

#[test]
fn a_table_with_text_goes_through_every_form_and_comes_back() {
    let setting = Setting::with(&[("people.csv", PEOPLE.as_bytes())]);
    let wanted = PEOPLE.replace(",-7,", ",-7.0,");
    for between in [
        "a.csv",
        "a.tsv",
        "a.arrow",
        "a.arrows",
        "a.feather",
        "a.csv.gz",
        "a.tsv.zst",
        "a.arrow.zst",
        "a.csv.bz2",
    ] {
        let output = setting.run(&format!("convert people.csv {between}"));
        assert_eq!((code(&output), stderr(&output)), (0, String::new()), "{between}");
        assert!(stdout(&output).contains("3 × 6, 18 values"), "{output:?}");
        let from = match between.strip_suffix(".arrow.zst") {
            Some(_) => {
                setting.printed("decompress a.arrow.zst b.arrow");
                "b.arrow"
            }
            None => between,
        };
        setting.printed(&format!("convert {from} back.csv --force"));
        assert_eq!(text(&setting.path("back.csv")), wanted, "{between}");
    }
    setting.printed("convert people.csv a.jsonl");
    let lines = text(&setting.path("a.jsonl"));
    let second: Value =
        serde_json::from_str(lines.lines().nth(1).expect("a line")).expect("JSON");
    let bob = serde_json::json!({
        "id": 2, "name": "Bob, Jr.", "born": null, "zip": "99999", "score": null, "ok": false
    });
    assert_eq!(second, bob);
    setting.printed("convert people.csv b.ndjson.gz");
    assert_eq!(setting.printed("cat -d b.ndjson.gz"), lines);
    let piped =
        run_with_input(&["convert", "--from", "csv", "--to", "jsonl"], PEOPLE.as_bytes());
    assert_eq!((code(&piped), stdout(&piped)), (0, lines), "{piped:?}");
    let told = setting.refused("convert a.jsonl c.mtx");
    assert!(told.contains("column `name` is of type text"), "{told}");
}

#[test]
fn json_lines_are_shown_described_and_converted() {
    let lines = "{\"id\":1,\"name\":\"Ann\"}\n{\"born\":\"1980-02-29\",\"id\":2,\"name\":\"Bob, Jr.\"}\n";
    let setting = Setting::with(&[
        ("a.jsonl", lines.as_bytes()),
        ("odd", lines.as_bytes()),
        ("bad.jsonl", b"{\"id\":1}\n{\"id\":}\n"),
    ]);
    setting.printed("convert a.jsonl a.csv");
    let wanted = "id,name,born\n1,Ann,\n2,\"Bob, Jr.\",1980-02-29\n";
    assert_eq!(text(&setting.path("a.csv")), wanted);
    setting.printed("convert --columns name,id --rows 1 --from jsonl odd b.csv");
    assert_eq!(text(&setting.path("b.csv")), "name,id\nAnn,1\n");
    for path in ["a.jsonl", "odd"] {
        let shown = setting.printed(&format!("head {path}"));
        assert!(shown.contains("date") && shown.contains("Bob, Jr."), "{shown}");
    }
    let info = setting.printed("info a.jsonl");
    assert!(info.contains("JSON Lines") && info.contains("rows: 2"), "{info}");
    let told = setting.refused("convert bad.jsonl c.csv");
    assert!(told.contains("on line 2 at byte 15: not JSON: a value is expected"), "{told}");
    let told = setting.refused("convert --delimiter ; a.jsonl c.csv");
    assert!(told.contains("`delimiter` has no meaning in JSON Lines"), "{told}");
}

#[test]
fn text_of_fixed_width_is_shown_described_and_converted() {
    let lines = "id full_name born\n 1 Ann       1980-02-29\n12 Bob, Jr.\n";
    let setting = Setting::with(&[("a.txt", lines.as_bytes())]);
    setting.printed("convert --from fixed a.txt a.csv");
    let wanted = "id,full_name,born\n1,Ann,1980-02-29\n12,\"Bob, Jr.\",\n";
    assert_eq!(text(&setting.path("a.csv")), wanted);
    setting.printed("convert --widths auto --columns full_name,id --rows 1 a.txt b.csv");
    assert_eq!(text(&setting.path("b.csv")), "full_name,id\nAnn,1\n");
    setting.printed("convert --positions 3..6,13.. --header yes a.txt c.jsonl");
    let wanted = "{\"ful\":\"Ann\",\"born\":\"1980-02-29\"}\n{\"ful\":\"Bob\",\"born\":null}\n";
    assert_eq!(text(&setting.path("c.jsonl")), wanted);
    let piped =
        run_with_input(&["convert", "--widths", "3,10,10", "--to", "csv"], lines.as_bytes());
    assert_eq!((code(&piped), stdout(&piped).lines().count()), (0, 3), "{piped:?}");
    for flags in ["--widths 3,10,10", "--widths auto", "--positions 0..2,3..12,13.."] {
        let shown = setting.printed(&format!("head {flags} a.txt"));
        assert!(shown.contains("date") && shown.contains("Bob, Jr."), "{shown}");
    }
    setting.printed("compress a.txt");
    for line in [
        "info --widths auto a.txt",
        "info --format fixed a.txt",
        "info --widths auto a.txt.zst",
    ] {
        let info = setting.printed(line);
        assert!(info.contains("text of fixed width") && info.contains("rows: 2"), "{info}");
        assert!(info.contains("positions: 0..2,3..12,13..23"), "{info}");
    }
    let json = setting.json("info --json --widths 3,10,10 a.txt");
    assert_eq!(
        (&json["positions"], &json["delimiter"]),
        (&"0..3,3..13,13..23".into(), &Value::Null)
    );
}

#[test]
fn text_outside_of_columns_and_wrong_columns_are_refused() {
    let setting =
        Setting::with(&[("a.txt", b"id name\n 1 Ann\n"), ("b.txt", b"1 2\n34 5 6\n")]);
    let told = setting.refused("convert --widths 2,1 --header no b.txt d.csv");
    let wanted = "on line 2 at byte 7: text outside of the columns, at position 3: `5 6`; \
                  try: pass --widths or --positions that include it, skip lines above the table \
                  with --skip-rows, or set aside such lines with --ragged";
    assert!(told.contains(wanted), "{told}");
    let aside = "convert --widths 2,1 --header no --ragged set-aside --force b.txt d.csv";
    assert!(
        stderr(&setting.run(aside))
            .contains("1 line with text outside of the columns left out: 2")
    );
    assert_eq!(text(&setting.path("d.csv")), "1,2\n");
    for (line, words) in [
        (
            "head --widths 3,0 a.txt",
            "column index 1 has the width 0; try: pass widths of at least 1, or --positions",
        ),
        (
            "head --positions 0..3,2..4 a.txt",
            "before the end 3 of the one before it; try: pass --positions",
        ),
        (
            "head --widths 3 --positions 0..3 a.txt",
            "try: pass --widths or --positions, not both",
        ),
        (
            "head --widths 3 --delimiter , a.txt",
            "`delimiter` has no meaning in text of fixed width",
        ),
        ("convert --from csv --widths 3 a.txt e.csv", "pass --from fixed"),
        ("convert --from fixed a.txt e.mtx", "column `name` is of type text"),
    ] {
        let told = setting.refused(line);
        assert!(told.contains(words), "{line}: {told}");
    }
    for (line, words) in [
        ("head --widths 3,x a.txt", "pass `auto`, or whole numbers, as in `10,5,8`"),
        ("head --positions 3 a.txt", "pass positions without the end, as in `0..10"),
        ("convert --to fixed a.csv e", "invalid value 'fixed'"),
    ] {
        let output = setting.run(line);
        assert_eq!(code(&output), 2, "{output:?}");
        assert!(stderr(&output).contains(words), "{output:?}");
    }
}

#[test]
fn flags_say_how_a_table_is_read_and_written() {
    let odd = "made by a program\nid;name;when\n# none\n1;'a;b';x\n2;'it''s';-\n3;c;y\n";
    let setting =
        Setting::with(&[("odd.txt", odd.as_bytes()), ("plain.csv", b"a\n1,5\n2,25\n")]);
    let read =
        "--from csv --skip-rows 1 --quote ' --comment # --null-values - --columns name,when,id";
    setting.printed(&format!("convert {read} --dtypes id=u8 --rows 2 odd.txt out.csv"));
    assert_eq!(text(&setting.path("out.csv")), "name,when,id\na;b,x,1\nit's,,2\n");
    let write = "--quoting all --out-delimiter | --line-end crlf --null-word NA --force";
    setting.printed(&format!("convert {read} {write} --rows 2 odd.txt out.csv"));
    let wanted = "\"name\"|\"when\"|\"id\"\r\n\"a;b\"|\"x\"|\"1\"\r\n\"it's\"|NA|\"2\"\r\n";
    assert_eq!(text(&setting.path("out.csv")), wanted);
    setting.printed("convert --decimal , --decimals 3 --delimiter ; plain.csv fixed.csv");
    assert_eq!(text(&setting.path("fixed.csv")), "a\n1.500\n2.250\n");
    // A table of numbers that is read with such a flag becomes an array too.
    setting.printed("convert --decimal , --delimiter ; plain.csv a.npy");
    setting.printed("convert a.npy back.csv");
    assert_eq!(text(&setting.path("back.csv")), "1.5\n2.25\n");
    fs::write(setting.path("dates.csv"), "born,n\n31.12.2024,1\n01.02.2003,2\n").expect("room");
    setting.printed("convert --formats born=%d.%m.%Y dates.csv iso.csv");
    assert_eq!(text(&setting.path("iso.csv")), "born,n\n2024-12-31,1\n2003-02-01,2\n");
    fs::write(setting.path("words.csv"), "f,n\nja,1\nnein,0\n").expect("room");
    setting.printed("convert --true-values ja,1 --false-values nein,0 words.csv flags.csv");
    assert_eq!(text(&setting.path("flags.csv")), "f,n\ntrue,true\nfalse,false\n");
    fs::write(setting.path("parts.csv"), "size,size\nx,y\n1,a\n").expect("room");
    setting.printed("convert --header 2 parts.csv named.csv");
    assert_eq!(text(&setting.path("named.csv")), "size_x,size_y\n1,a\n");
    fs::write(setting.path("bare.csv"), "1,a\n2,b\n").expect("room");
    setting.printed("convert bare.csv also.csv");
    assert_eq!(text(&setting.path("also.csv")), "1,a\n2,b\n");
    for (line, wanted) in [
        ("convert --rows 2 g.mtx out.npz", "--rows: it is for tables that are read from text"),
        ("convert --quoting all odd.txt out.arrow --from csv", "--quoting: it is for tables"),
        (
            "convert --quoting none --from csv --delimiter ; --quote ' --skip-rows 1 --comment # --out-delimiter ; odd.txt none.csv",
            "row 1",
        ),
    ] {
        fs::write(
            setting.path("g.mtx"),
            "%%MatrixMarket matrix coordinate real general\n1 1 0\n",
        )
        .expect("room");
        let told = setting.refused(line);
        assert!(told.contains(wanted), "{line}: {told}");
    }
    assert!(!setting.path("none.csv").exists());
}

#[test]
fn numbers_alone_keep_their_way_and_a_late_text_is_noted() {
    let numbers = |last: &str| {
        let rows: String = (0..300_000).map(|row| format!("{row},{}.5\n", row % 7)).collect();
        format!("x,y\n{rows}1,{last}\n")
    };
    let setting = Setting::with(&[
        ("numbers.csv", numbers("2").as_bytes()),
        ("typo.csv", numbers("2..5").as_bytes()),
    ]);
    setting.printed("convert numbers.csv a.csv");
    assert_eq!(text(&setting.path("a.csv")), numbers("2.0"));
    let output = setting.run("convert typo.csv b.csv --json");
    assert_eq!(code(&output), 0, "{output:?}");
    let told = stderr(&output);
    let note = "note: typo.csv: column `y` is of type text because of line 300002; --dtypes says another";
    assert_eq!(told, format!("swath: {note}\n"));
    let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(json["notes"][0], note.trim_start_matches("note: "));
    let told = setting.refused("convert --dtypes y=f64 typo.csv c.csv");
    assert!(told.contains("on line 300002") && told.contains("`2..5`"), "{told}");
}

#[test]
fn text_in_an_array_is_refused_with_the_name_of_the_column() {
    let setting = Setting::with(&[("people.csv", PEOPLE.as_bytes())]);
    for to in ["a.npy", "a.npz", "a.mtx"] {
        let told = setting.refused(&format!("convert people.csv {to}"));
        assert!(told.contains("`name`") && told.contains("columns"), "{to}: {told}");
        assert!(!setting.path(to).exists(), "{to}");
    }
    let told = setting.refused("convert --rows 2 people.csv a.npy");
    assert!(told.contains("column `name`"), "{told}");
    assert!(told.contains("columns of numbers with --columns"), "{told}");
    setting.printed("convert --columns id,score people.csv a.npy");
    setting.printed("convert people.csv people.arrow");
    let told = setting.refused("convert people.arrow b.npy");
    assert!(told.contains("column `name`"), "{told}");
}

#[test]
fn an_output_is_whole_or_absent_and_replaced_only_by_force() {
    let setting = Setting::with(&[
        ("people.csv", PEOPLE.as_bytes()),
        ("ragged.csv", format!("{PEOPLE}4,x\n").as_bytes()),
    ]);
    for to in ["out.csv", "out.jsonl", "out.arrow", "out.csv.gz"] {
        let told = setting.refused(&format!("convert ragged.csv {to}"));
        assert!(told.contains("on line 5") && !setting.path(to).exists(), "{told}");
        setting.printed(&format!("convert people.csv {to}"));
        let told = setting.refused(&format!("convert people.csv {to}"));
        assert!(told.contains("it exists; try: pass --force"), "{told}");
        setting.printed(&format!("convert people.csv {to} --force"));
    }
    let told = setting.refused("convert people.csv people.csv --force");
    assert!(told.contains("it is the input"), "{told}");
    let names = fs::read_dir(setting.0.path()).expect("a folder").count();
    assert_eq!(names, 6, "nothing else is left");
}

#[test]
fn files_of_a_pattern_or_a_folder_are_one_table() {
    let setting = Setting::new();
    fs::create_dir(setting.path("days")).expect("made");
    for (name, rows) in
        [("day-10", "ten,1\n"), ("day-2", "two,2.5\n"), ("day-1", "one,\none,7\n")]
    {
        let text = format!("word,n\n{rows}");
        fs::write(setting.path(&format!("days/{name}.csv")), text).expect("room");
    }
    fs::write(setting.path("days/.hidden"), "other").expect("room");
    let all = "word,n\none,\none,7.0\ntwo,2.5\nten,1.0\n";
    for from in ["days", "days/", "days/*.csv", "days/day-{1,2,10}.csv", "d*s/day-*"] {
        setting.printed(&format!("convert {from} all.csv --force"));
        assert_eq!(text(&setting.path("all.csv")), all, "{from}");
    }
    let json = setting.printed("convert days all.csv --force --json");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["rows"], &json["source"]["path"]), (&4.into(), &"days".into()), "{json}");
    assert_eq!(json["bytes_in"], 46, "{json}");
    setting.printed("convert days/*.csv named.csv --columns n --file-column file");
    let named = "n,file\n,days/day-1.csv\n7.0,days/day-1.csv\n2.5,days/day-2.csv\n1.0,days/day-10.csv\n";
    assert_eq!(text(&setting.path("named.csv")), named);
    // All batches of an Arrow file have one dictionary.
    setting.printed("convert days/*.csv named.arrow --columns n --file-column file");
    setting.printed("convert named.arrow again.csv");
    assert_eq!(text(&setting.path("again.csv")), named);
    setting.printed("convert days/day-1.csv one.csv --file-column from");
    assert!(text(&setting.path("one.csv")).starts_with("word,n,from\none,,days/day-1.csv\n"));

    for (line, wanted) in [
        (
            "convert days/*.none all.arrow",
            "days/*.none: no file matches; try: check the pattern",
        ),
        ("convert days/*.csv all.mtx", "cannot convert 3 files from csv to mtx; try: "),
        ("convert days --to arrow", "3 files to an output without a name; try: name it"),
        ("convert days/*.csv days/day-2.csv --force", "it is the input"),
    ] {
        let told = setting.refused(line);
        assert!(told.contains(wanted), "{line}: {told}");
    }
    fs::write(setting.path("days/day-3.csv"), "word,other\nthree,3\n").expect("room");
    let told = setting.refused("convert days/*.csv more.csv");
    assert!(told.contains("days/day-3.csv") && told.contains("other"), "{told}");
    assert!(told.contains("try: set --union-by-name to unite"), "{told}");
    setting.printed("convert days/*.csv more.csv --union-by-name --rename other=m");
    let more = "word,n,m\none,,\none,7.0,\ntwo,2.5,\nthree,,3\nten,1.0,\n";
    assert_eq!(text(&setting.path("more.csv")), more);
    let head = setting.printed("head days/*.csv --union-by-name -n 4");
    assert!(head.lines().next().is_some_and(|names| names.ends_with("other")), "{head}");
    fs::create_dir(setting.path("empty")).expect("made");
    let told = setting.refused("convert empty more.csv");
    assert!(told.contains("there is no file in this folder"), "{told}");
}

#[test]
fn very_many_columns_are_shown_described_and_converted() {
    let count = BatterySize { slice: 10_000, full: 100_000 }.count();
    let columns =
        |field: fn(u64) -> String| (0..count).map(field).collect::<Vec<_>>().join(",") + "\n";
    let row = columns(|at| if at % 2 == 0 { at.to_string() } else { format!("t{at}") });
    let wide = columns(|at| format!("c{at}")) + &row.repeat(3);
    let setting = Setting::with(&[("broad.csv", wide.as_bytes())]);
    let shown = setting.printed("head broad.csv");
    assert!(shown.contains("more columns: c"), "{shown}");
    let shown = setting.printed("info broad.csv");
    assert!(shown.contains(&format!("columns: {count}")), "{shown}");
    assert!(shown.contains(&format!("{} more", count - 200)), "{shown}");
    let json = setting.json("info --json broad.csv");
    let last = json["fields"].as_array().and_then(|fields| fields.last());
    assert_eq!(last.expect("a column")["least"], format!("t{}", count - 1));
    let output = setting.run("convert broad.csv out.csv");
    assert_eq!((code(&output), stderr(&output)), (0, String::new()));
    assert!(text(&setting.path("out.csv")) == wide);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let setting = Setting::with(&[("people.csv", PEOPLE.repeat(2).as_bytes())]);
    let path = setting.path("people.csv");
    for verb in ["head --header no", "info --header no"] {
        let line = format!("\"$0\" {verb} \"$1\" | true; exit ${{PIPESTATUS:-0}}");
        let output = shell(&line, &[path.as_os_str()]);
        assert_eq!(stderr(&output), "", "{verb}");
    }
    let output = run(["head", "--header", "no", word(&path)]);
    assert_eq!(code(&output), 0, "{output:?}");
}

#[test]
fn notes_say_what_numbers_lost() {
    let text = "id,x\n1,0.1\n007,0.1000000000000000055\n+3,0.10000000000000001\n-0,2\n";
    let setting = Setting::with(&[("a.csv", text.as_bytes())]);
    let notes = stderr(&setting.run("convert --dtypes id=i32 a.csv a.arrow"));
    let rounded = "column `x`: 1 decimal was rounded in its last digits, in line 3";
    let padded = "column `id`: 3 numbers lost zeros or a sign before them, from line 3";
    assert!(notes.contains(rounded) && notes.contains(padded), "{notes}");
    let notes = stderr(&setting.run("convert --dtypes id=i32 a.csv a.npy"));
    assert!(notes.contains(rounded) && notes.contains(padded), "{notes}");
    let notes = stderr(&setting.run("convert --force a.csv a.npy"));
    let padded = "column `id`: 2 numbers lost zeros or a sign before them, from line 3";
    assert!(notes.contains(rounded) && notes.contains(padded), "doubles have -0: {notes}");
    let json = setting.json("head --json --dtypes id=i32 a.csv");
    assert_eq!(json["rounded"][0]["name"], "x");
    assert_eq!(
        (&json["padded"][0]["count"], &json["padded"][0]["line"]),
        (&3.into(), &3.into())
    );
    assert_eq!(
        stderr(&setting.run("convert a.csv --force a.arrow")).matches("sign").count(),
        0
    );
    fs::write(setting.path("a.jsonl"), "{\"a\":1}\n{\"a\":[1]}\n").expect("room");
    let notes = stderr(&setting.run("convert a.jsonl --force a.arrow"));
    assert!(notes.contains("column `a`: 1 object or array became text, in line 2"), "{notes}");
    let setting = Setting::with(&[("a.csv", b"x\n1.5\nnan\ninf\n")]);
    let notes = stderr(&setting.run("convert a.csv a.jsonl"));
    assert!(notes.contains("written as null, since JSON has none: 2"), "{notes}");
}

#[test]
fn what_the_text_lost_is_noted_with_its_file() {
    let setting =
        Setting::with(&[("l.csv", b"id,n\n1,Jos\xe9\n2,x\n"), ("n.csv", b"a,a,\n1,2,3\n")]);
    fs::create_dir(setting.path("m")).expect("room");
    fs::write(setting.path("m/1.csv"), "a,b\n1,2\n").expect("room");
    fs::write(setting.path("m/2.csv"), "a,b\n1,0.1234567890123456789\n1,2,3\n").expect("room");
    let json = |line: &str| -> Value {
        serde_json::from_str(&stdout(&setting.run(line))).expect("JSON")
    };
    let wide = |word: &str| [word; 8].join(",") + "\n";
    fs::write(setting.path("w.csv"), wide("x") + &wide("0.1234567890123456789")).expect("room");
    for (line, wanted) in [
        (
            "head --ragged set-aside m",
            "m: 1 line with more or fewer fields left out: 3 of m/2.csv\n",
        ),
        (
            "head --encoding-errors replace l.csv",
            "l.csv: 1 byte sequence that is not utf-8 became U+FFFD\n",
        ),
        (
            "head n.csv",
            "n.csv: 2 names from the header became others: `a_2` for `a`, `column_3` for ``\n",
        ),
    ] {
        let notes = stderr(&setting.run(line));
        assert_eq!(notes, format!("swath: note: {wanted}"), "{line}");
        let notes =
            stderr(&setting.run(&format!("{} q.csv --force", line.replace("head", "convert"))));
        assert!(notes.contains(wanted), "{notes}");
    }
    let notes = stderr(&setting.run("convert --ragged set-aside m q.arrow"));
    assert!(
        notes.contains(
            "m: column `b`: 1 decimal was rounded in its last digits, in line 2 of m/2.csv"
        ),
        "{notes}"
    );
    let notes = stderr(&setting.run("convert w.csv w.arrow"));
    assert!(notes.contains("3 more such notes; --json has all of them"), "{notes}");
    let noted = json("convert --json --force w.csv w.arrow");
    assert_eq!(noted["notes"].as_array().map(Vec::len), Some(9));
    let shown = json("head --json --ragged set-aside m");
    let place = |line: u64| serde_json::json!({"line": line, "path": "m/2.csv"});
    assert_eq!(shown["set_aside"]["lines"][0], place(3));
    assert_eq!(
        (&shown["rounded"][0]["line"], &shown["rounded"][0]["path"]),
        (&2.into(), &"m/2.csv".into())
    );
    for verb in ["head", "info"] {
        let json = json(&format!("{verb} --json --file-column f n.csv"));
        assert_eq!((&json["columns"], &json["fields"][3]["name"]), (&4.into(), &"f".into()));
    }
    let file = json("info --json --file-column f n.csv")["fields"][3].take();
    assert_eq!((&file["type"], &file["missing"]), (&"dictionary".into(), &0.into()));
    assert_eq!((&file["least"], &file["greatest"]), (&"n.csv".into(), &"n.csv".into()));
    let listed = stdout(&setting.run("info --file-column f n.csv"));
    assert!(
        listed.contains("columns: 4") && listed.matches("dictionary").count() == 2,
        "{listed}"
    );
    let noted = json("convert --json --file-column f n.csv f.arrow");
    assert_eq!(noted["columns"], 4);
}
