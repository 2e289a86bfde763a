//! Feeds the decoder `npz_use` with whatever libFuzzer makes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| swath_fuzz::npz_use(bytes));
