use super::*;
use crate::sink::existing::{Durability, HardLinks};
use crate::sink::fs::write_all_at;
use crate::sink::hooked::{Call, Hook, Hooked};
use crate::sink::lesser::LesserFs;
use crate::sink::local::LocalFs;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
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

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("listed");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> =
            entries.map(|entry| name(entry).into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

/// Every kind of file system × every durability.
fn everywhere() -> Vec<DraftOptions> {
    let (yes, named) = (true, LesserFs::NAMED);
    let systems: [Arc<dyn Fs>; 5] = [
        Arc::new(LocalFs),
        named.fs(),
        LesserFs { no_rename_new: yes, ..named }.fs(),
        LesserFs { no_rename_new: yes, no_links: yes, ..named }.fs(),
        LesserFs { no_locks: yes, ..LesserFs::default() }.fs(),
    ];
    let with = |fs: &Arc<dyn Fs>, durability| {
        let fs = Arc::clone(fs);
        DraftOptions { fs, durability, ..DraftOptions::default() }
    };
    systems
        .iter()
        .flat_map(|fs| [with(fs, Durability::Full), with(fs, Durability::None)])
        .collect()
}

fn write(path: &Path, bytes: &[u8], options: &DraftOptions) -> Result<()> {
    let draft = Draft::begin(path, options)?;
    write_all_at(&**draft.file(), bytes, 0).expect("written");
    draft.commit(bytes.len() as u64)
}

#[test]
fn what_is_committed_is_there_and_nothing_else() {
    for options in everywhere() {
        let place = TestFolder::new();
        let path = place.path("out");
        write(&path, b"first", &options).expect("created");
        assert_eq!(
            (fs::read(&path).expect("there"), place.names()),
            (b"first".into(), vec!["out".into()])
        );
        write(&path, b"2nd", &options).expect("replaced");
        assert_eq!(
            (fs::read(&path).expect("there"), place.names()),
            (b"2nd".into(), vec!["out".into()])
        );
    }
}

#[test]
fn nothing_is_visible_before_and_nothing_left_without_a_commit() {
    for options in everywhere() {
        let place = TestFolder::new();
        let path = place.path("out");
        fs::write(&path, b"old").expect("written");
        let draft = Draft::begin(&path, &options).expect("begun");
        write_all_at(&**draft.file(), b"new", 0).expect("written");
        write_all_at(&*draft.scratch().expect("a spill file"), b"spilt", 0).expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"old");
        drop(draft);
        assert_eq!(
            (fs::read(&path).expect("there"), place.names()),
            (b"old".into(), vec!["out".into()])
        );
    }
}

#[test]
fn a_commit_cuts_to_the_length_and_fills_with_zeros() {
    for len in [0, 2, 5, 9] {
        let place = TestFolder::new();
        let draft = Draft::begin(&place.path("out"), &DraftOptions::default()).expect("begun");
        let _ = draft.file().allocate(0, 1 << 20);
        write_all_at(&**draft.file(), b"12345", 0).expect("written");
        draft.commit(len).expect("committed");
        let mut wanted = b"12345".to_vec();
        wanted.resize(usize::try_from(len).expect("small"), 0);
        assert_eq!(fs::read(place.path("out")).expect("there"), wanted);
        let blocks = fs::metadata(place.path("out")).expect("there").blocks();
        assert!(blocks < 256, "what was reserved past the end was freed: {blocks}");
    }
}

#[test]
fn a_second_writer_is_told_at_once() {
    for options in everywhere().into_iter().take(8) {
        let place = TestFolder::new();
        symlink("out", place.path("link")).expect("linked");
        let first = Draft::begin(&place.path("out"), &options).expect("begun");
        for name in ["out", "./out", "link"] {
            let error = Draft::begin(&place.path(name), &options).unwrap_err();
            assert_eq!(error.reason(), Reason::Busy, "{error}");
        }
        Draft::begin(&place.path("other"), &options).expect("another target");
        first.commit(0).expect("committed");
        Draft::begin(&place.path("out"), &options).expect("free again");
    }
}

