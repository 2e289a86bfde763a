//! Seeded mutations of valid inputs, through every decoder.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use swath::append::{AppendOptions, Mode, OrderedOptions, ordered};
use swath_formats::compressed::{CompressOptions, Format};
use swath_fuzz::{DECODERS, Decode};

/// Mutations of each valid input.
const ROUNDS: u64 = 20;

/// Files of a few hundred bytes that are valid for some decoder, and all small files of `vectors/`.
fn seeds(folder: &Path) -> Vec<Vec<u8>> {
    let plain: Vec<u8> = (0..3000_u32).flat_map(|n| (n % 97).to_le_bytes()).collect();
    let text = folder.join("plain");
    fs::write(&text, &plain).expect("written");
    let mut seeds = Vec::new();
    for format in [Format::Zstd, Format::Gzip, Format::Bgzf, Format::Bzip2] {
        let packed = folder.join("packed");
        let out = ordered(&packed, OrderedOptions::new()).expect("a file");
        CompressOptions::new(format).compress(&text, out).expect("compressed");
        seeds.push(fs::read(&packed).expect("it is there"));
    }
    let segments = folder.join("segments");
    let out = swath::append::create(&segments, AppendOptions::new().with_mode(Mode::Segments));
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
    swath::manifest::save(&sums, &saved).expect("saved");
    seeds.push(fs::read(&saved).expect("it is there"));
    seeds.push(b"a\nb c\n**/[a-c]*.{txt,md}\nd".to_vec());
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    seeds.extend(files(&vectors).iter().map(|path| fs::read(path).expect("readable")));
    seeds.retain(|seed| seed.len() < 1 << 16);
    seeds
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    let deep = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    paths.into_iter().flat_map(deep).collect()
}

/// Flips, overwrites, repeats, removes and cuts.
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

#[test]
fn every_decoder_survives_mutations_of_every_valid_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let seeds = Arc::new(seeds(folder.path()));
    assert!(seeds.len() >= 7, "seven are made here");
    let workers: Vec<_> = DECODERS
        .iter()
        .map(|&(name, decode)| {
            let seeds = Arc::clone(&seeds);
            let thread = std::thread::Builder::new().name(name.to_owned());
            thread.spawn(move || feed(name, decode, &seeds)).expect("a thread")
        })
        .collect();
    for worker in workers {
        worker.join().expect("no decoder panics");
    }
}

#[test]
fn a_planted_decoder_that_believes_every_length_is_found() {
    fn planted(bytes: &[u8]) {
        let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        assert!(digits < 20, "a number that no type holds");
    }
    let seeds = vec![b"1 2 3".to_vec(), b"count 12".to_vec()];
    let hunt = std::thread::spawn(move || feed("planted", planted, &seeds));
    assert!(hunt.join().is_err(), "nobody found it");
}

fn feed(name: &str, decode: Decode, seeds: &[Vec<u8>]) {
    for (number, seed) in seeds.iter().enumerate() {
        decode(seed);
        for round in 0..ROUNDS {
            let mut next = swath_reference::splitmix(round * 1000 + number as u64);
            let mut bytes = seed.clone();
            mutate(&mut bytes, &mut next);
            // Shown if the decoder panics.
            println!("{name}: seed {number}, round {round}: {}", bytes.escape_ascii());
            decode(&bytes);
        }
    }
}
