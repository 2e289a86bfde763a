//! Memory nodes: which this process may use, and what decides where fresh memory comes from.
//!
//! ```text
//! machine   nodes with memory, each with its processors      sysfs, read once
//! limits    nodes of the cpuset, affinity of the thread      /proc, read each time
//! homes     nodes with memory and a processor                of both
//! ```
//!
//! Node numbers have gaps and may exceed 64. A node may have memory and no processor (CXL,
//! HBM), or processors and no memory. On which nodes memory is to be is decided elsewhere.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! use swath_os::numa::{Limits, Topology};
//!
//! let here = Topology::of_machine()?.within(&Limits::of_thread()?);
//! println!("memory close to processors of this thread: nodes {:?}", here.homes());
//! # Ok(())
//! # }
//! ```

mod mask;
mod policy;

use std::io::{self, ErrorKind};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use crate::kernel_text;

pub(crate) use mask::NodeMask;
pub use policy::MemoryPolicy;

/// Which nodes have memory, first the best list: older kernels have only the later ones.
const LISTS: [&str; 3] = ["has_memory", "has_normal_memory", "online"];

/// The nodes that memory can come from, in the order of their numbers.
///
/// Nodes without memory are left out: nothing can be placed there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<Node>,
}

/// One node with memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The kernel's number of it.
    pub number: usize,
    /// The processors on it: none for memory that is attached on its own.
    pub processors: Numbers,
}

impl Topology {
    /// Returns the nodes of this machine, whatever this process may use of them.
    ///
    /// Read from sysfs by the first call; nodes that come later are not seen.
    ///
    /// # Errors
    ///
    /// As [`read_in`](Self::read_in). Then the next call tries again.
    pub fn of_machine() -> io::Result<&'static Self> {
        static MACHINE: OnceLock<Topology> = OnceLock::new();
        if let Some(machine) = MACHINE.get() {
            return Ok(machine);
        }
        let machine = Self::read_in(Path::new("/sys/devices/system"))?;
        Ok(MACHINE.get_or_init(|| machine))
    }

    /// Reads the nodes from a folder that is laid out as `/sys/devices/system`. Without a list
    /// of nodes in it, as from kernels without NUMA, there is one node with all processors.
    ///
    /// # Errors
    ///
    /// The kernel's; `InvalidData` for a list that cannot be parsed: a part of it is never taken
    /// for the whole.
    pub fn read_in(root: &Path) -> io::Result<Self> {
        let folder = root.join("node");
        let mut lists = LISTS.iter().filter_map(|name| text_of(&folder.join(name)).transpose());
        let Some(list) = lists.next().transpose()? else {
            return Ok(Self { nodes: vec![Node { number: 0, processors: Numbers::all() }] });
        };
        let mut nodes = Vec::new();
        for number in Numbers::parse(&list)?.iter() {
            // Without a file it went offline after the list was read.
            if let Some(text) = text_of(&folder.join(format!("node{number}/cpulist")))? {
                nodes.push(Node { number, processors: Numbers::parse(&text)? });
            }
        }
        Ok(Self { nodes })
    }

    /// Returns the part of it within `limits`.
    pub fn within(&self, limits: &Limits) -> Self {
        let allowed = self.nodes.iter().filter(|node| limits.nodes.contains(node.number));
        let nodes = allowed.map(|node| Node {
            number: node.number,
            processors: node.processors.and(&limits.processors),
        });
        Self { nodes: nodes.collect() }
    }

    /// The nodes, in the order of their numbers.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether memory can come from node `number`.
    pub fn has_memory(&self, number: usize) -> bool {
        self.nodes.iter().any(|node| node.number == number)
    }

    /// The numbers of the nodes that have at least one processor.
    pub fn homes(&self) -> Vec<usize> {
        let homes = self.nodes.iter().filter(|node| !node.processors.is_empty());
        homes.map(|node| node.number).collect()
    }
}

/// The processors and memory that a thread may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    nodes: Numbers,
    processors: Numbers,
}

