//! The reports of a writer, and the acts of a neighbour that cannot be prevented.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};

use swath::append::{AppendOptions, Mode};
use swath::sink::Fs;
use swath::{OutputOptions, Reason, WriteOptions};

use crate::hooked::{Call, Hook, Hooked};
use crate::neighbours::street::{Before, OLD, Street, Whose, as_neighbour, is_root};
use crate::neighbours::ways::NEW;

fn street(whose: Whose, before: Before) -> Option<Street> {
    if !is_root() {
        swath_reference::skip("root", "only root has another user for a neighbour");
        return None;
    }
    Some(Street::new(whose, before))
}

/// Whatever `fs.protected_symlinks` is set to on this machine.
#[test]
fn a_strangers_link_in_a_folder_as_tmp_leads_nowhere() {
    let Some(street) = street(Whose::Everybodys, Before::Nothing) else { return };
    for name in ["secret", "missing"] {
        let link = street.folder().join(format!("to-{name}"));
        as_neighbour(|| symlink(street.private().join(name), &link)).expect("everybody may");
        for error in [
            swath::write(&link, NEW).expect_err("not followed"),
            swath::copy("/proc/self/exe", &link).expect_err("not followed"),
            AppendOptions::new()
                .with_mode(Mode::Segments)
                .create(link.join("."))
                .expect_err("not followed"),
        ] {
            assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{error:?}");
            assert!(!error.what_to_try().is_empty(), "{error:?}");
        }
        street.check_private().expect("nothing happened");
    }
}

/// Links to a folder are treated like links to a file: by us, since the kernel does not.
#[test]
fn a_strangers_link_on_the_way_in_a_folder_as_tmp_leads_nowhere() {
    let Some(street) = street(Whose::Everybodys, Before::Nothing) else { return };
    let link = street.folder().join("dir");
    as_neighbour(|| symlink(street.private(), &link)).expect("everybody may");
    let source = street.folder().join("mine/MANIFEST");
    for path in [link.join("new"), link.join("secret"), link.join("segments/new")] {
        let segments = AppendOptions::new().with_mode(Mode::Segments);
        for error in [
            swath::write(&path, NEW).expect_err("not followed"),
            swath::copy(&source, &path).expect_err("not followed"),
            swath::mirror(&source, &[&path]).map(drop).expect_err("not followed"),
            segments.create(&path).expect_err("not followed"),
        ] {
            assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{error:?}");
            assert!(!error.what_to_try().is_empty(), "{error:?}");
        }
        street.check_private().expect("nothing happened");
    }
    // A link of the same user is followed.
    let own = street.folder().join("own");
    symlink(street.private(), &own).expect("mine");
    swath::write(own.join("new"), NEW).expect("written");
    assert_eq!(fs::read(street.private().join("new")).expect("there"), NEW);
}

#[test]
fn names_that_a_neighbour_holds_keep_nobody_out_and_two_writers_are_still_told() {
    let Some(street) = street(Whose::Everybodys, Before::Nothing) else { return };
    let taken = [".out.swath-lock", ".out.swath-tmp", ".out.swath-tmp2", ".out.swath-tmp3"];
    let held: Vec<File> = as_neighbour(|| {
        taken
            .map(|name| {
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).mode(0o600);
                let file = options.open(street.folder().join(name)).expect("everybody may");
                file.lock().expect("his own");
                file
            })
            .into()
    });
    for mode in [Mode::Plain, Mode::Segments] {
        let out = AppendOptions::new().with_mode(mode).create(street.out());
        let out = out.expect("begun");
        let error = swath::write(street.out(), NEW).expect_err("the second writer is refused");
        assert_eq!(error.reason(), Reason::Busy, "{error:?}");
        out.commit().expect("committed");
        let out = street.out();
        if out.is_dir() { fs::remove_dir_all(out) } else { fs::remove_file(out) }
            .expect("mine");
    }
    let mut names = street.names();
    names.sort();
    assert_eq!(names, [&taken[..], &["mine"]].concat());
    drop(held);
}

