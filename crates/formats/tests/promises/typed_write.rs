//! Record batches are written as the slow, obvious version writes them, whole or not at all.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers are drawn by lot: any will do"
)]

mod back;
mod compressed;
mod drawn;
mod faults;
mod forms;
mod ipc;
mod texts;
