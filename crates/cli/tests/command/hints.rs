//! A mistake is answered with what to do instead: the option that does it here, or that it is the
//! default.

use std::path::Path;
use std::process::Output;

use crate::child::{code, run, shell, stderr, stdout, swath};

/// A folder with files a, b and m, a manifest, and folders d and e.
fn setting() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("a", "hello\nworld\n"), ("b", "hello\nworld\n"), ("t.csv", "1,2\n")] {
        std::fs::write(folder.path().join(name), text).expect("room");
    }
    for name in ["d", "e"] {
        std::fs::create_dir(folder.path().join(name)).expect("room");
    }
    folder
}

/// Runs a line of words in `folder`; `''` is an empty word.
fn run_in(folder: &Path, line: &str) -> Output {
    let words = line.split(' ').map(|word| if word == "''" { "" } else { word });
    swath().current_dir(folder).args(words).output().expect("it starts")
}

/// Asserts that each line ends with 2 and is answered with the text beside it.
fn assert_answers(cases: &[(&str, &str)]) {
    let folder = setting();
    for (line, wanted) in cases {
        let output = run_in(folder.path(), line);
        let told = stderr(&output);
        assert_eq!(code(&output), 2, "{line}: {told}");
        assert!(told.contains(wanted), "{line}: {told}");
    }
}

#[test]
fn flags_of_other_tools_are_answered_with_the_flag_that_does_it_here() {
    let cases = [
        ("cp -f a c", "tip: leave it out: existing files are replaced, unless --no-clobber"),
        ("cp --force a c", "tip: leave it out: existing files are replaced"),
        ("mirror --force a d", "tip: leave it out: existing files are replaced"),
        ("cp -n a b", "tip: pass '--no-clobber' to keep an existing file"),
        ("cp -r d e", "tip: use 'cp -r' for a folder; 'swath cp' copies one file"),
        ("cp -a d e", "tip: use 'cp -a' for a folder"),
        ("compress -k a", "tip: leave it out: the input is always kept"),
        ("decompress --keep a", "tip: leave it out: the input is always kept"),
        ("compress -c a", "tip: pass '-o -' to write to standard output"),
        ("decompress --stdout a", "tip: pass '-o -' to write to standard output"),
        ("compress -d a", "tip: use 'swath decompress'"),
        ("compress -9 a", "tip: pass '--level' with a number"),
        ("compress -19 a", "tip: pass '--level' with a number"),
        ("compress -T4 a", "tip: pass '--workers' with a number"),
        ("ingest -r d", "tip: leave it out: folders are read with everything below them"),
        ("gen tree -f d", "tip: name a new folder, or empty the old one"),
        ("gen tree --force d", "tip: name a new folder, or empty the old one"),
        ("head -c 100 a", "tip: use 'swath cat --length'"),
        ("head --lines 3 a", "tip: pass '--rows' with a number"),
        ("manifest -c m a", "tip: pass '--check'"),
        ("heal -n a", "tip: pass '--dry-run'"),
    ];
    assert_answers(&cases);
}

#[test]
fn an_unknown_flag_is_no_path_unless_a_file_has_that_name() {
    let folder = setting();
    for line in ["cp -x a b", "sum --unknown a", "heal -f a"] {
        let told = stderr(&run_in(folder.path(), line));
        assert!(told.contains("unexpected argument"), "{line}: {told}");
        assert!(!told.contains("as a value"), "{line}: {told}");
    }
    std::fs::write(folder.path().join("-x"), "x").expect("room");
    let told = stderr(&run_in(folder.path(), "sum -x"));
    assert!(told.contains("tip: to pass '-x' as a value, use '-- -x'"), "{told}");
    let told = stderr(&run_in(folder.path(), "compress --forc a"));
    assert!(told.contains("'--force'"), "{told}");
}

#[test]
fn the_page_of_a_command_below_another_is_named_with_a_dash() {
    let cases = [
        ("man gen bytes", "tip: use 'swath man gen-bytes'"),
        ("man study report", "tip: use 'swath man study-report'"),
        ("man read me", "tip: run 'swath man --list' for the names of all pages"),
        ("man gen-nope", "; try: run `swath man --list` for the names of all pages"),
    ];
    assert_answers(&cases);
}

