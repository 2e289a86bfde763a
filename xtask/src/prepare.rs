//! Installs the peers that tests and measurements compare with.
//!
//! These are a private Python with numpy and the tools that build and test the package, ripgrep, a
//! browser for the study's page, valgrind and CMake for the C library, and an MPI. Nothing here fails: a
//! peer that could not be obtained is noted as a skip with its reason, and the tests that need it
//! skip themselves. Distribution packages are installed only by root, as in a CI container.

use anyhow::{Result, bail};

use crate::c::compiles_mpi;
use crate::process::run_quietly;
use crate::skips;
use crate::workspace::Workspace;

const REQUIREMENTS: &str = "xtask/requirements.txt";

/// Installs what can be installed; notes the rest as skipped.
pub(crate) fn run_all(workspace: &Workspace) -> Result<()> {
    if let Err(error) = need(workspace, &["rg"], "ripgrep") {
        skips::note(workspace, "ripgrep", &format!("{error:#}"))?;
    }
    if let Err(error) = python(workspace) {
        skips::note(workspace, "numpy", &format!("{error:#}"))?;
    }
    // Opens the study's page in the tests.
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    if let Err(error) = need(workspace, &browsers, "chromium") {
        skips::note(workspace, "chromium", &format!("{error:#}"))?;
    }
    // The step `c` and the tests of Python report what is missing.
    let _ = need(workspace, &["mpirun"], "openmpi-bin");
    if !compiles_mpi(workspace) {
        let _ = install(workspace, "libopenmpi-dev");
    }
    for program in ["valgrind", "cmake", "pkg-config"] {
        let _ = need(workspace, &[program], program);
    }
    Ok(())
}

/// Installs a package if none of `programs` is present; then the first of them must be.
fn need(workspace: &Workspace, programs: &[&str], package: &str) -> Result<()> {
    if programs.iter().any(|program| workspace.has(program)) {
        return Ok(());
    }
    install(workspace, package)?;
    run_quietly(workspace.command(programs[0]).arg("--version"))
}

/// A venv made from today's requirements; an older one is rebuilt.
fn python(workspace: &Workspace) -> Result<()> {
    let wanted = workspace.read(REQUIREMENTS)?;
    let stamp = workspace.venv_stamp();
    let made_from = std::fs::read_to_string(&stamp).unwrap_or_default();
    if made_from == wanted && import_works(workspace).is_ok() {
        return Ok(());
    }
    if workspace.venv().exists() {
        std::fs::remove_dir_all(workspace.venv())?;
    }
    if let Err(first) = create_venv(workspace) {
        // Debian keeps `venv` in a package of its own.
        install(workspace, "python3-venv").map_err(|error| first.context(error.to_string()))?;
        create_venv(workspace)?;
    }
    install_requirements(workspace)?;
    import_works(workspace)?;
    std::fs::write(stamp, wanted)?;
    Ok(())
}

fn create_venv(workspace: &Workspace) -> Result<()> {
    let venv = workspace.venv();
    run_quietly(workspace.command("python3").args(["-m", "venv", "--clear"]).arg(venv))
}

fn install_requirements(workspace: &Workspace) -> Result<()> {
    let mut pip = workspace.command(workspace.venv_python());
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
    // Never compile: a laptop without a wheel for its Python skips instead of waiting.
    pip.args(["--only-binary", ":all:", "--requirement", REQUIREMENTS]);
    run_quietly(&mut pip)
}

fn import_works(workspace: &Workspace) -> Result<()> {
    run_quietly(
        workspace
            .command(workspace.venv_python())
            .args(["-c", "import numpy, pytest, maturin"]),
    )
}

/// Installs a distribution package, as root only.
fn install(workspace: &Workspace, package: &str) -> Result<()> {
    if !is_root() {
        bail!("`{package}` is not installed, and only root may install it");
    }
    if apt(workspace, &["install", "--yes", "--no-install-recommends", package]).is_ok() {
        return Ok(());
    }
    // A fresh container has no package lists yet.
    apt(workspace, &["update"])?;
    apt(workspace, &["install", "--yes", "--no-install-recommends", package])
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
