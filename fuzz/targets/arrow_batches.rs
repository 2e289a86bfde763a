//! Feeds the decoder `arrow_batches` with whatever libFuzzer makes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| swath_fuzz::arrow_batches(bytes));
