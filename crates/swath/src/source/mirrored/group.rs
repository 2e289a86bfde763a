//! Opens copies, and decides which of them may be read.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use swath_os::file_system::disk;
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::mirror::{self, Agreed, Copy, MirrorSetup, Mirrors, Standing};
use swath_plan::schedule::Nanos;

use super::lengths::{self, cause};
use super::readers::Pool;
use super::{Mirrored, Verify};
use crate::error::{Common, Error, Operation, Reason, Result};
use crate::locks::{Condvar, Mutex, MutexGuard};
use crate::profile::SharedDevice;
use crate::report::{MirrorReport, MirrorState, Report};
use crate::source::copies::{Closed, Copies};
use crate::source::file::StoragePlace;
use crate::source::{OpenSource, Source, SourceForm, SourceLength};

/// A copy that fails at this many chunks in a row is given up.
const GIVE_UP_AFTER: u32 = 4;

/// One copy.
pub(super) struct Member {
    pub(super) name: PathBuf,
    /// `None`: it cannot be read.
    pub(super) opened: Option<Arc<OpenSource>>,
    /// The kernel's error number of opening it.
    errno: Option<i32>,
    /// The last problem with it.
    pub(super) trouble: Mutex<Option<String>>,
    /// It has changed since it was opened.
    pub(super) has_changed: AtomicBool,
}

/// The shared state of reading threads, including those whose callers have stopped waiting.
pub(super) struct SharedGroup {
    pub(super) members: Vec<Member>,
    pub(super) verify: Verify,
    /// Copies that must have the same bytes.
    pub(super) quorum: usize,
    pub(super) pools: Vec<Arc<Pool>>,
    pub(super) woken: Condvar,
    mirrors: Mutex<Mirrors>,
    /// Reads of copies that are not in a report yet.
    pub(super) calls: AtomicU64,
    started: Instant,
    /// Memory for temporary reads.
    bounce: Mutex<VecDeque<Vec<u8>>>,
}

/// See the [module](self).
pub(crate) struct Group {
    pub(super) shared: Arc<SharedGroup>,
    pub(super) len: u64,
    pub(super) hedged: bool,
    notes: Vec<Fallback>,
}

impl Drop for Group {
    fn drop(&mut self) {
        self.shared.pools.iter().for_each(|pool| pool.close());
    }
}

impl Group {
    /// Opens the copies that can be opened.
    ///
    /// # Errors
    ///
    /// If no copy can be read, or the length of the file is unknown.
    pub(crate) fn open(mirrored: &Mirrored) -> Result<Self> {
        let first = mirrored.name();
        let invalid =
            |detail: &str| Error::new(Operation::Open, Reason::Invalid, &first).detail(detail);
        if mirrored.copies.is_empty() || mirrored.copies.len() > mirror::MOST {
            return Err(invalid("a mirror has 1 to 64 copies").hint("pass 1 to 64 paths"));
        }
        let mut members: Vec<Member> = mirrored.copies.iter().map(Member::open).collect();
        let distinct = refuse_twins(&mut members);
        if matches!(mirrored.verify, Verify::Vote) && distinct < 2 {
            return Err(invalid("one copy cannot vote").hint("pass more copies, or a manifest"));
        }
        let quorum = distinct / 2 + 1;
        let lens: Vec<Option<u64>> = members.iter().map(Member::len).collect();
        let by = match &mirrored.verify {
            Verify::None => Agreed::Most,
            Verify::Manifest(sums) => Agreed::Known(sums.len()),
            Verify::Vote => Agreed::Quorum(quorum),
        };
        if lens.iter().all(Option::is_none) {
            return Err(unreadable(&members));
        }
        let Some(len) = mirror::agree(&lens, by) else {
            return Err(undecided(&members, quorum));
        };
        let (mut copies, mut notes) = judge(&members, &lens, len, &mirrored.verify);
        if mirrored.shared_device == SharedDevice::SideBySide {
            // Treats each copy as if it had a device of its own.
            copies.iter_mut().enumerate().for_each(|(index, copy)| copy.device = index);
        }
        if copies.iter().all(|copy| copy.len.is_none()) {
            return Err(unreadable(&members));
        }
        // All copies that vote are read.
        if !matches!(mirrored.verify, Verify::Vote) {
            notes.extend(shared_devices(&members, &copies));
        }
        let hedged = mirrored.hedging.is_some() && !matches!(mirrored.verify, Verify::Vote);
        if mirrored.hedging.is_some() && !hedged {
            notes.push(Fallback::NoHedging);
        }
        let hedging = mirrored.hedging.filter(|_| hedged).map(|hedging| hedging.0);
        let setup = MirrorSetup { copies, give_up_after: GIVE_UP_AFTER, hedging };
        let shared = SharedGroup {
            pools: members.iter().map(|_| Arc::default()).collect(),
            members,
            verify: mirrored.verify.clone(),
            quorum,
            woken: Condvar::new(),
            mirrors: Mutex::new(Mirrors::new(setup)),
            calls: AtomicU64::new(0),
            started: Instant::now(),
            bounce: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared), len, hedged, notes })
    }

    fn first(&self) -> Option<usize> {
        let mirrors = self.shared.mirrors();
        (0..self.shared.members.len()).find(|&copy| mirrors.is_active(copy))
    }
}

