//! Where locks keep out the programs of one machine only, writers on two machines never write one file.

use std::fs;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use swath::OutputOptions;
use swath::append::AppendOptions;
use swath::sink::Fs;

use crate::hooked::{Call, Hook, Hooked};

/// A machine that keeps files of a server: they have names from the beginning.
#[derive(Debug, Default)]
struct ClientMachine(Arc<Mutex<String>>);

impl Hook for ClientMachine {
    fn before(&self, call: Call) -> io::Result<()> {
        match call {
            Call::CreateNameless => Err(io::ErrorKind::Unsupported.into()),
            _ => Ok(()),
        }
    }

    fn far_lock(&self) -> Option<&Arc<Mutex<String>>> {
        Some(&self.0)
    }
}

fn options(locked: &Arc<Mutex<String>>) -> AppendOptions {
    let fs: Arc<dyn Fs> = Arc::new(Hooked(Arc::new(ClientMachine(Arc::clone(locked)))));
    AppendOptions::new().with_output(OutputOptions::new().with_fs(fs))
}

#[test]
fn the_file_of_one_is_never_the_other_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    // The second client of a server may or may not have seen what the first one left in the lock.
    for is_current in [true, false] {
        let locked = Arc::new(Mutex::new(String::new()));
        let other = if is_current { Arc::clone(&locked) } else { Arc::default() };
        fs::write(&path, "old").expect("written");
        let mut one = options(&locked).create(&path).expect("begun");
        one.write_all(b"the first").expect("taken");
        let mut two = options(&other).create(&path).expect("begun");
        two.write_all(b"of two machines").expect("taken");
        // Either all bytes of one, or an error and what was there.
        let named = one.commit();
        let expected: &[u8] = if named.is_ok() { b"the first" } else { b"old" };
        assert_eq!(named.is_err(), is_current, "{named:?}");
        assert_eq!(fs::read(&path).expect("there"), expected);
        two.commit().expect("named");
        assert_eq!(fs::read(&path).expect("there"), b"of two machines");
        let names = fs::read_dir(folder.path()).expect("listed").count();
        assert_eq!(names, 1, "nothing is left");
    }
}

#[test]
fn what_a_killed_run_left_is_removed_without_a_listing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    let strays = [".out.swath-tmp", ".out.swath-tmp2", ".out.swath-tmp3"];
    let others = [".out.swath-tmp.0123456789abcdee", "victim"];
    for name in strays
        .map(|name| format!("{name}.0123456789abcdef"))
        .iter()
        .map(String::as_str)
        .chain(others)
    {
        fs::write(folder.path().join(name), "stray").expect("written");
    }
    for left in [".0123456789abcdef", "", ".0123", "/../victim", "\u{fffd}"] {
        let locked = Arc::new(Mutex::new(String::from(left)));
        options(&locked).create(&path).expect("begun").commit().expect("named");
        assert_ne!(*locked.lock().expect("no panic"), left);
    }
    let entries = fs::read_dir(folder.path()).expect("listed");
    let mut names: Vec<_> = entries.map(|it| it.expect("read").file_name()).collect();
    names.sort();
    assert_eq!(names, [others[0], "out", others[1]]);
}
