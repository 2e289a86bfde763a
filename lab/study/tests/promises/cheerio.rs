//! The promises of Cheerio's modes: whole records, nothing visible before the commit.

mod promises;

// The harness of `crates/swath/tests/promises/crash` checks the files after any failure or power loss.
#[allow(dead_code, reason = "these writers have no checkpoints")]
#[path = "../../../../crates/swath/tests/promises/crash/attack.rs"]
mod attack;
#[path = "../../../../crates/swath/tests/promises/crash/disk.rs"]
mod disk;
#[allow(dead_code, reason = "these writers make their own old files")]
#[path = "../../../../crates/swath/tests/promises/crash/simulated.rs"]
mod simulated;
mod survives;
#[path = "../../../../crates/swath/tests/promises/crash/world.rs"]
mod world;
