//! Measures this machine and the programs on it.
//!
//! Swath does not need it to read a file. It answers three questions: how fast can this machine be
//! ([`limits`]), how fast are the usual tools ([`peers`]), and is a difference real ([`measure`],
//! [`swath_profile::stats`])?
//!
//! ```text
//! workload → file ─┬─ cache: warm, cold ───────┐
//!                  │                           ├→ measure → runs → stats → verdict
//!                  └─ limits, peers, swath ────┘
//! ```

#![forbid(unsafe_code)]

pub mod barrier;
pub mod cache;
pub mod cheerio;
pub mod counters;
pub mod experiment;
pub mod experiments;
pub mod facts;
pub mod fib;
pub mod fields;
pub mod forks;
pub mod limits;
pub mod loading;
pub mod many;
pub mod measure;
pub mod memory_limit;
pub mod mirror;
pub mod order;
pub mod page;
pub mod peers;
pub mod pricing;
pub mod results;
pub mod scale;
pub mod session;
pub mod summary;
pub mod threads;
pub mod tune;
pub mod watch;
pub mod workload;