#[test]
fn without_locks_the_last_commit_stands_whole() {
    let fs = LesserFs { no_locks: true, ..LesserFs::NAMED }.fs();
    let options = DraftOptions { fs, ..DraftOptions::default() };
    let place = TestFolder::new();
    let path = place.path("out");
    let first = Draft::begin(&path, &options).expect("begun");
    let second = Draft::begin(&path, &options).expect("begun");
    write_all_at(&**first.file(), b"first", 0).expect("written");
    write_all_at(&**second.file(), b"second", 0).expect("written");
    second.commit(6).expect("committed");
    first.commit(5).expect("committed");
    assert_eq!(
        (fs::read(&path).expect("there"), place.names()),
        (b"first".into(), vec!["out".into()])
    );
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    for options in everywhere().into_iter().take(8) {
        let place = TestFolder::new();
        for stray in [".out.swath-tmp2", ".out.swath-tmp3"] {
            fs::write(place.path(stray), b"stray").expect("written");
        }
        fs::write(place.path(".out.swath-lock"), b"").expect("written");
        fs::create_dir(place.path(".out.swath-tmp")).expect("made");
        let segment = ".out.swath-tmp/segment-0123456789abcdef";
        fs::write(place.path(segment), b"stray").expect("written");
        for other in [".other.swath-tmp", ".out.swath-tmp4"] {
            fs::write(place.path(other), b"of another").expect("written");
        }
        write(&place.path("out"), b"new", &options).expect("committed");
        assert_eq!(place.names(), [".other.swath-tmp", ".out.swath-tmp4", "out"]);
    }
}

#[test]
fn refused_means_that_no_file_is_ever_replaced() {
    for mut options in everywhere() {
        options.replace = Replace::Refused;
        let place = TestFolder::new();
        let path = place.path("out");
        fs::write(&path, b"old").expect("written");
        let error = Draft::begin(&path, &options).unwrap_err();
        assert_eq!(error.io_kind(), io::ErrorKind::AlreadyExists);
        assert!(!error.what_to_try().is_empty());
        fs::remove_file(&path).expect("removed");
        // It appears in the meantime.
        let draft = match Draft::begin(&path, &options) {
            // No call refuses a name that is taken.
            Err(error) if error.io_kind() == io::ErrorKind::Unsupported => {
                assert!(place.names().is_empty());
                continue;
            }
            draft => draft.expect("begun"),
        };
        fs::write(&path, b"theirs").expect("written");
        let error = draft.commit(0).unwrap_err();
        assert_eq!(error.io_kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(
            (fs::read(&path).expect("there"), place.names()),
            (b"theirs".into(), vec!["out".into()])
        );
    }
}

#[test]
fn where_no_step_refuses_a_taken_name_refused_is_an_error() {
    let fs = LesserFs { no_rename_new: true, no_links: true, ..LesserFs::NAMED }.fs();
    let replace = Replace::Refused;
    let options = DraftOptions { fs, replace, ..DraftOptions::default() };
    let place = TestFolder::new();
    let error = write(&place.path("out"), b"new", &options).unwrap_err();
    assert_eq!(error.io_kind(), io::ErrorKind::Unsupported);
    assert!(place.names().is_empty());
}

#[test]
fn a_draft_that_builds_on_nothing_replaces_nothing_and_needs_no_hard_links() {
    for options in everywhere() {
        let place = TestFolder::new();
        let path = place.path("out");
        let begin = || {
            let mut draft = Draft::begin(&path, &options).expect("begun");
            draft.build_on(DraftBase::Nothing);
            draft
        };
        let draft = begin();
        fs::write(&path, b"theirs").expect("written");
        assert_eq!(draft.commit(0).unwrap_err().reason(), Reason::Changed);
        assert_eq!(fs::read(&path).expect("kept"), b"theirs");
        fs::remove_file(&path).expect("removed");
        begin().commit(3).expect("made");
        assert_eq!((fs::metadata(&path).expect("there").len(), place.names().len()), (3, 1));
        let base = DraftBase::Nothing;
        let refused = Draft::begin(&path, &DraftOptions { base, ..options }).unwrap_err();
        assert_eq!(refused.reason(), Reason::Changed);
    }
}

#[test]
fn what_appears_or_vanishes_meanwhile_is_replaced_or_made() {
    for options in everywhere() {
        let place = TestFolder::new();
        let path = place.path("out");
        let draft = Draft::begin(&path, &options).expect("begun");
        assert!(draft.existing().is_none());
        fs::write(&path, b"theirs").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).expect("mine");
        draft.commit(0).expect("replaced");
        let facts = fs::metadata(&path).expect("there");
        // The users that both let in: the group that 0604 keeps out may have other members than the file's own.
        assert_eq!((facts.len(), facts.mode() & 0o777, place.names().len()), (0, 0o600, 1));

        let draft = Draft::begin(&path, &options).expect("begun");
        assert!(draft.existing().is_some());
        fs::remove_file(&path).expect("removed");
        draft.commit(1).expect("made");
        assert_eq!((fs::metadata(&path).expect("there").len(), place.names().len()), (1, 1));
    }
}

