//! Inputs that fail or change while they are read.

mod classes_survive_faults;
mod files_that_change;
mod inputs;
mod sources_that_fail;
