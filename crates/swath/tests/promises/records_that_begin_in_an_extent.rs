//! However a file is split into extents, their records are those of one scan, each once.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::{Cut, Extent, ReadAt, ReadOptions, Records, Source, SourceFacts};
use swath_reference::battery::{Battery, BatterySize};
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
    for cut in Battery::of_list("combinations", 2, CUTS) {
        for round in Battery::new("combinations", BatterySize { slice: 1, full: 10 }) {
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

/// Bytes that are read in order.
struct InOrder {
    bytes: Vec<u8>,
    has_any_start: bool,
    /// The least offset that was read.
    least: AtomicU64,
    /// Where the bytes end that were read.
    most: AtomicU64,
}

impl InOrder {
    fn new(bytes: Vec<u8>, has_any_start: bool) -> Arc<Self> {
        let (least, most) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
        Arc::new(Self { bytes, has_any_start, least, most })
    }
}

impl ReadAt for InOrder {
    fn facts(&self) -> std::io::Result<SourceFacts> {
        let facts = SourceFacts::new(None);
        Ok(if self.has_any_start { facts.with_any_start() } else { facts })
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let at = usize::try_from(offset).expect("small").min(self.bytes.len());
        // Not all that was requested, as pipes do.
        let len = (self.bytes.len() - at).min(target.len()).min(1000);
        target[..len].copy_from_slice(&self.bytes[at..at + len]);
        self.least.fetch_min(offset, Ordering::Relaxed);
        self.most.fetch_max(offset + len as u64, Ordering::Relaxed);
        Ok(len)
    }
}

#[test]
fn parts_of_a_stream_are_those_of_a_file() {
    for cut in CUTS {
        let bytes = text(7, 400, cut);
        let file = file(&bytes);
        let whole = records(swath::records(file.path()), cut);
        // Those that begin in the middle of the source begin with a record there.
        let second = whole[0].len() as u64;
        const SIZE: BatterySize = BatterySize { slice: 100, full: 2000 };
        for round in Battery::new("combinations", SIZE) {
            let mut next = splitmix(round);
            let (one, other) = (next() % 420, next() % 420);
            let extent = Extent::between(one.min(other), one.max(other));
            let options = ReadOptions::new()
                .with_workers(1 + usize::try_from(round % 3).expect("small"))
                .with_offset(if round % 5 == 0 { second } else { 0 });
            let block_size = 1 + next() % 64;
            let part = |source: Source| {
                let read = options.records(source).with_block_size(block_size);
                records(read.with_starting_in(extent), cut)
            };
            let expected = part(Source::from(file.path()));
            for has_any_start in [false, true] {
                let source = InOrder::new(bytes.clone(), has_any_start);
                let given = part(Source::custom(source.clone()));
                assert!(given == expected, "{cut:?} {extent:?} {options:?} {has_any_start}");
                let is_skipped = round % 5 == 0 && has_any_start;
                let least = if is_skipped { second } else { 0 };
                let read = source.least.load(Ordering::Relaxed);
                assert!(read == u64::MAX || read == least, "{read} {least}");
            }
        }
    }
}

#[test]
fn a_record_without_an_end_is_only_an_error_where_it_is_wanted() {
    let bytes = b"0123456789abcd".to_vec();
    let file = file(&bytes);
    for from in 0..=15 {
        let part = |source: Source| {
            let records = swath::records(source).with_cut(Cut::Fixed(5));
            let records = records.with_starting_in(Extent::between(from, u64::MAX));
            let blocks =
                records.map_blocks(|block| Ok::<_, swath::Error>(block.bytes.to_vec()));
            blocks.map(|blocks| blocks.concat()).map_err(|error| error.reason())
        };
        let given = part(Source::custom(InOrder::new(bytes.clone(), false)));
        assert_eq!(given, part(Source::from(file.path())), "from {from}");
    }
}

#[test]
fn a_stream_is_not_read_far_after_an_extent() {
    let bytes = b"12345678\n".repeat(100_000);
    for workers in [1, 8] {
        let source = InOrder::new(bytes.clone(), false);
        let options = ReadOptions::new().with_workers(workers);
        let part = options.records(Source::custom(source.clone())).with_block_size(10_000);
        let part = part.with_starting_in(Extent::between(100, 30_000));
        assert_eq!(records(part, Cut::Byte(b'\n')).len(), 3334 - 12);
        let most = source.most.load(Ordering::Relaxed);
        assert!((30_000..41_000).contains(&most), "{most} bytes with {workers} workers");
    }
}

#[test]
fn a_part_of_a_pipe_has_its_records_and_no_extent() {
    let pipe = || {
        let (read, mut write) = std::io::pipe().expect("a pipe");
        write.write_all(b"a\nb\nc\n").expect("room");
        drop(write);
        std::fs::File::from(std::os::fd::OwnedFd::from(read))
    };
    let part = || ReadOptions::new().records(pipe()).with_starting_in(Extent::between(1, 3));
    assert_eq!(records(part(), Cut::Byte(b'\n')), [b"b"]);
    let error = part().extents().expect_err("it is not read");
    assert!(error.to_string().contains("is a stream"), "{error}");
}
