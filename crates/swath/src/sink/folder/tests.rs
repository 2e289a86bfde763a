use super::*;
use crate::sink::Replace;
use crate::sink::hooked::{Call, Hook, Hooked};
use crate::sink::lesser::LesserFs;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use swath_reference::fuse::BindMount;

struct TestFolder(tempfile::TempDir);

impl TestFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect("listed");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> =
            entries.map(|entry| name(entry).into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

fn begin(path: &Path) -> Folder {
    Folder::begin(path, &DraftOptions::default()).expect("begun")
}

fn segment(folder: &Folder, bytes: &[u8]) -> String {
    let (name, file) = folder.create_segment().expect("made");
    write_all_at(&*file, bytes, 0).expect("written");
    name
}

/// Commits one segment, named by the manifest.
fn write(path: &Path, text: &str) -> String {
    let mut folder = begin(path);
    let name = segment(&folder, text.as_bytes());
    folder.commit(text.as_bytes(), std::slice::from_ref(&name)).expect("committed");
    folder.finish();
    name
}

#[test]
fn a_folder_of_ones_own_under_the_hidden_name_is_kept_and_in_nobodys_way() {
    let place = TestFolder::new();
    let stray = place.path(".out.swath-tmp");
    fs::create_dir(&stray).expect("made");
    let segment = crate::sink::names::segment_name();
    for name in ["letter", &segment] {
        fs::write(stray.join(name), b"dear").expect("written");
    }
    // By a neighbour who may move names in the folder.
    write(&place.path("out"), "text");
    assert_eq!(place.names(".out.swath-tmp").len(), 2);
    assert_eq!(place.names(""), [".out.swath-tmp", "out"]);
    fs::remove_file(stray.join("letter")).expect("mine");
    write(&place.path("out"), "more");
    assert_eq!(place.names(""), ["out"]);
}

#[test]
fn a_new_folder_is_visible_from_its_first_commit_on() {
    let place = TestFolder::new();
    let path = place.path("out");
    let mut folder = begin(&path);
    assert_eq!(folder.old_manifest().expect("read"), None);
    let name = segment(&folder, b"bytes");
    assert!(!path.exists());
    folder.commit(b"manifest", std::slice::from_ref(&name)).expect("committed");
    assert_eq!(fs::read(path.join("MANIFEST")).expect("there"), b"manifest");
    assert_eq!(fs::read(path.join(&name)).expect("there"), b"bytes");
    folder.finish();
    assert_eq!(place.names(""), ["out"]);
    assert_eq!(place.names("out"), ["MANIFEST", &name]);
}

#[test]
fn a_new_folder_without_a_commit_leaves_nothing() {
    let place = TestFolder::new();
    let folder = begin(&place.path("out/"));
    segment(&folder, b"bytes");
    drop(folder);
    begin(&place.path("out")).finish();
    assert!(place.names("").is_empty());
}

#[test]
fn the_old_state_stands_until_the_commit_and_its_segments_go_at_the_end() {
    let place = TestFolder::new();
    let path = place.path("out");
    let old = write(&path, "old");
    let mut folder = begin(&path);
    assert_eq!(folder.old_manifest().expect("read").as_deref(), Some(&b"old"[..]));
    folder.adopt(std::slice::from_ref(&old)).expect("adopted");
    let new = segment(&folder, b"new");
    assert_eq!(fs::read(path.join("MANIFEST")).expect("there"), b"old");
    folder.commit(b"new", std::slice::from_ref(&new)).expect("committed");
    assert!(path.join(&old).exists() && path.join(&new).exists());
    folder.finish();
    assert_eq!(place.names("out"), ["MANIFEST", &new]);
}

#[test]
fn without_a_commit_the_old_state_is_what_it_was() {
    let place = TestFolder::new();
    let path = place.path("out");
    let old = write(&path, "old");
    let folder = begin(&path);
    segment(&folder, b"new");
    drop(folder);
    assert_eq!(place.names("out"), ["MANIFEST", &old]);
    assert_eq!(fs::read(path.join("MANIFEST")).expect("there"), b"old");
}

#[test]
fn checkpoints_keep_what_they_name_and_the_rest_goes() {
    let place = TestFolder::new();
    let path = place.path("out");
    let mut folder = begin(&path);
    let (first, open) = folder.create_segment().expect("made");
    let unnamed = segment(&folder, b"not yet named");
    folder.commit(b"1", std::slice::from_ref(&first)).expect("committed");
    // The file created under the hidden name is the one under the new name.
    write_all_at(&*open, b"later", 0).expect("written");
    let second = segment(&folder, b"2");
    folder.commit(b"2", &[first.clone(), second.clone()]).expect("committed");
    segment(&folder, b"after the last checkpoint");
    drop(folder);
    let mut left = vec!["MANIFEST".to_owned(), first.clone(), second];
    left[1..].sort();
    assert_eq!(place.names("out"), left, "without {unnamed}");
    assert_eq!(fs::read(path.join(first)).expect("there"), b"later");
}

#[test]
fn what_killed_runs_left_is_removed() {
    let place = TestFolder::new();
    let path = place.path("out");
    let old = write(&path, "old");
    fs::write(path.join("segment-0123456789abcdef"), b"stray").expect("written");
    fs::write(path.join(NEW_MANIFEST), b"half").expect("written");
    fs::create_dir(place.path(".out.swath-tmp")).expect("made");
    fs::write(place.path(".out.swath-tmp/MANIFEST"), b"stray").expect("written");
    let mut folder = begin(&path);
    folder.adopt(std::slice::from_ref(&old)).expect("adopted");
    assert_eq!(place.names("out"), ["MANIFEST", &old]);
    drop(folder);
    assert_eq!(place.names(""), ["out"]);
    assert_eq!(place.names("out"), ["MANIFEST", &old]);
}

#[test]
fn a_second_writer_is_told_at_once_also_if_it_writes_a_plain_file() {
    let place = TestFolder::new();
    let path = place.path("out");
    let first = begin(&path);
    let options = DraftOptions::default();
    let error = Folder::begin(&path, &options).unwrap_err();
    assert_eq!(error.reason(), Reason::Busy);
    let error = crate::sink::draft::Draft::begin(&path, &options).unwrap_err();
    assert_eq!(error.reason(), Reason::Busy);
    drop(first);
    begin(&path);
}

#[test]
fn what_is_no_folder_of_ours_is_refused_and_untouched() {
    let place = TestFolder::new();
    let options = DraftOptions::default();
    fs::write(place.path("file"), b"bytes").expect("written");
    let error = Folder::begin(&place.path("file"), &options).unwrap_err();
    assert_eq!(error.io_kind(), io::ErrorKind::NotADirectory);
    fs::create_dir(place.path("home")).expect("made");
    fs::write(place.path("home/letter"), b"dear").expect("written");
    let error = Folder::begin(&place.path("home"), &options).unwrap_err();
    assert_eq!(error.reason(), Reason::Invalid);
    assert!(error.to_string().contains("letter"), "{error}");
    assert_eq!(place.names(""), ["file", "home"]);
    fs::create_dir(place.path("empty")).expect("made");
    write(&place.path("empty"), "an empty folder is used");
}

#[test]
fn refused_means_that_no_folder_is_replaced_or_merged() {
    let place = TestFolder::new();
    let path = place.path("out");
    write(&path, "old");
    let options = DraftOptions { replace: Replace::Refused, ..DraftOptions::default() };
    let error = Folder::begin(&path, &options).unwrap_err();
    assert_eq!(error.io_kind(), io::ErrorKind::AlreadyExists);
    for no_rename_new in [false, true] {
        let fs = LesserFs { no_rename_new, ..LesserFs::default() }.fs();
        let options = DraftOptions { fs, ..options.clone() };
        let path = place.path("appears");
        let mut folder = Folder::begin(&path, &options).expect("begun");
        fs::create_dir(&path).expect("made");
        fs::write(path.join("theirs"), b"").expect("written");
        folder.commit(b"ours", &[]).unwrap_err();
        drop(folder);
        assert_eq!(place.names("appears"), ["theirs"]);
        assert_eq!(place.names(""), ["appears", "out"]);
        fs::remove_dir_all(path).expect("removed");
    }
}

#[test]
fn a_commit_that_failed_is_not_made_again() {
    let place = TestFolder::new();
    let path = place.path("out");
    let mut folder = begin(&path);
    fs::write(&path, b"appears").expect("written");
    folder.commit(b"ours", &[]).unwrap_err();
    fs::remove_file(&path).expect("removed");
    assert_eq!(folder.commit(b"ours", &[]).unwrap_err().reason(), Reason::Poisoned);
    drop(folder);
    assert!(place.names("").is_empty());
}

#[test]
fn without_locks_there_are_no_folders() {
    let place = TestFolder::new();
    let fs = LesserFs { no_locks: true, ..LesserFs::default() }.fs();
    let options = DraftOptions { fs, ..DraftOptions::default() };
    let error = Folder::begin(&place.path("out"), &options).unwrap_err();
    assert_eq!(error.io_kind(), io::ErrorKind::Unsupported);
    assert!(place.names("").is_empty());
}

#[test]
fn what_another_writer_has_under_a_name_that_was_moved_is_not_taken_for_a_stray() {
    let place = TestFolder::new();
    let mut folder = begin(&place.path("one"));
    let name = segment(&folder, b"text");
    fs::rename(place.path(".one.swath-tmp"), place.path(".two.swath-tmp")).expect("mine");
    write(&place.path("two"), "other");
    fs::rename(place.path(".two.swath-tmp"), place.path(".one.swath-tmp")).expect("kept");
    folder.commit(b"text", std::slice::from_ref(&name)).expect("committed");
    folder.finish();
    assert_eq!(place.names("one"), ["MANIFEST", &name]);
    // No writer holds it by now.
    fs::create_dir(place.path(".two.swath-tmp")).expect("made");
    write(&place.path("two"), "again");
    assert_eq!(place.names(""), ["one", "two"]);
}

#[test]
fn a_manifest_does_not_name_what_is_gone() {
    for is_new in [true, false] {
        let place = TestFolder::new();
        let path = place.path("out");
        if !is_new {
            write(&path, "before");
        }
        let mut folder = begin(&path);
        let name = segment(&folder, b"text");
        let inside = place.path(if is_new { ".out.swath-tmp" } else { "out" });
        fs::remove_file(inside.join(&name)).expect("mine");
        let error = folder.commit(b"text", std::slice::from_ref(&name)).unwrap_err();
        assert_eq!((error.reason(), error.path()), (Reason::Changed, &*path.join(&name)));
        drop(folder);
        assert_eq!(place.names("").len(), usize::from(!is_new));
    }
}

#[test]
fn a_folder_that_was_moved_has_one_writer_still() {
    let place = TestFolder::new();
    write(&place.path("one"), "text");
    let folder = begin(&place.path("one"));
    fs::rename(place.path("one"), place.path("two")).expect("mine");
    let error = Folder::begin(&place.path("two"), &DraftOptions::default()).unwrap_err();
    assert_eq!(error.reason(), Reason::Busy);
    drop(folder);
    begin(&place.path("two")).finish();
}

fn modes(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).expect("there");
    let mode = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").metadata();
    entries.map(|entry| mode(entry).expect("there").permissions().mode() & 0o777).collect()
}

