//! Matrices: every block size and number of threads gives what the slow reader gives.

mod compressed;
mod coordinates;
mod refused;
mod texts;
mod vectors;
mod writing;