#[test]
fn the_mode_of_what_is_replaced_is_kept_and_a_new_one_follows_the_umask() {
    for options in everywhere() {
        let place = TestFolder::new();
        let path = place.path("out");
        fs::write(place.path("plain"), b"").expect("written");
        let usual = fs::metadata(place.path("plain")).expect("there").mode();
        write(&path, b"new", &options).expect("created");
        assert_eq!(fs::metadata(&path).expect("there").mode(), usual);
        for mode in [0o600, 0o751, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("mine");
            let draft = Draft::begin(&path, &options).expect("begun");
            if let Ok(hidden) = fs::metadata(place.path(".out.swath-tmp")) {
                assert_eq!(hidden.mode() & 0o777, 0o600, "until the commit");
            }
            draft.commit(0).expect("replaced");
            assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, mode);
        }
    }
}

#[test]
fn a_symbolic_link_stays_and_its_target_is_new() {
    let place = TestFolder::new();
    fs::create_dir(place.path("there")).expect("made");
    symlink("there/real", place.path("link")).expect("linked");
    for text in ["made", "replaced"] {
        write(&place.path("link"), text.as_bytes(), &DraftOptions::default()).expect("written");
        assert_eq!(fs::read_to_string(place.path("there/real")).expect("there"), text);
        assert!(fs::symlink_metadata(place.path("link")).expect("there").is_symlink());
    }
}

#[test]
fn a_hard_link_is_broken_only_when_asked() {
    let place = TestFolder::new();
    let (path, other) = (place.path("out"), place.path("other"));
    fs::write(&path, b"old").expect("written");
    fs::hard_link(&path, &other).expect("linked");
    let mut options = DraftOptions::default();
    let error = Draft::begin(&path, &options).unwrap_err();
    assert_eq!(error.reason(), Reason::Invalid);
    assert!(error.to_string().contains("it has 2 names"), "{error}");
    options.hard_links = HardLinks::Broken;
    write(&path, b"new", &options).expect("replaced");
    assert_eq!(fs::read(&path).expect("there"), b"new");
    assert_eq!(fs::read(&other).expect("there"), b"old");
}

#[test]
fn what_is_no_ordinary_file_is_refused_and_untouched() {
    let place = TestFolder::new();
    let options = DraftOptions::default();
    let begin = |path: &Path| Draft::begin(path, &options).expect_err("refused");
    assert_eq!(begin(place.0.path()).io_kind(), io::ErrorKind::IsADirectory);
    assert_eq!(begin(Path::new("/")).io_kind(), io::ErrorKind::IsADirectory);
    assert_eq!(begin(&place.path("./")).io_kind(), io::ErrorKind::IsADirectory);
    let missing = begin(&place.path("out/"));
    assert_eq!(missing.io_kind(), io::ErrorKind::NotFound);
    assert!(missing.what_to_try().contains("create this folder first"), "{missing:?}");
    fs::write(place.path("file"), b"old").expect("written");
    assert_eq!(begin(&place.path("file/")).io_kind(), io::ErrorKind::NotADirectory);
    fs::remove_file(place.path("file")).expect("mine");
    assert_eq!(begin(Path::new("/dev/null")).reason(), Reason::Invalid);
    assert_eq!(begin(&place.path("missing/out")).io_kind(), io::ErrorKind::NotFound);
    assert_eq!(begin(&place.path(".x.swath-tmp")).reason(), Reason::Invalid);
    symlink("loop", place.path("loop")).expect("linked");
    assert_eq!(begin(&place.path("loop")).raw_os_error(), Some(40));
    assert_eq!(place.names(), ["loop"]);
}

