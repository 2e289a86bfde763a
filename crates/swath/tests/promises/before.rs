//! The act of another program right before a call.

use std::fmt::{self, Debug};
use std::io;

use crate::hooked::{Call, Hook};

/// Runs before each call of a kind.
pub(crate) struct BeforeCall<F>(pub(crate) Call, pub(crate) F);

impl<F> Debug for BeforeCall<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "before {:?}", self.0)
    }
}

impl<F: Fn() + Send + Sync> Hook for BeforeCall<F> {
    fn before(&self, call: Call) -> io::Result<()> {
        if call == self.0 {
            (self.1)();
        }
        Ok(())
    }
}
