//! The promises of Cheerio's modes: whole records, nothing visible before the commit.

mod promises;

// The harness of `crates/swath/tests/crash`: the files after any failure, and any loss of power.
#[allow(dead_code, reason = "these writers have no checkpoints")]
#[path = "../../../swath/tests/crash/attack.rs"]
mod attack;
#[path = "../../../swath/tests/crash/disk.rs"]
mod disk;
#[allow(dead_code, reason = "these writers make their own old files")]
#[path = "../../../swath/tests/crash/simulated.rs"]
mod simulated;
mod survives;
#[path = "../../../swath/tests/crash/world.rs"]
mod world;