#[test]
fn names_of_every_length_that_the_kernel_takes_are_written() {
    let place = TestFolder::new();
    let options = DraftOptions::default();
    for len in [99, 100, 101, 143, 250, 255] {
        let name = "n".repeat(len);
        let draft = Draft::begin(&place.path(&name), &options).expect("begun");
        let error = Draft::begin(&place.path(&name), &options).unwrap_err();
        assert_eq!(error.reason(), Reason::Busy);
        draft.commit(0).expect("created");
        write(&place.path(&name), b"new", &options).expect("replaced");
    }
    assert_eq!(place.names().len(), 6);
    let error = write(&place.path(&"n".repeat(256)), b"", &options).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(36));
}

#[test]
fn a_checkpoint_leaves_what_was_written_and_the_rest_goes_on() {
    for options in everywhere() {
        let place = TestFolder::new();
        let path = place.path("out");
        let mut draft = Draft::begin(&path, &options).expect("begun");
        for text in ["one", "one two", "one two three"] {
            write_all_at(&**draft.file(), text.as_bytes(), 0).expect("written");
            draft.checkpoint(text.len() as u64).expect("left");
            assert_eq!(fs::read_to_string(&path).expect("there"), text);
            assert!(!place.path(".out.swath-tmp3").exists());
        }
        write_all_at(&**draft.file(), b"ONE", 0).expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"one two three");
        draft.commit(7).expect("committed");
        assert_eq!(
            (fs::read(&path).expect("there"), place.names()),
            (b"ONE two".into(), vec!["out".into()])
        );
    }
}

#[test]
fn without_a_commit_the_last_checkpoint_stays() {
    for options in everywhere() {
        let place = TestFolder::new();
        let mut draft = Draft::begin(&place.path("out"), &options).expect("begun");
        write_all_at(&**draft.file(), b"12345", 0).expect("written");
        draft.checkpoint(3).expect("left");
        drop(draft);
        assert_eq!(
            (fs::read(place.path("out")).expect("there"), place.names()),
            (b"123".into(), vec!["out".into()])
        );
    }
}

#[test]
fn after_a_failed_checkpoint_there_is_no_commit() {
    let place = TestFolder::new();
    let path = place.path("out");
    let mut draft = Draft::begin(&path, &DraftOptions::default()).expect("begun");
    fs::create_dir(&path).expect("made");
    let error = draft.checkpoint(0).unwrap_err();
    assert_eq!(error.io_kind(), io::ErrorKind::IsADirectory);
    fs::remove_dir(&path).expect("removed");
    assert_eq!(draft.checkpoint(0).unwrap_err().reason(), Reason::Poisoned);
    assert_eq!(draft.commit(0).unwrap_err().reason(), Reason::Poisoned);
    assert!(place.names().is_empty());
}

/// A server that gives the hidden file its name, and whose reply is lost.
#[derive(Debug)]
struct LostAnswer(PathBuf);

impl Hook for LostAnswer {
    fn before(&self, call: Call) -> io::Result<()> {
        if !matches!(call, Call::Rename | Call::RenameNew | Call::Link) {
            return Ok(());
        }
        let names = fs::read_dir(&self.0).expect("listed").flatten().map(|entry| entry.path());
        let hidden = names.into_iter().find(|path| path.to_string_lossy().contains("-tmp"));
        fs::rename(hidden.expect("written"), self.0.join("out")).expect("mine");
        Err(io::Error::from_raw_os_error(5))
    }
}

#[test]
fn a_name_whose_answer_was_lost_is_an_unknown_outcome() {
    for exists in [false, true] {
        let place = TestFolder::new();
        let Some(mount) = BindMount::new(place.0.path(), &[]) else { return };
        if exists {
            fs::write(mount.below().join("out"), b"old").expect("written");
        }
        let fs = Arc::new(Hooked(Arc::new(LostAnswer(mount.below()))));
        let options = DraftOptions { fs, ..DraftOptions::default() };
        let error = write(&mount.seen().join("out"), b"new", &options).unwrap_err();
        assert_eq!(error.reason(), Reason::OutcomeUnknown, "{error}");
        assert!(error.what_to_try().contains("look at what has this name"), "{error}");
        assert_eq!(fs::read(mount.below().join("out")).expect("there"), b"new");
    }
}
