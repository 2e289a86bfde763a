//! Memory nodes: those that this process may use, and the rules for the node of fresh memory.
//!
//! ```text
//! machine   nodes with memory, each with its processors      sysfs, read once
//! limits    nodes of the cpuset, affinity of the thread      /proc, read each time
//! homes     nodes with memory and a processor                of both
//! ```
//!
//! Node numbers have gaps and may exceed 64. A node may have memory and no processor (CXL,
//! HBM), or processors and no memory. Other modules choose the nodes for memory.
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

/// The lists of nodes with memory, the best first: older kernels have only the later ones.
const LISTS: [&str; 3] = ["has_memory", "has_normal_memory", "online"];

/// The nodes with memory, in the order of their numbers.
///
/// Nodes without memory are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<Node>,
}

/// One node with memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number in the kernel.
    pub number: usize,
    /// Its processors; empty for memory without processors.
    pub processors: Numbers,
}

impl Topology {
    /// Returns the nodes of this machine, whether or not this process may use them.
    ///
    /// The first call reads sysfs; nodes that are added later are not seen.
    ///
    /// # Errors
    ///
    /// Like [`read_in`](Self::read_in). After an error, the next call tries again.
    pub fn of_machine() -> io::Result<&'static Self> {
        static MACHINE: OnceLock<Topology> = OnceLock::new();
        if let Some(machine) = MACHINE.get() {
            return Ok(machine);
        }
        let machine = Self::read_in(Path::new("/sys/devices/system"))?;
        Ok(MACHINE.get_or_init(|| machine))
    }

    /// Reads the nodes from a folder with the layout of `/sys/devices/system`. If it has no list of
    /// nodes, which is so on kernels without NUMA, there is one node with all processors.
    ///
    /// # Errors
    ///
    /// The errors of read(2); `InvalidData` for a list that cannot be parsed, even in part.
    pub fn read_in(root: &Path) -> io::Result<Self> {
        let folder = root.join("node");
        let mut lists = LISTS.iter().filter_map(|name| text_of(&folder.join(name)).transpose());
        let Some(list) = lists.next().transpose()? else {
            return Ok(Self { nodes: vec![Node { number: 0, processors: Numbers::all() }] });
        };
        let mut nodes = Vec::new();
        for number in Numbers::parse(&list)?.iter() {
            // The file is missing if the node went offline after the list was read.
            if let Some(text) = text_of(&folder.join(format!("node{number}/cpulist")))? {
                nodes.push(Node { number, processors: Numbers::parse(&text)? });
            }
        }
        Ok(Self { nodes })
    }

    /// Returns the nodes within `limits`.
    pub fn within(&self, limits: &Limits) -> Self {
        let allowed = self.nodes.iter().filter(|node| limits.nodes.contains(node.number));
        let nodes = allowed.map(|node| Node {
            number: node.number,
            processors: node.processors.and(&limits.processors),
        });
        Self { nodes: nodes.collect() }
    }

    /// Returns the nodes, in the order of their numbers.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether memory can come from node `number`.
    pub fn has_memory(&self, number: usize) -> bool {
        self.nodes.iter().any(|node| node.number == number)
    }

    /// Returns the numbers of the nodes that have at least one processor.
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
    /// Returns the limits of the calling thread, which threads that it starts inherit: the nodes of
    /// its cpuset and the processors of its affinity.
    ///
    /// # Errors
    ///
    /// `NotFound` if `/proc` is not mounted; otherwise like [`parse`](Self::parse).
    pub fn of_thread() -> io::Result<Self> {
        Self::parse(&kernel_text::read_text("/proc/thread-self/status")?)
    }

    /// Parses the text of a `status` file, which has affinities of any length, whereas
    /// sched_getaffinity(2) needs the length beforehand. A missing line means no limit: kernels
    /// without cpusets have no line for nodes.
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

/// Numbers of nodes or processors, in the kernel's notation: `0-3,8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The first and the last number of each range; ascending, with gaps between.
    ranges: Vec<(usize, usize)>,
}

impl Numbers {
    /// More than any kernel has nodes or processors; a longer list is invalid.
    const MOST: usize = 1 << 16;

    fn all() -> Self {
        Self { ranges: vec![(0, Self::MOST - 1)] }
    }

    /// Parses such a list; an empty one has no numbers.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the text is not such a list.
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

    /// Returns the numbers, ascending.
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

    /// Returns the numbers that are in both.
    fn and(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        for &(first, last) in &self.ranges {
            let parts = other.ranges.iter().map(|&(from, to)| (from.max(first), to.min(last)));
            ranges.extend(parts.filter(|(from, to)| from <= to));
        }
        Self { ranges }
    }
}

/// Returns the first and the last number of `3` or `3-5`. A sign is not a digit.
fn range(part: &str) -> Option<(usize, usize)> {
    let number = |digits: &str| {
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten()
    };
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    Some((number(first)?, number(last)?))
}

/// Reads a file; `None` if it does not exist, or is removed in the meantime.
fn text_of(path: &Path) -> io::Result<Option<String>> {
    match kernel_text::read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the memory node of the processor on which this thread runs now.
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
