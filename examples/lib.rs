//! One example per study, each in a file next to this one; see `Cargo.toml`.
//!
//! `cargo run -p swath-examples --example read_file`
