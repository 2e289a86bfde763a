//! Many small files in flight at a time, from one thread. Opening, reading, inspecting and closing
//! a file is one chain in a ring, so a batch of files costs one call. Files that the caller has
//! opened are read by the ring and inspected by a call: if opening is fast, this takes half the
//! processor time, because the kernel runs every open and statx of a ring in another thread.
//!
//! ```text
//! begin(folder, name) → open → read → statx → close, each when the one before has ended
//! begin_open(file)    → read, and an fstat when it is taken
//!                       wait(n) → take() → bytes and facts
//! ```
//!
//! Files that the ring opens are in its own slots, not in the process's descriptor table. The bytes
//! are in memory of the ring until [`FileRing::take`] lends them. If a lasting error keeps this
//! thread from waiting for the kernel, all files end with that error, and the memory is abandoned.
//!
//! ```
//! use std::rc::Rc;
//! use swath_os::file_ring::FileRing;
//! use swath_os::memory::Pages;
//!
//! let folder = Rc::new(std::fs::File::open("/etc")?.into());
//! let read = FileRing::new(4, 4096, Pages::map(4 * 4096)?).map(|mut ring| {
//!     ring.begin(&folder, c"passwd", 7);
//!     ring.wait(1);
//!     ring.take(|done| (done.token, done.outcome.is_ok()))
//! });
//! match read {
//!     Ok(done) => assert_eq!(done, Some((7, true))),
//!     Err(refused) => eprintln!("no ring here: {refused}"),
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

use std::ffi::CStr;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::rc::Rc;

use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, Probe, opcode, types};

use crate::memory::Pages;
use crate::ring::passes;

/// The facts about a file after it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// Bytes read.
    pub came: usize,
    /// Length of the file in bytes.
    pub len: u64,
    /// Type and permissions, as in `st_mode`.
    pub mode: u32,
    /// Time of its last change, in seconds since 1970.
    pub changed: i64,
    /// Its device, as `(major, minor)`.
    pub device: (u32, u32),
}

/// A file whose chain has ended.
#[derive(Debug)]
pub struct FileDone<'r> {
    /// The token passed to [`FileRing::begin`].
    pub token: usize,
    /// Its facts, or the kernel's error.
    pub outcome: io::Result<FileFacts>,
    /// The bytes read.
    pub bytes: &'r [u8],
    /// The file, if the caller had opened it.
    pub file: Option<OwnedFd>,
}

/// A chain, until its last step has ended.
struct ChainSlot {
    token: usize,
    /// The name, kept as long as the kernel may read it.
    name: Vec<u8>,
    folder: Option<Rc<OwnedFd>>,
    /// The file that the caller opened.
    file: Option<OwnedFd>,
    facts: Box<libc::statx>,
    /// The number of steps that have not ended.
    left: u8,
    /// The result of each step.
    results: [i32; 4],
}

/// A ring with room for a fixed number of files.
pub struct FileRing {
    ring: IoUring,
    /// The memory that files are read into; only [`FileRing::into_memory`] takes it out.
    memory: Option<Pages>,
    room: usize,
    slots: Vec<ChainSlot>,
    free: Vec<u32>,
    ended: Vec<u32>,
    /// The number of calls: to enter the ring, or to inspect a file.
    calls: u64,
    /// Whether the kernel accepts no submissions.
    refused: bool,
    /// The kernel's error number, if the ring can no longer be waited for.
    lost: Option<i32>,
    /// A ring has a single issuer: it stays on its thread.
    thread: PhantomData<*const ()>,
}

const OPEN: u64 = 0;
const READ: u64 = 1;
const LOOK: u64 = 2;
const CLOSE: u64 = 3;

impl std::fmt::Debug for FileRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileRing").field("in_flight", &self.in_flight()).finish_non_exhaustive()
    }
}

