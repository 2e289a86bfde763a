//! What compressed streams promise: a file for each promise.

mod around;
mod bzip2_marks;
mod damaged;
mod hostile;
mod positions;
mod round_trips;
mod tools;
