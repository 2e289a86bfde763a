//! Feeds the decoder `batches` with whatever libFuzzer makes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| swath_fuzz::batches(bytes));
