//! Record batches are written as the slow, obvious version writes them, whole or not at all.

#![cfg(feature = "arrow")]

mod compressed;
mod drawn;
mod faults;
mod forms;
mod ipc;
mod texts;
