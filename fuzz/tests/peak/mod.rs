//! Measures the peak memory of one call, counting every resident page of the process.

use std::fs;

/// The peak memory of this process since it was created. Meaningful only while nothing else runs.
pub(crate) struct Peak {
    before: u64,
}

impl Peak {
    /// Resets the peak.
    ///
    /// # Errors
    ///
    /// If this kernel does not support that.
    pub(crate) fn start() -> Result<Self, String> {
        let refused = |error| format!("/proc/self/clear_refs: {error}");
        // Resets the peak resident size to the current one: proc(5).
        fs::write("/proc/self/clear_refs", "5").map_err(refused)?;
        Ok(Self { before: resident("VmHWM:")? })
    }

    /// Returns the peak resident bytes beyond those at the start.
    pub(crate) fn grown(&self) -> Result<u64, String> {
        Ok(resident("VmHWM:")?.saturating_sub(self.before))
    }
}

fn resident(name: &str) -> Result<u64, String> {
    let refused = |error| format!("/proc/self/status: {error}");
    let status = fs::read_to_string("/proc/self/status").map_err(refused)?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map(|kib| kib << 10).ok_or_else(|| format!("/proc/self/status has no {name}"))
}
