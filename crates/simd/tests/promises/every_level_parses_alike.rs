//! Every level finds the ends that a plain loop finds, and parses what `std` parses.

use proptest::prelude::*;
use swath_reference::battery::BatterySize;
use swath_simd::{
    FieldEnds, Level, Lines, Marks, Tokens, WordLines, WordPlaces, decimal, parse_doubles_at,
    parse_integers_at,
};

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.available())
}

fn check_lines(text: &[u8], marks: Marks) {
    let begins = |at: usize| at == 0 || text[at - 1] == b'\n';
    let is_odd = |at: usize| {
        let byte = text[at];
        (byte <= b' ' && byte != marks.delimiter)
            || Some(byte) == marks.comment
            || byte == b'\n'
    };
    let wanted = Lines {
        newlines: text.iter().map(|&byte| u64::from(byte == b'\n')).sum(),
        odd: (0..text.len())
            .any(|at| (begins(at) && is_odd(at)) || marks.anywhere.contains(&Some(text[at]))),
    };
    for level in levels() {
        assert_eq!(Lines::of_at(level, text, marks), wanted, "{level}");
    }
}

fn check_ends(text: &[u8], from: usize, delimiter: u8) {
    let wanted: Vec<u32> = (0..)
        .zip(text)
        .skip(from)
        .filter(|&(_, &byte)| byte == delimiter || byte == b'\n')
        .map(|(at, _)| at)
        .collect();
    for level in levels() {
        let mut positions = FieldEnds::default();
        positions.push(7);
        positions.find_at(level, text, from, delimiter);
        assert_eq!(positions.as_slice()[0], 7);
        assert_eq!(positions.as_slice()[1..], wanted, "{level}");
        positions.clear();
        positions.find_at(level, text, from, delimiter);
        assert_eq!(positions.as_slice(), wanted, "{level}");
    }
}

fn check_word_lines(text: &[u8], comment: Option<u8>) {
    let blanks: &[u8] = b" \t\r";
    let lines = || text.split_inclusive(|&byte| byte == b'\n');
    let is_odd = |line: &[u8]| {
        let first = line.iter().find(|byte| !blanks.contains(byte));
        first.is_none_or(|&byte| byte == b'\n' || Some(byte) == comment)
    };
    let is_loose = |line: &[u8]| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let words = line.split(|byte| blanks.contains(byte));
        let has_others = line.iter().any(|byte| b"\t\r".contains(byte));
        has_others || (!line.is_empty() && words.into_iter().any(<[u8]>::is_empty))
    };
    let is_lone = |pair: &[u8]| pair[0] == b'\r' && !b"\r\n".contains(&pair[1]);
    let wanted = WordLines {
        newlines: text.iter().map(|&byte| u64::from(byte == b'\n')).sum(),
        odd: lines().any(is_odd),
        loose: lines().any(is_loose),
        lone_return: text.windows(2).any(is_lone),
    };
    for level in levels() {
        let shown = text.escape_ascii();
        assert_eq!(WordLines::of_at(level, text, comment), wanted, "{level}: {shown}");
    }
}

fn check_words(text: &[u8], from: usize) {
    let is_word = |at: usize| text.get(at).is_some_and(|byte| !b" \t\r\n".contains(byte));
    let places = |is_here: &dyn Fn(usize) -> bool| -> Vec<u32> {
        (from..text.len())
            .filter(|&at| is_here(at))
            .map(|at| at.try_into().expect("short"))
            .collect()
    };
    let before = |at: usize| at > 0 && is_word(at - 1);
    let wanted = [
        places(&|at| is_word(at) && !before(at)),
        places(&|at| !is_word(at) && before(at)),
        places(&|at| text[at] == b'\n'),
    ];
    for level in levels() {
        let mut found = WordPlaces::default();
        found.newlines.push(7);
        found.clear();
        found.find_at(level, text, from);
        let found = [found.starts, found.ends, found.newlines];
        assert_eq!(found.each_ref().map(|it| it.as_slice().to_vec()), wanted, "{level}");
    }
}

