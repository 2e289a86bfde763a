//! Reads in flight through `io_uring(7)`, without a thread for each.
//!
//! [`with_ring`] creates a ring, verifies that this process may use it, and lends it to a closure.
//! Before it returns, even if the closure panics, it waits until the kernel has finished writing: a
//! late read into freed memory would be unsound.
//!
//! ```text
//! submit(lease) → the kernel owns the lease → complete() → the lease returns with a length
//! ```
//!
//! If the kernel permanently refuses to let this thread wait, every read in flight ends with that
//! error, and its memory is abandoned: it is never reused.
//!
//! Seccomp may allow the creation of a ring and forbid entering it, and rings of old kernels cannot
//! read. So before the closure runs, a NOP is submitted and the opcode is looked up.
//!
//! ```
//! use swath_os::{memory::{Leases, Pages}, ring};
//!
//! let file = std::fs::File::open("/etc/passwd")?;
//! let leases = Leases::of_pages(Pages::map(16)?);
//! let read = ring::with_ring(4, |ring| {
//!     let lease = leases.write(0, 16).expect("free");
//!     ring.submit(&file, 0, 0, lease, 42);
//!     ring.complete().expect("one in flight")
//! });
//! match read {
//!     Ok(done) => assert_eq!((done.token, done.result?), (42, 16)),
//!     Err(refused) => eprintln!("no ring here: {refused}"),
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, Probe, opcode, types};

use crate::memory::WriteLease;

/// A finished read.
#[derive(Debug)]
pub struct Completion<'l> {
    /// The token passed to `submit`.
    pub token: u64,
    /// Bytes read, possibly fewer than requested; 0 at the end of the file.
    pub result: io::Result<usize>,
    /// The memory, no longer owned by the kernel.
    pub lease: WriteLease<'l>,
}

/// A ring with room for a fixed number of reads in flight.
#[derive(Debug)]
pub struct Ring<'l> {
    ring: RawRing,
    slots: Vec<Option<(u64, WriteLease<'l>)>>,
    free: Vec<u32>,
    /// The kernel's error number, if waiting for the ring has failed for good.
    lost: Option<i32>,
    /// The process to whose memory the kernel writes; differs in a forked child.
    process: u32,
    /// A ring has a single issuer: it stays on its thread.
    thread: PhantomData<*const ()>,
}

struct RawRing(IoUring);

impl std::fmt::Debug for RawRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IoUring")
    }
}

/// Lends a ring with room for `depth` reads (1 to 1,024) to `work`.
///
/// # Errors
///
/// Any error with which the kernel refuses the ring: `ENOSYS`, `EPERM` (sysctl or seccomp),
/// `ENOMEM` (`RLIMIT_MEMLOCK` on old kernels), `EMFILE`; `Unsupported` if it cannot read.
pub fn with_ring<'l, R>(depth: u32, work: impl FnOnce(&mut Ring<'l>) -> R) -> io::Result<R> {
    let depth = depth.clamp(1, 1024);
    let mut ring = Ring {
        ring: RawRing(set_up(depth)?),
        slots: (0..depth).map(|_| None).collect(),
        free: (0..depth).rev().collect(),
        lost: None,
        process: std::process::id(),
        thread: PhantomData,
    };
    ring.prove()?;
    // Dropped at the end of this function, even if `work` panics: `Drop` waits.
    Ok(work(&mut ring))
}

fn set_up(depth: u32) -> io::Result<IoUring> {
    // One thread submits and reaps, so the kernel need not interrupt it for completions.
    let modern = IoUring::builder()
        .setup_clamp()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(depth);
    match modern {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            IoUring::builder().setup_clamp().build(depth)
        }
        other => other,
    }
}

impl<'l> Ring<'l> {
    /// Returns the number of reads that may be submitted before one must complete.
    pub fn room(&self) -> usize {
        if self.lost.is_some() { 0 } else { self.free.len() }
    }

