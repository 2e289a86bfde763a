//! Numbers as text: fast parsing and formatting.

pub(crate) mod format;
pub(crate) mod parse;
pub(crate) mod rounding;
