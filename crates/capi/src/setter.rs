//! The settings that C makes in a handle.

use crate::failure::Result;
use crate::guard::guard;
use crate::pointer::{Place, given, handle};
use crate::status::Status;

/// A handle that holds options of the library.
pub(crate) trait Holds {
    /// The value that the handle holds.
    type Held: Clone;

    /// Where it holds them.
    fn held(&mut self) -> &mut Self::Held;
}

/// Makes a handle with nothing set.
pub(crate) fn made<H: Default>(place: Place<'_, Option<Box<H>>>, name: &str) -> Status {
    guard(|| {
        *handle(place, name)? = Some(Box::default());
        Ok(())
    })
}

/// Changes a handle.
pub(crate) fn change<H>(
    options: Option<&mut H>,
    change: impl FnOnce(&mut H) -> Result<()>,
) -> Status {
    guard(|| change(given(options, "options")?))
}

/// Changes a handle where the value cannot be wrong.
pub(crate) fn put<H>(options: Option<&mut H>, put: impl FnOnce(&mut H)) -> Status {
    change(options, |options| {
        put(options);
        Ok(())
    })
}

/// Calls a setter of the library. One that fails was given a copy: the options stay as they are.
pub(crate) fn set<H: Holds>(
    options: Option<&mut H>,
    setter: impl FnOnce(H::Held) -> Result<H::Held>,
) -> Status {
    change(options, |options| {
        let held = options.held();
        *held = setter(held.clone())?;
        Ok(())
    })
}
