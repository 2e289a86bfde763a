//! Whether there is memory for several things together: each alone may fit where all do not, and a
//! control group that is full ends the process without a word.

use swath::Array;

/// Fails as an array of so many bytes would.
pub(crate) fn room_for(bytes: usize) -> swath::Result<()> {
    Array::<u8>::zeroed(bytes).map(drop)
}
