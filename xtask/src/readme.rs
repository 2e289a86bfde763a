//! `cargo xtask readme`: README's section *Install*, word for word, and a first program of each.
//!
//! ```text
//! command   cargo xtask install, in a home of its own   README's `sh` blocks run with it
//! Rust      README's dependency lines                   README's `rust` block is its `main`
//! Python    pip install                                 README's `python` blocks
//! C         cargo xtask install-c, into a prefix        README's `c` block, compiled by README's line
//! ```
//!
//! In a push the command, the C library and the package are those of the tests, with the assertions of a debug
//! build; of Rust, Cargo resolves the lines, and the program is a test of `swath-docs`. With
//! `--release`, all are what a user gets; `torture` tries them so.

#[allow(dead_code, unreachable_pub, reason = "the crate `swath-docs` uses the rest")]
#[path = "../../docs/src/blocks.rs"]
mod page;

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::process::{output, run};
use crate::skips;
use crate::workspace::Workspace;
use page::{Block, Language, Page};

/// The builds to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Builds {
    /// The builds of the tests, where they differ.
    Tests,
    /// The builds of a user.
    Release,
}

/// The commands of README, and the folder in which they are tried.
struct Trial<'w> {
    workspace: &'w Workspace,
    builds: Builds,
    readme: Readme,
    /// The folder of all results.
    folder: PathBuf,
}

/// Runs the step `readme`.
pub(crate) fn run_step(workspace: &Workspace) -> Result<()> {
    check(workspace, Builds::Tests)
}

/// Installs the package as README says, into the private Python, with the assertions of a debug build.
pub(crate) fn install_package(workspace: &Workspace) -> Result<()> {
    let trial = Trial::new(workspace, Builds::Tests)?;
    fs::create_dir_all(trial.home())?;
    run(trial.pip(&workspace.venv())?.env("MATURIN_PEP517_ARGS", "--profile dev"))
}

/// Tries all four installations.
pub(crate) fn check(workspace: &Workspace, builds: Builds) -> Result<()> {
    let trial = Trial::new(workspace, builds)?;
    if trial.folder.exists() {
        fs::remove_dir_all(&trial.folder)?;
    }
    fs::create_dir_all(trial.home())?;
    trial.inputs()?;
    trial.command()?;
    trial.rust()?;
    trial.python()?;
    trial.c()
}

