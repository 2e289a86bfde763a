//! How much memory one call took at most: every page, whoever asked for it.

use std::fs;

/// The peak of this process since it was made. Of use while nothing else runs in the process.
pub(crate) struct Peak {
    before: u64,
}

impl Peak {
    /// Forgets former peaks.
    ///
    /// # Errors
    ///
    /// Why this kernel does not do that.
    pub(crate) fn start() -> Result<Self, String> {
        let refused = |error| format!("/proc/self/clear_refs: {error}");
        // Sets the peak of what is resident to what is resident now: proc(5).
        fs::write("/proc/self/clear_refs", "5").map_err(refused)?;
        Ok(Self { before: resident("VmHWM:")? })
    }

    /// Bytes that were resident at one time, beyond those of the start.
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