/// Files that a killed run leaves are found even under unguessable names.
#[test]
fn strays_beside_what_a_neighbour_has_taken_are_removed() {
    let Some(street) = street(Whose::Everybodys, Before::Nothing) else { return };
    let path = |name: &str| street.folder().join(name);
    for taken in [".out.swath-lock", ".out.swath-tmp"] {
        as_neighbour(|| fs::write(path(taken), b"")).expect("everybody may");
        let mine = [".out.swath-tmp.0123456789abcdef", ".out.swath-lock.fedcba9876543210"];
        let his = ".out.swath-tmp2.0123456789abcdef";
        let others = [".other.swath-tmp.0123456789abcdef", ".out.swath-tmp.letter"];
        for name in mine.into_iter().chain(others) {
            fs::write(path(name), b"stray").expect("written");
        }
        as_neighbour(|| fs::write(path(his), b"his")).expect("everybody may");
        swath::write(street.out(), NEW).expect("written");
        assert!(!path(mine[0]).exists(), "{taken}");
        for name in others.into_iter().chain([his, taken]) {
            fs::remove_file(path(name)).expect("it was kept");
        }
        // A writer that is not obstructed lists nothing: then a lock file stays, which locks out
        // no writer.
        let _ = fs::remove_file(path(mine[1]));
    }
    let mut names = street.names();
    names.sort();
    assert_eq!(names, ["mine", "out"]);
}

/// Does something once, before the first sync.
struct BeforeSync(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl fmt::Debug for BeforeSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BeforeSync")
    }
}

impl Hook for BeforeSync {
    fn before(&self, call: Call) -> io::Result<()> {
        if call == Call::Sync
            && let Some(act) = self.0.lock().expect("no panic").take()
        {
            act();
        }
        Ok(())
    }
}

fn write_and_meanwhile(
    street: &Street,
    act: impl FnOnce() + Send + 'static,
) -> Result<(), swath::Error> {
    let hook = BeforeSync(Mutex::new(Some(Box::new(act))));
    let fs: Arc<dyn Fs> = Arc::new(Hooked(Arc::new(hook)));
    WriteOptions::new()
        .with_output(OutputOptions::new().with_fs(fs))
        .write(street.out(), NEW)
        .map(drop)
}

/// A sync takes long: what is put there during it has never been inspected.
#[test]
fn a_neighbours_file_that_appears_where_one_stood_stays() {
    for before in [Before::Mine, Before::Theirs] {
        let Some(street) = street(Whose::Neighbours, before) else { return };
        let folder = street.folder();
        let error = write_and_meanwhile(&street, move || {
            as_neighbour(|| {
                fs::rename(folder.join("out"), folder.join("old")).expect("he may");
                fs::write(folder.join("out"), "his").expect("he may");
            });
        });
        let error = error.expect_err("it is not replaced");
        assert_eq!(error.reason(), Reason::Changed, "{error:?}");
        assert!(!error.what_to_try().is_empty(), "{error:?}");
        assert_eq!(fs::read(street.out()).expect("there"), b"his", "{before:?}");
        assert_eq!(fs::read(street.folder().join("old")).expect("there"), OLD);
        assert_eq!(street.names().len(), 3, "{:?}", street.names());
    }
}