#[test]
fn a_manifest_does_not_name_what_was_put_in_the_place_of_a_segment() {
    let place = TestFolder::new();
    let path = place.path("out");
    write(&path, "before");
    let mut folder = begin(&path);
    let name = segment(&folder, b"text");
    fs::write(place.path("other"), b"evil").expect("written");
    fs::rename(place.path("other"), path.join(&name)).expect("mine");
    let error = folder.commit(b"text", std::slice::from_ref(&name)).unwrap_err();
    assert_eq!((error.reason(), error.path()), (Reason::Changed, &*path.join(&name)));
    drop(folder);
    assert_eq!(fs::read(path.join(MANIFEST)).expect("there"), b"before");
}

/// Puts another file under the hidden name of a manifest just before its rename.
#[derive(Debug)]
struct Exchange(PathBuf);

impl Hook for Exchange {
    fn before(&self, call: Call) -> io::Result<()> {
        if call == Call::Rename {
            fs::write(self.0.join("other"), b"evil").expect("written");
            fs::rename(self.0.join("other"), self.0.join(NEW_MANIFEST)).expect("mine");
        }
        Ok(())
    }
}

#[test]
fn a_manifest_that_was_exchanged_is_an_error() {
    let place = TestFolder::new();
    let path = place.path("out");
    write(&path, "before");
    let fs = Arc::new(Hooked(Arc::new(Exchange(path.clone()))));
    let options = DraftOptions { fs, ..DraftOptions::default() };
    let mut folder = Folder::begin(&path, &options).expect("begun");
    let name = segment(&folder, b"text");
    let error = folder.commit(b"text", std::slice::from_ref(&name)).unwrap_err();
    assert_eq!(error.reason(), Reason::Changed);
}