impl FileRing {
    /// Makes a ring with room for `depth` files (1 to 1,024) of less than `room` bytes. Dropping it
    /// waits for the files in flight. Files are read into `memory`, of which at most `depth` times
    /// `room` bytes are used: if it was used before, the kernel need not find new pages.
    ///
    /// # Errors
    ///
    /// Any error with which the kernel refuses it: `ENOSYS`, `EPERM` (sysctl or seccomp),
    /// `ENOMEM`, `EMFILE` if the descriptor limit is below `depth`; `Unsupported` before Linux
    /// 5.19. `InvalidInput` if `memory` is too small.
    pub fn new(depth: u32, room: usize, memory: Pages) -> io::Result<Self> {
        let depth = depth.clamp(1, 1024);
        if memory.len() < room.saturating_mul(depth as usize) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Four steps each, and as many completions before any is examined.
        let ring = IoUring::builder()
            .setup_clamp()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(depth * 4)?;
        ring.submitter().register_files_sparse(depth)?;
        // Opening waits for the device in kernel threads: allow more of them than the default of
        // eight on two cores.
        let _ = ring.submitter().register_iowq_max_workers(&mut [depth.min(32), 0]);
        let memory = Some(memory);
        let slot = |_| ChainSlot {
            token: 0,
            name: Vec::new(),
            folder: None,
            file: None,
            facts: no_facts(),
            left: 0,
            results: [0; 4],
        };
        let slots = (0..depth).map(slot).collect();
        let free = (0..depth).rev().collect();
        let (ended, calls, thread) = (Vec::new(), 3, PhantomData);
        let (refused, lost) = (false, None);
        let mut ring =
            Self { ring, memory, room, slots, free, ended, calls, refused, lost, thread };
        ring.prove()?;
        Ok(ring)
    }

    /// Waits for the files in flight, and returns the memory, unless the ring is
    /// [lost](Self::lost).
    #[must_use]
    pub fn into_memory(mut self) -> Option<Pages> {
        if !self.refused {
            self.wait(self.in_flight());
        }
        self.memory.take().filter(|memory| !memory.is_abandoned())
    }

    /// Returns how many files may be begun before one must be taken.
    pub fn room(&self) -> usize {
        if self.lost.is_some() { 0 } else { self.free.len() }
    }

    /// Returns the error that keeps the ring from being waited for; `None` if there is none.
    pub fn lost(&self) -> Option<io::Error> {
        self.lost.map(io::Error::from_raw_os_error)
    }

    /// Returns the number of files in flight or not taken.
    pub fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns the number of calls made.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Begins to read the file `name` in `folder`. It is submitted with the next
    /// [`wait`](Self::wait).
    ///
    /// # Panics
    ///
    /// If there is no [`room`](Self::room).
    pub fn begin(&mut self, folder: &Rc<OwnedFd>, name: &CStr, token: usize) {
        let index = self.take_slot(token, 4);
        let fd = types::Fd(folder.as_raw_fd());
        let slot = &mut self.slots[index as usize];
        slot.name.clear();
        slot.name.extend_from_slice(name.to_bytes_with_nul());
        slot.folder = Some(Rc::clone(folder));
        let name = slot.name.as_ptr().cast();
        let facts = (&raw mut *slot.facts).cast::<types::statx>();
        let file = types::Fixed(index);
        let place = types::DestinationSlot::try_from_slot_target(index)
            .expect("far below the number of descriptors");
        let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY;
        let (target, len) = self.target(index);
        // A file that cannot be opened ends its chain; whatever a read returns, the rest
        // follows.
        let chain = [
            opcode::OpenAt::new(fd, name)
                .flags(flags)
                .file_index(Some(place))
                .build()
                .flags(Flags::IO_LINK)
                .user_data(mark(index, OPEN)),
            opcode::Read::new(file, target, len)
                .build()
                .flags(Flags::IO_HARDLINK)
                .user_data(mark(index, READ)),
            opcode::Statx::new(fd, name, facts)
                .mask(libc::STATX_BASIC_STATS)
                .build()
                .flags(Flags::IO_HARDLINK)
                .user_data(mark(index, LOOK)),
            opcode::Close::new(file).build().user_data(mark(index, CLOSE)),
        ];
        self.push(&chain);
    }

