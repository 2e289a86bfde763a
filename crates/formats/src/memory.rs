//! Checks that several allocations fit together. Each alone may fit where their sum does not, and a
//! full control group kills the process without a message.

use swath::Array;

/// So little is not looked for: the call would take longer than parsing a short file.
const LITTLE: usize = 1 << 20;

/// Fails where an array of this many bytes would.
pub(crate) fn room_for(bytes: usize) -> swath::Result<()> {
    if bytes < LITTLE {
        return Ok(());
    }
    Array::<u8>::zeroed(bytes).map(drop)
}
