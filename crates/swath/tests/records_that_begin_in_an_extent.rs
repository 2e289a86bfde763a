//! However a file is split into extents, their records are those of one scan, each once.

use std::io::Write;

use swath::{Cut, Extent, ReadOptions, Records};
use swath_reference::splitmix;

/// Random splits for each kind of record.
const CUTTINGS: u64 = 25_000;

fn records(records: Records<'_>, cut: Cut) -> Vec<Vec<u8>> {
    let blocks = records.with_cut(cut).map_blocks(|block| -> swath::Result<Vec<Vec<u8>>> {
        Ok(block.records().map(<[u8]>::to_vec).collect())
    });
    blocks.expect("whole records").concat()
}

fn text(seed: u64, len: usize, cut: Cut) -> Vec<u8> {
    let mut next = splitmix(seed);
    let mut bytes = Vec::new();
    let mut quotes = 0;
    while bytes.len() < len {
        let byte = match next() % 12 {
            0 => b'\n',
            1 if matches!(cut, Cut::Quoted { .. }) => b'"',
            2 => b',',
            _ => b'a',
        };
        quotes += usize::from(byte == b'"');
        bytes.push(byte);
    }
    if let Cut::Fixed(width) = cut {
        let width = usize::try_from(width).expect("small");
        bytes.truncate(bytes.len() / width * width);
    }
    if quotes % 2 == 1 {
        bytes.push(b'"');
    }
    bytes
}

const CUTS: [Cut; 4] = [
    Cut::Byte(b'\n'),
    Cut::Fixed(7),
    Cut::Fixed(1),
    Cut::Quoted { quote: b'"', delimiter: b'\n' },
];

fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("room");
    file
}

#[test]
fn random_cuttings_give_each_record_once() {
    for cut in CUTS {
        for round in 0..10 {
            let len = [0, 1, 30, 300, 3000][usize::try_from(round % 5).expect("small")];
            let bytes = text(round, len, cut);
            let file = file(&bytes);
            let options = ReadOptions::new().with_workers(2);
            let whole = records(options.records(file.path()), cut);
            let mut next = splitmix(round);
            for cutting in 0..CUTTINGS / 10 {
                let count = next() % 5;
                let mut bounds: Vec<u64> =
                    (0..count).map(|_| next() % (bytes.len() as u64 + 1)).collect();
                bounds.extend([0, bytes.len() as u64]);
                bounds.sort_unstable();
                let block_size = 1 + next() % 64;
                let parts: Vec<Vec<u8>> = bounds
                    .windows(2)
                    .flat_map(|pair| {
                        let part = options.records(file.path()).with_block_size(block_size);
                        records(part.with_starting_in(Extent::between(pair[0], pair[1])), cut)
                    })
                    .collect();
                assert!(
                    parts == whole,
                    "{cut:?}, round {round}, cutting {cutting}: {bounds:?}"
                );
            }
        }
    }
}

#[test]
fn every_cut_of_a_short_file_gives_each_record_once() {
    for cut in CUTS {
        for (seed, len) in (0..).zip([1, 2, 5, 12, 26]) {
            let bytes = text(seed, len, cut);
            let file = file(&bytes);
            let whole = records(swath::records(file.path()), cut);
            for at in 0..=bytes.len() as u64 + 3 {
                let part =
                    |extent| records(swath::records(file.path()).with_starting_in(extent), cut);
                let left = part(Extent::between(0, at));
                let right = part(Extent::between(at, bytes.len() as u64 + 5));
                assert!([left, right].concat() == whole, "{cut:?} {at} of {bytes:?}");
            }
        }
    }
}

#[test]
fn a_record_is_followed_to_its_end_wherever_that_is() {
    let long = [b"a\n".as_slice(), &[b'x'; 3 << 20], b"\nb\n"].concat();
    let file = file(&long);
    let cut = Cut::Byte(b'\n');
    let part = |from, to| {
        records(swath::records(file.path()).with_starting_in(Extent::between(from, to)), cut)
    };
    assert!(part(1, 3) == [long[2..long.len() - 3].to_vec()], "from the second line on");
    assert!(part(3, 1 << 20).is_empty());
    assert_eq!(part(3, u64::MAX), [b"b".to_vec()]);
}

#[test]
fn a_pipe_has_no_extents() {
    let (read, mut write) = std::io::pipe().expect("a pipe");
    write.write_all(b"a\n").expect("room");
    drop(write);
    let read = std::fs::File::from(std::os::fd::OwnedFd::from(read));
    let records = ReadOptions::new().records(read).with_starting_in(Extent::between(0, 1));
    let error = records.for_each_block(|_| Ok::<(), swath::Error>(())).expect_err("in order");
    assert!(error.to_string().contains("is a stream"), "{error}");
}