#[test]
fn what_a_command_needs_is_named_with_an_example() {
    let cases = [
        ("heal a b", "tip: pass '--verify-against vote' for three copies or more"),
        ("mirror a", "tip: name the folders after the file: 'swath mirror FILE DIR DIR'"),
        ("mirror", "tip: name the folders after the file"),
        ("cp a", "tip: name the file or folder to copy to, or '-' for standard output"),
    ];
    assert_answers(&cases);
}

#[test]
fn hints_fit_the_error() {
    let cases = [
        ("read --offset 100 a", "ends at byte 12; try: choose an offset before the end"),
        ("read --offset 100 --length 5 a", "; try: choose an offset before the end"),
        ("read --offset 5 --length 100 a", "ends at byte 12; try: request fewer bytes"),
        ("cp a ''", "a path cannot be empty; use `-` for standard input or output"),
        (
            "heal --verify-against vote a",
            "one copy cannot vote; try: name more copies, or pass a manifest of the right file",
        ),
        (
            "mirror a d d",
            "cannot make two copies in d: it is named twice; try: name it once and pass \
             `--copies 2`, or name another folder",
        ),
        ("mirror a d ./d", "cannot make two copies in ./d: it is named twice; try: name it"),
        ("mirror - d", "`-` is standard input or output, and a name is needed here"),
        ("ingest -", "tip: pass '--list -' to read paths from standard input"),
        (
            "convert t.csv",
            "cannot tell the format of the output: there is no OUT; try: name it, as in \
             `table.npy`, or pass --to FORMAT",
        ),
        (
            "convert t.csv -",
            "cannot tell the format of the output: standard output has no name; try: pass --to \
             FORMAT",
        ),
        ("study report nosuch", "cannot report on nosuch: No such file or directory"),
        ("study report a", "cannot report on a: not a directory"),
        (
            "info",
            "cannot read all of standard input: it is a device, which may never end; try: name a \
             file, or pipe in the bytes you need",
        ),
        ("info /dev/zero", "; try: copy the bytes you need to a file first"),
        ("compress --block-size 1 a", "a block size of 1 byte is not possible"),
    ];
    assert_answers(&cases);
}

#[test]
fn the_format_of_standard_input_cannot_be_told_by_its_name() {
    let output = shell("printf '1 2\\n' | \"$0\" convert -o a.csv", &[]);
    assert_eq!(code(&output), 2, "{output:?}");
    let told = stderr(&output);
    let wanted = "the format of the input: standard input has no name; try: pass --from FORMAT";
    assert!(told.contains(wanted), "{told}");
}

#[test]
fn a_missing_folder_for_temporary_files_is_named_once() {
    let folder = setting();
    for line in ["demo", "convert t.csv --to npy -o -"] {
        let mut command = swath();
        command.current_dir(folder.path()).args(line.split(' ')).env("TMPDIR", "/nonexistent");
        let output = command.output().expect("it starts");
        let told = stderr(&output);
        assert_eq!(code(&output), 2, "{told}");
        assert!(told.contains("No such file or directory (os error 2); try: "), "{told}");
        assert!(told.matches("/nonexistent").count() == 1, "{told}");
    }
}

#[test]
fn facts_have_names_and_sizes_for_people() {
    let folder = setting();
    let graph = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
    std::fs::write(folder.path().join("x.mtx"), graph).expect("room");
    assert_eq!(code(&run_in(folder.path(), "compress a")), 0);
    let text = stdout(&run_in(folder.path(), "info a.zst x.mtx"));
    assert!(text.contains("\n  length: 12 bytes\n"), "{text}");
    assert!(text.contains("\n  body offset: 52 bytes\n"), "{text}");
}

#[test]
fn paragraphs_of_help_are_broken_where_the_terminal_ends() {
    let pages = stdout(&run(["man", "--list"]));
    let kinds = ["gen-", "study-"];
    for page in pages.lines() {
        let words = match kinds.iter().find(|kind| page.starts_with(*kind)) {
            Some(kind) => page.split_at(kind.len() - 1),
            None => (page, ""),
        };
        let words = [words.0, words.1.trim_start_matches('-')];
        let words = words.into_iter().filter(|word| !word.is_empty()).chain(["--help"]);
        let text = stdout(&run(words));
        // Without a terminal, lines have at most 100 characters; a word never has 30.
        let lines: Vec<&str> =
            text.split("Examples:").last().unwrap_or_default().lines().collect();
        for pair in lines.windows(2) {
            let in_paragraph = pair.iter().all(|it| it.starts_with(|sign| sign != ' '));
            assert!(!in_paragraph || pair[0].len() >= 70, "{page}: {pair:?}");
        }
    }
}