/// Parses the fields of `text` from each of its tokens on.
fn check_numbers(text: &str) {
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    let mut at = 0;
    for token in text.split(',') {
        starts.push(u32::try_from(at).expect("short"));
        at += token.len();
        ends.push(u32::try_from(at).expect("short"));
        at += 1;
    }
    let plain: Vec<Option<f64>> =
        text.split(',').map(|token| decimal(token.as_bytes())?.to_double()).collect();
    let integers: Vec<Option<i64>> =
        text.split(',').map(|token| decimal(token.as_bytes())?.to_integer()).collect();
    for level in levels() {
        let mut done = 0;
        while done < starts.len() {
            let tokens =
                Tokens { text: text.as_bytes(), starts: &starts[done..], ends: &ends[done..] };
            let mut out = vec![0.0; starts.len() - done];
            let count = parse_doubles_at(level, tokens, &mut out);
            for (value, wanted) in out[..count].iter().zip(&plain[done..]) {
                assert_eq!(Some(value.to_bits()), wanted.map(f64::to_bits), "{level}: {text}");
            }
            if let Some(refused) = plain.get(done + count) {
                assert_eq!(*refused, None, "{level} refuses {} of {text}", done + count);
            }
            done += count + 1;
        }
        let mut done = 0;
        while done < starts.len() {
            let tokens =
                Tokens { text: text.as_bytes(), starts: &starts[done..], ends: &ends[done..] };
            let mut out = vec![0; starts.len() - done];
            let count = parse_integers_at(level, tokens, &mut out);
            for (value, wanted) in out[..count].iter().zip(&integers[done..]) {
                assert_eq!(Some(*value), *wanted, "{level}: {text}");
            }
            if let Some(refused) = integers.get(done + count) {
                assert_eq!(*refused, None, "{level} refuses {} of {text}", done + count);
            }
            done += count + 1;
        }
    }
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<i16>().prop_map(|n| n.to_string()),
        4 => any::<i64>().prop_map(|n| n.to_string()),
        2 => any::<u64>().prop_map(|n| format!("{n:021}")),
        8 => any::<i32>().prop_map(|n| format!("{:.6}", f64::from(n) / 65536.0)),
        8 => any::<u64>().prop_map(|bits| format!("{:.17}", f64::from_bits(bits >> 2 | 0x3f << 56).fract())),
        4 => any::<f64>().prop_map(|value| format!("{value:e}")),
        4 => (any::<f64>(), 0_usize..20).prop_map(|(value, places)| format!("{value:.places$e}")),
        2 => "[-+]?[0-9]{0,17}[.]?[0-9]{0,19}",
        1 => "[-+.0-9eE]{0,20}",
        1 => "[ -~]{0,8}",
    ]
    .prop_map(|text| text.replace(',', ";"))
}

fn cases() -> u32 {
    u32::try_from(BatterySize { slice: 500, full: 6_000 }.count()).expect("few")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn mixed_tokens_are_parsed_alike(tokens in proptest::collection::vec(number(), 0..60)) {
        check_numbers(&tokens.join(","));
    }

    #[test]
    fn short_tokens_are_parsed_alike(
        tokens in proptest::collection::vec("[-]?[0-9]{0,8}[.]?[0-9]{1,6}|[-+.][0-9]{1,4}[.-]?[0-9]{0,3}", 0..60),
    ) {
        check_numbers(&tokens.join(","));
    }

    #[test]
    fn ends_and_lines_are_found(
        text in proptest::collection::vec(proptest::sample::select(&b"1,\n\r #\t\x80"[..]), 0..400),
        from in 0_usize..200,
    ) {
        check_ends(&text, from.min(text.len()), b',');
        for (delimiter, comment) in [(b',', Some(b'#')), (b'\t', None), (b' ', Some(b'%'))] {
            for anywhere in [[None; 2], [Some(0x80), None], [None, Some(b'#')], [Some(0), Some(b'\r')]] {
                check_lines(&text, Marks { delimiter, comment, anywhere });
            }
        }
    }

    #[test]
    fn words_and_their_lines_are_found(
        text in proptest::collection::vec(proptest::sample::select(&b"11111#  \n\r\t"[..]), 0..400),
        from in 0_usize..200,
    ) {
        check_words(&text, from.min(text.len()));
        check_word_lines(&text, Some(b'#'));
        check_word_lines(&text, None);
    }

    #[test]
    fn words_between_long_runs_of_blanks_are_found(
        runs in proptest::collection::vec((0_usize..150, "[1#\n]|\r\n"), 0..9),
    ) {
        let text: String = runs.iter().map(|(len, word)| " ".repeat(*len) + word).collect();
        check_words(text.as_bytes(), 0);
        check_word_lines(text.as_bytes(), Some(b'#'));
        check_word_lines(&text.as_bytes()[..text.trim_end().len()], Some(b'#'));
    }

    #[test]
    fn plain_words_are_neither_odd_nor_loose(lines in proptest::collection::vec("[0-9]{1,9}( [0-9]{1,9}){0,9}", 1..40)) {
        let lines = WordLines::of(lines.join("\n").as_bytes(), Some(b'#'));
        assert!(!lines.odd && !lines.loose && !lines.lone_return);
    }

    #[test]
    fn lines_of_data_are_not_odd(lines in proptest::collection::vec("[0-9,]{1,90}", 1..40)) {
        let text = lines.join("\n");
        check_lines(text.as_bytes(), Marks { delimiter: b',', comment: Some(b'#'), anywhere: [Some(b'"'), None] });
    }
}