impl<'w> Trial<'w> {
    fn new(workspace: &'w Workspace, builds: Builds) -> Result<Trial<'w>> {
        let readme = Readme::parse(&workspace.read("README.md")?)?;
        Ok(Trial { workspace, builds, readme, folder: workspace.target().join("install") })
    }

    /// Creates the files that README's programs read.
    fn inputs(&self) -> Result<()> {
        let work = self.work();
        fs::create_dir_all(&work)?;
        fs::write(work.join("data.bin"), "some data, and more\n".repeat(100_000))?;
        fs::write(work.join("points.csv"), "x,y\n".to_owned() + &"1.5,-2.25\n".repeat(1_000))?;
        fs::write(work.join("in.log"), "info a\nerror b\ninfo c\nerror d\n")?;
        Ok(())
    }

    fn command(&self) -> Result<()> {
        let mut words = self.readme.installs("cargo xtask install\n")?.to_owned();
        if self.builds == Builds::Tests {
            let built = self.workspace.target().join("debug/swath");
            words = format!("{} --binary '{}'\n", words.trim_end(), built.display());
        }
        run(&mut self.bash(&words, self.workspace.root()))?;
        let bin = self.home().join(".local/bin");
        for block in self.readme.uses(Language::Shell) {
            run(self.bash(&block.text, &self.work()).env("PATH", before_path(&bin)?))?;
        }
        self.leaves("points.npy")?;
        self.leaves("data.bin.zst")
    }

    fn rust(&self) -> Result<()> {
        let package = self.folder.join("rust");
        fs::create_dir_all(package.join("src"))?;
        // README's paths lead into a checkout beside `Cargo.toml`.
        symlink(self.workspace.root(), package.join("swath"))?;
        fs::copy(self.workspace.root().join("Cargo.lock"), package.join("Cargo.lock"))?;
        let manifest = "[package]\nname = \"first\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                        [workspace]\nexclude = [\"swath\"]\n\n";
        fs::write(
            package.join("Cargo.toml"),
            format!("{manifest}{}", self.readme.dependencies),
        )?;
        let blocks = self.readme.uses(Language::Rust);
        ensure!(!blocks.is_empty(), "README.md shows no Rust");
        if self.builds == Builds::Tests {
            // The program itself is a test of `swath-docs`: here Cargo only resolves what README names.
            fs::write(package.join("src/main.rs"), "fn main() {}\n")?;
            let words = ["metadata", "--format-version", "1", "--offline", "--manifest-path"];
            let mut cargo = self.workspace.cargo(&words);
            return output(cargo.arg(package.join("Cargo.toml"))).map(drop);
        }
        let body: String = blocks.iter().map(|it| it.text.as_str()).collect();
        let main = "fn main() -> Result<(), Box<dyn std::error::Error>> {";
        fs::write(package.join("src/main.rs"), format!("{main}\n{body}\nOk(())\n}}\n"))?;
        let mut cargo = self.workspace.cargo(&["run", "--quiet", "--manifest-path"]);
        cargo.arg(package.join("Cargo.toml")).current_dir(self.work());
        run(cargo.env("CARGO_TARGET_DIR", self.workspace.target()))?;
        self.leaves("squares.txt")?;
        self.leaves("errors.log")
    }

    fn python(&self) -> Result<()> {
        if !self.workspace.venv_stamp().exists() {
            let why = "there is no Python to install it into";
            return skips::note(self.workspace, "python-package", why);
        }
        let venv = match self.builds {
            // The step `wheel` has installed it.
            Builds::Tests => self.workspace.venv(),
            Builds::Release => self.folder.join("venv"),
        };
        if self.builds == Builds::Release {
            let mut make = self.workspace.command(self.workspace.venv_python());
            run(make.args(["-m", "venv"]).arg(&venv))?;
            run(&mut self.pip(&venv)?)?;
        }
        for block in self.readme.uses(Language::Python) {
            let mut python = self.workspace.command(venv.join("bin/python"));
            run(python.args(["-c", &block.text]).current_dir(self.work()))?;
        }
        self.leaves("out.txt")
    }

    /// Returns README's command that installs the package, for one environment.
    fn pip(&self, venv: &Path) -> Result<Command> {
        let mut pip = self.bash(self.readme.installs("pip install")?, self.workspace.root());
        pip.env("PATH", before_path(&venv.join("bin"))?);
        pip.env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env("PIP_QUIET", "1");
        Ok(pip)
    }

    fn c(&self) -> Result<()> {
        if !self.workspace.has("cc") || !self.workspace.has("pkg-config") {
            return skips::note(self.workspace, "c-compiler", "no `cc`, or no `pkg-config`");
        }
        let prefix = self.folder.join("prefix");
        let shown = prefix.to_str().context("the target folder is not UTF-8")?;
        let mut words =
            self.readme.installs("cargo xtask install-c")?.replace("/usr/local", shown);
        // Only root may change the loader's cache; LD_LIBRARY_PATH names the folder below.
        words = words.replace("\nldconfig", &format!("\nldconfig -n '{shown}/lib'"));
        if self.builds == Builds::Tests {
            words = words.replacen("install-c", "install-c --profile dev", 1);
        }
        run(&mut self.bash(&words, self.workspace.root()))?;
        for block in self.readme.uses(Language::C) {
            fs::write(self.work().join("program.c"), &block.text)?;
            let mut cc = self.bash(&self.readme.compile, &self.work());
            run(cc.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")))?;
            let mut program = self.workspace.command(self.work().join("a.out"));
            program.current_dir(self.work());
            run(program.env("LD_LIBRARY_PATH", prefix.join("lib")))?;
        }
        self.leaves("a.out")
    }

    fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    fn leaves(&self, name: &str) -> Result<()> {
        let len = fs::metadata(self.work().join(name)).map_or(0, |it| it.len());
        ensure!(len > 0, "README.md's programs did not write {name}");
        Ok(())
    }

    /// Returns a shell in a home of its own, with the user's Rust.
    fn bash(&self, text: &str, folder: &Path) -> Command {
        let mut bash = self.workspace.command("bash");
        bash.args(["-xeuo", "pipefail", "-c", text]).current_dir(folder);
        let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        for (name, below) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            if env::var_os(name).is_none() {
                bash.env(name, home.join(below));
            }
        }
        if self.builds == Builds::Release {
            // With this variable, this program would be compiled again, and once more by the next
            // `cargo xtask`.
            bash.env_remove("CARGO_INCREMENTAL");
        }
        bash.env("HOME", self.home());
        bash
    }
}

/// Returns PATH with a folder first.
fn before_path(bin: &Path) -> Result<std::ffi::OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let all = [bin.to_owned()].into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(all).context("PATH has an odd folder")
}

