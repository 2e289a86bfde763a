//! The promises of compressed streams, one file per promise.

mod around;
mod bzip2_marks;
mod damaged;
mod hostile;
mod positions;
mod round_trips;
mod tools;
