//! The priority of the input and output of one thread.
//!
//! Only a scheduler that supports priorities (BFQ, mq-deadline) honours them; others accept and
//! ignore them. Buffered writes happen later, in the kernel's own threads, and are not affected.

use std::io;
use std::marker::PhantomData;

/// `IOPRIO_WHO_PROCESS`: with id 0, the calling thread.
const THREAD: libc::c_int = 1;
const CLASS_SHIFT: u32 = 13;
/// Levels are 0, the most urgent, to 7.
const LEVELS: u8 = 8;

/// A class of ioprio_set(2), with its level if it has levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoPriority {
    /// Before all others; level 0 (first) to 7. Needs `CAP_SYS_ADMIN` or `CAP_SYS_NICE`.
    RealTime(u8),
    /// The usual class; level 0 (first) to 7, default 4.
    BestEffort(u8),
    /// Served only when nothing else uses the device.
    Idle,
}

impl IoPriority {
    fn to_raw(self) -> io::Result<libc::c_int> {
        let (class, level) = match self {
            IoPriority::RealTime(level) => (1, level),
            IoPriority::BestEffort(level) => (2, level),
            IoPriority::Idle => (3, 0),
        };
        if level < LEVELS {
            return Ok(class << CLASS_SHIFT | libc::c_int::from(level));
        }
        let what = format!("an I/O priority level is 0 to {}, not {level}", LEVELS - 1);
        Err(io::Error::new(io::ErrorKind::InvalidInput, what))
    }
}

/// Restores the thread's previous priority when dropped.
///
/// Stays on the thread that set it.
#[derive(Debug)]
#[must_use = "the priority is restored when this is dropped"]
pub struct IoPriorityGuard {
    former: libc::c_int,
    this_thread: PhantomData<*const ()>,
}

impl Drop for IoPriorityGuard {
    fn drop(&mut self) {
        // A failure could not be reported, and a priority changes no result.
        let _ = set(self.former);
    }
}

/// Sets the calling thread's I/O priority until the guard is dropped.
///
/// Threads that it starts in the meantime inherit the priority. The guard restores the priority
/// that the kernel reports now: if it was never set, the level that follows from the thread's nice
/// value.
///
/// # Errors
///
/// `InvalidInput` for a level above 7; `PermissionDenied` for [`IoPriority::RealTime`] without
/// the capability; `Unsupported` if the kernel or a sandbox lacks the call.
///
/// ```
/// use swath_os::priority::{IoPriority, set_thread_io_priority};
///
/// let guard = set_thread_io_priority(IoPriority::Idle);
/// // ... read what is not urgent ...
/// drop(guard);
/// ```
pub fn set_thread_io_priority(priority: IoPriority) -> io::Result<IoPriorityGuard> {
    let raw = priority.to_raw()?;
    let former = get()?;
    set(raw)?;
    Ok(IoPriorityGuard { former, this_thread: PhantomData })
}

fn get() -> io::Result<libc::c_int> {
    // SAFETY: the call takes two integers and touches no memory.
    let raw = unsafe { libc::syscall(libc::SYS_ioprio_get, THREAD, 0) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    libc::c_int::try_from(raw).map_err(io::Error::other)
}

fn set(raw: libc::c_int) -> io::Result<()> {
    // SAFETY: the call takes three integers and touches no memory.
    let status = unsafe { libc::syscall(libc::SYS_ioprio_set, THREAD, 0, raw) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_former_priority_comes_back() {
        let before = match get() {
            Ok(before) => before,
            Err(error) => return eprintln!("skipped: ioprio_get is refused: {error}"),
        };
        let outer = set_thread_io_priority(IoPriority::BestEffort(7)).expect("allowed to all");
        assert_eq!(get().expect("known"), 2 << CLASS_SHIFT | 7);
        let inner = set_thread_io_priority(IoPriority::Idle).expect("allowed to all");
        assert_eq!(get().expect("known"), 3 << CLASS_SHIFT);
        drop(inner);
        assert_eq!(get().expect("known"), 2 << CLASS_SHIFT | 7);
        drop(outer);
        assert_eq!(get().expect("known"), before);
    }

    #[test]
    fn levels_above_seven_are_refused() {
        assert!(IoPriority::RealTime(7).to_raw().is_ok());
        for priority in [IoPriority::RealTime(8), IoPriority::BestEffort(u8::MAX)] {
            let error = set_thread_io_priority(priority).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
        let error = IoPriority::BestEffort(8).to_raw().unwrap_err();
        assert_eq!(error.to_string(), "an I/O priority level is 0 to 7, not 8");
    }
}
