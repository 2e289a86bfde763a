//! Compares with the standard library, bit by bit.

use std::fmt::Write;

use swath_reference::battery::{self, BatterySize};

use super::*;

/// Returns the value of `std`, except for numbers that are too large.
fn wanted(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let is_word = text.contains(['n', 'N']);
    (value.is_finite() || is_word).then_some(value)
}

fn check(text: &str) {
    let (got, wanted) = (double(text.as_bytes()), wanted(text));
    let same = match (got, wanted) {
        (Some(got), Some(wanted)) => got.to_bits() == wanted.to_bits(),
        (got, wanted) => got.is_none() && wanted.is_none(),
    };
    assert!(same, "`{text}` is {wanted:?}, not {got:?}");
    assert_eq!(unsigned(text.as_bytes()), text.parse().ok(), "`{text}`");
    assert_eq!(signed(text.as_bytes()), text.parse().ok(), "`{text}`");
}

/// Returns how many numbers of each kind are tried.
fn rounds() -> u64 {
    BatterySize { slice: 40_000, full: 4_000_000 }.count()
}

/// Random bits; the same for the same seed, others in each push.
fn bits(seed: u64) -> impl FnMut() -> u64 {
    let seed = battery::seed().wrapping_add(seed);
    println!("SWATH_SEED={seed}");
    swath_reference::splitmix(seed)
}

#[test]
fn random_doubles_in_every_spelling_are_read_back() {
    let mut next = bits(41);
    let mut text = String::new();
    for n in 0..rounds() {
        let value = f64::from_bits(next());
        text.clear();
        match n % 4 {
            0 => write!(text, "{value}"),
            1 => write!(text, "{value:e}"),
            2 => write!(text, "{value:.16e}"),
            _ => write!(text, "{value:.*e}", usize::try_from(n % 23).expect("small")),
        }
        .expect("to memory");
        check(&text);
    }
}

#[test]
fn random_decimals_of_every_length_and_exponent_are_read() {
    let mut next = bits(42);
    for _ in 0..rounds() {
        let digits = next() >> (next() % 64);
        let exponent = i64::try_from(next() % 700).expect("small") - 350;
        check(&format!("{digits}e{exponent}"));
        let text = digits.to_string();
        let point = usize::try_from(next()).expect("64 bits") % (text.len() + 1);
        check(&format!("{}.{}", &text[..point], &text[point..]));
        check(&format!("-0.{:0>width$}", digits, width = text.len() + point));
        check(&format!("{}.{}E{}", &text[..point], &text[point..], exponent / 16));
        check(&format!("-{digits}"));
    }
}

#[test]
fn numbers_halfway_between_two_doubles_go_to_the_even_one() {
    let mut next = bits(43);
    for _ in 0..rounds() / 4 {
        // One bit more than a double has, times a power of two that keeps it a short decimal.
        let odd = (1 << 53 | next() >> 11) << 1 | 1;
        check(&format!("{odd}"));
        check(&format!("{}", u128::from(odd) << (next() % 9)));
        check(&format!("{}.5", odd >> 2));
        check(&format!("{}.25", odd >> 3));
        check(&format!("{odd}.00000000000000000000000001"));
        // Exactly halfway, with all its digits.
        let value = f64::from_bits(next() % (2046 << 52));
        let above = f64::from_bits(value.to_bits() + 1);
        if value > 1e-30 && above < 1e30 {
            let text = format!("{:.120}", value / 2.0 + above / 2.0);
            check(&text);
            check(&format!("{text}1"));
        }
    }
}

#[test]
fn the_edges_of_every_range_are_exact() {
    for text in [
        "0",
        "-0",
        "+0",
        "00",
        "000000000000000000000",
        "1",
        "9",
        "10",
        "99999999",
        "100000000",
        "18446744073709551615",
        "18446744073709551616",
        "018446744073709551615",
        "00018446744073709551616",
        "99999999999999999999",
        "184467440737095516150",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "9007199254740993",
        "9007199254740992.5",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "1e400",
        "-1e400",
        "1e99999999999999999999",
        "0e99999999999999999999",
        "1e-99999999999999999999",
        "0e400",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "5e-324",
        "2e-324",
        "1e-400",
        "8.98846567431158e307",
        "1e22",
        "1e23",
        "123456789012345678e-22",
        "6250000000000000e-16",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
    ] {
        check(text);
        check(&format!("+{text}"));
        check(&format!("-{text}"));
    }
}

#[test]
fn only_numbers_are_numbers() {
    for text in [
        "",
        "+",
        "-",
        ".",
        "+.",
        "1.",
        ".5",
        "-.5",
        "5.e3",
        ".e3",
        "e3",
        "1e",
        "1e+",
        "1e-",
        "1e+5",
        "1e 5",
        " 1",
        "1 ",
        "1_000",
        "1,5",
        "1..2",
        "1.2.3",
        "--1",
        "+-1",
        "-+1",
        "++1",
        "0x10",
        "1f",
        "1d5",
        "inf",
        "-Inf",
        "+INFINITY",
        "infinit",
        "nan",
        "NaN",
        "-nAn",
        "nanx",
        "in",
        "1e5.5",
        "12345678a",
        "a2345678",
        "1234567/",
        "1234567:",
        "\u{ff11}",
        "1\0",
        "\0",
        "1e5e5",
        "1e++5",
        "1e+-5",
        "123456789012345678901234567890x",
    ] {
        check(text);
    }
    for token in [&b"\xff"[..], b"12345678\xb1", b"\xb1\xb1\xb1\xb1\xb1\xb1\xb1\xb1"] {
        assert_eq!((double(token), unsigned(token), signed(token)), (None, None, None));
    }
}

#[test]
fn the_reason_for_a_refusal_is_told() {
    use FormatReason::{Malformed, TooLarge};
    for (token, type_name, reason) in [
        ("", "f64", Malformed),
        ("x", "f64", Malformed),
        ("1\0", "i64", Malformed),
        ("1.5", "i64", Malformed),
        ("1e400", "f64", TooLarge),
        ("300", "u8", TooLarge),
        ("-1", "u8", TooLarge),
        ("99999999999999999999", "i64", TooLarge),
        ("9007199254740993", "f64", TooLarge),
    ] {
        assert_eq!(refusal(token.as_bytes(), type_name).0, reason, "{token}");
    }
}

#[test]
fn whole_numbers_in_the_form_of_doubles_are_whole_numbers() {
    for (token, wanted) in [
        ("8.000000000000000000e+00", Some(8)),
        ("-8.0", Some(-8)),
        ("1e3", Some(1000)),
        ("12.5e1", Some(125)),
        ("1200e-2", Some(12)),
        ("0.0e99999", Some(0)),
        ("+.5E1", Some(5)),
        ("1.8446744073709551615e19", Some(i128::from(u64::MAX))),
        ("1.5", None),
        ("1e-1", None),
        ("1e40", None),
        ("inf", None),
        ("nan", None),
        ("", None),
        ("e5", None),
        ("1e99999999999999999999", None),
    ] {
        assert_eq!(integral(token.as_bytes()), wanted, "{token}");
    }
}
