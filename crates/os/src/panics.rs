//! Panics of other crates, caused by their data or a lack of memory.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result of `decode`; `None` if it panics. State that a panic interrupts must not be
/// used again.
///
/// ```
/// let numbers = [1, 2];
/// assert_eq!(swath_os::panics::caught(|| numbers[numbers.len() - 1]), Some(2));
/// assert_eq!(swath_os::panics::caught(|| numbers[numbers.len()]), None);
/// ```
pub fn caught<T>(decode: impl FnOnce() -> T) -> Option<T> {
    let before = IS_CATCHING.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    IS_CATCHING.set(before);
    decoded.ok()
}

/// Silences panics within [`caught`] from now on: an error reports the cause. The hook for panics
/// belongs to the program, so only a program, or a shared library with its own hook, calls this;
/// other libraries do not.
///
/// ```
/// swath_os::panics::silence_caught_panics();
/// assert_eq!(swath_os::panics::caught(|| panic!("not printed")), None::<()>);
/// ```
pub fn silence_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_CATCHING.get() {
                usual(panic);
            }
        }));
    });
}
