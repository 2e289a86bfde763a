//! To text.