/// The commands of README.md for installing, and the output that it shows.
struct Readme {
    page: Page,
    /// The lines of the section *Install*.
    install: std::ops::Range<usize>,
    dependencies: String,
    compile: String,
}

impl Readme {
    fn parse(text: &str) -> Result<Readme> {
        let page = Page::parse("README.md", text).map_err(anyhow::Error::msg)?;
        let start = text.lines().position(|line| line == "## Install");
        let start = start.context("README.md has no section `## Install`")? + 1;
        let len = text.lines().skip(start).position(|line| line.starts_with("## "));
        let install =
            start..start + len.context("README.md ends with the section `## Install`")?;
        let toml = text.split_once("```toml\n").and_then(|(_, rest)| rest.split_once("```"));
        let dependencies = toml.context("README.md shows no dependency lines")?.0.to_owned();
        let compile = text.split('`').find(|it| it.starts_with("cc program.c"));
        let compile = compile.context("README.md does not say how to compile C")?.to_owned();
        Ok(Readme { page, install, dependencies, compile })
    }

    /// Returns the block of the section *Install* that begins with `start`.
    fn installs(&self, start: &str) -> Result<&str> {
        let mut blocks = self.page.blocks.iter().filter(|it| self.install.contains(&it.line));
        let found = blocks.find(|it| it.text.starts_with(start));
        Ok(&found.with_context(|| format!("README.md has no block `{}`", start.trim()))?.text)
    }

    /// Returns the blocks of all other sections that are run.
    fn uses(&self, language: Language) -> Vec<&Block> {
        self.page.of(language).filter(|it| !self.install.contains(&it.line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "# Swath\n\n## Install\n\n<!-- not run: slow -->\n```sh,ignore\npip install .\n```\n\
        ```toml\n[dependencies]\n```\n\n## Use\n\n```python\nimport swath\n```\n\nWith `cc program.c`.\n";

    #[test]
    fn what_installs_is_told_from_what_is_used() {
        let readme = Readme::parse(README).expect("it is whole");
        assert_eq!(readme.installs("pip install").expect("it is there"), "pip install .\n");
        assert!(readme.installs("cargo").is_err());
        assert_eq!(readme.dependencies, "[dependencies]\n");
        assert_eq!(readme.compile, "cc program.c");
        assert_eq!(readme.uses(Language::Python).len(), 1);
        assert!(readme.uses(Language::Shell).is_empty());
    }

    #[test]
    fn a_readme_without_one_of_them_is_an_error() {
        for gone in ["## Install", "## Use", "```toml", "`cc program.c`"] {
            assert!(Readme::parse(&README.replace(gone, "x")).is_err(), "{gone}");
        }
    }
}
