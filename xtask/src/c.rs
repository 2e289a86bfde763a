//! The step `c`: the C library as C and C++ programs see it.
//!
//! ```text
//! header current? → each of its functions exported, and called by a test?
//!                 → install into a prefix → header alone: C99, C11, C++17, each compiler
//! tests/c/*.c     plain; with address and undefined-behaviour sanitizers; under valgrind;
//!                 some also as C++17
//! consumer/       found by CMake: shared, static, C++        by pkg-config: everything else
//! examples/c/*.c  compiled and run, as are the examples in the header
//! ignored/*.c     ignores a status: the compiler must warn
//! mpi/*.c         swath_mpi.h, with 1 and 4 ranks, if there is an MPI
//! ```
//!
//! Everything is built with the debug build of the library, whose assertions are on.

mod examples;
mod mpi;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

pub(crate) use mpi::compiles as compiles_mpi;

use crate::process::{output, run, run_quietly};
use crate::workspace::Workspace;
use crate::{header, install_c, skips};

const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];
const SANITIZERS: &str = "-fsanitize=address,undefined";
/// Besides C11: the oldest C and the C++ that the header fully supports.
const STANDARDS: [CStandard; 2] = [
    CStandard { compiler: "cc", name: "c99", language: "c" },
    CStandard { compiler: "c++", name: "c++17", language: "c++" },
];

/// The tests that are C++17 too: they use no atomics, compound literals or designated initializers.
const ALSO_PLUS: [&str; 5] = ["errors", "memory", "mirrors", "process", "profiles"];

/// The language of a program.
#[derive(Clone, Copy)]
struct CStandard {
    compiler: &'static str,
    name: &'static str,
    language: &'static str,
}

/// A C library installed for tests, and the folder where they are built.
struct Bench<'w> {
    workspace: &'w Workspace,
    prefix: PathBuf,
    folder: PathBuf,
}

/// The share of the tests that is run in a slow way: with sanitizers, or under valgrind, which is
/// twenty times as slow.
#[derive(Clone, Copy)]
struct Slice {
    /// One of this many.
    of: usize,
    /// Which one.
    index: u64,
}

impl Slice {
    /// Returns one of this many slices, another one for each commit.
    fn one_of(of: usize, seed: u64) -> Slice {
        Slice { of, index: seed % of as u64 }
    }

    fn some(self, tests: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
        let chosen = move |index: &usize| (index % self.of) as u64 == self.index;
        tests.iter().enumerate().filter(move |(index, _)| chosen(index)).map(|(_, test)| test)
    }
}

/// Runs every program of the tests with sanitizers and under valgrind; returns their number, or
/// `None` without valgrind.
pub(crate) fn all_under_valgrind(workspace: &Workspace) -> Result<Option<u64>> {
    let folder = workspace.target().join("c");
    let prefix = folder.join("prefix");
    install_c::lay_build(workspace, &prefix)?;
    let bench = Bench { workspace, prefix, folder };
    let tests = bench.tests()?;
    for test in &tests {
        bench.compile(test, "plain", &[])?;
    }
    let all = Slice::one_of(1, 0);
    bench.sanitized(&tests, all)?;
    bench.under_valgrind(&tests, all)?;
    Ok(workspace.has("valgrind").then_some(tests.len() as u64))
}

/// Runs all checks.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    header::check(workspace)?;
    let folder = workspace.target().join("c");
    let prefix = folder.join("prefix");
    install_c::lay_build(workspace, &prefix)?;
    let bench = Bench { workspace, prefix, folder };
    if !workspace.has("cc") || !workspace.has("pkg-config") {
        return skips::note(workspace, "c-compiler", "no `cc`, or no `pkg-config`");
    }
    bench.every_function()?;
    bench.compile_header()?;
    let tests = bench.tests()?;
    bench.plain(&tests)?;
    bench.sanitized(&tests, Slice::one_of(3, workspace.seed()))?;
    bench.under_valgrind(&tests, Slice::one_of(8, workspace.seed()))?;
    bench.by_cmake()?;
    bench.wholly_static()?;
    bench.ignored()?;
    bench.examples()?;
    bench.mpi()
}