#[test]
fn what_is_written_into_a_folder_lets_in_those_whom_its_manifest_lets_in() {
    for mode in [0o600, 0o640, 0o644] {
        let place = TestFolder::new();
        let path = place.path("out");
        write(&path, "before");
        fs::set_permissions(path.join(MANIFEST), Permissions::from_mode(mode)).expect("mine");
        let folder = begin(&path);
        let name = segment(&folder, b"text");
        let unread = fs::metadata(path.join(name)).expect("there").permissions().mode();
        assert_eq!(unread & 0o777, 0o600, "until the commit");
        drop(folder);
        fs::remove_file(path.join(write(&path, "again"))).expect("mine");
        let name = write(&path, "once more");
        let written = fs::metadata(path.join(name)).expect("there").permissions().mode();
        assert_eq!(written & 0o777, mode);
    }
}

#[test]
fn mounts_that_change_permissions_let_in_nobody_else() {
    let place = TestFolder::new();
    let Some(mount) = BindMount::new(&place.path(""), &["--create-with-perms=a+r"]) else {
        return;
    };
    let path = mount.seen().join("out");
    write(&path, "before");
    fs::set_permissions(path.join(MANIFEST), Permissions::from_mode(0o600)).expect("mine");
    let folder = begin(&path);
    let name = segment(&folder, b"text");
    let mode = fs::metadata(path.join(name)).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "until the commit");
    drop(folder);
    drop(mount);
    let place = TestFolder::new();
    let Some(mount) = BindMount::new(&place.path(""), &["--chmod-filter=go+r"]) else { return };
    for (mode, is_kept) in [(0o600, true), (0o640, false), (0o644, true)] {
        let name = format!("out-{mode:o}");
        write(&mount.below().join(&name), "before");
        let below = mount.below().join(&name);
        for entry in fs::read_dir(&below).expect("there") {
            let path = entry.expect("an entry").path();
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("mine");
        }
        let mut folder = begin(&mount.seen().join(&name));
        let segment = segment(&folder, b"text");
        let committed = folder.commit(b"text", std::slice::from_ref(&segment));
        assert_eq!(committed.is_ok(), is_kept, "{mode:o}: {committed:?}");
        drop(folder);
        assert!(modes(&below).iter().all(|&it| it == mode), "{mode:o}: {:?}", modes(&below));
    }
}

