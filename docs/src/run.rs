//! Runs the blocks that are not Rust: shell, C and Python.
//!
//! | Language | Unit | Folder |
//! | --- | --- | --- |
//! | shell | a block, by `bash -euo pipefail` | one for the page; blocks run from top to bottom |
//! | C | a block; without `main`, the body of `main` | a new one for each block |
//! | Python | a page, as one program | one for the page |
//!
//! Every failure names page, line and language and ends with what the program wrote to stderr.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::blocks::{Action, Block, Language, Page};
use crate::fixture;

/// The tool that runs a block.
#[derive(Debug, Clone)]
pub enum Tool {
    /// The folder of the command `swath`.
    Shell(PathBuf),
    /// The prefix that the C library is installed in.
    C(PathBuf),
    /// The interpreter that has the package.
    Python(PathBuf),
}

/// Runs the blocks of `page` that `tool` is for, and returns a text for each one that failed.
///
/// # Errors
///
/// If the folder for the blocks cannot be made, or a tool cannot be started.
pub fn page(page: &Page, tool: &Tool) -> Result<Vec<String>> {
    match tool {
        Tool::Shell(folder) => shell(page, folder),
        Tool::C(prefix) => c(page, prefix),
        Tool::Python(interpreter) => python(page, interpreter),
    }
}

fn shell(page: &Page, tools: &Path) -> Result<Vec<String>> {
    let mut failures = Vec::new();
    let blocks: Vec<_> = page.of(Language::Shell).collect();
    if blocks.is_empty() {
        return Ok(failures);
    }
    let folder = fixture::folder()?;
    let mut path = OsString::from(tools);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    for block in blocks {
        let trap = "trap 'echo \"failed: $BASH_COMMAND\" >&2' ERR";
        // A block that waits for ever, for input perhaps, fails.
        let mut bash = Command::new("timeout");
        bash.args([
            "--kill-after=10",
            "600",
            "bash",
            "-Eeuo",
            "pipefail",
            "-c",
            &format!("{trap}; {}", block.text),
        ]);
        bash.arg(format!("{}:{}", page.path, block.line)).env("PATH", &path);
        failures.extend(run(&mut bash, folder.path(), &at(page, block))?);
    }
    Ok(failures)
}

/// Warnings are errors, except for what a short example leaves unused.
const C_FLAGS: &[&str] = &[
    "-std=c11",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-variable",
    "-Wno-unused-but-set-variable",
    "-Wno-unused-parameter",
    "-Wno-unused-function",
];

const C_HEADERS: &str = "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
                         #include <string.h>\n#include <swath.h>\n";

fn c(page: &Page, prefix: &Path) -> Result<Vec<String>> {
    let mut failures = Vec::new();
    for block in page.of(Language::C) {
        let folder = fixture::folder()?;
        let build = TempDir::new()?;
        let (source, program) = (build.path().join("block.c"), build.path().join("block"));
        fs::write(&source, c_source(page, block))?;
        let mut cc = Command::new("cc");
        cc.args(C_FLAGS).arg(&source).arg("-o").arg(&program);
        cc.arg("-I").arg(prefix.join("include")).arg("-L").arg(prefix.join("lib"));
        cc.args(["-lswath", "-lpthread"]);
        let failed = run(&mut cc, folder.path(), &at(page, block))?;
        if failed.is_none() && block.action == Action::Run {
            let mut program = Command::new(&program);
            program.env("LD_LIBRARY_PATH", prefix.join("lib"));
            failures.extend(run(&mut program, folder.path(), &at(page, block))?);
        }
        failures.extend(failed);
    }
    Ok(failures)
}

/// The block as a program, whose lines are those of the page to the compiler.
fn c_source(page: &Page, block: &Block) -> String {
    let line = format!("#line {} \"{}\"\n", block.line + 1, page.path);
    if block.text.contains("main(") {
        format!("{line}{}", block.text)
    } else {
        format!("{C_HEADERS}int main(void) {{\n{line}{}return 0;\n}}\n", block.text)
    }
}

/// Compiles under the page's own name, so that a traceback has its lines.
const PYTHON: &str = "\
import linecache, sys, traceback
name, path = sys.argv[1:]
text = open(path).read()
linecache.cache[name] = (len(text), None, text.splitlines(True), name)
del sys.argv[1:]
try:
    exec(compile(text, name, 'exec'), {'__name__': '__main__', '__file__': path})
except Exception:
    traceback.print_exc()
    sys.exit(1)
";

fn python(page: &Page, interpreter: &Path) -> Result<Vec<String>> {
    let Some(first) = page.of(Language::Python).next() else { return Ok(Vec::new()) };
    let folder = fixture::folder()?;
    let build = TempDir::new()?;
    let source = build.path().join("page.py");
    fs::write(&source, page.python())?;
    let mut python = Command::new(interpreter);
    python.args(["-c", PYTHON, &page.path]).arg(&source);
    Ok(run(&mut python, folder.path(), &at(page, first))?.into_iter().collect())
}

fn at(page: &Page, block: &Block) -> String {
    format!("{}:{}: {}", page.path, block.line, block.language.word())
}

/// Runs `command` in `folder`, as a user who has no settings of their own; a text if it fails.
fn run(command: &mut Command, folder: &Path, at: &str) -> Result<Option<String>> {
    command.current_dir(folder).stdin(Stdio::null());
    fixture::isolate(command, folder);
    let output = command
        .output()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    if output.status.success() {
        return Ok(None);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(Some(format!("{at} block failed: {}\n{}", output.status, said.trim_end())))
}
