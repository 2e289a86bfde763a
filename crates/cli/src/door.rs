//! Looks up the file at the path of an output as a writer does: symbolic links that a writer must not
//! follow are not followed here either.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use swath::sink::{FileKind, Fs, LocalFs};

use crate::failure::Refused;
use crate::report::ReportName;

/// Returns the kind of file that a writer to `path` would find; `None` if there is none.
///
/// # Errors
///
/// The errors of [`Fs::locate`]; `PermissionDenied` for a link of another user in a folder such as `/tmp`.
pub(crate) fn stands(path: &Path) -> io::Result<Option<FileKind>> {
    let found = LocalFs.locate(path).and_then(|at| at.folder.facts(&at.name));
    match found {
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        found => Ok(found?.map(|facts| facts.kind)),
    }
}

/// Whether `path` is a folder. Errors are left to the writer.
pub(crate) fn is_folder(path: &Path) -> bool {
    // One call for most paths, which lead to no folder.
    path.is_dir() && matches!(stands(path), Ok(Some(FileKind::Folder)))
}

/// Whether `path` is a pipe or a device, which is written to and not replaced.
pub(crate) fn is_special(path: &Path) -> bool {
    let is_odd = |facts: Metadata| !facts.is_file() && !facts.is_dir();
    path.metadata().is_ok_and(is_odd) && matches!(stands(path), Ok(Some(FileKind::Special)))
}

/// Opens a pipe or a device for writing, unless it is another user's pipe in a folder such as `/tmp`, or was
/// exchanged after the look-up.
pub(crate) fn open_special(path: &Path) -> io::Result<File> {
    // The file that is held here is opened below, even if the name leads elsewhere by then.
    let held = OFlags::PATH.bits().cast_signed();
    let held = OpenOptions::new().read(true).custom_flags(held).open(path)?;
    let facts = held.metadata()?;
    if facts.is_file() {
        return Err(io::Error::other("it was a pipe or a device, and is a file now"));
    }
    refuse_strangers_pipe(path, &facts)?;
    OpenOptions::new().write(true).open(format!("/proc/self/fd/{}", held.as_raw_fd()))
}

/// Refuses pipes as the kernel does with `fs.protected_fifos`, which few machines have set, and in folders without
/// the sticky bit too, since writing to a pipe needs no flag.
fn refuse_strangers_pipe(path: &Path, facts: &Metadata) -> io::Result<()> {
    const OTHERS_WRITE: u32 = 0o022;
    let owners = [rustix::process::geteuid().as_raw(), facts.uid()];
    if !facts.file_type().is_fifo() || owners[0] == owners[1] {
        return Ok(());
    }
    let held = OFlags::PATH.bits().cast_signed();
    let folder = OpenOptions::new().read(true).custom_flags(held).open(above(path))?;
    let of_folder = folder.metadata()?;
    let is_own = of_folder.mode() & OTHERS_WRITE == 0 && of_folder.uid() == facts.uid();
    // A service's pipe in its own folder may be meant for other users.
    if !is_own || !swath_os::links::is_placed_by(&folder, facts.uid()) {
        let text = "a named pipe of another user in a folder that others may write to";
        return Err(io::Error::new(ErrorKind::PermissionDenied, text));
    }
    Ok(())
}

/// Refuses the name of an open descriptor, such as `/dev/stdout`, if it leads to a file: a new file in its
/// place would lose what other writers to that descriptor have written.
pub(crate) fn refuse_descriptor(path: &Path) -> Result<(), Refused> {
    let folder = path.parent().unwrap_or(path);
    let is_of_proc = folder.starts_with("/proc") && folder.ends_with("fd");
    let is_stream = [Path::new("/dev/stdout"), Path::new("/dev/stderr")].contains(&path);
    if (is_stream || is_of_proc || folder == Path::new("/dev/fd")) && path.is_file() {
        let what = format!("cannot replace the file that {} leads to", path.shown());
        return Err(Refused::new(
            what,
            "pass `-` for standard output, or name the file itself",
        ));
    }
    Ok(())
}

/// Returns the parent folder of a path.
pub(crate) fn above(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_special_is_opened_as_it_was_checked_and_a_file_never() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, pipe) = (folder.path().join("file"), folder.path().join("pipe"));
        fs::write(&file, b"kept").expect("written");
        let error = open_special(&file).expect_err("a file");
        assert!(error.to_string().contains("is a file now"), "{error}");
        assert_eq!(fs::read(&file).expect("there"), b"kept");
        open_special(Path::new("/dev/null")).expect("a device");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).expect("a pipe");
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe)
        });
        let mut opened = open_special(&pipe).expect("a pipe of one's own");
        std::io::Write::write_all(&mut opened, b"bytes").expect("it has a reader");
        drop(opened);
        assert_eq!(reader.join().expect("no panic").expect("read"), b"bytes");
    }

    #[test]
    fn what_stands_there_is_what_a_path_leads_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), b"").expect("written");
        for (link, text) in [("to-folder", "."), ("to-file", "file"), ("to-null", "/dev/null")]
        {
            std::os::unix::fs::symlink(text, path(link)).expect("linked");
        }
        for (name, kind) in [
            ("", Some(FileKind::Folder)),
            (".", Some(FileKind::Folder)),
            ("to-folder/", Some(FileKind::Folder)),
            ("to-file", Some(FileKind::File)),
            ("to-null", Some(FileKind::Special)),
            ("missing", None),
            ("missing/file", None),
            ("file/file", None),
        ] {
            assert_eq!(stands(&path(name)).expect("asked"), kind, "{name}");
        }
        assert!(is_folder(Path::new("/")) && is_folder(Path::new("..")));
        assert!(is_special(Path::new("/dev/null")) && !is_folder(Path::new("")));
    }
}