impl Copies for Group {
    fn len(&self) -> u64 {
        self.len
    }

    fn expect(&self, extent: Extent, workers: u64) {
        self.shared.mirrors().expect(extent.len(), workers);
    }

    fn active_count(&self) -> u64 {
        self.shared.mirrors().active_count() as u64
    }

    fn files(&self) -> Vec<&File> {
        let first = self.first();
        let rest = (0..self.shared.members.len()).filter(move |&copy| Some(copy) != first);
        let opened = |copy: usize| self.shared.members[copy].opened.as_deref();
        first.into_iter().chain(rest).filter_map(move |copy| opened(copy)?.file()).collect()
    }

    fn place(&self) -> StoragePlace {
        let opened = self.first().and_then(|copy| self.shared.members[copy].opened.as_ref());
        // The ring does not know about other copies.
        opened.map_or(StoragePlace::FOREIGN, |opened| StoragePlace {
            ring: false,
            ..opened.place()
        })
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read_from(target, offset)
    }

    fn take_in_steps(
        &self,
        chunk: Extent,
        room: &mut [u8],
        each: &mut dyn FnMut(&[u8], u64),
    ) -> io::Result<()> {
        self.compare_in_steps(chunk, room, each)
    }

    fn tell(&self, report: &mut Report) {
        report.fallbacks.extend(self.notes.iter().cloned());
        report.calls = self.shared.calls.swap(0, Ordering::Relaxed);
        let mirrors = self.shared.mirrors();
        for (copy, member) in self.shared.members.iter().enumerate() {
            let (tally, standing) = (mirrors.tally(copy), mirrors.standing(copy));
            let trouble = member.trouble();
            if let (Some(trouble), 1..) = (&trouble, tally.errors) {
                report.fallbacks.push(Fallback::MirrorFailed {
                    path: member.shown(),
                    chunks: tally.errors,
                    why: trouble.clone(),
                    standing,
                });
            }
            report.mirrors.push(MirrorReport {
                path: member.name.clone(),
                state: match standing {
                    Standing::Good if mirrors.is_active(copy) || tally.chunks > 0 => {
                        MirrorState::Read
                    }
                    Standing::Good => MirrorState::Spare,
                    Standing::GivenUp => MirrorState::GivenUp,
                    Standing::Gone => MirrorState::Unusable,
                },
                trouble,
                bytes: tally.bytes,
                chunks: tally.chunks,
                errors: tally.errors,
                fail_overs: tally.fail_overs,
                hedges_won: tally.hedges_won,
                hedges_lost: tally.hedges_lost,
            });
        }
    }
}

