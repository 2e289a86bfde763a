//! Every attack before every call of every way of writing.
//!
//! | Whatever the neighbour does | |
//! | --- | --- |
//! | what is private | keeps its bytes, mode and owner, and gets no other names |
//! | the target | is old or new, or something of the neighbour's own |
//! | new bytes for a file that only the writer may read | are never seen by another user |
//! | new bytes | are never a set-user-id program |
//! | names taken beforehand | prevent no write |
//! | in a folder like `/tmp` | nothing of the writer's is left |
//! | a file put under the target after the first look | stays |

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use swath::sink::Fs;
use swath::{Error, append};
use swath_reference::battery::Battery;

use crate::hooked::{Call, Hook, Hooked};
use crate::neighbours::attacks::{Attack, Peeping};
use crate::neighbours::street::{Before, NOBODY, OLD, Street, Whose, as_neighbour, is_root};
use crate::neighbours::ways::{NEW, Way};

type Act = Box<dyn Fn() + Send + Sync>;

/// Acts before one call, and looks before each.
pub(crate) struct Neighbour {
    nameless: bool,
    at: Option<usize>,
    act: Act,
    look: Act,
    calls: Mutex<Vec<Call>>,
    acted: AtomicUsize,
}

impl fmt::Debug for Neighbour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Neighbour").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Hook for Neighbour {
    fn before(&self, call: Call) -> io::Result<()> {
        let index = {
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            calls.push(call);
            calls.len() - 1
        };
        if self.at == Some(index) {
            as_neighbour(&self.act);
            self.acted.fetch_add(1, Ordering::SeqCst);
        }
        (self.look)();
        match call {
            Call::CreateNameless if !self.nameless => Err(io::ErrorKind::Unsupported.into()),
            _ => Ok(()),
        }
    }
}

/// Something that writes [`NEW`] to a path, from a file with these bytes.
pub(crate) type Writer<'w> = &'w dyn Fn(&Path, &Path, Arc<dyn Fs>) -> Result<(), Failure>;

/// How a writer ended.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) number: Option<i32>,
    pub(crate) text: String,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = swath::machine::in_one_line(&error, error.what_to_try());
        Self { number: error.raw_os_error(), text }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self { number: error.raw_os_error(), text: format!("{error}; try: another name") }
    }
}

/// One attempt at a writer.
#[derive(Clone, Copy)]
pub(crate) struct Case<'w> {
    pub(crate) writer: Writer<'w>,
    pub(crate) whose: Whose,
    pub(crate) before: Before,
    pub(crate) nameless: bool,
    /// Whether the target is a folder of segments.
    pub(crate) is_folder: bool,
    /// The index of the call that first looks at the target; 0 if unknown.
    pub(crate) looked: usize,
}

/// The trouble that a neighbour makes.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Nothing,
    Peeping,
    Attack(Attack, usize),
}

