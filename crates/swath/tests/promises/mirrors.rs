//! Copies of one file: whatever is wrong with one of them, the bytes are right.

mod chunks;
mod copies;
mod devices;
mod faults;
mod files;
mod heal;
mod hedges;
mod refusals;
mod said;
