//! Counts records, or those that contain a pattern, without a call for each record.

use swath_simd::count;

use crate::blocks::Records;
use crate::error::Error;
use crate::records::{Block, Cut, Pattern};
use crate::report::Scanned;

impl Records<'_> {
    /// Counts the records: those that contain `pattern`, if there is one.
    ///
    /// ```
    /// use swath::Pattern;
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # let path = file.path();
    /// std::fs::write(path, "ok\nERROR 5\nok, no ERROR\n").unwrap();
    /// assert_eq!(swath::records(path).count(None)?.value, 3);
    /// assert_eq!(swath::records(path).count(Some(&Pattern::new(b"ERROR")))?.value, 2);
    /// # Ok::<(), swath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`read`](crate::read); for a last record without an end and for one that is too long, with its bytes.
    pub fn count(self, pattern: Option<&Pattern>) -> Result<Scanned<u64>, Error> {
        let here = |block: Block<'_>| {
            Ok::<_, Error>(match pattern {
                Some(pattern) => block.records_containing(pattern).count() as u64,
                None => all(&block),
            })
        };
        let counted = self.map_reduce(here, |one, more| one + more)?;
        Ok(Scanned { value: counted.value.unwrap_or(0), report: counted.report })
    }
}

fn all(block: &Block<'_>) -> u64 {
    match block.cut {
        Cut::Byte(delimiter) => {
            let has_last = block.bytes.last().is_some_and(|&byte| byte != delimiter);
            count(block.bytes, delimiter) + u64::from(has_last)
        }
        Cut::Fixed(width) => block.bytes.len() as u64 / width.max(1),
        Cut::Quoted { .. } => block.records().count() as u64,
    }
}