impl Case<'_> {
    /// Writes once, and checks what is left. Returns the calls that were made.
    fn run(&self, trouble: Trouble) -> Result<Vec<Call>, String> {
        let street = Street::new(self.whose, self.before);
        let source = tempfile::NamedTempFile::new().expect("a file");
        fs::write(source.path(), NEW).expect("room");
        let (folder, private) = (street.folder(), street.private());
        let peeping = Arc::new(Peeping::default());
        let held = Arc::new(Mutex::new(Vec::new()));
        let mut neighbour = Neighbour {
            nameless: self.nameless,
            at: None,
            act: Box::new(|| {}),
            look: Box::new(|| {}),
            calls: Mutex::default(),
            acted: AtomicUsize::new(0),
        };
        match trouble {
            Trouble::Nothing => {}
            Trouble::Peeping => {
                let (peeping, folder) = (Arc::clone(&peeping), folder.clone());
                neighbour.look = Box::new(move || as_neighbour(|| peeping.look(&folder)));
            }
            Trouble::Attack(attack, at) => {
                let (folder, held) = (folder.clone(), Arc::clone(&held));
                neighbour.at = Some(at);
                neighbour.act = Box::new(move || {
                    let files = attack.act(&folder, &private);
                    held.lock().unwrap_or_else(PoisonError::into_inner).extend(files);
                });
            }
        }
        let neighbour = Arc::new(neighbour);
        let fs: Arc<dyn Fs> = Arc::new(Hooked(Arc::clone(&neighbour) as _));
        let ended = (self.writer)(&street.out(), source.path(), fs);
        let judged = self.judge(&street, trouble, &ended, &peeping);
        judged.map_err(|wrong| format!("{trouble:?}, ended {ended:?}: {wrong}"))?;
        let calls = neighbour.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Trouble::Attack(Attack::TargetOpen, at) = trouble {
            let held = held.lock().unwrap_or_else(PoisonError::into_inner);
            let is_gone = |file: &File| file.metadata().is_ok_and(|facts| facts.nlink() == 0);
            // No look is so late that nothing can be put there after it.
            let is_seen = (1..at).contains(&self.looked) && calls[at] != Call::Rename;
            if is_root() && is_seen && held.iter().any(is_gone) {
                return Err(format!(
                    "{trouble:?}, ended {ended:?}: the neighbour's file is gone"
                ));
            }
        }
        Ok(calls.clone())
    }

    fn judge(
        &self,
        street: &Street,
        trouble: Trouble,
        ended: &Result<(), Failure>,
        peeping: &Peeping,
    ) -> Result<(), String> {
        street.check_private()?;
        let is_new = self.check_target(street, trouble)?;
        if street.before == Before::Mine
            && peeping.bytes().iter().any(|seen| NEW.starts_with(seen) && !seen.is_empty())
        {
            return Err(String::from("another user has read the new bytes"));
        }
        if let Err(failure) = ended {
            let says_more = failure.number != Some(22) && failure.text.contains("; try: ");
            if !says_more && is_root() {
                return Err(String::from("that says nothing"));
            }
        }
        let must_be_new = match trouble {
            Trouble::Nothing | Trouble::Peeping => true,
            Trouble::Attack(attack, at) => attack.is_of_names() && at == 0,
        };
        if must_be_new && !(ended.is_ok() && is_new) {
            return Err(String::from("the new bytes are not there"));
        }
        let strays = street.names().into_iter().filter(|name| name.starts_with(".out."));
        let mut strays = strays.filter(|name| {
            let facts = fs::symlink_metadata(street.target().with_file_name(name));
            facts.is_ok_and(|facts| facts.uid() != NOBODY)
        });
        match strays.next() {
            Some(stray) if self.whose == Whose::Everybodys => Err(format!("{stray} is left")),
            _ => Ok(()),
        }
    }

    /// Returns whether the target is new.
    fn check_target(&self, street: &Street, trouble: Trouble) -> Result<bool, String> {
        let target = street.target();
        let Ok(facts) = fs::symlink_metadata(&target) else { return Ok(false) };
        let is_strangers = is_root() && facts.uid() == NOBODY;
        let is_his_folder = facts.is_dir() && (is_strangers || street.is_mine(&facts));
        if facts.is_symlink() || is_his_folder {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        if facts.is_dir() && self.is_folder {
            let mut opened = append::open(&target).map_err(|error| format!("{error:?}"))?;
            opened.read_to_end(&mut bytes).map_err(|error| format!("torn: {error}"))?;
        } else if facts.is_file() {
            bytes = fs::read(&target).map_err(|error| error.to_string())?;
        }
        let is_ours = NEW.starts_with(&bytes) && !bytes.is_empty();
        if facts.mode() & 0o6000 != 0 && is_ours && facts.is_file() {
            return Err(format!("the new bytes are a program of {}", facts.uid()));
        }
        // What was there at the first look is replaced, and stays its owner's.
        let was_his = street.before == Before::Theirs
            || matches!(trouble, Trouble::Attack(_, at) if at <= self.looked);
        if is_strangers && !was_his {
            return if is_ours {
                Err("the new bytes are the neighbour's".into())
            } else {
                Ok(false)
            };
        }
        let is_open = facts.mode() & 0o077 != 0;
        if street.before == Before::Mine && facts.is_file() && !is_strangers && is_open {
            return Err(format!("others may read it: {:o}", facts.mode()));
        }
        match bytes == OLD || is_ours || is_strangers {
            true => Ok(bytes == NEW),
            false => Err(format!("the target is {:?}", String::from_utf8_lossy(&bytes))),
        }
    }
}

