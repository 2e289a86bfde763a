//! The facts about the machine in a record.
//!
//! They are read from `/proc` and `/sys`. A missing fact is printed as "unknown": a record with a gap is
//! better than no record.

use std::fs;
use std::os::linux::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result};
use swath_os::mounts::Mount;

/// The machine and the file system under one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The CPU's name.
    pub cpu: String,
    /// CPUs that this process may use.
    pub cores: usize,
    /// The kernel's release.
    pub kernel: String,
    /// Memory of the machine, in bytes; 0 if unknown.
    pub memory_bytes: u64,
    /// The setting of transparent huge pages, the active one in brackets.
    pub huge_pages: String,
    /// The file system's type and options.
    pub file_system: String,
    /// The device: its name, its driver, and whether it is rotational.
    pub device: String,
}

impl Facts {
    /// Collects the facts about this machine and the file system of `folder`.
    pub fn collect(folder: &Path) -> Self {
        let mount = Mount::of(folder);
        let field = |name| field_of("/proc/cpuinfo", name);
        Self {
            cpu: field("model name").or_else(|| field("CPU part")).unwrap_or_else(unknown),
            cores: swath_os::machine::usable_cpus(),
            kernel: text_of("/proc/sys/kernel/osrelease").unwrap_or_else(unknown),
            memory_bytes: memory_bytes().unwrap_or(0),
            huge_pages: text_of("/sys/kernel/mm/transparent_hugepage/enabled")
                .unwrap_or_else(unknown),
            file_system: mount
                .map_or_else(unknown, |mount| format!("{} ({})", mount.kind, mount.options)),
            device: device_of(folder).unwrap_or_else(unknown),
        }
    }
}

/// Returns the free bytes of the file system that holds `folder`.
///
/// # Errors
///
/// If the file system does not report it.
pub fn room(folder: &Path) -> Result<u64> {
    let facts = rustix::fs::statvfs(folder)
        .with_context(|| format!("cannot see how much is free in {}", folder.display()))?;
    Ok(facts.f_bavail.saturating_mul(facts.f_frsize))
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// Returns the trimmed text of a file.
fn text_of(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// Returns the value of `name` in a file of lines `name: value`.
fn field_of(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields
        .into_iter()
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

fn memory_bytes() -> Option<u64> {
    let kib: u64 =
        field_of("/proc/meminfo", "MemTotal")?.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// Describes the block device that holds `folder`.
fn device_of(folder: &Path) -> Option<String> {
    let device = fs::metadata(folder).ok()?.st_dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let node = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let name = node.file_name()?.to_string_lossy().into_owned();
    // A partition has no queue; its parent has one.
    let queue = [node.join("queue"), node.parent()?.join("queue")];
    let turns = queue.iter().find_map(|queue| text_of(queue.join("rotational")));
    let driver = driver_of(&node).unwrap_or_else(unknown);
    let kind = match turns.as_deref() {
        Some("0") => "not rotational",
        Some(_) => "rotational",
        None => "unknown",
    };
    Some(format!("{name} (driver {driver}, {kind})"))
}

/// Returns the driver of the device or of its nearest parent that has one.
fn driver_of(node: &Path) -> Option<String> {
    let named = |node: &Path| {
        let driver = fs::canonicalize(node.join("device/driver")).ok()?;
        Some(driver.file_name()?.to_string_lossy().into_owned())
    };
    node.ancestors().take(3).find_map(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_of_this_machine_are_found() {
        let facts = Facts::collect(Path::new("/"));
        assert!(facts.cores >= 1);
        assert_ne!(facts.kernel, "unknown");
        assert_ne!(facts.file_system, "unknown");
        assert!(facts.memory_bytes > 0);
    }
}