/// A server that gives the manifest, or the folder, its name, and whose reply is lost.
#[derive(Debug)]
struct LostAnswer(PathBuf);

impl Hook for LostAnswer {
    fn before(&self, call: Call) -> io::Result<()> {
        let out = self.0.join("out");
        match call {
            Call::Rename if out.join(NEW_MANIFEST).exists() => {
                fs::rename(out.join(NEW_MANIFEST), out.join(MANIFEST)).expect("mine");
            }
            Call::RenameNew => {
                let entries = fs::read_dir(&self.0).expect("listed").flatten();
                let mut names = entries.map(|entry| entry.path());
                let hidden = names.find(|path| path.to_string_lossy().contains("-tmp"));
                fs::rename(hidden.expect("made"), out).expect("mine");
            }
            _ => return Ok(()),
        }
        Err(io::Error::from_raw_os_error(5))
    }
}

#[test]
fn a_manifest_whose_answer_was_lost_names_segments_that_are_kept() {
    for exists in [false, true] {
        let place = TestFolder::new();
        let Some(mount) = BindMount::new(&place.path(""), &[]) else { return };
        let below = mount.below().join("out");
        if exists {
            write(&below, "before");
        }
        let fs = Arc::new(Hooked(Arc::new(LostAnswer(mount.below()))));
        let options = DraftOptions { fs, ..DraftOptions::default() };
        let mut folder = Folder::begin(&mount.seen().join("out"), &options).expect("begun");
        let name = segment(&folder, b"text");
        let error = folder.commit(name.as_bytes(), std::slice::from_ref(&name)).unwrap_err();
        assert_eq!(error.reason(), Reason::OutcomeUnknown, "{error}");
        drop(folder);
        let named = fs::read_to_string(below.join(MANIFEST)).expect("there");
        assert_eq!(
            (&named, fs::read(below.join(&named)).expect("kept")),
            (&name, b"text".into())
        );
    }
}

#[test]
fn a_mount_that_shows_one_mode_for_all_is_written_to_again() {
    let place = TestFolder::new();
    let Some(mount) = BindMount::new(&place.path(""), &["--perms=0777", "--chmod-ignore"])
    else {
        return;
    };
    for text in ["first", "again"] {
        write(&mount.seen().join("out"), text);
    }
}
