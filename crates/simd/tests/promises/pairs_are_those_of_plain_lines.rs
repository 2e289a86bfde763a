//! Every level takes plain lines only, and gives their numbers exactly.

use proptest::prelude::*;
use swath_simd::{Bounds, Level, Taken, pairs_at};

const FAR: Bounds = Bounds { least: 0, last_first: u32::MAX, last_second: u32::MAX };

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| {
        if !level.available() {
            eprintln!("skipped: this processor has no {level}");
        }
        level.available()
    })
}

/// A line in the plain form, in bounds; `None` for any other.
fn plain(line: &[u8], bounds: Bounds) -> Option<(u32, u32)> {
    let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let (first, second) = line.split_once([' ', '\t'])?;
    let number = |text: &str, last| {
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse::<u64>().ok().filter(|_| is_plain)?;
        let number = u32::try_from(number.checked_sub(u64::from(bounds.least))?).ok()?;
        (number <= last).then_some(number)
    };
    Some((number(first, bounds.last_first)?, number(second, bounds.last_second)?))
}

/// Takes lines with `level`; those that it leaves are parsed one by one.
fn check(level: Level, bytes: &[u8], bounds: Bounds) -> usize {
    let (mut at, mut by_kernel) = (0, 0);
    while at < bytes.len() {
        let room = bytes.len() - at;
        let (mut firsts, mut seconds) = (vec![7; room], vec![7; room]);
        let Taken { end, lines } =
            pairs_at(level, bytes, at, bounds, &mut firsts, &mut seconds);
        let taken: Vec<_> = firsts.into_iter().zip(seconds).take(lines).collect();
        let expected: Option<Vec<_>> = bytes[at..end]
            .split_inclusive(|&byte| byte == b'\n')
            .map(|line| plain(line, bounds))
            .collect();
        assert_eq!(Some(taken), expected, "{level}, {at}..{end} of {}", bytes.escape_ascii());
        by_kernel += lines;
        let newline = bytes[end..].iter().position(|&byte| byte == b'\n');
        at = newline.map_or(bytes.len(), |newline| end + newline + 1);
    }
    by_kernel
}

fn text(seed: u64, lines: usize, digits: u32) -> Vec<u8> {
    let mut state = seed;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let digits = (state >> 60) as u32 % digits + 1;
        (state >> 20) % 10_u64.pow(digits)
    };
    (0..lines).flat_map(|_| format!("{} {}\n", next(), next()).into_bytes()).collect()
}

#[test]
fn long_plain_texts_are_nearly_all_taken_by_one_call() {
    for level in levels() {
        for digits in 1..=9 {
            let text = text(3, 20_000, digits);
            let (mut firsts, mut seconds) = (vec![0; 20_000], vec![0; 20_000]);
            let taken = pairs_at(level, &text, 0, FAR, &mut firsts, &mut seconds);
            if level == Level::Portable {
                assert_eq!(taken, Taken { end: text.len(), lines: 20_000 });
            } else {
                assert_eq!(taken, Taken::default(), "nothing to load before the first token");
            }
            let from = text[..100].iter().rposition(|&byte| byte == b'\n').expect("a line") + 1;
            let taken = pairs_at(level, &text, from, FAR, &mut firsts, &mut seconds);
            assert!(taken.lines > 19_900, "{level}, {digits} digits: {taken:?}");
            check(level, &text, FAR);
        }
    }
}

#[test]
fn a_line_that_is_not_plain_stops_every_level_wherever_it_stands() {
    let odd: [&[u8]; 22] = [
        b"1  2\n",
        b" 1 2\n",
        b"1 2 \n",
        b"1 2\r\n",
        b"\n",
        b"1\n",
        b"1 2 3\n",
        b"# 1\n",
        b"% 1\n",
        b"-1 2\n",
        b"1 -2\n",
        b"1.5 2\n",
        b"1 2e3\n",
        b"1,2\n",
        b"1 2\0\n",
        b"\xff 2\n",
        b"1\x0b2\n",
        b"11111111111111111 2\n",
        b"4294967296 1\n",
        b"1 4294967296\n",
        b"1 99999999999\n",
        b" \n",
    ];
    for level in levels() {
        for line in odd {
            for before in (0..60).chain([700, 1500]) {
                let mut bytes = text(u64::from(line[0]), before, 8);
                bytes.extend_from_slice(line);
                bytes.extend(text(5, 60, 8));
                check(level, &bytes, FAR);
            }
        }
    }
}

#[test]
fn numbers_out_of_bounds_stop_every_level() {
    const EDGES: [u32; 5] = [0, 1, 99_999_999, u32::MAX - 1, u32::MAX];
    for least in EDGES {
        for (last_first, last_second) in
            EDGES.into_iter().flat_map(|first| [(first, 0), (4, first)])
        {
            let bounds = Bounds { least, last_first, last_second };
            let [first, second] =
                [last_first / 2, last_second].map(|it| u64::from(it) + u64::from(least));
            let good = format!("{first} {second}\n");
            for level in levels() {
                for (at, line) in ["0 1", "1 0", "5 1", "6 1", "1 10", "1 11", "100000000 1"]
                    .iter()
                    .enumerate()
                {
                    // Alone, and so often that some are converted together.
                    for count in [1, 40] {
                        let bad = format!("{line}\n").repeat(count);
                        let bytes =
                            format!("{}{bad}{}", good.repeat(150 + at), good.repeat(150));
                        let taken = check(level, bytes.as_bytes(), bounds);
                        assert!(taken > 200, "{level}: {taken}");
                    }
                }
            }
        }
    }
}

#[test]
fn no_more_is_taken_than_there_is_room_for() {
    let text = text(9, 300, 8);
    for level in levels() {
        for room in 0..=100 {
            let (mut firsts, mut seconds) = (vec![0; room], vec![0; 120 - room]);
            let start = text.iter().position(|&byte| byte == b'\n').expect("a line") + 1;
            let taken = pairs_at(level, &text, start + 20, FAR, &mut firsts, &mut seconds);
            assert!(taken.lines <= room.min(120 - room));
            let taken = pairs_at(level, &text, start, FAR, &mut firsts, &mut seconds);
            assert!(taken.lines <= room.min(120 - room));
        }
    }
}

proptest! {
    #[test]
    fn random_changes_are_never_misread(
        seed in any::<u64>(),
        digits in 1_u32..11,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..12), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = text(seed, 150, digits);
        for (at, with) in changes {
            let len = bytes.len();
            bytes[at.index(len)] = b" \t\n\r09.-e#\0\xb0"[with];
        }
        bytes.truncate(cut.index(bytes.len() + 1).max(bytes.len() / 2));
        for level in levels() {
            for bounds in [FAR, Bounds { least: 1, last_first: 9_999, last_second: 99_999_999 }] {
                check(level, &bytes, bounds);
            }
        }
    }
}
