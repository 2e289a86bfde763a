//! Records in a map of a file, promised not to change, are those of the reference.

use std::fs::File;

use swath::maps::Frozen;
use swath::{Block, Cut, Engine, ReadOptions, Reason};
use swath_reference::battery::Battery;
use swath_reference::{bytes, records as plain};

fn owned(block: Block<'_>) -> swath::Result<plain::Block> {
    let Block { index, offset, bytes, .. } = block;
    Ok(plain::Block { index, offset, bytes: bytes.to_vec() })
}

#[test]
fn every_block_size_worker_count_and_extent_gives_the_records_of_the_reference() {
    let all: Vec<u8> = bytes(1, 30_000).into_iter().map(|byte| byte % 40 + 10).collect();
    let path = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(path.path(), &all).expect("written");
    let file = File::open(path.path()).expect("it is there");
    let cuts = [
        (Cut::Byte(b'\n'), plain::Cut::Byte(b'\n')),
        (Cut::Fixed(30), plain::Cut::Fixed(30)),
        (
            Cut::Quoted { quote: b'"', delimiter: b'\n' },
            plain::Cut::Quoted { quote: b'"', delimiter: b'\n' },
        ),
    ];
    for (cut, plain_cut) in cuts {
        for size in Battery::of_list("combinations", 16, (1..=64).chain([1000, 1 << 20])) {
            for (workers, offset) in [(1, 0), (2, 4097), (8, 0), (64, 29_000)] {
                let part = &all[usize::try_from(offset).expect("small")..];
                let wanted =
                    plain::blocks(part, plain_cut, usize::try_from(size).expect("small"));
                // SAFETY: no other process knows the file, and this test does not change it.
                let frozen = unsafe { Frozen::promise(&file) };
                let options = ReadOptions::new().with_engine(Engine::Map).with_workers(workers);
                let records = options.with_offset(offset).records_mapped(frozen, path.path());
                let found = records.with_cut(cut).with_block_size(size).map_blocks(owned);
                match (found, wanted) {
                    (Ok(found), Ok(mut wanted)) => {
                        wanted.iter_mut().for_each(|block| block.offset += offset);
                        assert!(found == wanted, "{cut:?} {size} {workers} {offset}");
                    }
                    (Err(error), Err(at)) => {
                        assert_eq!(error.reason(), Reason::Corrupt);
                        let at = offset + at as u64;
                        assert_eq!(
                            error.extent().map(swath::Extent::offset),
                            Some(at),
                            "{error}"
                        );
                    }
                    (found, wanted) => panic!("{:?}, not {:?}", found.is_ok(), wanted.is_ok()),
                }
            }
        }
    }
}

#[test]
fn a_map_is_used_where_it_may_be_and_what_cannot_be_is_reported() {
    let path = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(path.path(), "a\nb\n".repeat(100_000)).expect("written");
    let file = File::open(path.path()).expect("it is there");
    let options = ReadOptions::new().with_engine(Engine::Map);
    // SAFETY: no other process knows the file, and this test does not change it.
    let frozen = unsafe { Frozen::promise(&file) };
    let mapped = options.records_mapped(frozen, path.path()).collect_blocks(owned);
    let mapped = mapped.expect("whole");
    assert_eq!(mapped.report.engine, Engine::Map);
    let guard = swath::maps::Guard::install(&file, path.path()).expect("a guard");
    let guarded = options.records_mapped(guard, path.path()).collect_blocks(owned);
    let guarded = guarded.expect("whole");
    assert_ne!(guarded.report.engine, Engine::Map);
    assert!(
        guarded.report.fallbacks[0].to_string().contains("guarded map"),
        "{:?}",
        guarded.report
    );
    assert_eq!(guarded.value, mapped.value);
    let refused = options.records(path.path()).map_blocks(owned).expect_err("no promise");
    assert_eq!(refused.reason(), Reason::Invalid);
}