    /// Returns the number of reads that the kernel is still working on.
    pub fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Starts reading `file` at `offset` into `lease`, starting at byte `from` of the lease. The
    /// completion returns `token`.
    ///
    /// # Panics
    ///
    /// If there is no [`room`](Self::room), or `from` is not inside the lease.
    pub fn submit(
        &mut self,
        file: &'l File,
        offset: u64,
        from: usize,
        mut lease: WriteLease<'l>,
        token: u64,
    ) {
        let target = &mut lease[from..];
        let slot = self.free.pop().expect("the caller looks for room first");
        // Linux reads at most 2 GiB at once anyway; the rest is a short read.
        let len = u32::try_from(target.len()).unwrap_or(1 << 30);
        let entry = opcode::Read::new(types::Fd(file.as_raw_fd()), target.as_mut_ptr(), len)
            .offset(offset)
            .build()
            .user_data(u64::from(slot));
        self.slots[slot as usize] = Some((token, lease));
        if self.lost.is_some() {
            // `complete` reports it.
            return;
        }
        // SAFETY: the target stays lent until its completion: the slot holds the lease, and
        // `Drop` waits for every slot. The file stays open as long.
        let pushed = unsafe { self.ring.0.submission().push(&entry) };
        pushed.expect("the queue has an entry for every slot");
        // Refused for the moment (EAGAIN, EBUSY): `complete` enters again.
        let _ = self.enter(0);
    }

