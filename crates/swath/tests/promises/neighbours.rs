//! Writers in a folder to which another user may write too, and swaps, links, locks and guesses
//! names.
//!
//! ```text
//! street    the folder, what is private next to it, and a check that nothing happened there
//! attacks   what a neighbour does, once, before the k-th call of a writer
//! ways      the ways of writing
//! battery   every attack × every call × every way
//! planted   careless writers, which the battery must find
//! told      what a writer reports, and what a neighbour cannot prevent
//! hooked    the file system used by all
//! ```

mod attacks;
mod battery;
mod planted;
mod street;
mod told;
mod ways;
