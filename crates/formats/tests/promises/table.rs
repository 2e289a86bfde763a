//! Tables: read as by the slow reference, rejected where they are wrong.

mod arrays;
mod faults;
mod first_lines;
mod packed;
mod schema;
mod select;
mod vectors;
mod writing;