    /// Like [`begin`](Self::begin), for a file that is open; [`take`](Self::take) returns it.
    ///
    /// # Panics
    ///
    /// If there is no [`room`](Self::room).
    pub fn begin_open(&mut self, file: OwnedFd, token: usize) {
        let index = self.take_slot(token, 1);
        let (target, len) = self.target(index);
        let fd = types::Fd(file.as_raw_fd());
        self.slots[index as usize].file = Some(file);
        self.push(&[opcode::Read::new(fd, target, len).build().user_data(mark(index, READ))]);
    }

    fn take_slot(&mut self, token: usize, steps: u8) -> u32 {
        assert!(self.lost.is_none(), "the caller looks for room first");
        let index = self.free.pop().expect("the caller looks for room first");
        let slot = &mut self.slots[index as usize];
        (slot.token, slot.left, slot.results) = (token, steps, [0; 4]);
        index
    }

    /// Returns the memory for a slot's file, and the most bytes of it.
    fn target(&self, index: u32) -> (*mut u8, u32) {
        // Linux reads at most 2 GiB at once anyway.
        let len = u32::try_from(self.room).unwrap_or(1 << 30);
        (self.place(index).as_ptr(), len)
    }

    /// Returns the memory of a slot. Makes no reference to memory that other slots share: the
    /// kernel may be writing to theirs.
    fn place(&self, index: u32) -> NonNull<u8> {
        let memory = self.memory.as_ref().expect("there until the ring is given up");
        // SAFETY: `new` has checked that the memory has room for every slot.
        unsafe { memory.start().add(index as usize * self.room) }
    }

    fn push(&mut self, chain: &[Entry]) {
        // SAFETY: name, facts, file and memory belong to the slot, which is reused only when all
        // steps have ended; `Drop` waits for them, or abandons what the kernel may write to.
        let pushed = unsafe { self.ring.submission().push_multiple(chain) };
        pushed.expect("the queue has four entries for every slot");
    }

