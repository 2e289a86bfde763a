//! Numbers as text: parsed and formatted at speed.

pub(crate) mod format;
pub(crate) mod parse;