/// New bytes would be his to read. The kernel refuses it too, where `fs.protected_regular` is set.
#[test]
fn a_neighbours_file_in_a_folder_as_tmp_is_not_replaced() {
    let Some(street) = street(Whose::Everybodys, Before::Theirs) else { return };
    let source = street.folder().join("mine/MANIFEST");
    let in_place = WriteOptions::new()
        .with_output(OutputOptions::new().with_replace(swath::sink::Replace::InPlace));
    for error in [
        swath::write(street.out(), NEW).expect_err("his"),
        swath::copy(&source, street.out()).map(drop).expect_err("his"),
        in_place.write(street.out(), NEW).map(drop).expect_err("his"),
        swath::append::create(street.out()).map(drop).expect_err("his"),
    ] {
        assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{error:?}");
        assert!(error.what_to_try().contains("another name"), "{error:?}");
    }
    assert_eq!(fs::read(street.out()).expect("there"), OLD);
    assert_eq!(street.names().len(), 2, "{:?}", street.names());
    let folder = street.folder().join("folder");
    as_neighbour(|| fs::create_dir(&folder)).expect("everybody may");
    let segments = AppendOptions::new().with_mode(Mode::Segments).create(&folder);
    assert_eq!(segments.map(drop).expect_err("his").io_kind(), ErrorKind::PermissionDenied);
}

/// As with rename(2), the last one wins.
#[test]
fn what_the_same_user_puts_there_meanwhile_is_replaced() {
    let street = Street::new(Whose::Everybodys, Before::Mine);
    for acts in [
        |folder: &Path| fs::write(folder.join("out"), "other"),
        |folder: &Path| fs::remove_file(folder.join("out")),
        |folder: &Path| {
            fs::write(folder.join("next"), "other")?;
            fs::rename(folder.join("next"), folder.join("out"))
        },
    ] {
        let folder = street.folder();
        let written = write_and_meanwhile(&street, move || acts(&folder).expect("mine"));
        written.expect("replaced");
        assert_eq!(fs::read(street.out()).expect("there"), NEW);
        assert_eq!(street.names().len(), 2, "{:?}", street.names());
    }
}

/// Only its owner can remove it; the error says so.
#[test]
fn a_neighbours_target_in_a_folder_as_tmp_is_told_apart_from_an_immutable_file() {
    let Some(street) = street(Whose::Everybodys, Before::Nothing) else { return };
    fs::write(street.out(), b"mine").expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    fs::set_permissions(street.out(), mode).expect("mine");
    let error = as_neighbour(|| swath::write(street.out(), NEW)).expect_err("not his");
    assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{error:?}");
    assert!(error.what_to_try().contains("another name"), "{error:?}");
    assert_eq!(fs::read(street.out()).expect("there"), b"mine");
}

#[test]
fn a_folder_that_was_moved_is_told() {
    let root = tempfile::tempdir().expect("a folder");
    let path = |name: &str| root.path().join(name);
    for mode in [Mode::Plain, Mode::Segments] {
        fs::create_dir(path("folder")).expect("made");
        let out = AppendOptions::new().with_mode(mode).create(path("folder/out"));
        let out = out.expect("begun");
        fs::rename(path("folder"), path("moved")).expect("mine");
        symlink(root.path(), path("folder")).expect("linked");
        let error = out.commit().expect_err("it would not be found there");
        assert_eq!(error.reason(), Reason::Changed, "{error:?}");
        assert!(!error.what_to_try().is_empty(), "{error:?}");
        assert!(!path("out").exists() && !path("moved/out").exists());
        assert_eq!(fs::read_dir(path("moved")).expect("listed").count(), 0, "{mode:?}");
        fs::remove_file(path("folder")).expect("mine");
        fs::remove_dir(path("moved")).expect("empty");
    }
}

#[test]
fn what_is_hidden_is_closed_until_the_commit() {
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join("out");
    let out = AppendOptions::new().with_mode(Mode::Segments).create(&path);
    let out = out.expect("begun");
    let hidden = fs::metadata(root.path().join(".out.swath-tmp")).expect("there");
    let lock = fs::metadata(root.path().join(".out.swath-lock")).expect("there");
    assert_eq!((hidden.mode() & 0o777, lock.mode() & 0o777), (0o700, 0o600));
    out.commit().expect("committed");
    fs::create_dir(root.path().join("usual")).expect("made");
    let usual = fs::metadata(root.path().join("usual")).expect("there");
    assert_eq!(fs::metadata(&path).expect("there").mode(), usual.mode());
    WriteOptions::new().write(root.path().join("file"), NEW).expect("written");
}
