//! Every cut, at every block size, in every way of reading.

use swath::{Cut, Engine, PageCache, ReadOptions, records_of};
use swath_reference::battery::Battery;
use swath_reference::records as plain;

use crate::records::inputs::{
    CSV, LINES, adversarial, by_position, check, file, in_order, owned, pipe, plain_cut,
    random, workers,
};

/// Sizes that put boundaries everywhere, and one that puts none.
const SIZES: [u64; 6] = [65, 100, 127, 1000, 4096, 1 << 20];

fn every_size(cuts: &[Cut], (d, q): (u8, u8)) {
    let mut battery = Battery::of_list("combinations", 24, (1..=64).chain(SIZES));
    let sizes: Vec<_> = battery.by_ref().collect();
    for bytes in adversarial(d, q) {
        let file = file(&bytes);
        for &cut in cuts {
            for &size in &sizes {
                check(&bytes, cut, size, workers(2).records(file.path()));
                let options = ReadOptions::new().with_workers(2);
                check(&bytes, cut, size, options.records(by_position(&bytes, 90)));
                check(&bytes, cut, size, options.records(in_order(&bytes, 90)));
            }
        }
    }
}

#[test]
fn every_block_size_gives_the_lines_of_the_reference() {
    for delimiter in [b'\n', 0, 0xff] {
        every_size(&[Cut::Byte(delimiter)], (delimiter, b'"'));
    }
}

#[test]
fn every_block_size_gives_the_quoted_records_of_the_reference() {
    every_size(&[CSV], (b'\n', b'"'));
    every_size(&[Cut::Quoted { quote: 0, delimiter: b';' }], (b';', 0));
}

#[test]
fn every_block_size_gives_the_fixed_records_of_the_reference() {
    let cuts = [1, 2, 3, 10, 64, 65, 150, 700].map(Cut::Fixed);
    every_size(&cuts, (b'\n', b'"'));
}

#[test]
fn every_worker_count_gives_the_records_of_the_reference() {
    let bytes = random(7, 300_000, (b'\n', b'"'));
    let fixed = &bytes[..bytes.len() / 12 * 12];
    let (file, fixed_file) = (file(&bytes), file(fixed));
    for count in (1..=8).chain([64]) {
        for size in [257, 4096, 65_536] {
            for cut in [LINES, CSV] {
                check(&bytes, cut, size, workers(count).records(file.path()));
                check(&bytes, cut, size, workers(count).records(in_order(&bytes, 5_000)));
            }
            check(fixed, Cut::Fixed(12), size, workers(count).records(fixed_file.path()));
        }
    }
}

#[test]
fn several_blocks_in_one_lease_and_direct_reads_give_the_records_of_the_reference() {
    let bytes = random(8, (5 << 20) + 77, (b'\n', b'"'));
    let file = file(&bytes);
    for cut in [LINES, CSV] {
        for size in [10_000, 700_001] {
            // Not known to be in the page cache: several blocks are read at a time.
            let options = ReadOptions::new().with_workers(3);
            check(&bytes, cut, size, options.records(by_position(&bytes, 3 << 20)));
            let direct = options.with_page_cache(PageCache::Bypass).with_engine(Engine::Pool);
            check(&bytes, cut, size, direct.records(file.path()));
            check(
                &bytes,
                cut,
                size,
                direct.with_page_cache(PageCache::Drop).records(file.path()),
            );
        }
    }
}

#[test]
fn pipes_give_the_blocks_of_a_file() {
    for seed in [9, 10] {
        let bytes = random(seed, 400_000, (b'\n', b'"'));
        for cut in [LINES, CSV] {
            for size in [3_000, 1 << 20] {
                let (source, writer) = pipe(&bytes);
                check(&bytes, cut, size, workers(3).records(source));
                // A fault in the records may end the reading early.
                let _ = writer.join().expect("no panic");
            }
        }
    }
}

#[test]
fn a_part_of_a_source_begins_with_a_record() {
    let bytes = random(11, 20_000, (b'\n', b'"'));
    let file = file(&bytes);
    for (offset, len) in [(0, 5_000), (1, 19_999), (777, 3), (5_000, 0), (20_000, 0)] {
        let part = &bytes[offset..offset + len];
        let mut wanted = plain::blocks(part, plain_cut(LINES), 700).expect("whole");
        wanted.iter_mut().for_each(|block| block.offset += offset as u64);
        let options = workers(2).with_offset(offset as u64).with_len(len as u64);
        for source in [file.path().into(), by_position(&bytes, 99), in_order(&bytes, 99)] {
            let records = options.records(source).with_block_size(700);
            assert_eq!(records.map_blocks(owned).expect("whole"), wanted, "{len} at {offset}");
        }
    }
}

#[test]
fn a_record_never_goes_on_from_one_source_into_the_next() {
    let parts: Vec<Vec<u8>> = (0..40)
        .map(|seed| match seed % 5 {
            0 => Vec::new(),
            _ => random(seed, 30 * usize::try_from(seed).expect("small"), (b'\n', 0)),
        })
        .collect();
    let files: Vec<_> = parts.iter().map(|part| file(part)).collect();
    for size in [1, 16, 100, 10_000] {
        let mut wanted = Vec::new();
        let mut first = 0;
        for (number, part) in parts.iter().enumerate() {
            for block in plain::blocks(part, plain_cut(LINES), size).expect("whole") {
                let block = plain::Block { index: first + block.index, ..block };
                wanted.push((number, block));
            }
            first += part.len().div_ceil(size) as u64;
        }
        for streams in [false, true] {
            let sources =
                files.iter().zip(&parts).enumerate().map(
                    |(number, (file, part))| match streams && number % 3 == 0 {
                        true => in_order(part, 77),
                        false => file.path().into(),
                    },
                );
            let records = workers(3).records_of(sources).with_block_size(size as u64);
            let found = records.map_blocks(|block| Ok((block.source(), owned(block)?)));
            let found: Vec<_> = found.map_err(|error: swath::Error| error).expect("whole");
            assert_eq!(found, wanted, "blocks of {size}, streams {streams}");
        }
    }
    let none = records_of::<&str>([]).map_blocks(owned).expect("nothing to read");
    assert!(none.is_empty());
}

#[test]
fn files_that_the_kernel_makes_are_read_to_their_end() {
    let whole = swath::read("/proc/filesystems").expect("generated by the kernel");
    let records = workers(2).records("/proc/filesystems").with_block_size(10);
    let found = records.map_blocks(owned).expect("whole");
    let bytes: Vec<u8> = found.iter().flat_map(|block| block.bytes.clone()).collect();
    assert_eq!(bytes, *whole);
    assert!(found.len() > 1);
}