    /// Waits for a read to end and returns it; `None` if none is in flight.
    pub fn complete(&mut self) -> Option<Completion<'l>> {
        while self.in_flight() > 0 {
            if let Some(number) = self.lost {
                return self.give_up(number);
            }
            let next = self.ring.0.completion().next();
            if let Some(entry) = next {
                return self.take(entry.user_data(), entry.result());
            }
            self.wait();
        }
        None
    }

    /// Ends a read for which waiting is no longer possible.
    fn give_up(&mut self, number: i32) -> Option<Completion<'l>> {
        let index = self.slots.iter().position(Option::is_some)?;
        let (token, lease) = self.slots[index].take()?;
        self.free.push(u32::try_from(index).ok()?);
        let is_ours = self.process == std::process::id();
        let lease = if is_ours { lease.abandon() } else { lease };
        Some(Completion { token, result: Err(io::Error::from_raw_os_error(number)), lease })
    }

    fn take(&mut self, slot: u64, result: i32) -> Option<Completion<'l>> {
        let index = usize::try_from(slot).ok()?;
        let (token, lease) = self.slots.get_mut(index)?.take()?;
        self.free.push(u32::try_from(slot).ok()?);
        let result = usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
        Some(Completion { token, result, lease })
    }

    /// Enters the kernel until it has consumed the submissions, and has `want` completions.
    fn enter(&self, want: usize) -> io::Result<()> {
        loop {
            match self.ring.0.submit_and_wait(want) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits for one completion, as long as waiting is possible: memory to which the kernel writes
    /// cannot be freed.
    fn wait(&mut self) {
        match self.enter(1) {
            Ok(()) => {}
            // Retry soon.
            Err(error) if passes(&error) => {
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            Err(error) => self.lost = Some(error.raw_os_error().unwrap_or(libc::EIO)),
        }
    }

    /// Checks that a NOP completes, and that the kernel supports reads.
    fn prove(&mut self) -> io::Result<()> {
        let mut probe = Probe::new();
        self.ring.0.submitter().register_probe(&mut probe)?;
        if !probe.is_supported(opcode::Read::CODE) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the ring cannot read"));
        }
        let entry = opcode::Nop::new().build();
        // SAFETY: a NOP refers to no memory.
        unsafe { self.ring.0.submission().push(&entry) }.map_err(io::Error::other)?;
        self.enter(1)?;
        match self.ring.0.completion().next() {
            Some(entry) if entry.result() == 0 => Ok(()),
            _ => Err(io::Error::new(io::ErrorKind::Unsupported, "the ring does not answer")),
        }
    }
}

/// Whether the error that keeps a thread from waiting for its ring is temporary: memory pressure.
/// The error of a closed ring, or of another thread's, is permanent.
pub(crate) fn passes(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EAGAIN | libc::EBUSY | libc::EINTR | libc::ENOMEM)
    )
}

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        while self.complete().is_some() {}
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::memory::{Leases, Pages};
    use std::io::Write;
    use std::os::fd::OwnedFd;

    fn file_of(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).expect("room on disk");
        file
    }

    #[test]
    fn reads_complete_with_their_tokens_and_bytes_in_any_order() {
        let bytes: Vec<u8> = (0..=255).cycle().take(64 << 10).collect();
        let file = file_of(&bytes);
        let leases = Leases::of_pages(Pages::map(bytes.len()).expect("address space"));
        let ended = with_ring(4, |ring| {
            let mut seen = Vec::new();
            for part in 0..16_usize {
                if ring.room() == 0 {
                    seen.push(ring.complete().expect("four in flight"));
                }
                let lease = leases.write(part << 12, 1 << 12).expect("disjoint");
                ring.submit(&file, (part as u64) << 12, 0, lease, part as u64);
            }
            while let Some(done) = ring.complete() {
                seen.push(done);
            }
            assert_eq!(ring.in_flight(), 0);
            let mut tokens = Vec::new();
            for done in seen {
                assert_eq!(done.result.expect("read"), 1 << 12);
                assert_eq!(done.lease.offset() as u64, done.token << 12);
                tokens.push(done.token);
                done.lease.freeze();
            }
            tokens.sort_unstable();
            tokens
        });
        match ended {
            Ok(tokens) => assert!(tokens.into_iter().eq(0..16)),
            Err(refused) => return swath_reference::skip("io-uring", refused),
        }
        assert_eq!(leases.read(0, bytes.len()).expect("all frozen"), bytes);
    }

    #[test]
    fn what_is_in_flight_is_waited_for_when_the_closure_panics() {
        let file = file_of(&[5; 4096]);
        let leases = Leases::of_pages(Pages::map(4096).expect("address space"));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            with_ring(1, |ring| {
                ring.submit(&file, 0, 0, leases.write(0, 4096).expect("free"), 0);
                panic!("on purpose");
            })
        }));
        if let Ok(Err(refused)) = outcome {
            return swath_reference::skip("io-uring", refused);
        }
        assert!(outcome.is_err());
        assert!(leases.write(0, 4096).is_some(), "the lease has returned");
    }

    #[test]
    fn the_end_of_the_file_and_a_bad_descriptor_are_told_apart() {
        let file = file_of(b"abc");
        let folder = File::open("/").expect("the root folder");
        let leases = Leases::of_pages(Pages::map(8192).expect("address space"));
        let ended = with_ring(2, |ring| {
            ring.submit(&file, 3, 0, leases.write(0, 4096).expect("free"), 0);
            let at_end = ring.complete().expect("in flight").result.expect("no error");
            ring.submit(&folder, 0, 0, leases.write(4096, 4096).expect("free"), 1);
            (at_end, ring.complete().expect("in flight").result)
        });
        match ended {
            Ok((at_end, folder)) => {
                assert_eq!(at_end, 0);
                assert_eq!(folder.expect_err("a folder").raw_os_error(), Some(libc::EISDIR));
            }
            Err(refused) => swath_reference::skip("io-uring", refused),
        }
    }

    #[test]
    fn reads_of_a_ring_that_is_gone_end_and_their_memory_is_kept() {
        soon(reads_end);
    }

    /// Runs `work`, which must end soon.
    pub(crate) fn soon(work: fn()) {
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            work();
            tell.send(()).expect("the receiver waits");
        });
        let patience = std::time::Duration::from_secs(60);
        match told.recv_timeout(patience) {
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it waits for ever"),
            Ok(()) | Err(_) => thread.join().expect("no panic"),
        }
    }

    fn reads_end() {
        // Nothing is written to the pipe: the read never ends by itself.
        let (pipe, writer) = std::io::pipe().expect("a pipe");
        let pipe = File::from(OwnedFd::from(pipe));
        let null = File::open("/dev/null").expect("readable by all");
        let leases = Leases::of_pages(Pages::map(8192).expect("address space"));
        let ended = with_ring(2, |ring| {
            ring.submit(&pipe, 0, 0, leases.write(0, 4096).expect("free"), 7);
            // SAFETY: the number stays the ring's, and is closed with it; it leads elsewhere.
            let status = unsafe { libc::dup2(null.as_raw_fd(), ring.ring.0.as_raw_fd()) };
            assert!(status >= 0, "{}", io::Error::last_os_error());
            let done = ring.complete().expect("one in flight");
            assert_eq!((ring.room(), ring.in_flight(), done.token), (0, 0, 7));
            assert!(done.lease.is_empty(), "the kernel may write to it");
            done.result.expect_err("nothing came").raw_os_error()
        });
        match ended {
            Ok(number) => assert_eq!(number, Some(libc::EOPNOTSUPP)),
            Err(refused) => return swath_reference::skip("io-uring", refused),
        }
        assert!(leases.write(0, 1).is_none(), "it stays lent");
        assert!(leases.into_pages().is_none(), "it is not returned");
        drop(writer);
    }

    #[test]
    fn a_submission_that_is_refused_leaves_nothing_in_flight() {
        let file = file_of(&[5; 16]);
        let leases = Leases::of_pages(Pages::map(16).expect("address space"));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            with_ring(1, |ring| {
                ring.submit(&file, 0, 17, leases.write(0, 16).expect("free"), 0);
            })
        }));
        if let Ok(Err(refused)) = outcome {
            return swath_reference::skip("io-uring", refused);
        }
        assert!(outcome.is_err(), "byte 17 of 16");
    }
}
