//! `--verify` and the engines: every way to read gives the bytes of a serial read.
use swath_reference::battery::Battery;

use crate::child::{code, file_of, run, stdout, word};

#[test]
fn every_engine_chunk_size_and_schedule_is_verified() {
    let (_folder, path) = file_of(&swath_reference::bytes(5, 3_000_001));
    let engines = ["auto", "serial", "pool", "ring", "map"];
    for engine in Battery::of_list("combinations", 2, engines) {
        for chunk_size in ["4095", "1MiB", "8MiB"] {
            for schedule in ["static", "dynamic"] {
                let words =
                    ["read", "--verify", "--engine", engine, "--chunk-size", chunk_size];
                let more = ["--schedule", schedule, "--workers", "3", word(&path)];
                let output = run(words.into_iter().chain(more));
                assert_eq!(code(&output), 0, "{engine} {chunk_size} {schedule} {output:?}");
                assert!(stdout(&output).contains("verified"), "{output:?}");
            }
        }
    }
}

#[test]
fn every_page_cache_way_and_advice_is_verified() {
    let (_folder, path) = file_of(&swath_reference::bytes(6, 2_500_000));
    for way in ["auto", "keep", "drop", "bypass"] {
        let words = ["read", "--verify", "--page-cache", way, "--offset", "1234", word(&path)];
        assert_eq!(code(&run(words)), 0, "{way}");
    }
    for advice in ["none", "will-need", "sequential", "random", "huge-page", "map-ahead"] {
        for engine in ["pool", "map"] {
            let words = ["read", "--verify", "--advice", advice, "--engine", engine];
            let output = run(words.into_iter().chain([word(&path)]));
            assert_eq!(code(&output), 0, "{advice} {engine} {output:?}");
        }
    }
    let flags = ["--map-flags", "populate,huge-page", "--engine", "map"];
    assert_eq!(
        code(&run(["read", "--verify"].into_iter().chain(flags).chain([word(&path)]))),
        0
    );
}

#[test]
fn repeats_are_printed_each_and_their_median() {
    let (_folder, path) = file_of(&[1; 1000]);
    let text = stdout(&run(["read", "--repeat", "3", word(&path)]));
    for wanted in ["run 1: 1000 bytes", "run 2: ", "run 3: ", "median of 3: "] {
        assert!(text.contains(wanted), "{text}");
    }
}

#[test]
fn an_extent_is_what_it_says() {
    let bytes = swath_reference::bytes(7, 1 << 20);
    let (_folder, path) = file_of(&bytes);
    let words = ["cat", "--offset", "1KiB", "--length", "500000", word(&path)];
    assert!(run(words).stdout == bytes[1024..501_024]);
    assert!(run(["cat", word(&path)]).stdout == bytes);
}

#[test]
fn a_slow_rate_is_kept() {
    let (_folder, path) = file_of(&[1; 3 << 20]);
    let start = std::time::Instant::now();
    let output = run(["read", "--rate", "10MiB/s", "--io-priority", "idle", word(&path)]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(start.elapsed().as_millis() >= 100, "3 MiB at 10 MiB/s take 300 ms");
}
