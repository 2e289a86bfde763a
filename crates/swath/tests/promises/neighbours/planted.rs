//! Careless writers: the battery must find each of them, or it proves nothing.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use swath::sink::Fs;

use crate::neighbours::battery::{Case, Failure, attack_everywhere};
use crate::neighbours::street::{Before, Whose, is_root};
use crate::neighbours::ways::NEW;

/// The ways of a careless writer, which works with paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Careless {
    /// Looks for a folder that a killed run left, and then empties whatever is there.
    SweepsByPath,
    /// Takes the mode of what a path leads to, not of what was inspected.
    TakesModesByPath,
    /// Makes the file accessible to all, and restricts it later.
    ClosesLate,
    /// Writes to what is there, as most programs do.
    WritesThrough,
    /// Uses one name, whatever user has taken it.
    HasOneName,
}

fn write(careless: Careless, path: &Path, fs: &dyn Fs) -> Result<(), Failure> {
    let folder = fs.locate(path)?.folder;
    // A call that does nothing: here a neighbour may act.
    let pause = || folder.own_facts().map(drop);
    pause()?;
    let hidden = path.with_file_name(".out.swath-tmp");
    if careless == Careless::WritesThrough {
        fs::write(path, NEW)?;
        return Ok(());
    }
    match fs::symlink_metadata(&hidden) {
        Ok(facts) if facts.is_dir() => {
            pause()?;
            for entry in fs::read_dir(&hidden)? {
                fs::remove_file(entry?.path())?;
            }
            fs::remove_dir(&hidden)?;
        }
        Ok(_) if careless != Careless::HasOneName => fs::remove_file(&hidden)?,
        _ => {}
    }
    let mode = if careless == Careless::ClosesLate { 0o666 } else { 0o600 };
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&hidden)?;
    let done = give_name(careless, (&hidden, path), file, &pause);
    if done.is_err() {
        let _ = fs::remove_file(&hidden);
    }
    done
}

fn give_name(
    careless: Careless,
    (hidden, path): (&Path, &Path),
    mut file: File,
    pause: &dyn Fn() -> std::io::Result<()>,
) -> Result<(), Failure> {
    pause()?;
    let mode = match careless {
        Careless::TakesModesByPath => match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => 0o600,
            facts => facts?.permissions().mode(),
        },
        _ => 0o600,
    };
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(NEW)?;
    pause()?;
    fs::rename(hidden, path)?;
    Ok(())
}

fn finds(careless: Careless, before: Before, wrong: &str) {
    if !is_root() {
        return swath_reference::skip("root", "only root has another user for a neighbour");
    }
    let writer = |path: &Path, _: &Path, fs: Arc<dyn Fs>| write(careless, path, &*fs);
    let case = Case {
        writer: &writer,
        whose: Whose::Neighbours,
        before,
        nameless: true,
        is_folder: false,
        looked: 0,
    };
    let everybodys = attack_everywhere(Case { whose: Whose::Everybodys, ..case });
    let found = everybodys.and_then(|_| attack_everywhere(case));
    let found = found.expect_err("the battery finds it");
    assert!(found.contains(wrong), "{careless:?}: {found}");
}

#[test]
fn a_sweep_by_path_is_found() {
    finds(Careless::SweepsByPath, Before::Nothing, "has become");
}

#[test]
fn a_mode_that_is_taken_by_path_is_found() {
    finds(Careless::TakesModesByPath, Before::Theirs, "the new bytes are a program of 0");
}

#[test]
fn a_file_that_is_closed_late_is_found() {
    finds(Careless::ClosesLate, Before::Mine, "another user has read the new bytes");
}

#[test]
fn a_write_through_a_link_is_found() {
    finds(Careless::WritesThrough, Before::Nothing, "has become");
}

#[test]
fn a_name_that_can_be_taken_is_found() {
    finds(Careless::HasOneName, Before::Nothing, "the new bytes are not there");
}
