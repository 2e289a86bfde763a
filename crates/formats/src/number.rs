//! Numbers as text: parsed and formatted at speed.

pub(crate) mod format;
mod parse;