impl SharedGroup {
    pub(super) fn mirrors(&self) -> MutexGuard<'_, Mirrors> {
        // Not poisoned: every change of the state machine is complete before anything can panic.
        self.mirrors.lock()
    }

    pub(super) fn now(&self) -> Nanos {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns memory of `len` bytes with unspecified content.
    pub(super) fn take_bounce(&self, len: usize) -> io::Result<Vec<u8>> {
        let kept = self.bounce.lock().pop_front();
        let mut bytes = kept.unwrap_or_default();
        if bytes.capacity() < len {
            bytes.clear();
            bytes.try_reserve_exact(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        }
        bytes.resize(len, 0);
        Ok(bytes)
    }

    pub(super) fn put_bounce(&self, bytes: Vec<u8>) {
        const KEPT: usize = 64;
        let mut kept = self.bounce.lock();
        if kept.len() < KEPT {
            kept.push_front(bytes);
        }
    }
}

impl Member {
    /// Returns its name for display.
    fn shown(&self) -> String {
        self.name.display().to_string()
    }

    fn open(source: &Source) -> Self {
        let name = source.name();
        let mut errno = None;
        let opened = match &source.0 {
            SourceForm::Mirrored(_) => Err(String::from("it is a mirrored source itself")),
            _ => OpenSource::open_copy(source.clone()).map_err(|error| {
                errno = error.raw_os_error();
                cause(&error)
            }),
        };
        let opened = opened.and_then(|opened| match opened.kind() {
            SourceLength::Sized(_) => Ok(opened),
            SourceLength::Made | SourceLength::Stream => {
                Err(String::from("it cannot be read by position"))
            }
        });
        let (opened, trouble) = match opened {
            Ok(opened) => (Some(opened), None),
            Err(trouble) => (None, Some(trouble)),
        };
        let has_changed = AtomicBool::new(false);
        Self { name, opened, errno, trouble: Mutex::new(trouble), has_changed }
    }

    fn len(&self) -> Option<u64> {
        match self.opened.as_ref()?.kind() {
            SourceLength::Sized(len) => Some(len),
            SourceLength::Made | SourceLength::Stream => None,
        }
    }

    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().clone()
    }

    pub(super) fn is_in_trouble(&self, trouble: String) {
        *self.trouble.lock() = Some(trouble);
    }
}

/// Leaves out files that were named before: the same file is not a second copy, and has no second
/// vote. Returns the number of copies left.
fn refuse_twins(members: &mut [Member]) -> usize {
    let mut twins = 0;
    for index in 1..members.len() {
        let (before, rest) = members.split_at_mut(index);
        let this = &mut rest[0];
        let same = |other: &&Member| match (&other.opened, &this.opened) {
            (Some(other), Some(this)) => other.is_same_file(this),
            _ => false,
        };
        if let Some(twin) = before.iter().find(same) {
            let trouble = format!("it is the same file as {}", twin.name.display());
            this.opened = None;
            this.is_in_trouble(trouble);
            twins += 1;
        }
    }
    members.len() - twins
}

/// Decides which bytes of each copy may be read; returns remarks too.
fn judge(
    members: &[Member],
    lens: &[Option<u64>],
    len: u64,
    verify: &Verify,
) -> (Vec<Copy>, Vec<Fallback>) {
    let mut notes = Vec::new();
    let mut devices: Vec<CopyDevice> = Vec::new();
    let mut copies = Vec::new();
    for (index, (member, &own)) in members.iter().zip(lens).enumerate() {
        let mut usable = own;
        match (own, member.trouble()) {
            (None, trouble) => {
                let why = trouble.unwrap_or_default();
                notes.push(Fallback::MirrorNotRead { path: member.shown(), why });
            }
            (Some(own), _) if own != len => {
                let unit = if own == 1 { "byte" } else { "bytes" };
                let trouble = format!("it has {own} {unit} instead of {len}");
                let path = member.shown();
                // Otherwise chunks of another version could be mixed in.
                if matches!(verify, Verify::None) {
                    usable = None;
                    notes.push(Fallback::MirrorNotRead { path, why: trouble.clone() });
                } else {
                    notes.push(Fallback::MirrorLength { path, len: own, expected: len });
                }
                member.is_in_trouble(trouble);
            }
            (Some(_), _) => {}
        }
        let device = member
            .opened
            .as_ref()
            .map_or(CopyDevice::Own(index), |it| CopyDevice::of(it, index));
        let known = devices.iter().position(|other| *other == device);
        let device = known.unwrap_or_else(|| {
            devices.push(device);
            devices.len() - 1
        });
        copies.push(Copy { device, len: usable });
    }
    (copies, notes)
}

