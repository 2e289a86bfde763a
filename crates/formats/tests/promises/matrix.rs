//! Matrices: every block size and number of threads gives the result of the slow reader.

mod compressed;
mod coordinates;
mod parts;
mod refused;
mod texts;
mod vectors;
mod writing;
