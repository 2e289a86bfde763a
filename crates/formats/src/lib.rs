//! Formats on top of Swath, on its public items only: that they suffice is the point.

#![forbid(unsafe_code)]
