//! Records: however they are cut, read or consumed, they are those of the reference.

mod cuts;
mod inputs;
mod kept;
mod trouble;
mod turns;
mod verbs;
