//! The libraries and symbols that an ELF file needs when it runs, from `readelf`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail, ensure};

use super::size;
use crate::process;

/// The maximum size of the stripped command, in bytes.
pub(super) const COMMAND_LIMIT: u64 = 16_000_000;
/// The maximum size of the Python extension, in bytes.
pub(super) const EXTENSION_LIMIT: u64 = 15_000_000;

/// The libraries that a machine must have so that an ELF file runs there.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Needs {
    /// The program that loads it; none for a static program and for a library.
    pub(super) loader: Option<String>,
    pub(super) libraries: Vec<String>,
    /// The newest version of glibc's symbols, as two numbers.
    pub(super) glibc: Option<Version>,
    has_debug_information: bool,
}

/// `2.28`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    pub(super) major: u32,
    pub(super) minor: u32,
}

impl Version {
    pub(super) fn parse(text: &str) -> Option<Version> {
        let (major, rest) = text.split_once('.')?;
        let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// Reads the needs of a file.
pub(super) fn needs(path: &Path) -> Result<Needs> {
    let mut command = Command::new("readelf");
    command.args(["--wide", "--program-headers", "--dynamic", "--version-info", "--sections"]);
    let said = process::output(command.arg(path).env("LC_ALL", "C"))?;
    ensure!(said.contains("Program Headers"), "{} is not an ELF program", path.display());
    Ok(parse(&said))
}

fn parse(said: &str) -> Needs {
    let mut needs = Needs::default();
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Requesting program interpreter: ") {
            needs.loader = Some(rest.trim_end_matches(']').to_owned());
        }
        if let Some((_, rest)) = line.split_once("Shared library: [") {
            needs.libraries.push(rest.trim_end_matches(']').to_owned());
        }
        needs.has_debug_information |= line.contains(" .debug_info ");
        for (_, rest) in
            line.match_indices("GLIBC_").map(|(at, it)| line[at..].split_at(it.len()))
        {
            needs.glibc = needs.glibc.max(Version::parse(rest));
        }
    }
    needs
}

/// Fails for a program that needs a loader or a library.
pub(super) fn assert_static(path: &Path) -> Result<()> {
    let needs = needs(path)?;
    if needs.loader.is_some() || !needs.libraries.is_empty() {
        bail!(
            "{} is dynamic: loader {}, libraries {:?}",
            path.display(),
            needs.loader.as_deref().unwrap_or("-"),
            needs.libraries
        );
    }
    assert_stripped(path, &needs)
}

/// Fails for a file that needs a newer glibc, or debugging information that users do not need.
pub(super) fn assert_glibc(path: &Path, most: Version) -> Result<Version> {
    let needs = needs(path)?;
    assert_stripped(path, &needs)?;
    let found = needs.glibc.unwrap_or(Version { major: 2, minor: 0 });
    ensure!(found <= most, "{} needs glibc {found}, more than {most}", path.display());
    Ok(found)
}

fn assert_stripped(path: &Path, needs: &Needs) -> Result<()> {
    ensure!(!needs.has_debug_information, "{} has debugging information", path.display());
    Ok(())
}

/// Fails for a file that is larger than `limit`; else returns its size in words.
pub(super) fn assert_small(path: &Path, limit: u64) -> Result<String> {
    let len = fs::metadata(path)?.len();
    let (found, most) = (size::megabytes(len), size::megabytes(limit));
    ensure!(len <= limit, "{} has {found}, more than {most}", path.display());
    Ok(format!("{found} (at most {most})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DYNAMIC: &str = "Program Headers:\n      [Requesting program interpreter: /lib64/ld.so.2]\n \
        0x0001 (NEEDED)   Shared library: [libgcc_s.so.1]\n 0x0001 (NEEDED)   Shared library: [libc.so.6]\n \
        0x0010:   Name: GLIBC_2.3.4  Flags: none  Version: 9\n  0x0020:   Name: GLIBC_2.28  Flags: none\n";

    #[test]
    fn loader_libraries_and_the_newest_version_are_found() {
        let needs = parse(DYNAMIC);
        assert_eq!(needs.loader.as_deref(), Some("/lib64/ld.so.2"));
        assert_eq!(needs.libraries, ["libgcc_s.so.1", "libc.so.6"]);
        assert_eq!(needs.glibc.map(|it| it.to_string()).as_deref(), Some("2.28"));
        assert_eq!(parse("Program Headers:\n  LOAD 0x0\n"), Needs::default());
    }

    #[test]
    fn versions_are_ordered_as_numbers() {
        let version = |text| Version::parse(text).expect("two numbers");
        assert!(version("2.4") < version("2.28"));
        assert_eq!(version("2.3.4"), version("2.3"));
        assert_eq!(Version::parse("PRIVATE"), None);
    }

    #[test]
    fn a_dynamic_program_is_not_taken_for_a_static_one() {
        // This test is one.
        let program = std::env::current_exe().expect("it runs");
        match assert_static(&program) {
            Err(error) => assert!(
                error.to_string().contains("dynamic") || error.to_string().contains("readelf")
            ),
            Ok(()) => panic!("{} was taken for a static program", program.display()),
        }
    }

    #[test]
    fn a_file_above_its_limit_is_refused() {
        let program = std::env::current_exe().expect("it runs");
        let len = fs::metadata(&program).expect("it is there").len();
        assert!(assert_small(&program, len).is_ok());
        assert!(assert_small(&program, len - 1).is_err());
    }
}
