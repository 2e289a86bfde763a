//! Feeds seeded mutations of valid inputs to every decoder: none panics, and none takes memory out
//! of proportion to its input.

mod peak;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use swath::append::{AppendOptions, Mode, ordered};
use swath_formats::compressed::{CompressOptions, Format};
use swath_formats::matrix::{self};
use swath_formats::table;
use swath_fuzz::{DECODERS, Decode};
use swath_reference::battery::{Battery, BatterySize};
use swath_reference::vectors::{FORMATS, Verdict, vectors};

use peak::Peak;

/// Mutations of each valid input.
const SIZE: BatterySize = BatterySize { slice: 2, full: 20 };
/// The memory that a decoder may take for any input: buffers, windows, threads. A few bytes may
/// expand to what [`swath_fuzz`] accepts, which is not kept.
const FLAT: u64 = 64 << 20;
/// The memory that it may take for each byte of input.
const PER_BYTE: u64 = 1 << 10;
/// Decoders of text, where numbers have no fixed place.
const OF_TEXT: [&str; 8] =
    ["names", "records", "market", "edges", "table", "batches", "contracts", "profiles"];
/// Memory is measured for the whole process, so decoders run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A profile as `swath tune` writes it.
const PROFILE: &str = r#"
version = 1
swath = "0.1.0"
measured_at_unix_s = 1764000000

[key]
file_system = "ext4"
source = "/dev/vda1"
device = "254:1"
cores = 2

[settings]
warm_workers = 3
warm_chunk_size_bytes = 4096
cold_workers = 2
cold_chunk_size_bytes = 1048576
direct_depth = 8
direct_engine = "ring"
once = "bypass"
small_file_bytes = 3
files_workers = 4
files_depth = 16
side_by_side = true

[[measured]]
setting = "warm-workers"
usual = "one for each core"
because = "nothing else was clearly faster"
ratio = [1.01, 0.9, 1.125]
"#;

/// Files of a few hundred bytes that are valid for some decoder, and everything in `vectors/`.
fn seeds(folder: &Path) -> Vec<Vec<u8>> {
    let plain: Vec<u8> = (0..3000_u32).flat_map(|n| (n % 97).to_le_bytes()).collect();
    let text = folder.join("plain");
    fs::write(&text, &plain).expect("written");
    let mut seeds = Vec::new();
    for format in [Format::Zstd, Format::Gzip, Format::Bgzf, Format::Bzip2] {
        let packed = folder.join("packed");
        let out = ordered(&packed).expect("a file");
        CompressOptions::new().with_format(format).compress(&text, out).expect("compressed");
        seeds.push(fs::read(&packed).expect("it is there"));
    }
    let segments = folder.join("segments");
    let out = AppendOptions::new().with_mode(Mode::Segments).create(&segments);
    let out = out.expect("a folder");
    out.scope(|writer| {
        writer.join(|left| left.write_all(b"left"), |right| right.write_all(b"right"))
    })
    .map(drop)
    .expect("written");
    out.commit().expect("committed");
    seeds.push(fs::read(segments.join("MANIFEST")).expect("it is there"));
    let sums = swath::manifest::of(text.as_path()).expect("checksums");
    let saved = folder.join("checksums");
    swath::manifest::save(&saved, &sums).expect("saved");
    seeds.push(fs::read(&saved).expect("it is there"));
    seeds.push(b"a\nb c\n**/[a-c]*.{txt,md}\nd".to_vec());
    seeds.push(PROFILE.as_bytes().to_vec());
    seeds.extend(tables(folder));
    for (format, verdict) in
        FORMATS.into_iter().flat_map(|it| Verdict::ALL.map(|one| (it, one)))
    {
        for vector in vectors(format, verdict) {
            seeds.extend([vector.input, vector.answer.into_bytes()]);
        }
    }
    seeds.retain(|seed| seed.len() < 1 << 16);
    seeds
}