impl Bench<'_> {
    fn root(&self, path: &str) -> PathBuf {
        self.workspace.root().join(path)
    }

    /// Checks that the library exports what the header declares, and that a test calls each
    /// function.
    fn every_function(&self) -> Result<()> {
        let header = self.workspace.read("crates/capi/include/swath.h")?;
        let declared = declared(&header);
        let mut called = String::new();
        for source in self.tests()? {
            called.push_str(&fs::read_to_string(source)?);
        }
        let untested: Vec<_> = declared.iter().filter(|it| !calls(&called, it)).collect();
        if !untested.is_empty() {
            bail!("no test in crates/capi/tests/c calls {untested:?}");
        }
        if !self.workspace.has("nm") {
            return skips::note(self.workspace, "nm", "not installed");
        }
        let library = self.prefix.join("lib/libswath.so.0");
        let mut command = self.workspace.command("nm");
        let said = output(command.args(["--dynamic", "--defined-only"]).arg(library))?;
        let exported: BTreeSet<&str> =
            said.lines().filter_map(|line| line.split_whitespace().last()).collect();
        let differing: Vec<_> = declared.symmetric_difference(&exported).collect();
        if differing.is_empty() {
            Ok(())
        } else {
            bail!("declared or exported, but not both: {differing:?}")
        }
    }

    /// Compiles the header alone, as the first thing that a program includes.
    fn compile_header(&self) -> Result<()> {
        let header = self.prefix.join("include/swath.h");
        let compilers = [
            ("cc", "c99", "c"),
            ("cc", "c11", "c"),
            ("gcc", "c11", "c"),
            ("clang", "c11", "c"),
        ];
        let plus =
            [("c++", "c++17", "c++"), ("g++", "c++17", "c++"), ("clang++", "c++17", "c++")];
        for (compiler, standard, language) in compilers.into_iter().chain(plus) {
            if !self.workspace.has(compiler) {
                skips::note(self.workspace, compiler, "not installed")?;
                continue;
            }
            println!("header: {compiler}, {standard}");
            let mut command = self.workspace.command(compiler);
            command.args(WARNINGS).arg(format!("-std={standard}"));
            command.args(["-fsyntax-only", "-x", language]);
            // Compiled as a file of its own, it would cause warnings about `#pragma once` and the
            // like.
            run(command.arg("-include").arg(&header).arg("/dev/null"))?;
        }
        Ok(())
    }

    /// Returns the sources of the tests.
    fn tests(&self) -> Result<Vec<PathBuf>> {
        self.workspace.sources("crates/capi/tests/c", "c")
    }

    /// Returns the flags that `pkg-config` prints for the library.
    fn flags(&self) -> Result<Vec<String>> {
        let mut command = self.workspace.command("pkg-config");
        command.env("PKG_CONFIG_PATH", self.prefix.join("lib/pkgconfig"));
        let said = output(command.args(["--cflags", "--libs", "swath"]))?;
        Ok(said.split_whitespace().map(str::to_owned).collect())
    }

    /// Compiles `source` as C11 into the folder `kind`.
    fn compile(&self, source: &Path, kind: &str, more: &[&str]) -> Result<PathBuf> {
        let stem = source.file_stem().context("a source without a name")?;
        let folder = self.folder.join(kind);
        fs::create_dir_all(&folder)?;
        let program = folder.join(stem);
        let mut command = self.workspace.command("cc");
        command.args(["-std=c11", "-g", "-O1", "-D_GNU_SOURCE"]).args(WARNINGS).args(more);
        command.arg(source).arg("-o").arg(&program).args(self.flags()?).arg("-lpthread");
        run(&mut command)?;
        Ok(program)
    }

    /// Runs a program that finds the library, in an empty folder of its own.
    fn run(&self, program: &Path, prepare: impl FnOnce(Command) -> Command) -> Result<()> {
        let scratch = self.folder.join("scratch");
        if scratch.exists() {
            fs::remove_dir_all(&scratch)?;
        }
        fs::create_dir_all(&scratch)?;
        let mut command = self.workspace.command(program);
        command.current_dir(&scratch).env("LD_LIBRARY_PATH", self.prefix.join("lib"));
        // A user's tuned profiles must not affect the tests.
        command.env("XDG_CONFIG_HOME", scratch.join("config"));
        run(&mut prepare(command))?;
        fs::remove_dir_all(&scratch)?;
        Ok(())
    }

    /// Checks that a source has no warning in another standard.
    fn check_as(&self, source: &Path, standard: CStandard) -> Result<()> {
        if !self.workspace.has(standard.compiler) {
            return skips::note(self.workspace, standard.compiler, "not installed");
        }
        let mut command = self.workspace.command(standard.compiler);
        command.args(WARNINGS).arg(format!("-std={}", standard.name)).arg("-D_GNU_SOURCE");
        command.args(["-fopenmp", "-c", "-o", "/dev/null", "-I"]);
        command.arg(self.prefix.join("include"));
        run(command.args(["-x", standard.language]).arg(source))
    }

    fn plain(&self, tests: &[PathBuf]) -> Result<()> {
        for test in tests {
            self.check_as(test, STANDARDS[0])?;
            if ALSO_PLUS.iter().any(|name| test.file_stem().is_some_and(|stem| stem == *name)) {
                self.check_as(test, STANDARDS[1])?;
            }
            self.run(&self.compile(test, "plain", &[])?, |command| command)?;
        }
        Ok(())
    }

    fn sanitized(&self, tests: &[PathBuf], slice: Slice) -> Result<()> {
        for test in slice.some(tests) {
            let program =
                self.compile(test, "sanitized", &[SANITIZERS, "-fno-sanitize-recover=all"])?;
            self.run(&program, |command| command)?;
        }
        Ok(())
    }

    /// Runs tests under valgrind, which does not support `io_uring`: it cannot see the ring's
    /// writes. It answers those calls with `ENOSYS`, and the library falls back to threads. The
    /// same holds for `cachestat`, with a warning of valgrind that cannot be turned off.
    fn under_valgrind(&self, tests: &[PathBuf], slice: Slice) -> Result<()> {
        if !self.workspace.has("valgrind") {
            return skips::note(self.workspace, "valgrind", "not installed");
        }
        for test in slice.some(tests) {
            let program = self.folder.join("plain").join(test.file_stem().unwrap_or_default());
            let mut words: Vec<OsString> = [
                "--quiet",
                "--error-exitcode=9",
                "--leak-check=full",
                "--errors-for-leak-kinds=definite",
                "--show-leak-kinds=definite",
                "--fair-sched=yes",
            ]
            .map(OsString::from)
            .to_vec();
            words.push(program.into());
            println!("valgrind {}", test.display());
            self.run(Path::new("valgrind"), |mut command| {
                command.args(words).env("SWATH_TEST_SMALL", "1");
                command
            })?;
        }
        Ok(())
    }

    /// Builds a project that uses nothing but `find_package(Swath)`, and runs its programs.
    fn by_cmake(&self) -> Result<()> {
        if !self.workspace.has("cmake") {
            return skips::note(self.workspace, "cmake", "not installed");
        }
        let build = self.folder.join("cmake");
        if build.exists() {
            fs::remove_dir_all(&build)?;
        }
        let mut configure = self.workspace.command("cmake");
        configure.arg("-S").arg(self.root("crates/capi/tests/consumer")).arg("-B").arg(&build);
        configure.arg(format!("-DCMAKE_PREFIX_PATH={}", self.prefix.display()));
        run_quietly(&mut configure)?;
        run_quietly(self.workspace.command("cmake").arg("--build").arg(&build))?;
        for program in ["shared", "static", "plus"] {
            self.run(&build.join(program), |mut command| {
                if program == "static" {
                    command.env_remove("LD_LIBRARY_PATH");
                }
                command
            })?;
        }
        Ok(())
    }

    /// Links and runs a program without any shared library, with the flags of `pkg-config
    /// --static`.
    fn wholly_static(&self) -> Result<()> {
        let mut said = self.workspace.command("pkg-config");
        said.env("PKG_CONFIG_PATH", self.prefix.join("lib/pkgconfig"));
        let said = output(said.args(["--static", "--cflags", "--libs", "swath"]))?;
        let program = self.folder.join("wholly-static");
        let mut command = self.workspace.command("cc");
        command.arg("-static").arg(self.root("crates/capi/tests/consumer/main.c"));
        run_quietly(command.arg("-o").arg(&program).args(said.split_whitespace()))?;
        self.run(&program, |mut command| {
            command.env_remove("LD_LIBRARY_PATH");
            command
        })
    }
}

