//! Tells the repository's checks which test could not run on this machine.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// Notes that `capability` is missing, in the file that `SWATH_SKIPS` names, if it does.
pub(crate) fn note(capability: &str, reason: impl Display) {
    eprintln!("skipped: {capability}: {reason}");
    let Some(path) = std::env::var_os("SWATH_SKIPS") else { return };
    let line = format!("{capability}: {reason}").replace('\n', " ") + "\n";
    let opened = OpenOptions::new().append(true).create(true).open(path);
    let noted = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    noted.expect("skips can be noted");
}