/// Arrow and SciPy files of every type, with missing values.
fn tables(folder: &Path) -> Vec<Vec<u8>> {
    let text = folder.join("table.csv");
    fs::write(&text, "n,x\n1,2.5\n,NA\n-3,nan\n4,5\n").expect("written");
    let table = table::read_batches(&text).expect("a table");
    let arrow = folder.join("table.arrow");
    table::write_batches(&arrow, table.schema(), table.batches()).expect("written");
    let mut seeds = vec![fs::read(&arrow).expect("it is there")];
    for (field, entries) in [
        ("pattern", ["1 2", "3 4"]),
        ("integer", ["1 2 7", "3 4 -1"]),
        ("unsigned-integer", ["1 2 7", "3 4 18446744073709551615"]),
        ("real", ["1 2 0.5", "3 4 nan"]),
        ("complex", ["1 2 0.5 1", "3 4 -0.0 inf"]),
    ] {
        let market = folder.join("matrix.mtx");
        let entries = entries.join("\n");
        let text =
            format!("%%MatrixMarket matrix coordinate {field} general\n3 5 2\n{entries}\n");
        fs::write(&market, text).expect("written");
        let rows = matrix::read_rows(&market).expect("a matrix");
        let npz = folder.join("matrix.npz");
        matrix::npz::write(&npz, &rows).expect("written");
        seeds.push(fs::read(&npz).expect("it is there"));
    }
    seeds
}

/// Flips, overwrites, repeats, removes and truncates.
fn mutate(bytes: &mut Vec<u8>, next: &mut impl FnMut() -> u64) {
    const TOKENS: [&[u8]; 8] =
        [b"\n", b" ", b"-", b"1e309", b"99999999999999999999", b"\0", b"\"", b"%%"];
    let below =
        |number: u64, len: usize| usize::try_from(number % (len as u64 + 1)).expect("small");
    for _ in 0..=next() % 4 {
        let at = below(next(), bytes.len().saturating_sub(1));
        let until = (at + below(next(), 16)).min(bytes.len());
        match next() % 6 {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << (next() % 8),
            1 if !bytes.is_empty() => bytes[at] = u8::try_from(next() % 256).expect("a byte"),
            2 => {
                let token = TOKENS[below(next(), TOKENS.len() - 1)];
                bytes.splice(at.min(bytes.len())..at.min(bytes.len()), token.iter().copied());
            }
            3 => bytes.extend_from_within(at.min(until)..until),
            4 => drop(bytes.drain(at.min(until)..until)),
            _ => bytes.truncate(at),
        }
    }
}

/// Makes the numbers at the beginning and the end of `seed` large: each alone, and two together,
/// since the length of a whole and those of its parts must match.
fn with_large_numbers(seed: &[u8]) -> Vec<Vec<u8>> {
    const EDGE: usize = 40;
    // Large enough to be noticed, but not so large that the machine suffers; or far too large.
    const NUMBERS: [(u64, usize); 5] =
        [(1 << 30, 4), (1 << 30, 8), (1 << 30, 16), (1 << 50, 16), (u64::MAX, 16)];
    let places = (0..seed.len()).step_by(4);
    let mut inputs = Vec::new();
    for at in places.filter(|&at| at < EDGE || at + EDGE >= seed.len()) {
        for (number, len) in NUMBERS {
            let mut bytes = seed.to_vec();
            let numbers = number.to_le_bytes().repeat(2);
            for (byte, new) in bytes[at..].iter_mut().zip(&numbers[..len]) {
                *byte = *new;
            }
            inputs.push(bytes);
        }
    }
    inputs
}

fn alone<T>(work: impl FnOnce() -> T) -> T {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Whether `work` panics, on a thread of its own with the name of this one: the test's.
fn panics(work: impl FnOnce() + Send + 'static) -> bool {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let thread = std::thread::Builder::new().name(name);
    thread.spawn(work).expect("a thread").join().is_err()
}

#[test]
fn every_decoder_survives_mutations_of_every_valid_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let seeds = Arc::new(seeds(folder.path()));
    assert!(seeds.len() >= 7, "seven are made here");
    for &(name, decode) in DECODERS {
        let seeds = Arc::clone(&seeds);
        let failed =
            alone(|| panics(move || feed(name, decode, &seeds, seeds.len() / 10, SIZE)));
        assert!(!failed, "{name}");
    }
}

#[test]
fn the_profile_that_is_mutated_is_valid() {
    let kept = swath_profile::Kept::parse(PROFILE).expect("every setting is known");
    assert_eq!(kept.profile().warm_workers(), 3);
}

