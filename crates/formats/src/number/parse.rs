//! From text: whole tokens, strict, correctly rounded.