impl Limits {
    /// Returns those of the calling thread, which threads that it starts inherit: the nodes of
    /// its cpuset and the processors of its affinity.
    ///
    /// # Errors
    ///
    /// `NotFound` if `/proc` is not mounted; as [`parse`](Self::parse).
    pub fn of_thread() -> io::Result<Self> {
        Self::parse(&kernel_text::read_text("/proc/thread-self/status")?)
    }

    /// Finds them in the text of a `status` file, which has affinities of any length, whereas
    /// sched_getaffinity(2) needs to know the length beforehand. What is not in it is not
    /// limited: kernels without cpusets have no line for nodes.
    ///
    /// # Errors
    ///
    /// `InvalidData` for a list that cannot be parsed.
    pub fn parse(status: &str) -> io::Result<Self> {
        let list = |name: &str| {
            let value = |line: &str| {
                line.strip_prefix(name)?.strip_prefix(':').map(|value| value.to_owned())
            };
            status.lines().find_map(value).map_or(Ok(Numbers::all()), |it| Numbers::parse(&it))
        };
        Ok(Self { nodes: list("Mems_allowed_list")?, processors: list("Cpus_allowed_list")? })
    }
}

/// Numbers of nodes or processors, as the kernel writes them: `0-3,8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The first and the last of each range; ascending, and apart from each other.
    ranges: Vec<(usize, usize)>,
}

impl Numbers {
    /// More than any kernel has nodes or processors. A list with more is not one.
    const MOST: usize = 1 << 16;

    fn all() -> Self {
        Self { ranges: vec![(0, Self::MOST - 1)] }
    }

    /// Reads such a list; an empty one has no numbers.
    ///
    /// # Errors
    ///
    /// `InvalidData` if it is not such a list.
    pub fn parse(list: &str) -> io::Result<Self> {
        let invalid = || {
            io::Error::new(ErrorKind::InvalidData, format!("not a list of numbers: {list:?}"))
        };
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        let parts = Some(list.trim()).filter(|list| !list.is_empty());
        for part in parts.into_iter().flat_map(|list| list.split(',')) {
            let (first, last) = range(part).ok_or_else(invalid)?;
            let ascends = ranges.last().is_none_or(|&(_, before)| before < first);
            if !ascends || first > last || last >= Self::MOST {
                return Err(invalid());
            }
            ranges.push((first, last));
        }
        Ok(Self { ranges })
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.ranges.iter().flat_map(|&(first, last)| first..=last)
    }

    /// Whether `number` is one of them.
    pub fn contains(&self, number: usize) -> bool {
        self.ranges.iter().any(|&(first, last)| (first..=last).contains(&number))
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Those that are in both.
    fn and(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        for &(first, last) in &self.ranges {
            let parts = other.ranges.iter().map(|&(from, to)| (from.max(first), to.min(last)));
            ranges.extend(parts.filter(|(from, to)| from <= to));
        }
        Self { ranges }
    }
}

/// The first and the last number of `3` or `3-5`. A sign is not a digit.
fn range(part: &str) -> Option<(usize, usize)> {
    let number = |digits: &str| {
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten()
    };
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    Some((number(first)?, number(last)?))
}

/// Reads a file; `None` if it does not exist, or goes away just now.
fn text_of(path: &Path) -> io::Result<Option<String>> {
    match kernel_text::read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the memory node of the processor that this thread runs on at this moment.
///
/// # Errors
///
/// `Unsupported` (`ENOSYS`) if a sandbox forbids getcpu(2).
pub fn current_node() -> io::Result<usize> {
    let mut node: libc::c_uint = 0;
    let into = ptr::from_mut(&mut node);
    let unused = ptr::null_mut::<libc::c_void>();
    // SAFETY: the kernel writes one integer to `node`, and skips the arguments that are null.
    let status = unsafe { libc::syscall(libc::SYS_getcpu, unused, into, unused) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    usize::try_from(node).map_err(io::Error::other)
}

#[cfg(test)]
pub(crate) mod tests;
