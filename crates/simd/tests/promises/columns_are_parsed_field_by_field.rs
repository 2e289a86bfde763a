//! Columns of numbers with empty fields: what each level makes of them is what one field after the
//! other gives.

use swath_simd::{Level, Padding, Tokens, column_doubles_at, column_integers_at, decimal};

/// Whether a plus, or a zero before another digit, begins a number; among whole numbers, also `-0`.
fn is_padded(token: &str, is_whole: bool) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let mut bytes = digits.bytes();
    let is_zero = bytes.next() == Some(b'0');
    let is_followed = bytes.next().is_some_and(|byte| byte.is_ascii_digit());
    let is_minus_zero = is_whole && token.starts_with('-');
    token.starts_with('+') || (is_zero && (is_followed || is_minus_zero))
}

fn double(token: &str, padding: Padding) -> Option<f64> {
    match token {
        "" => Some(0.0),
        _ if padding == Padding::Refused && is_padded(token, false) => None,
        _ => decimal(token.as_bytes())?.to_double(),
    }
}

fn integer(token: &str, padding: Padding) -> Option<i64> {
    match token {
        "" => Some(0),
        _ if padding == Padding::Refused && is_padded(token, true) => None,
        _ => decimal(token.as_bytes())?.to_integer(),
    }
}

/// Whether a number, printed with as many digits as a decimal has, is another one.
fn is_other(token: &str, value: f64) -> bool {
    let mantissa = token.split(['e', 'E']).next().expect("one");
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_matches('0');
    let printed = format!("{:.*e}", digits.len().max(1) - 1, value.abs()).replace('.', "");
    !digits.is_empty() && printed.split('e').next() != Some(digits)
}

struct Column {
    text: String,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Column {
    fn new(before: usize, tokens: &[String]) -> Self {
        let mut text = ",".repeat(before);
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        let at = |text: &str| u32::try_from(text.len()).expect("short");
        for (index, token) in tokens.iter().enumerate() {
            // One that is not there starts past its end.
            starts.push(at(&text) + u32::from(token.is_empty() && index % 2 == 1));
            text.push_str(token);
            ends.push(at(&text));
            text.push(',');
        }
        Self { text, starts, ends }
    }

    fn from(&self, first: usize) -> Tokens<'_> {
        let (starts, ends) = (&self.starts[first..], &self.ends[first..]);
        Tokens { text: self.text.as_bytes(), starts, ends }
    }
}

fn check(tokens: &[String], before: usize) {
    let column = Column::new(before, tokens);
    for padding in [Padding::Refused, Padding::Taken] {
        for level in Level::ALL.into_iter().filter(|level| level.available()) {
            let mut done = 0;
            while done < tokens.len() {
                let mut out = vec![7.0; tokens.len() - done];
                let (tokens_from, mut doubt) = (column.from(done), false);
                let count =
                    column_doubles_at(level, tokens_from, padding, &mut out, &mut doubt);
                let others = out[..count].iter().zip(&tokens[done..]);
                let mut others = others.filter(|(value, token)| is_other(token, **value));
                let other = others.find(|(_, token)| token.contains(['.', 'e']));
                assert!(doubt || other.is_none(), "{level} {padding:?} {other:?}");
                for (value, token) in out[..count].iter().zip(&tokens[done..]) {
                    let wanted = double(token, padding).map(f64::to_bits);
                    assert_eq!(Some(value.to_bits()), wanted, "{level} {padding:?} {token}");
                }
                if let Some(refused) = tokens.get(done + count) {
                    assert_eq!(double(refused, padding), None, "{level} {padding:?} {refused}");
                }
                done += count + 1;
            }
            let mut done = 0;
            while done < tokens.len() {
                let mut out = vec![7; tokens.len() - done];
                let count = column_integers_at(level, column.from(done), padding, &mut out);
                for (&value, token) in out[..count].iter().zip(&tokens[done..]) {
                    assert_eq!(
                        Some(value),
                        integer(token, padding),
                        "{level} {padding:?} {token}"
                    );
                }
                if let Some(refused) = tokens.get(done + count) {
                    assert_eq!(
                        integer(refused, padding),
                        None,
                        "{level} {padding:?} {refused}"
                    );
                }
                done += count + 1;
            }
        }
    }
}

fn drawn(next: &mut impl FnMut() -> u64, form: u64) -> String {
    let digits = |count: u64, next: &mut dyn FnMut() -> u64| -> String {
        (0..count).map(|_| char::from(b'0' + u8::try_from(next() % 10).expect("one"))).collect()
    };
    match form {
        0 => String::new(),
        1 => digits(1, next),
        2 => {
            let count = 1 + next() % 8;
            digits(count, next)
        }
        3 => format!("-{}", digits(1 + next() % 9, next)),
        4 => format!("0.{}", digits(next() % 9, next)),
        5 => {
            let (whole, decimals) = (next() % 5, next() % 12);
            format!("{}.{}", digits(whole, next), digits(decimals, next))
        }
        6 => format!("-{}.{}", digits(next() % 4, next), digits(next() % 6, next)),
        7 => format!("{}.{}e-{:02}", digits(1, next), digits(16, next), next() % 40),
        8 => format!("{}.{}", digits(1, next), digits(16 + next() % 8, next)),
        _ => {
            let odd = [
                "x", "-", ".", "+1", "1.2.3", "--1", "1-", " 1", "-0", "00", "007", "0.",
                "-.5", "1e5",
            ];
            odd[usize::try_from(next()).unwrap_or(0) % odd.len()].to_owned()
        }
    }
}

