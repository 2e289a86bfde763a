//! Whether there is memory for several things together: each alone may fit where all do not, and a
//! control group that is full ends the process without a word.

use swath::Array;

/// Less than this is not worth a look.
const SMALL: usize = 4 << 20;

/// Fails as an array of so many bytes would.
pub(crate) fn room_for(bytes: usize) -> swath::Result<()> {
    if bytes < SMALL {
        return Ok(());
    }
    Array::<u8>::zeroed(bytes).map(drop)
}
