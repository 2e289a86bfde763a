//! Sizes of files, in words.

use std::path::Path;

/// The name of a file and its size in MB.
pub(super) fn shown(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match path.metadata() {
        Ok(facts) => format!("{name}, {}", megabytes(facts.len())),
        Err(_) => name,
    }
}

/// One digit after the point.
pub(super) fn megabytes(bytes: u64) -> String {
    let tenths = (bytes + 50_000) / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_to_tenths() {
        assert_eq!(megabytes(11_949_999), "11.9 MB");
        assert_eq!(megabytes(11_950_000), "12.0 MB");
        assert_eq!(megabytes(0), "0.0 MB");
    }
}
