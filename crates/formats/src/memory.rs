//! Checks that several allocations fit together. Each may fit where their sum does not, and a full
//! control group kills the process without a message.

use swath::Array;

/// Fewer bytes are not checked: the call would take longer than parsing a short file.
const LITTLE: usize = 1 << 20;

/// Fails if an array of this many bytes could not be allocated.
pub(crate) fn room_for(bytes: usize) -> swath::Result<()> {
    if bytes < LITTLE {
        return Ok(());
    }
    Array::<u8>::zeroed(bytes).map(drop)
}
