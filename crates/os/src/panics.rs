//! Panics of other crates, which their data or a lack of memory may cause.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Returns what `decode` returns; `None` if it panics. What a panic leaves half done must not be used again.
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

/// From now on a panic within [`caught`] prints nothing: an error will say what is wrong. The hook for panics
/// belongs to the program, so a program or a shared library with a hook of its own calls this, and no library.
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
