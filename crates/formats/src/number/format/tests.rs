use swath_reference::battery::{self, BatterySize};

use super::*;

/// Returns how many numbers of each kind are tried.
fn rounds() -> u64 {
    BatterySize { slice: 30_000, full: 3_000_000 }.count()
}

/// Random bits; the same for the same seed, others in each push.
struct Bits(Box<dyn FnMut() -> u64>);

impl Bits {
    fn of(seed: u64) -> Self {
        let seed = battery::seed().wrapping_add(seed);
        println!("SWATH_SEED={seed}");
        Self(Box::new(swath_reference::splitmix(seed)))
    }

    fn next(&mut self) -> u64 {
        (self.0)()
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = b"kept ".to_vec();
    push(&mut out);
    let text = String::from_utf8(out).expect("all of it is ASCII");
    text.strip_prefix("kept ").expect("what was there stays").to_owned()
}

fn fixed(value: f64, decimals: usize) -> String {
    text(|out| push_f64_fixed(out, value, decimals))
}

fn shortest(value: f64) -> String {
    text(|out| push_f64_shortest(out, value))
}

#[test]
fn whole_numbers_are_those_of_the_library() {
    let mut bits = Bits::of(1);
    let mut edges = vec![0, 1, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1];
    let mut power = 1_u64;
    for _ in 0..19 {
        power *= 10;
        edges.extend([power - 1, power, power + 1]);
    }
    let random = (0..rounds()).map(|_| bits.next() >> bits.below(64));
    for value in edges.into_iter().chain(random) {
        assert_eq!(text(|out| push_u64(out, value)), value.to_string());
        let signed = value.cast_signed();
        assert_eq!(text(|out| push_i64(out, signed)), signed.to_string());
    }
}

#[test]
fn fixed_decimals_are_those_of_the_library() {
    for seed in 0..3 {
        let mut bits = Bits::of(seed);
        for _ in 0..rounds() {
            let value = some_double(&mut bits);
            let decimals = match bits.below(16) {
                0 => usize::try_from(bits.below(80)).expect("few"),
                1 => 6,
                2 => 18,
                _ => usize::try_from(bits.below(20)).expect("few"),
            };
            if !value.is_nan() {
                assert_eq!(fixed(value, decimals), format!("{value:.decimals$}"), "{value:e}");
            }
        }
    }
}

#[test]
fn fixed_decimals_are_those_done_on_paper() {
    let mut bits = Bits::of(5);
    for _ in 0..200 {
        let (value, decimals) = (some_double(&mut bits), bits.below(30));
        let decimals = usize::try_from(decimals).expect("few");
        assert_eq!(fixed(value, decimals), swath_reference::number::fixed(value, decimals));
    }
}

/// Any bits; prices; whole and half units of some decimal, and their neighbours.
fn some_double(bits: &mut Bits) -> f64 {
    let word = bits.next();
    let part = |bits: &mut Bits, shift: u64| (bits.next() >> shift) as f64;
    match bits.below(6) {
        0 => f64::from_bits(word),
        1 => part(bits, 11) / (1_u64 << 53) as f64 * 200.0 - 100.0,
        2 => {
            let ten = 10_f64.powi(i32::try_from(bits.below(19)).expect("few"));
            let halves = part(bits, 20) / ten / 2.0;
            f64::from_bits(halves.to_bits().wrapping_add(bits.below(3)).wrapping_sub(1))
        }
        // Exact ties.
        3 => part(bits, 34) / (1_u64 << bits.below(40)) as f64,
        4 => part(bits, 20) * 2_f64.powi(i32::try_from(bits.below(40)).expect("few") - 20),
        _ => {
            let exponent = 1023 - 130 + bits.below(200);
            f64::from_bits(word & !(0x7ff << 52) | exponent << 52)
        }
    }
}

#[test]
fn ties_go_to_the_even_digit_and_carries_into_the_whole_number() {
    for (value, decimals, right) in [
        (0.5, 0, "0"),
        (1.5, 0, "2"),
        (2.5, 0, "2"),
        (3.5, 0, "4"),
        (-0.5, 0, "-0"),
        (0.125, 2, "0.12"),
        (0.375, 2, "0.38"),
        (0.995, 2, "0.99"),
        (0.996, 2, "1.00"),
        (9.999_999_9, 6, "10.000000"),
        (99_999_999.999_999, 3, "100000000.000"),
        (-0.000_000_1, 6, "-0.000000"),
        (-0.0, 2, "-0.00"),
        (0.1, 18, "0.100000000000000006"),
        (0.1, 19, "0.1000000000000000056"),
        (0.1, 20, "0.10000000000000000555"),
        (5e-324, 6, "0.000000"),
        (4_503_599_627_370_497.5, 0, "4503599627370498"),
        (18_446_744_073_709_549_568.0, 1, "18446744073709549568.0"),
        (18_446_744_073_709_551_616.0, 1, "18446744073709551616.0"),
        (f64::INFINITY, 3, "inf"),
        (f64::NEG_INFINITY, 0, "-inf"),
        (f64::NAN, 6, "nan"),
        (-f64::NAN, 60, "nan"),
    ] {
        assert_eq!(fixed(value, decimals), right, "{value:e} with {decimals} decimals");
    }
}

#[test]
fn there_are_as_many_decimals_as_are_wanted() {
    for decimals in [21, 60, 1074, 1075, 70_000] {
        let text = fixed(5e-324, decimals);
        assert_eq!(text.len(), 2 + decimals);
        assert_eq!(text.starts_with("0.000"), decimals > 3);
        assert_eq!(fixed(f64::MAX, decimals).len(), 309 + 1 + decimals);
    }
    assert!(fixed(5e-324, 1075).ends_with("56250"), "its last digit is the 1074th");
}

#[test]
fn the_shortest_text_is_read_back_as_the_same_double() {
    for seed in 0..3 {
        let mut bits = Bits::of(seed);
        for _ in 0..rounds() {
            let value = some_double(&mut bits);
            let text = shortest(value);
            let back: f64 = text.parse().expect("it is a number");
            assert!(back.to_bits() == value.to_bits() || value.is_nan(), "{value:e}: {text}");
            let digits = |text: &str| {
                let mantissa = text.split('e').next().unwrap_or_default();
                let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
                digits.trim_start_matches('0').trim_end_matches('0').len()
            };
            assert_eq!(digits(&text), digits(&format!("{value:e}")), "{text}");
        }
    }
}

#[test]
fn doubles_are_seen_to_be_doubles() {
    for (value, right) in [
        (3.0, "3.0"),
        (-3.0, "-3.0"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e-5, "0.00001"),
        (1.5e-9, "1.5e-9"),
        (1e15, "1000000000000000.0"),
        (1e23, "1e+23"),
        (f64::MAX, "1.7976931348623157e+308"),
        (5e-324, "5e-324"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (f64::NAN, "nan"),
        (-f64::NAN, "nan"),
    ] {
        assert_eq!(shortest(value), right);
    }
}
