//! The Python package: wheels for glibc and musl, one for free-threaded interpreters, and the source.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::licences::{self, Libc};
use super::part::Made;
use super::release::Release;
use super::target::{GNU, MUSL, Std};
use super::tools::Tools;
use super::{binary, clean, deb, linked, target};
use crate::process;

/// The first program of a user of the package.
const PROGRAM: &str = "\
import pathlib, sys, swath
data = bytes(range(256)) * 12_345
pathlib.Path('data.bin').write_bytes(data)
assert bytes(swath.read('data.bin')) == data
assert swath.sum('data.bin') == sum(data)
with swath.append('out.txt') as out:
    out.write(b'complete')
assert pathlib.Path('out.txt').read_bytes() == b'complete'
assert 'numpy' not in sys.modules
print(swath.__file__)
";

/// For glibc 2.28 and newer: one wheel for every Python from 3.11 on.
pub(super) fn wheel(release: &Release) -> Result<Made> {
    build(
        release,
        &Wheel { triple: GNU, platform: "manylinux_2_28", python: None, std: Std::Installed },
    )
}

/// For musl 1.2 and newer.
pub(super) fn wheel_musl(release: &Release) -> Result<Made> {
    let std = target::std_of(release, MUSL)?;
    if std == Std::Missing {
        return Ok(target::missing(MUSL));
    }
    build(release, &Wheel { triple: MUSL, platform: "musllinux_1_2", python: None, std })
}

/// For interpreters without the lock, which have no stable ABI with 3.11 to 3.14.
pub(super) fn wheel_free_threaded(release: &Release) -> Result<Made> {
    let Some(python) = free_threaded(release) else {
        return Ok(Made::missing(
            "an interpreter without the global lock (python3.14t, python3.13t)",
            "build CPython with --disable-gil, or uv python install 3.14t",
        ));
    };
    let python = Some(python);
    build(
        release,
        &Wheel { triple: GNU, platform: "manylinux_2_28", python, std: Std::Installed },
    )
}

/// A wheel to be made.
struct Wheel {
    triple: &'static str,
    platform: &'static str,
    /// The interpreter whose own ABI the wheel is for; without one, the stable ABI.
    python: Option<String>,
    std: Std,
}

fn build(release: &Release, wheel: &Wheel) -> Result<Made> {
    papers(release, wheel.triple)?;
    let folder = release.empty_folder("wheel")?;
    let tools = Tools::new(release)?;
    let mut maturin = tools.command(release, "maturin")?;
    maturin.current_dir(release.staged("python"));
    maturin.args(["build", "--release", "--locked", "--zig", "--target", wheel.triple]);
    maturin.args(["--compatibility", wheel.platform, "--out"]).arg(&folder);
    if let Some(python) = &wheel.python {
        maturin.args(["--interpreter", python]);
    }
    if wheel.triple == MUSL {
        // An extension is loaded by an interpreter, which has the C library already.
        release.prepare(&mut maturin, &["-Ctarget-feature=-crt-static"]);
    }
    wheel.std.apply(&mut maturin);
    process::run(&mut maturin)?;
    let made = only_file(&folder)?;
    let file = release.out().join(made.file_name().context("a wheel without a name")?);
    fs::copy(&made, &file)?;
    Ok(Made::Files { files: vec![file], notes: Vec::new() })
}

/// Writes the licences of the linked packages to the place that the package's metadata names.
fn papers(release: &Release, triple: &str) -> Result<()> {
    let packages = linked::packages(release, "swath-python", triple)?;
    let text = licences::text(release, &packages, Libc::Shared)?;
    Ok(fs::write(release.staged("python").join(licences::NAME), text)?)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let files: Vec<_> = fs::read_dir(folder)?.collect::<std::io::Result<_>>()?;
    match files.as_slice() {
        [file] => Ok(file.path()),
        _ => bail!("{} files in {}", files.len(), folder.display()),
    }
}

/// Returns the name of an interpreter without the lock.
fn free_threaded(release: &Release) -> Option<String> {
    let names = ["python3.14t", "python3.13t", "python3t"];
    names.into_iter().find(|name| release.workspace().has(name)).map(str::to_owned)
}

/// Installs the wheel in an empty environment, and uses it.
pub(super) fn try_wheel(release: &Release, files: &[PathBuf]) -> Result<Vec<String>> {
    let wheel = files.first().context("no wheel")?;
    let mut tried = vec![look_into(release, wheel)?];
    for name in ["python3", "python3.11", "python3.12", "python3.13", "python3.14"] {
        if is_usable(release, name) {
            tried.push(install_and_run(release, wheel, name)?);
        }
    }
    ensure!(tried.len() > 1, "there is no Python 3.11 or newer to try it with");
    Ok(tried)
}

pub(super) fn try_free_threaded(release: &Release, files: &[PathBuf]) -> Result<Vec<String>> {
    let wheel = files.first().context("no wheel")?;
    let name = free_threaded(release).context("no interpreter without the lock")?;
    Ok(vec![look_into(release, wheel)?, install_and_run(release, wheel, &name)?])
}

