//! Checks that several allocations fit together. Each alone may fit where their sum does not, and a
//! full control group kills the process without a message.

use swath::Array;

/// Fails where an array of this many bytes would.
pub(crate) fn room_for(bytes: usize) -> swath::Result<()> {
    Array::<u8>::zeroed(bytes).map(drop)
}
