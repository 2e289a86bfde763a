//! The acts of a neighbour, one each, between two calls of a writer. An attack that is not
//! permitted fails, which does not matter.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attack {
    /// The target becomes a link to a secret.
    TargetToSecret,
    /// The target becomes a link to a set-user-id program.
    TargetToProgram,
    /// The target becomes a link to a free name in a place where the neighbour may not create
    /// files.
    TargetToNowhere,
    /// The target becomes a world-readable file.
    TargetOpen,
    /// Every name that the writer uses, or may use, becomes a link to a secret.
    NamesToSecret,
    /// ... a link to a folder of segments.
    NamesToSegments,
    /// ... a folder with something in it.
    NamesToFolders,
    /// ... a world-readable file that is locked.
    NamesTaken,
    /// ... a folder of segments of the writer's own, which is in the same folder as the target.
    NamesToMine,
    /// The folder becomes a link to a private one.
    Folder,
}

impl Attack {
    pub(crate) const ALL: [Self; 10] = [
        Self::TargetToSecret,
        Self::TargetToProgram,
        Self::TargetToNowhere,
        Self::TargetOpen,
        Self::NamesToSecret,
        Self::NamesToSegments,
        Self::NamesToFolders,
        Self::NamesTaken,
        Self::NamesToMine,
        Self::Folder,
    ];

    /// Whether it only takes names in the target's folder.
    pub(crate) fn is_of_names(self) -> bool {
        use Attack::{NamesTaken, NamesToFolders, NamesToMine, NamesToSecret, NamesToSegments};
        matches!(
            self,
            NamesTaken | NamesToFolders | NamesToMine | NamesToSecret | NamesToSegments
        )
    }

    /// Whether a path that is resolved later leads elsewhere, for every program: a link in the
    /// neighbour's own folder does that.
    pub(crate) fn leads_elsewhere(self) -> bool {
        use Attack::{Folder, TargetToNowhere, TargetToProgram, TargetToSecret};
        matches!(self, TargetToSecret | TargetToProgram | TargetToNowhere | Folder)
    }

    /// Does it in `folder`; `private` is next to it. Returns what must be kept open.
    pub(crate) fn act(self, folder: &Path, private: &Path) -> Vec<File> {
        let mut held = Vec::new();
        match self {
            Self::TargetToSecret => swap_for_link(&folder.join("out"), &private.join("secret")),
            Self::TargetToProgram => {
                swap_for_link(&folder.join("out"), &private.join("program"));
            }
            Self::TargetToNowhere => {
                swap_for_link(&folder.join("out"), &private.join("planted"));
            }
            Self::TargetOpen => held.extend(swap_for_file(&folder.join("out"))),
            Self::NamesToSecret => {
                for name in names(folder) {
                    swap_for_link(&name, &private.join("secret"));
                }
            }
            Self::NamesToSegments => {
                for name in names(folder) {
                    swap_for_link(&name, &private.join("segments"));
                }
            }
            Self::NamesToFolders => {
                for name in names(folder) {
                    move_away(&name);
                    let _ = fs::create_dir(&name);
                    let _ = fs::write(name.join("letter"), b"dear");
                }
            }
            Self::NamesTaken => {
                held.extend(names(folder).iter().filter_map(|name| swap_for_file(name)));
            }
            Self::NamesToMine => {
                for name in names(folder) {
                    move_away(&name);
                }
                let _ = fs::rename(folder.join("mine"), folder.join(".out.swath-tmp"));
            }
            Self::Folder => swap_for_link(folder, private),
        }
        held
    }
}

/// The names that a writer uses, including those that it has made already.
fn names(folder: &Path) -> Vec<PathBuf> {
    let usual = ["lock", "tmp", "tmp2", "tmp3"].map(|ending| format!(".out.swath-{ending}"));
    let made = fs::read_dir(folder).into_iter().flatten().flatten();
    let made = made.filter_map(|entry| entry.file_name().into_string().ok());
    let made = made.filter(|name| name.starts_with(".out.swath-") && !usual.contains(name));
    let made: Vec<String> = made.collect();
    usual.into_iter().chain(made).map(|name| folder.join(name)).collect()
}

fn move_away(path: &Path) {
    let mut stolen = path.to_owned().into_os_string();
    stolen.push(".stolen");
    let _ = fs::rename(path, stolen);
}

fn swap_for_link(path: &Path, to: &Path) {
    move_away(path);
    let _ = symlink(to, path);
}

fn swap_for_file(path: &Path) -> Option<File> {
    move_away(path);
    let made = OpenOptions::new().write(true).create_new(true).mode(0o666).open(path).ok()?;
    let _ = made.set_permissions(Permissions::from_mode(0o666));
    let _ = made.try_lock();
    Some(made)
}

/// Opens whatever can be opened, whenever possible, and reads it later.
#[derive(Debug, Default)]
pub(crate) struct Peeping(Mutex<Vec<File>>);

impl Peeping {
    pub(crate) fn look(&self, folder: &Path) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    _ => open.extend(File::open(entry.path())),
                }
            }
        }
    }

    /// Returns the files that a reader saw.
    pub(crate) fn bytes(&self) -> Vec<Vec<u8>> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |mut file: &File| {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        };
        open.iter().filter_map(|file| read(file).ok()).collect()
    }
}