/// The device that limits the speed of a copy, and of other copies on it.
#[derive(PartialEq, Eq)]
enum CopyDevice {
    /// A whole disk.
    Disk(PathBuf),
    /// A file system that is on no disk of its own.
    Number(u64),
    /// Not shared with any other copy.
    Own(usize),
}

impl CopyDevice {
    fn of(opened: &OpenSource, index: usize) -> Self {
        match opened.device() {
            None => Self::Own(index),
            Some(number) => disk(number).map_or(Self::Number(number), Self::Disk),
        }
    }
}

fn shared_devices(members: &[Member], copies: &[Copy]) -> Vec<Fallback> {
    let readable = |copy: &Copy| copy.len.is_some();
    let mut notes = Vec::new();
    for (index, copy) in copies.iter().enumerate().filter(|(_, copy)| readable(copy)) {
        let mates = copies.iter().enumerate().filter(|(other, mate)| {
            *other > index && readable(mate) && mate.device == copy.device
        });
        let others: Vec<String> = mates.map(|(other, _)| members[other].shown()).collect();
        let is_first =
            !copies[..index].iter().any(|it| readable(it) && it.device == copy.device);
        if is_first && !others.is_empty() {
            notes.push(Fallback::MirrorsShareDevice { path: members[index].shown(), others });
        }
    }
    notes
}

/// Describes the trouble of each copy, in one line.
fn troubles(members: &[Member]) -> String {
    let told = |member: &Member| {
        let trouble = member.trouble().unwrap_or_else(|| String::from("nothing wrong"));
        format!("{}: {trouble}", member.name.display())
    };
    members.iter().map(told).collect::<Vec<_>>().join("; ")
}

fn unreadable(members: &[Member]) -> Error {
    let path = members.first().map_or(Path::new(""), |member| &member.name);
    let text = format!("none of its copies can be read: {}", troubles(members));
    let first = members.first().and_then(|member| member.errno);
    let error = match first.filter(|_| members.iter().all(|member| member.errno == first)) {
        Some(number) => Common { number, text }.into(),
        None => io::Error::new(io::ErrorKind::NotFound, text),
    };
    Error::io(Operation::Open, path, error)
}

fn undecided(members: &[Member], quorum: usize) -> Error {
    let path = members.first().map_or(Path::new(""), |member| &member.name);
    let told = |member: &Member| {
        let trouble = member.trouble().unwrap_or_default();
        (member.len(), format!("{}: {trouble}", member.name.display()))
    };
    let text = lengths::differ(quorum, members.iter().map(told));
    // Unopened copies might have made a majority.
    let lens = || members.iter().filter_map(Member::len);
    let alike = lens().map(|len| lens().filter(|&other| other == len).count()).max();
    let closed = members.iter().filter(|member| member.errno.is_some()).count();
    let number = members.iter().find_map(|member| member.errno);
    if let Some(number) = number.filter(|_| alike.unwrap_or(0) + closed >= quorum) {
        return Error::io(Operation::Open, path, Common { number, text }.into());
    }
    Error::new(Operation::Open, Reason::Corrupt, path)
        .detail(text)
        .hint("pass a manifest of the right file (`--verify-against manifest=FILE`)")
}