/// Checks the needs of the extension only: there is no Python for musl on a machine with glibc.
pub(super) fn look_at_musl(release: &Release, files: &[PathBuf]) -> Result<Vec<String>> {
    let wheel = files.first().context("no wheel")?;
    let looked = look_into(release, wheel)?;
    let extension = extension(&release.scratch("try-wheel"))?;
    let needs = binary::needs(&extension)?;
    ensure!(needs.glibc.is_none(), "{} needs glibc", extension.display());
    let libraries = needs.libraries.join(", ");
    Ok(vec![
        looked,
        format!("needs {libraries}; not imported: there is no Python for musl here"),
    ])
}

/// Checks a wheel: its licences, size, needs, and the folders that it names.
fn look_into(release: &Release, wheel: &Path) -> Result<String> {
    let folder = release.empty_folder("try-wheel")?;
    let mut unzip = release.program("python3");
    process::run_quietly(unzip.args(["-m", "zipfile", "--extract"]).arg(wheel).arg(&folder))?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE", licences::NAME] {
        ensure!(is_below(&folder, name), "{} has no {name}", wheel.display());
    }
    let extension = extension(&folder)?;
    release.names_no_folder(&extension)?;
    let glibc = binary::assert_glibc(&extension, deb::GLIBC)?;
    let size = release.assert_small(&extension, binary::EXTENSION_LIMIT)?;
    Ok(format!("licences are there; needs glibc {glibc} at most; the extension has {size}"))
}

fn extension(folder: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(folder.join("swath"))?;
    let mut paths = files.flatten().map(|entry| entry.path());
    paths.find(|it| it.extension().is_some_and(|it| it == "so")).context("no extension")
}

fn is_below(folder: &Path, name: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            is_below(&path, name)
        } else {
            path.file_name().is_some_and(|it| it == name)
        }
    })
}

fn is_usable(release: &Release, name: &str) -> bool {
    let check = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    process::run_quietly(release.program(name).args(["-c", check])).is_ok()
}

fn install_and_run(release: &Release, wheel: &Path, python: &str) -> Result<String> {
    let home = release.empty_folder("try-python")?;
    let mut pip = in_venv(release, python, &home)?;
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]);
    process::run_quietly(pip.arg(wheel))?;
    let version = use_it(&home)?;
    Ok(format!("installed with --no-index and used by {version}"))
}

/// Makes a venv in `home`; returns its interpreter in a clean environment.
fn in_venv(release: &Release, python: &str, home: &Path) -> Result<Command> {
    let mut venv = release.program(python);
    process::run_quietly(venv.args(["-m", "venv"]).arg(home.join("venv")))?;
    Ok(clean::command(home.join("venv/bin/python"), home))
}

/// Uses the package; returns the version of the interpreter.
fn use_it(home: &Path) -> Result<String> {
    let mut command = clean::command(home.join("venv/bin/python"), home);
    let place = process::output(command.args(["-c", PROGRAM]))?;
    let inside = place.trim().starts_with(&home.to_string_lossy().into_owned());
    ensure!(inside, "{place} was used instead");
    let mut version = clean::command(home.join("venv/bin/python"), home);
    Ok(process::output(version.arg("--version"))?.trim().to_owned())
}

/// The source, from which `pip` builds.
pub(super) fn sdist(release: &Release) -> Result<Made> {
    papers(release, GNU)?;
    let folder = release.empty_folder("sdist")?;
    let tools = Tools::new(release)?;
    let mut maturin = tools.command(release, "maturin")?;
    maturin.current_dir(release.staged("python"));
    process::run(maturin.args(["sdist", "--out"]).arg(&folder))?;
    let made = only_file(&folder)?;
    let file = release.out().join(made.file_name().context("an archive without a name")?);
    fs::copy(&made, &file)?;
    Ok(Made::Files { files: vec![file], notes: Vec::new() })
}

/// Builds it as `pip` does, with the builder of this release, and uses the result.
pub(super) fn try_sdist(release: &Release, files: &[PathBuf]) -> Result<Vec<String>> {
    let archive = files.first().context("no archive")?;
    let home = release.empty_folder("try-python")?;
    in_venv(release, "python3", &home)?;
    let tools = Tools::new(release)?;
    let mut pip = tools.command(release, "python")?;
    pip.args(["-m", "pip", "--python"]).arg(home.join("venv/bin/python"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-index"]);
    // The builder is that of the tools, found by its path.
    pip.args(["--no-build-isolation", "--no-deps"]).arg(archive);
    let builder = tools.site_packages()?;
    pip.env("PYTHONPATH", builder);
    process::run_quietly(&mut pip)?;
    let version = use_it(&home)?;
    Ok(vec![format!("built by pip, installed and used by {version}")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_at_any_depth() {
        let folder = std::env::temp_dir().join(format!("swath-wheel-{}", std::process::id()));
        fs::create_dir_all(folder.join("a/b")).expect("the temporary folder is writable");
        fs::write(folder.join("a/b/LICENSE-MIT"), "").expect("room");
        assert!(is_below(&folder, "LICENSE-MIT"));
        assert!(!is_below(&folder, "LICENSE"));
        fs::remove_dir_all(&folder).expect("it is this test's own");
    }

    #[test]
    fn exactly_one_wheel_is_expected() {
        let folder = std::env::temp_dir().join(format!("swath-one-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        assert!(only_file(&folder).is_err());
        fs::write(folder.join("a.whl"), "").expect("room");
        assert!(only_file(&folder).is_ok());
        fs::write(folder.join("b.whl"), "").expect("room");
        assert!(only_file(&folder).is_err());
        fs::remove_dir_all(&folder).expect("it is this test's own");
    }
}
