//! The permissions that are removed from files that this process creates.

use crate::kernel_text;

/// Returns the umask of this process; `None` if `/proc` does not show it.
///
/// Reads it instead of setting and restoring it with umask(2): other threads may be creating files.
///
/// ```
/// if let Some(umask) = swath_os::umask::umask() {
///     assert_eq!(umask & !0o777, 0);
/// }
/// ```
pub fn umask() -> Option<u32> {
    let status = kernel_text::read_text("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_new_file_lacks_what_the_umask_takes() {
        let Some(umask) = umask() else { return swath_reference::skip("proc", "not mounted") };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new");
        fs::write(&path, b"").expect("written");
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o666 & !umask);
    }
}
