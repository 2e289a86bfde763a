//! Second reads: from copies that stall, without any assertion about time except that of the
//! stall.

use std::sync::Arc;
use std::time::{Duration, Instant};

use swath::mirror::{Hedging, Mirrored};
use swath::{Engine, ReadOptions};
use swath_reference::bytes;

use crate::mirrors::copies::{Faults, Faulty};

const MIB: usize = 1 << 20;

#[test]
fn a_read_that_stalls_is_overtaken_and_nobody_waits_for_it() {
    let right = Arc::new(bytes(7, 48 * MIB));
    // Longer than the test may take: it ends only because the read is not waited for.
    let stall = Duration::from_secs(20);
    let copies = [
        Faults { stall: Some((30 * MIB as u64, stall)), ..Faults::default() },
        // So slow that the first one is preferred until it hangs.
        Faults { delay: Duration::from_millis(25), ..Faults::default() },
    ];
    let copies: Vec<_> = (0..)
        .zip(copies)
        .map(|(index, faults)| Faulty::new(index, &right, MIB, faults))
        .collect();
    let started = Instant::now();
    let mirrored = Mirrored::new(copies.iter().map(Faulty::source));
    let source = mirrored.with_hedging(Hedging::permille(100));
    let options = ReadOptions::new().with_engine(Engine::Serial);
    let loaded = options.read(source).expect("both are good");
    assert!(loaded.buffer[..] == right[..]);
    assert!(started.elapsed() < stall, "a thread waited");
    let mirrors = &loaded.report.mirrors;
    assert!(mirrors[1].hedges_won >= 1 && mirrors[0].chunks >= 1, "{mirrors:?}");
}

#[test]
fn second_reads_are_off_unless_asked_for_and_keep_their_budget() {
    let right = Arc::new(bytes(8, 64 * MIB));
    let read = |hedging: Option<Hedging>| {
        let copies: Vec<_> =
            (0..3).map(|index| Faulty::new(index, &right, MIB, Faults::default())).collect();
        let mut mirrored = Mirrored::new(copies.iter().map(Faulty::source));
        if let Some(hedging) = hedging {
            mirrored = mirrored.with_hedging(hedging);
        }
        let loaded = ReadOptions::new().with_workers(6).read(mirrored).expect("all are good");
        assert!(loaded.buffer[..] == right[..]);
        let hedges =
            |mirror: &swath::mirror::MirrorReport| mirror.hedges_won + mirror.hedges_lost;
        loaded.report.mirrors.iter().map(hedges).sum::<u64>()
    };
    assert_eq!(read(None), 0);
    assert!(read(Some(Hedging::permille(20))) <= 8 + 64 * 20 / 1000);
    assert!(read(Some(Hedging::permille(0))) <= 8);
}

#[test]
fn a_panic_of_a_source_is_a_failure_of_its_copy() {
    struct Panics;
    impl swath::ReadAt for Panics {
        fn facts(&self) -> std::io::Result<swath::SourceFacts> {
            Ok(swath::SourceFacts::new(Some(4 * MIB as u64)))
        }
        fn read_at(&self, _: &mut [u8], _: u64) -> std::io::Result<usize> {
            panic!("on purpose")
        }
    }
    let right = Arc::new(bytes(9, 4 * MIB));
    let good = Faulty::new(0, &right, MIB, Faults::default());
    let copies = [swath::Source::custom(Arc::new(Panics)), good.source()];
    let source = Mirrored::new(copies).with_hedging(Hedging::default());
    let loaded = ReadOptions::new().with_workers(2).read(source).expect("one is good");
    assert!(loaded.buffer[..] == right[..]);
}
