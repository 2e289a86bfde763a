//! Writers in a folder that another user may write to too, who swaps, links, locks and guesses.
//!
//! ```text
//! street    the folder, what is private beside it, and how it is seen that nothing happened there
//! attacks   what a neighbour does, once, before the k-th call of a writer
//! ways      the ways of writing
//! battery   every attack × every call × every way
//! planted   careless writers, which the battery must find
//! told      what a writer is told, and what a neighbour cannot keep him from
//! hooked    the file system under it all
//! ```

mod attacks;
mod battery;
#[path = "../hooked/mod.rs"]
mod hooked;
mod planted;
mod street;
mod told;
mod ways;
