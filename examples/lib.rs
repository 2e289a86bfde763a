//! One example per study, each beside this file; see `Cargo.toml`.
//!
//! `cargo run -p swath-examples --example read_file`
