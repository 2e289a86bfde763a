//! Tables as arrays: read as by the slow reference, refused where they are wrong.

mod arrays;
mod faults;
mod foreign;
mod packed;
mod select;
mod vectors;
mod writing;
