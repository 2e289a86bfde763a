//! Values of the process that are computed when first needed.

use std::sync::OnceLock;

/// Returns the value of `cell`. If it is empty, computes the value without holding its lock,
/// perhaps on several threads at a time: a child that is forked in the meantime would otherwise
/// wait for the lock forever.
///
/// ```
/// use std::sync::OnceLock;
///
/// static ANSWER: OnceLock<u8> = OnceLock::new();
/// assert_eq!(*swath_os::once::computed_once(&ANSWER, || 6 * 7), 42);
/// assert_eq!(*swath_os::once::computed_once(&ANSWER, || unreachable!()), 42);
/// ```
pub fn computed_once<T>(cell: &OnceLock<T>, compute: impl FnOnce() -> T) -> &T {
    if let Some(value) = cell.get() {
        return value;
    }
    let value = compute();
    cell.get_or_init(|| value)
}