/// Whether the attack means something here, before this call.
fn counts(attack: Attack, whose: Whose, at: usize, located: usize) -> bool {
    match (is_root(), whose) {
        // In a folder of its own a neighbour may redirect any later path.
        (_, Whose::Neighbours) if attack.leads_elsewhere() && at <= located => false,
        (true, _) => true,
        // What the same user has put there is the writer's own.
        (false, Whose::Neighbours) => {
            attack.leads_elsewhere()
                || at > 0 && matches!(attack, Attack::NamesToSecret | Attack::NamesToSegments)
        }
        (false, Whose::Everybodys) => false,
    }
}

/// Attacks a writer everywhere and returns how often.
///
/// # Errors
///
/// With the first thing that is wrong.
pub(crate) fn attack_everywhere(mut case: Case<'_>) -> Result<usize, String> {
    let calls = case.run(Trouble::Nothing)?;
    if let Some(lock) = calls.iter().position(|call| *call == Call::Lock) {
        // If something is there, its permission and its folder are looked at as well.
        case.looked = lock - if case.before == Before::Nothing { 1 } else { 3 };
    }
    let located = calls.iter().rposition(|call| *call == Call::Locate).unwrap_or(0);
    let mut attempts = 0;
    if is_root() {
        case.run(Trouble::Peeping)?;
    }
    for attack in Attack::ALL {
        let places = (0..calls.len()).filter(|at| counts(attack, case.whose, *at, located));
        for at in places {
            let attempt = case.run(Trouble::Attack(attack, at));
            attempt.map_err(|wrong| format!("before {:?}: {wrong}", calls[at]))?;
            attempts += 1;
        }
    }
    Ok(attempts)
}

fn withstands(way: Way, nameless: bool) {
    if !is_root() {
        swath_reference::skip("root", "the neighbour is the same user: fewer attacks");
    }
    let mut attempts = 0;
    let is_folder = way == Way::Segments;
    let befores = [Before::Nothing, Before::Mine, Before::Theirs].into_iter();
    let befores = befores.filter(|before| !is_folder || *before == Before::Nothing);
    let streets = [Whose::Everybodys, Whose::Neighbours].into_iter();
    let all = streets.flat_map(|whose| befores.clone().map(move |before| (whose, before)));
    // That is refused at the first look.
    let all = all.filter(|case| *case != (Whose::Everybodys, Before::Theirs));
    for (whose, before) in Battery::of_list("neighbours", 1, all) {
        let writer = |path: &Path, source: &Path, fs: Arc<dyn Fs>| {
            way.leave(path, source, fs).map_err(Failure::from)
        };
        let case = Case { writer: &writer, whose, before, nameless, is_folder, looked: 0 };
        attempts += attack_everywhere(case).unwrap_or_else(|wrong| {
            panic!("{way:?}, {whose:?}, {before:?}, nameless {nameless}: {wrong}")
        });
    }
    println!("{way:?}: {attempts} attacks");
    assert!(attempts > 10);
}

#[test]
fn a_written_buffer_withstands_a_neighbour() {
    withstands(Way::Write, true);
}

#[test]
fn a_written_buffer_whose_file_must_have_a_name_withstands_a_neighbour() {
    withstands(Way::Write, false);
}

#[test]
fn a_copy_withstands_a_neighbour() {
    withstands(Way::Copy, true);
    withstands(Way::Copy, false);
}

#[test]
fn strands_and_their_checkpoints_withstand_a_neighbour() {
    withstands(Way::Strands, true);
    withstands(Way::Strands, false);
}

#[test]
fn segments_withstand_a_neighbour() {
    withstands(Way::Segments, true);
}

#[test]
fn whatever_else_writes_withstands_a_neighbour() {
    for way in [Way::Positional, Way::Mirror, Way::Tickets] {
        withstands(way, true);
    }
}

#[test]
fn a_shared_draft_withstands_a_neighbour() {
    withstands(Way::Shared, true);
}
