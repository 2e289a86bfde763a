//! Records: whatever cuts them, reads them or consumes them, they are those of the reference.

mod cuts;
mod inputs;
mod trouble;
mod turns;
mod verbs;
