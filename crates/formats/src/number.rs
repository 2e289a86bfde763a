//! Numbers as text: parsed and formatted at speed.

mod format;
mod parse;
