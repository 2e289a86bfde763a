//! Inputs that fail or change while they are read.

mod classes_survive_faults;
mod files_that_change;
mod inputs;
mod pages_in_a_pipe;
mod sources_that_fail;