    /// Submits the files begun, and waits until `want` files have ended and not been taken, or all
    /// that are in flight.
    pub fn wait(&mut self, want: usize) {
        if self.lost.is_some() {
            return;
        }
        let want = want.min(self.in_flight());
        self.reap();
        let mut first = true;
        while self.ended.len() < want || (first && !self.ring.submission().is_empty()) {
            // Files have one or four completions; those of different files are interleaved.
            let (most, left) = self.steps_left();
            let steps = left.min(want.saturating_sub(self.ended.len()) * most);
            self.calls += 1;
            match self.ring.submit_and_wait(steps) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Checks again soon.
                Err(error) if passes(&error) => {
                    std::thread::sleep(std::time::Duration::from_micros(100));
                }
                Err(error) => return self.give_up(error.raw_os_error().unwrap_or(libc::EIO)),
            }
            first = false;
            self.reap();
        }
    }

    /// Ends all files in flight; the kernel may still read their names, and write their bytes and
    /// facts.
    fn give_up(&mut self, number: i32) {
        self.lost = Some(number);
        for (slot, index) in self.slots.iter_mut().zip(0..).filter(|(slot, _)| slot.left > 0) {
            std::mem::forget(std::mem::take(&mut slot.name));
            std::mem::forget(std::mem::replace(&mut slot.facts, no_facts()));
            (slot.left, slot.results) = (0, [-number; 4]);
            self.ended.push(index);
            if let Some(memory) = &self.memory {
                memory.abandon();
            }
        }
    }

    /// Returns the largest number of steps left of a file, and that of all files.
    fn steps_left(&self) -> (usize, usize) {
        let files = self.slots.iter().filter(|slot| slot.left > 0);
        files.fold((1, 0), |(most, left), slot| {
            let steps = if slot.file.is_some() { 1 } else { 4 };
            (steps.max(most), left + usize::from(slot.left))
        })
    }

    fn reap(&mut self) {
        for done in self.ring.completion() {
            let mark = done.user_data();
            let (Ok(index), Ok(step)) = (u32::try_from(mark / 4), usize::try_from(mark % 4))
            else {
                continue;
            };
            let slot = &mut self.slots[index as usize];
            slot.results[step] = done.result();
            slot.left -= 1;
            if slot.left == 0 {
                self.ended.push(index);
            }
        }
    }

    /// Lends an ended file to `look`; `None` if there is none. Does not wait.
    pub fn take<R>(&mut self, look: impl FnOnce(FileDone<'_>) -> R) -> Option<R> {
        let index = self.ended.pop()?;
        let slot = &mut self.slots[index as usize];
        slot.folder = None;
        self.free.push(index);
        let steps =
            [OPEN, READ, LOOK].map(|step| slot.results[usize::try_from(step).unwrap_or(0)]);
        let failed = steps.into_iter().find(|&result| result < 0);
        let came = usize::try_from(steps[1]).unwrap_or(0).min(self.room);
        let file = slot.file.take();
        let outcome = match (failed, &file) {
            (Some(error), _) => Err(io::Error::from_raw_os_error(-error)),
            (None, Some(file)) => {
                self.calls += 1;
                look_at(file, came)
            }
            (None, None) => Ok(FileFacts {
                came,
                len: slot.facts.stx_size,
                mode: u32::from(slot.facts.stx_mode),
                changed: slot.facts.stx_ctime.tv_sec,
                device: (slot.facts.stx_dev_major, slot.facts.stx_dev_minor),
            }),
        };
        let start = self.place(index);
        // SAFETY: the memory of a slot whose steps have ended: the kernel no longer writes to it,
        // and `&mut self` keeps the slot from being reused during `look`. It was zeroed, and `came`
        // is at most the size of the slot; 0 for an abandoned file.
        let bytes = unsafe { std::slice::from_raw_parts(start.as_ptr(), came) };
        let token = self.slots[index as usize].token;
        Some(look(FileDone { token, outcome, bytes, file }))
    }

    /// Checks that the kernel knows all steps, and that a chain runs to its end.
    fn prove(&mut self) -> io::Result<()> {
        let unsupported = |what| io::Error::new(io::ErrorKind::Unsupported, what);
        let mut probe = Probe::new();
        self.ring.submitter().register_probe(&mut probe)?;
        let steps = [
            opcode::OpenAt::CODE,
            opcode::Read::CODE,
            opcode::Statx::CODE,
            opcode::Close::CODE,
        ];
        if !steps.into_iter().all(|step| probe.is_supported(step)) {
            return Err(unsupported("the ring cannot open, read, look and close"));
        }
        // Submitted once by hand: a ring that cannot be entered must not be waited for.
        let folder = Rc::new(OwnedFd::from(std::fs::File::open("/dev")?));
        self.begin(&folder, c"null", 0);
        self.calls += 1;
        if let Err(refused) = self.ring.submit() {
            self.refused = true;
            return Err(refused);
        }
        self.wait(1);
        match self.take(|done| done.outcome.map(|facts| facts.came)) {
            Some(Ok(0)) => Ok(()),
            Some(Err(error)) => Err(error),
            _ => Err(unsupported("the ring does not answer")),
        }
    }
}

/// Returns the number that identifies a completion.
fn mark(index: u32, step: u64) -> u64 {
    u64::from(index) * 4 + step
}

fn no_facts() -> Box<libc::statx> {
    // SAFETY: plain numbers, for which all zeroes are fine.
    Box::new(unsafe { std::mem::zeroed() })
}

fn look_at(file: &OwnedFd, came: usize) -> io::Result<FileFacts> {
    let stat = rustix::fs::fstat(file)?;
    #[allow(clippy::unnecessary_cast, reason = "types differ between architectures")]
    let (changed, device) = (stat.st_ctime as i64, stat.st_dev as u64);
    Ok(FileFacts {
        came,
        len: u64::try_from(stat.st_size).unwrap_or(0),
        mode: stat.st_mode,
        changed,
        device: (rustix::fs::major(device), rustix::fs::minor(device)),
    })
}

