//! Numbers as text: parsed and formatted at speed.

mod format;
pub(crate) mod parse;
