//! The harness finds planted faults: a block that does not compile, one that fails, one without a mark.

use std::path::{Path, PathBuf};
use std::process::Command;

use swath_docs::blocks::Page;
use swath_docs::run::{self, Tool};

fn page(text: &str) -> Page {
    Page::parse("docs/planted.md", text).expect("its marks are right")
}

fn failures(text: &str, tool: &Tool) -> Vec<String> {
    run::page(&page(text), tool).expect("the tool can be started")
}

fn starts(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success())
}

#[test]
fn a_shell_block_that_fails_is_named_and_the_next_one_still_runs() {
    let text = "# A\n\n```sh\necho x > made\nfalse\n```\n\n```sh\ntest -e made\n```\n";
    let found = failures(text, &Tool::Shell(PathBuf::from("/usr/bin")));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("docs/planted.md:3: sh block failed: exit status: 1"));
    assert!(found[0].contains("failed: false"), "{}", found[0]);
}

#[test]
fn a_shell_block_fails_inside_a_pipe_and_at_a_variable_that_is_not_set() {
    for line in ["false | cat", "echo $NOT_SET_ANYWHERE"] {
        let text = format!("```sh\n{line}\n```\n");
        let found = failures(&text, &Tool::Shell(PathBuf::from("/usr/bin")));
        assert_eq!(found.len(), 1, "{line}");
    }
}

#[test]
fn a_block_that_is_marked_is_not_run() {
    let text = "<!-- not run: it fails -->\n```sh,ignore\nfalse\n```\n";
    assert!(failures(text, &Tool::Shell(PathBuf::from("/usr/bin"))).is_empty());
}

#[test]
fn a_python_block_that_fails_is_named_with_its_line() {
    if !starts("python3") {
        return swath_reference::skip("numpy", "no python3");
    }
    let text =
        "```python\na = 1\n```\n\ntext\n\n```python\nassert a == 1\nassert a == 2\n```\n";
    let found = failures(text, &Tool::Python(PathBuf::from("python3")));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("\"docs/planted.md\", line 9"), "{}", found[0]);
    assert!(found[0].contains("assert a == 2"), "{}", found[0]);
}

#[test]
fn a_c_block_that_does_not_compile_or_that_fails_is_named_with_its_line() {
    if !starts("cc") {
        return swath_reference::skip("c-compiler", "no `cc`");
    }
    // No library is needed to see what the compiler says of a program.
    let text = "```c\nint main(void) {\n    return missing;\n}\n```\n";
    let found = failures(text, &Tool::C(PathBuf::from("/nonexistent")));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("docs/planted.md:1: c block failed"), "{}", found[0]);
    assert!(found[0].contains("docs/planted.md:3"), "{}", found[0]);
}

/// Compiles the Rust blocks of `text` as the tests have them, with nothing but the standard library.
fn rustc(text: &str) -> std::process::Output {
    let folder = tempfile::tempdir().expect("a folder");
    let module = folder.path().join("planted.md");
    std::fs::write(&module, page(text).rust()).expect("written");
    let root = format!(
        "#[path = {module:?}] mod docs_planted_md;\n\
         pub fn check(_: &str, _: usize, _: &str, runs: bool, block: \
         fn() -> Result<(), Box<dyn std::error::Error>>) {{ if runs {{ block().unwrap() }} }}\n"
    );
    let source = folder.path().join("root.rs");
    std::fs::write(&source, root).expect("written");
    let program = folder.path().join("root");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compile = Command::new(rustc);
    compile.args(["--test", "--edition", "2024", "-o"]).arg(&program).arg(&source);
    let output = compile.output().expect("rustc is there");
    if output.status.success() { run_tests(&program) } else { output }
}

fn run_tests(program: &Path) -> std::process::Output {
    Command::new(program).output().expect("it was built")
}

fn said(output: &std::process::Output) -> String {
    let streams = [&output.stdout, &output.stderr];
    streams.map(|it| String::from_utf8_lossy(it).into_owned()).concat()
}

#[test]
fn a_rust_block_that_does_not_compile_is_named_with_its_line() {
    let output = rustc("# A\n\n```rust\nlet a = 1;\nlet b: u8 = \"no\";\n```\n");
    assert!(!output.status.success());
    assert!(said(&output).contains("planted.md:5:"), "{}", said(&output));
}

#[test]
fn a_rust_block_that_fails_is_named_with_its_line() {
    let text = "# A\n\n```rust\nstd::fs::read(\"/no/such/file\")?;\n```\n";
    let output = rustc(text);
    assert!(!output.status.success());
    assert!(said(&output).contains("docs_planted_md::line_3"), "{}", said(&output));
}

#[test]
fn a_rust_block_that_is_right_passes_and_one_that_is_not_run_is_compiled() {
    let text = "```rust\nassert_eq!(1 + 1, 2);\n```\n\n\
                <!-- not run: it fails -->\n```rust,no_run\npanic!();\n```\n";
    let output = rustc(text);
    assert!(output.status.success(), "{}", said(&output));
}