#[test]
fn every_level_parses_columns_with_gaps_field_by_field() {
    let mut next = swath_reference::splitmix(5);
    for round in 0..6000_u64 {
        let form = 1 + round % 8;
        let count = usize::try_from(next() % 40).expect("small");
        let gaps = [2, 10, 1000][usize::try_from(round % 3).expect("small")];
        let tokens: Vec<String> = (0..count)
            .map(|_| match next() % 200 {
                0 => drawn(&mut next, 9),
                1..4 => {
                    let other = next() % 9;
                    drawn(&mut next, other)
                }
                _ if next().is_multiple_of(gaps) => String::new(),
                _ => drawn(&mut next, form),
            })
            .collect();
        check(&tokens, usize::try_from(next() % 40).expect("small"));
    }
}

#[test]
fn each_level_rarely_doubts_the_digits_of_printed_doubles() {
    let mut next = swath_reference::splitmix(8);
    let mut doubts = 0;
    for round in 0..4000_usize {
        let number = |next: &mut dyn FnMut() -> u64| {
            let value = f64::from_bits(next());
            if round % 2 == 0 && value.is_normal() {
                value
            } else {
                (next() >> 11) as f64 / 1e9
            }
        };
        let tokens: Vec<String> = (0..24)
            .map(|_| match (number(&mut next), round % 5) {
                (value, 0) => format!("{value:e}"),
                (value, 1) => format!("{value:.16e}"),
                (value, 2) => format!("{value:.18e}"),
                (value, 3) if value.abs() < 1e9 => format!("{value:.7}"),
                (value, _) if (1e-5..1e16).contains(&value.abs()) => format!("{value:?}"),
                (value, _) => format!("{value:e}"),
            })
            .collect();
        let column = Column::new(40, &tokens);
        for level in Level::ALL.into_iter().filter(|level| level.available()) {
            let (mut out, mut doubt) = ([0.0; 24], false);
            let padding = Padding::Refused;
            let count = column_doubles_at(level, column.from(0), padding, &mut out, &mut doubt);
            assert_eq!(count, 24, "{level} {tokens:?}");
            doubts += usize::from(doubt);
        }
    }
    // Some last digits are just half a unit off, as in 228337579512049.88.
    assert!(doubts < 4000 / 25, "{doubts}");
}

#[test]
fn numbers_that_begin_with_zeros_or_a_plus_are_found_beside_any_other() {
    let odd = [
        "0",
        "-0",
        "00",
        "007",
        "-01",
        "+1",
        "+0.5",
        "-00.5",
        "0.",
        "0e5",
        "-0e5",
        "",
        "1234567890123456",
        "-123456789012345",
        "0012345678901.25",
        "00.12345678901234567",
        "-00.12345678901234567",
        "0.12345678901234567",
        "-0.12345678901234567",
        "0000000000000000000000000000001.5",
    ];
    for (one, other) in odd.iter().flat_map(|one| odd.map(|other| (one, other))) {
        for (place, after) in (0..8).flat_map(|place| (1..8).map(move |after| (place, after))) {
            let mut tokens = vec!["7.5".to_owned(); 16];
            tokens[place] = (*one).to_owned();
            tokens[place + after] = other.to_owned();
            check(&tokens, 40);
            tokens.iter_mut().filter(|it| *it == "7.5").for_each(|it| *it = "75".to_owned());
            check(&tokens, 40);
        }
    }
}

#[test]
fn an_exponent_without_digits_is_no_number_beside_those_with_one() {
    for odd in ["e5", "E5", "e-5", "e+12", "-e5", ".e5", ""] {
        for at in 0..8 {
            let mut text = "0".repeat(40);
            let (mut starts, mut ends) = ([0; 8], [0; 8]);
            for index in 0..8 {
                text.push(',');
                starts[index] = u32::try_from(text.len()).expect("short");
                text.push_str(if index == at { odd } else { "1.23456e-7" });
                ends[index] = u32::try_from(text.len()).expect("short");
            }
            let tokens = Tokens { text: text.as_bytes(), starts: &starts, ends: &ends };
            for level in Level::ALL.into_iter().filter(|level| level.available()) {
                for padding in [Padding::Refused, Padding::Taken] {
                    let (mut numbers, mut doubt) = ([1.0; 8], false);
                    let count =
                        column_doubles_at(level, tokens, padding, &mut numbers, &mut doubt);
                    // An empty field is zero.
                    assert_eq!(count, if odd.is_empty() { 8 } else { at }, "{level}: `{odd}`");
                    assert!(
                        numbers[..count.min(at)].iter().all(|&number| number == 1.23456e-7)
                    );
                }
            }
        }
    }
}