#[test]
fn tokens_outside_the_text_are_refused() {
    let text = "1234567890123456789012345678901234567890";
    let len = u32::try_from(text.len()).expect("short");
    for level in levels() {
        for bad in [(0, len + 1), (5, 4), (u32::MAX, u32::MAX), (u32::MAX, 3), (len, len)] {
            for at in 0..10 {
                let mut starts = [20; 10];
                let mut ends = [21; 10];
                (starts[at], ends[at]) = bad;
                let tokens = Tokens { text: text.as_bytes(), starts: &starts, ends: &ends };
                assert_eq!(parse_doubles_at(level, tokens, &mut [0.0; 10]), at, "{level}");
                assert_eq!(parse_integers_at(level, tokens, &mut [0; 10]), at, "{level}");
            }
        }
    }
}

/// Parses `count` numbers, one spelling for all, and compares each with what `std` says.
fn check_spelling(seed: u64, spell: impl Fn(u64) -> String) {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 32) << 32) ^ (state.rotate_left(17) >> 31)
    };
    let (mut text, mut starts, mut ends) = (String::new(), Vec::new(), Vec::new());
    let here = |text: &String| u32::try_from(text.len()).expect("short");
    for _ in 0..50_000 {
        starts.push(here(&text));
        text.push_str(&spell(next()));
        ends.push(here(&text));
        text.push(',');
    }
    let tokens = Tokens { text: text.as_bytes(), starts: &starts, ends: &ends };
    for level in levels() {
        let mut out = vec![0.0; starts.len()];
        let count = parse_doubles_at(level, tokens, &mut out);
        assert_eq!(count, starts.len(), "{level}, seed {seed}");
        for (value, token) in out.iter().zip(text.split(',')) {
            let wanted: f64 = token.parse().expect("a number");
            assert_eq!(value.to_bits(), wanted.to_bits(), "{level}: {token}, seed {seed}");
        }
    }
}

/// As C and numpy write exponents.
fn two_digits(text: &str) -> String {
    let at = text.find(['e', 'E']).expect("an exponent");
    let (mantissa, power) = text.split_at(at);
    let size: i32 = power[1..].parse().expect("a number");
    let sign = if size < 0 { '-' } else { '+' };
    format!("{mantissa}{}{sign}{:02}", &power[..1], size.abs())
}

/// A double of 2^-40 to 2^56 with nearly all bits of the fraction equal.
fn beside_a_power_of_two(bits: u64) -> f64 {
    let fraction = bits >> 8 & 3;
    let fraction = if bits & 1 == 0 { fraction } else { (1 << 52) - 1 - fraction };
    f64::from_bits((983 + (bits >> 16) % 96) << 52 | fraction)
}

#[test]
fn columns_of_one_spelling_are_rounded_as_std_does() {
    let fraction = |bits: u64| f64::from_bits((bits >> 12) | (0x3ff << 52)) - 1.0;
    check_spelling(1, |bits| format!("{}", fraction(bits)));
    check_spelling(2, |bits| format!("{:.17}", fraction(bits) - 0.5));
    check_spelling(3, |bits| format!("{:.18e}", fraction(bits) - 0.5));
    check_spelling(4, |bits| {
        format!("{:.16e}", f64::from_bits((bits % (0x7fe << 52)) | (1 << 52)))
    });
    check_spelling(5, |bits| format!("{bits}").chars().take(19).collect());
    check_spelling(6, |bits| format!("{:e}", fraction(bits) * 1e12));
    check_spelling(7, |bits| format!("{:.6}", fraction(bits) * 2000.0 - 1000.0));
    check_spelling(8, |bits| format!("{:.12}", fraction(bits) * 1e6 - 5e5));
    check_spelling(9, |bits| format!("{}.5", ((1 << 53) | (bits >> 11)) >> (bits % 3)));
    check_spelling(10, |bits| format!("{}e{}", bits >> 1 | 1, bits % 280));
    check_spelling(11, |bits| format!("0.{:017}e-{}", bits >> 8, bits % 200));
    check_spelling(13, |bits| two_digits(&format!("{:.18e}", fraction(bits) - 0.5)));
    check_spelling(14, |bits| two_digits(&format!("{:.17E}", (fraction(bits) - 0.5) * 1e-12)));
    check_spelling(15, |bits| format!("{}.{:07}", bits >> 29, bits % 10_000_000));
    check_spelling(16, |bits| two_digits(&format!("{:.18e}", beside_a_power_of_two(bits))));
    check_spelling(17, |bits| {
        format!("{:.19}", beside_a_power_of_two(bits)).chars().take(20).collect()
    });
    check_spelling(18, |bits| format!("{}", beside_a_power_of_two(bits)));
    // Between two doubles: with 19 digits, next to the middle.
    check_spelling(19, |bits| {
        let value = beside_a_power_of_two(bits);
        let above = f64::from_bits(value.to_bits() + 1);
        format!("{:.30}", value / 2.0 + above / 2.0)
            .chars()
            .take(18 + usize::try_from(bits % 3).unwrap_or(0))
            .collect()
    });
    check_spelling(20, |bits| {
        format!(
            "{}{}",
            ["", "-"][usize::try_from(bits % 2).unwrap_or(0)],
            bits >> (1 + bits % 40)
        )
    });
    check_spelling(12, |bits| format!("{:.15}", (bits % 1000) as f64 / 8.0));
}