/// Returns the functions that a header declares: names before an opening parenthesis, outside
/// comments.
fn declared(header: &str) -> BTreeSet<&str> {
    let is_comment = |line: &&str| !line.trim_start().starts_with(['/', '*']);
    let code = header.lines().filter(is_comment);
    let opening = code.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    opening.filter(|name| name.starts_with("swath_")).collect()
}

/// Whether `name` occurs as a whole word.
fn calls(text: &str, name: &str) -> bool {
    let is_part = |byte: Option<char>| byte.is_some_and(|it| it.is_alphanumeric() || it == '_');
    text.match_indices(name).any(|(at, _)| {
        !is_part(text[..at].chars().next_back())
            && !is_part(text[at + name.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_and_callbacks_and_comments_are_none() {
        let header = "/**\n * See `swath_a(x)`.\n */\nconst char *swath_b(void);\n\
                      swath_status swath_c(int x,\n                     int y);\n\
                      typedef int32_t (*swath_d)(int);\n";
        assert_eq!(declared(header), BTreeSet::from(["swath_b", "swath_c"]));
    }

    #[test]
    fn a_longer_name_is_no_call_of_a_shorter_one() {
        assert!(calls("OK(swath_read(path))", "swath_read"));
        assert!(!calls("OK(swath_read_into(path)); my_swath_read()", "swath_read"));
    }

    #[test]
    fn a_folder_without_c_files_is_told_and_not_passed_over() {
        let workspace = Workspace::find().expect("this is one");
        assert!(workspace.sources("xtask", "c").is_err());
        let tests = workspace.sources("crates/capi/tests/c", "c").expect("tests are there");
        assert!(tests.iter().all(|it| it.extension().is_some_and(|it| it == "c")));
        let stems: Vec<_> = tests.iter().filter_map(|it| it.file_stem()?.to_str()).collect();
        assert!(ALSO_PLUS.iter().all(|name| stems.contains(name)), "{stems:?}");
    }
}