#[test]
fn no_number_in_a_file_makes_a_decoder_take_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut seeds = seeds(folder.path());
    seeds.retain(|seed| seed.len() < 1 << 10 && seed.contains(&0));
    let seeds = Arc::new(seeds);
    for &(name, decode) in DECODERS.iter().filter(|(name, _)| !OF_TEXT.contains(name)) {
        let seeds = Arc::clone(&seeds);
        let failed = alone(|| panics(move || feed_numbers(name, decode, &seeds)));
        assert!(!failed, "{name}");
    }
}

#[test]
fn a_planted_decoder_that_believes_every_length_is_found() {
    fn planted(bytes: &[u8]) {
        let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        assert!(digits < 20, "a number that no type holds");
    }
    // One mutation in some hundreds has it: all inputs are mutated, so that no seed of a push misses it.
    const ENOUGH: BatterySize = BatterySize { slice: 5, full: 5 };
    let folder = tempfile::tempdir().expect("a folder");
    let seeds = seeds(folder.path());
    let found = alone(|| panics(move || feed("planted", planted, &seeds, seeds.len(), ENOUGH)));
    assert!(found, "it was not found");
}

#[test]
fn a_planted_decoder_that_makes_room_for_every_length_is_found() {
    fn planted(bytes: &[u8]) {
        let Some(len) = bytes.get(8..16).and_then(<[u8]>::first_chunk) else { return };
        let mut room = Vec::new();
        let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
        if room.try_reserve_exact(len).is_ok() {
            room.resize(len.min(1 << 30), 0_u8);
        }
        std::hint::black_box(room);
    }
    if let Err(refused) = Peak::start() {
        return swath_reference::skip("peak-memory", refused);
    }
    let seeds = vec![[0; 24].to_vec()];
    let found = alone(|| panics(move || feed_numbers("planted", planted, &seeds)));
    assert!(found, "it was not found");
}

/// Feeds mutations of about `slice` of the seeds.
fn feed(name: &str, decode: Decode, seeds: &[Vec<u8>], slice: usize, size: BatterySize) {
    let mut battery = Battery::new("mutations", size);
    let rounds: Vec<u64> = battery.by_ref().collect();
    let some = Battery::of_list("mutations", slice, seeds.iter().enumerate());
    for (number, seed) in some {
        let mutated = rounds.iter().map(|round| {
            let mut next = swath_reference::splitmix(round.wrapping_mul(1000) + number as u64);
            let mut bytes = seed.clone();
            mutate(&mut bytes, &mut next);
            bytes
        });
        let inputs: Vec<_> = std::iter::once(seed.clone()).chain(mutated).collect();
        decode_in_proportion((name, decode), number, &inputs);
    }
}

fn feed_numbers(name: &str, decode: Decode, seeds: &[Vec<u8>]) {
    let slice = seeds.len().div_ceil(3);
    for (number, seed) in Battery::of_list("mutations", slice, seeds.iter().enumerate()) {
        decode_in_proportion((name, decode), number, &with_large_numbers(seed));
    }
}

/// An input that is printed if its decoder panics.
struct ShownAfterPanic<'a> {
    name: &'a str,
    seed: usize,
    bytes: &'a [u8],
}

impl Drop for ShownAfterPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}: seed {}: {}", self.name, self.seed, self.bytes.escape_ascii());
        }
    }
}

/// Decodes the mutations of one seed, and checks how much memory that took.
fn decode_in_proportion((name, decode): (&str, Decode), seed: usize, inputs: &[Vec<u8>]) {
    let took_too_much = |inputs: &[Vec<u8>]| {
        let peak = Peak::start();
        for bytes in inputs {
            let _shown = ShownAfterPanic { name, seed, bytes };
            // A decoder that aborts or hangs leaves its input here.
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutated-{name}"));
            fs::write(kept, bytes).expect("room");
            decode(bytes);
        }
        let longest = inputs.iter().map(Vec::len).max().unwrap_or(0);
        match peak.and_then(|peak| peak.grown()) {
            Ok(grown) => (grown > FLAT + PER_BYTE * longest as u64).then_some(grown >> 20),
            Err(refused) => {
                swath_reference::skip("peak-memory", refused);
                None
            }
        }
    };
    if took_too_much(inputs).is_some() {
        for bytes in inputs {
            if let Some(grown) = took_too_much(std::slice::from_ref(bytes)) {
                panic!(
                    "{name} took {grown} MiB for {} bytes made from seed {seed}",
                    bytes.len()
                );
            }
        }
        panic!("{name} took too much memory for all mutations of seed {seed} together");
    }
}
