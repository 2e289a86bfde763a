//! Blocks that are kept stay as they were, however much is read after them.

use std::io::Write;

use swath::{Cut, Extent, Input, ReadOptions};
use swath_reference::splitmix;

fn text(len: usize) -> Vec<u8> {
    let mut next = splitmix(7);
    let mut bytes = Vec::with_capacity(len + 100);
    while bytes.len() < len {
        let wide = usize::try_from(next() % 90).expect("small");
        bytes.extend(std::iter::repeat_n(b'a' + next().to_le_bytes()[0] % 26, wide));
        bytes.push(b'\n');
    }
    bytes
}

#[test]
fn kept_blocks_hold_the_file() {
    let bytes = text(9 << 20);
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&bytes).expect("room");
    for workers in [1, 2, 5] {
        for block_size in [1000, 100_000, 0, 4 << 20] {
            let records = ReadOptions::new().with_workers(workers).records(file.path());
            let blocks = records.with_block_size(block_size).map_blocks(|block| {
                let kept = block.to_bytes();
                assert_eq!(kept, block.bytes);
                Ok::<_, swath::Error>(kept)
            });
            let blocks = blocks.expect("whole records");
            assert!(blocks.concat() == bytes, "{workers} workers, blocks of {block_size}");
        }
    }
}

#[test]
fn kept_blocks_of_a_pipe_hold_what_came() {
    let bytes = text(5 << 20);
    let (read, mut write) = std::io::pipe().expect("a pipe");
    let sent = bytes.clone();
    let writer = std::thread::spawn(move || write.write_all(&sent).expect("read"));
    let read = std::fs::File::from(std::os::fd::OwnedFd::from(read));
    let blocks =
        swath::records(read).map_blocks(|block| Ok::<_, swath::Error>(block.to_bytes()));
    assert!(blocks.expect("whole records").concat() == bytes);
    writer.join().expect("all was sent");
}

#[test]
fn a_block_as_large_as_its_memory_is_not_copied_and_a_small_one_is() {
    let bytes = text(3 << 20);
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&bytes).expect("room");
    let is_same = |block_size| {
        let records = ReadOptions::new().with_workers(1).records(file.path());
        records.with_block_size(block_size).map_blocks(|block| {
            Ok::<_, swath::Error>(std::ptr::eq(block.to_bytes().as_ptr(), block.bytes.as_ptr()))
        })
    };
    let first = is_same(1 << 20).expect("whole records");
    assert!(first[0], "a whole block");
    let mut small = tempfile::NamedTempFile::new().expect("a file");
    small.write_all(b"a\n").expect("room");
    let copied = swath::records(small.path()).map_blocks(|block| {
        Ok::<_, swath::Error>(!std::ptr::eq(block.to_bytes().as_ptr(), block.bytes.as_ptr()))
    });
    assert_eq!(copied.expect("one record"), [true]);
}

#[test]
fn extents_are_those_of_the_records() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(b"a,\"\n\"\nbb\n\nccc").expect("room");
    let input = Input::open(file.path()).expect("it is there");
    let csv = Cut::Quoted { quote: b'"', delimiter: b'\n' };
    for cut in [Cut::Byte(b'\n'), Cut::Fixed(3), csv] {
        for from in 0..16 {
            for to in from..16 {
                let part = || {
                    let records = swath::records(&input).with_cut(cut);
                    records.with_starting_in(Extent::between(from, to))
                };
                let extents = part().extents().expect("a file");
                let [extent] = extents[..] else { panic!("one source: {extents:?}") };
                let options = ReadOptions::new().with_offset(extent.offset());
                let read = options.with_len(extent.len()).read(&input).expect("there");
                let Ok(blocks) =
                    part().map_blocks(|block| Ok::<_, swath::Error>(block.bytes.to_vec()))
                else {
                    // The last record is too short.
                    assert_eq!((cut, extent.end()), (Cut::Fixed(3), 13));
                    continue;
                };
                assert_eq!(read.buffer[..], blocks.concat(), "{cut:?} {from}..{to}");
            }
        }
    }
    let all = swath::records_of([file.path(), file.path()]).extents().expect("files");
    assert_eq!(all, [Extent::between(0, 13); 2]);
    let error = swath::records(file.path()).with_cut(Cut::Fixed(0)).extents();
    assert!(error.expect_err("no records").to_string().contains("records of 0 bytes"));
    let (read, _write) = std::io::pipe().expect("a pipe");
    let read = std::fs::File::from(std::os::fd::OwnedFd::from(read));
    let error = swath::records(read).extents().expect_err("in order");
    assert!(error.to_string().contains("is a stream"), "{error}");
}
