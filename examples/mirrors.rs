//! Study A's mirrors: reads equal copies as one, reads past damage in one of them, finds it and
//! mends it.
//!
//! `cargo run --release -p swath-examples --example mirrors`

use std::error::Error;
use std::sync::Arc;

use swath::ReadOptions;
use swath::heal::HealOptions;
use swath::mirror::{MirrorOptions, Mirrored, Verify};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
    let right: Vec<u8> = (0..=250).cycle().take(8 << 20).collect();
    std::fs::write(&paths[0], &right)?;

    // Makes copies, each read back before it appears, and the checksums of their chunks.
    let made = MirrorOptions::new().mirror(&paths[0], &paths[1..])?;
    made.notes.iter().for_each(|note| println!("note: {note}"));

    // One byte of the first copy is damaged, and the second copy is truncated.
    let mut damaged = right.clone();
    damaged[5 << 20] ^= 1;
    std::fs::write(&paths[0], &damaged)?;
    std::fs::write(&paths[1], &right[..3 << 20])?;

    let manifest = Verify::Manifest(Arc::clone(&made.checksums));
    for verify in [manifest, Verify::Vote] {
        let copies = Mirrored::new(&paths).with_verify(verify.clone());
        match ReadOptions::new().read(copies) {
            Ok(loaded) => {
                assert!(loaded.buffer[..] == right[..], "every byte is right");
                for mirror in &loaded.report.mirrors {
                    println!(
                        "{:?}: {} chunks, {} errors",
                        mirror.path, mirror.chunks, mirror.errors
                    );
                }
            }
            // No two of the three copies agree on the sixth MiB.
            Err(error) => println!("by vote: {error:?}"),
        }
    }

    let against = Verify::Manifest(made.checksums);
    let healed = HealOptions::new().heal(&paths, &against)?;
    // A copy that could not be healed does not stop the others from being healed.
    if let Some(error) = healed.failure() {
        return Err(error.into());
    }
    for copy in &healed.copies {
        println!("{:?}: bad {:?}, rewritten {:?}", copy.path, copy.bad, copy.rewritten);
        assert!(std::fs::read(&copy.path)? == right, "all copies are good again");
    }
    Ok(())
}