impl Drop for FileRing {
    fn drop(&mut self) {
        if !self.refused {
            self.wait(self.in_flight());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;

    fn open_in(folder: &OwnedFd, name: &CStr) -> Option<OwnedFd> {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
        rustix::fs::openat(folder, name, flags, rustix::fs::Mode::empty()).ok()
    }

    #[test]
    fn files_of_a_ring_that_is_gone_end_and_its_memory_is_kept() {
        crate::ring::tests::soon(files_end);
    }

    fn files_end() {
        // The pipe gets no bytes: the read never ends by itself.
        let (pipe, writer) = std::io::pipe().expect("a pipe");
        let null = fs::File::open("/dev/null").expect("readable by all");
        let memory = Pages::map(2 * 4096).expect("address space");
        let mut ring = match FileRing::new(2, 4096, memory) {
            Ok(ring) => ring,
            Err(refused) => return swath_reference::skip("io-uring", refused),
        };
        ring.begin_open(pipe.into(), 7);
        // SAFETY: the number stays the ring's, and is closed with it; it leads elsewhere.
        let status = unsafe { libc::dup2(null.as_raw_fd(), ring.ring.as_raw_fd()) };
        assert!(status >= 0, "{}", io::Error::last_os_error());
        ring.wait(1);
        let lost = ring.lost().and_then(|error| error.raw_os_error());
        assert_eq!((lost, ring.room()), (Some(libc::EOPNOTSUPP), 0));
        let taken = ring.take(|done| {
            assert!(done.bytes.is_empty() && done.file.is_some());
            (done.token, done.outcome.expect_err("nothing came").raw_os_error())
        });
        assert_eq!(taken, Some((7, lost)));
        assert_eq!(ring.in_flight(), 0);
        ring.wait(1);
        assert!(ring.into_memory().is_none(), "it is not returned");
        drop(writer);
    }

    #[test]
    fn files_come_back_with_their_bytes_lengths_and_errors() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, len) in [("empty", 0), ("some", 1000), ("full", 4096), ("more", 5000)] {
            fs::write(folder.path().join(name), vec![7; len]).expect("room");
        }
        let open = Rc::new(OwnedFd::from(fs::File::open(folder.path()).expect("a folder")));
        let names = [c"empty", c"some", c"full", c"more", c"missing", c"."];
        let memory = Pages::map(2 * 4096).expect("address space");
        let read = FileRing::new(2, 4096, memory).map(|mut ring| {
            let mut found = BTreeMap::new();
            for (token, name) in names.into_iter().cycle().take(60).enumerate() {
                while ring.room() == 0 {
                    ring.wait(1);
                    ring.take(|done| {
                        let bytes = done.bytes.iter().filter(|&&byte| byte == 7).count();
                        assert_eq!(
                            done.file.is_some(),
                            done.token / 6 % 2 == 1 && done.token % 6 != 4
                        );
                        found.insert(done.token, (done.outcome, bytes));
                    });
                }
                // In every other round of six, files are opened here if possible.
                let here = (token / 6 % 2 == 1).then(|| open_in(&open, name)).flatten();
                match here {
                    Some(file) => ring.begin_open(file, token),
                    None => ring.begin(&open, name, token),
                }
            }
            ring.wait(2);
            while ring
                .take(|done| found.insert(done.token, (done.outcome, done.bytes.len())))
                .is_some()
            {}
            assert_eq!(ring.in_flight(), 0);
            found
        });
        let found = match read {
            Ok(found) => found,
            Err(refused) => return swath_reference::skip("io-uring", refused),
        };
        assert_eq!(found.len(), 60);
        for (token, (outcome, bytes)) in found {
            match token % 6 {
                4 => {
                    assert_eq!(outcome.expect_err("missing").raw_os_error(), Some(libc::ENOENT))
                }
                5 => assert_eq!(
                    outcome.expect_err("a folder").raw_os_error(),
                    Some(libc::EISDIR)
                ),
                kind => {
                    let facts = outcome.expect("it is there");
                    let len = [0, 1000, 4096, 5000][kind];
                    assert_eq!((facts.len, facts.came), (len as u64, len.min(4096)));
                    assert_eq!(bytes, facts.came);
                    assert_eq!(facts.mode & libc::S_IFMT, libc::S_IFREG);
                }
            }
        }
    }
}
