//! Tables: read as the slow reference reads them, refused where they are wrong.

mod arrays;
mod faults;
mod first_lines;
mod packed;
mod select;
mod vectors;
mod writing;
