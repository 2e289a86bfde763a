//! Whole columns are what their fields give one by one, and what the standard library gives.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};

use super::misfit::MisfitAt;
use crate::table::types::*;

/// A random number below `most`.
fn below(next: &mut impl FnMut() -> u64, most: usize) -> usize {
    usize::try_from(next() % most as u64).expect("small")
}

/// One of some words.
fn any(next: &mut impl FnMut() -> u64, words: &[&str]) -> String {
    words[below(next, words.len())].to_owned()
}

const WHOLE: &[&str] = &[
    "0",
    "1",
    "-1",
    "7",
    "42",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "32767",
    "32768",
    "-32768",
    "-32769",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999",
    "12345678901234567",
];
const ODD_WHOLE: &[&str] =
    &["-0", "+0", "00", "007", "-007", "+1", "0000000000000000000000001", "--1", "-"];
const DECIMAL: &[&str] = &[
    "0.5",
    "-0.5",
    ".5",
    "5.",
    "-.5",
    "1e5",
    "1E-5",
    "-1.5e+10",
    "0.0",
    "-0.0",
    "0e0",
    "1e308",
    "1.7976931348623157e308",
    "4.9e-324",
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "2e-324",
    "1e-400",
    "1.234567890123456789e+00",
    "9007199254740993.0",
    "16777217",
    "16777217.0",
    "16777219.0",
    "1.00000017881393432617187499",
    "3.4028235677973366e38",
    "1e39",
    "1.17549435e-38",
    "1e-45",
    "7e-46",
    "0.1",
    "123.456",
    "3.141592653589793",
    "0.30000000000000004",
    "123456789.123456789",
];
const ODD_DECIMAL: &[&str] = &[
    "nan",
    "NaN",
    "-nan",
    "inf",
    "-inf",
    "+Infinity",
    "INF",
    "1e400",
    "-1e400",
    "00.5",
    "-00.5",
    "+0.5",
    "01e5",
    ".",
    "1e",
    "e5",
    "1.5.2",
    "0x10",
    "1_000",
    "1,5",
    "1.234,5",
    "1.234",
    "12.345.678",
    "1d5",
];
const DATES: &[&str] = &[
    "1970-01-01",
    "2024-02-29",
    "2000-02-29",
    "9999-12-31",
    "0001-01-01",
    "1969-12-31",
    "1677-09-21",
    "2262-04-12",
];
const ODD_DATES: &[&str] =
    &["2023-02-29", "0000-01-01", "1900-02-29", "2023-13-01", "2023-1-01", "20230101"];
const MOMENTS: &[&str] = &[
    "1970-01-01T00:00:00",
    "2024-02-29 23:59:59",
    "2024-02-29T12:30",
    "2024-02-29T12:30:01.5",
    "2024-02-29T12:30:01.123456",
    "0001-01-01T00:00:00",
    "9999-12-31T23:59:59.999999",
];
const FINE_MOMENTS: &[&str] = &[
    "2024-02-29T12:30:01.123456789",
    "2024-02-29T12:30:01.1234560",
    "1677-09-21T00:12:43.145224192",
    "1677-09-21T00:12:43.145224191",
    "2262-04-11T23:47:16.854775807",
    "2262-04-11T23:47:16.854775808",
];
const ZONED: &[&str] = &[
    "2024-02-29T12:30:01Z",
    "2024-02-29 12:30Z",
    "2024-02-29T12:30:01.5+23:59",
    "2024-02-29T12:30:01-2359",
    "2024-02-29T12:30:01-23:59",
    "2024-02-29T12:30+05",
    "0001-01-01T00:00:00+12:00",
    "2024-02-29T12:30:01.1234567Z",
];
const ODD_MOMENTS: &[&str] = &[
    "2024-02-29T24:00:00",
    "2024-02-29T23:59:60",
    "2024-02-29T12:30:01.",
    "2024-02-29T12:30:01.1234567890",
    "2024-02-29t12:30:01",
    "2024-02-29T12:30:01+24:00",
    "2024-02-29T12:30:01z",
    "2024-02-29T12:30:01 Z",
];
const FORMATTED: &[&str] = &[
    "29.02.2024",
    "31.12.9999",
    "01.01.0001",
    "30.02.2024",
    "1.1.1970",
    "01.01.1970 23:59",
    "31.12.1969 00:00",
    "01.01.0000",
];
const BOOLS: &[&str] = &["true", "false", "True", "FALSE", "TRUE", "False"];
const TEXTS: &[&str] = &[
    "x",
    "apple",
    "a text of twelve",
    "a longer text that does not fit the thirty-two bytes of a chunk",
    "exactly thirty-two bytes of text",
    "thirty-three bytes of other text.",
    "Zoë",
    "日本語",
    "tRue",
    "a\\b",
    "N",
    "N/",
];
const NULLS: &[&str] = &["", "", "", "NA", "N/A", "null", "NULL", " ", "\t NA "];
const POOLS: &[&[&str]] = &[
    WHOLE,
    ODD_WHOLE,
    DECIMAL,
    ODD_DECIMAL,
    DATES,
    ODD_DATES,
    MOMENTS,
    FINE_MOMENTS,
    ZONED,
    ODD_MOMENTS,
    FORMATTED,
    BOOLS,
    TEXTS,
    NULLS,
];

/// A number as programs print it.
fn number(next: &mut impl FnMut() -> u64) -> String {
    let value = f64::from_bits(next() >> 2 | 0x3f << 56).fract();
    match next() % 6 {
        0 => format!("{}", next() >> (next() % 64)),
        1 => format!("-{}", next() >> (1 + next() % 63)),
        2 => format!("{value}"),
        3 => format!("{:.18e}", value * 1e3),
        4 => format!("{:.3}", value * 1e4),
        _ => format!("{:e}", f64::from_bits(next() % (2047 << 52))),
    }
}

/// The raw fields of one column in a text.
#[derive(Default)]
struct Drawn {
    text: Vec<u8>,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Drawn {
    fn push(&mut self, raw: &[u8]) {
        let here = |text: &Vec<u8>| u32::try_from(text.len()).expect("short");
        self.starts.push(here(&self.text));
        self.text.extend_from_slice(raw);
        self.ends.push(here(&self.text));
        self.text.push(b'\n');
    }

    fn push_none(&mut self) {
        self.starts.push(7);
        self.ends.push(3);
    }

    fn fields(&self) -> RawFields<'_> {
        RawFields { text: &self.text, starts: &self.starts, ends: &self.ends }
    }
}

/// Fields of one column: mostly of one pool.
fn draw(next: &mut impl FnMut() -> u64, nulls: &[&str]) -> Drawn {
    if next().is_multiple_of(3) { draw_clean(next, nulls) } else { draw_odd(next) }
}

/// Fields of one pool, and words for missing values.
fn draw_clean(next: &mut impl FnMut() -> u64, nulls: &[&str]) -> Drawn {
    const CLEAN: &[&[&str]] = &[
        &["0", "1", "-1", "7", "42", "-12", "127", "100"],
        &["0.5", "-1.5", "1e5", "-1", "0", "1.25", "1234567.125"],
        DATES,
        &[
            "1970-01-01",
            "2024-02-29T12:30:01",
            "2024-02-29 23:59:59.123456",
            "1969-12-31T23:59:59.5",
        ],
        &["2024-02-29T12:30:01Z", "2024-02-29 12:30:01.5+01:30", "1970-01-01T00:00:00-23:59"],
        &["01.01.1970", "29.02.2024", "31.12.1999"],
        BOOLS,
        TEXTS,
    ];
    let pool = CLEAN[below(next, CLEAN.len())];
    let (missing, quoted) = (1 + below(next, 10), 1 + below(next, 4));
    let mut drawn = Drawn::default();
    for _ in 0..below(next, 300) {
        let is_missing = below(next, 10 * missing) == 0;
        let field = any(next, if is_missing { nulls } else { pool });
        let is_quoted = quoted == 1 && below(next, 20) == 0;
        drawn.push(if is_quoted { format!("\"{field}\"") } else { field }.as_bytes());
    }
    drawn
}

/// Fields of mostly one pool, with a few of all others, quotes, blanks and bytes that are wrong.
fn draw_odd(next: &mut impl FnMut() -> u64) -> Drawn {
    let mut drawn = Drawn::default();
    let main = POOLS[below(next, POOLS.len())];
    let (odd, empty, quoted) = (below(next, 3) * below(next, 40), next() % 4, next() % 3);
    for _ in 0..below(next, 300) {
        let is_odd = below(next, 1000) < odd;
        let other = POOLS[below(next, POOLS.len())];
        let mut field = match next() % 8 {
            _ if is_odd => any(next, other),
            0 if empty == 0 => String::new(),
            1 if empty < 2 => any(next, NULLS),
            2..5 if std::ptr::eq(main, DECIMAL) || std::ptr::eq(main, WHOLE) => number(next),
            _ => any(next, main),
        };
        if quoted == 0 && next().is_multiple_of(2) || is_odd && next().is_multiple_of(4) {
            let inner = if next().is_multiple_of(8) { "a\"b" } else { &field };
            field = format!("\"{}\"", inner.replace('"', "\"\""));
        }
        if is_odd && next().is_multiple_of(3) {
            field = format!(" {field}\t");
            field =
                if field.starts_with(" \"") { field.trim_start().to_owned() } else { field };
        }
        let mut raw = field.into_bytes();
        if is_odd && next().is_multiple_of(50) && !raw.contains(&b'"') {
            raw.push(0xc3);
        }
        if is_odd && next().is_multiple_of(20) { drawn.push_none() } else { drawn.push(&raw) }
    }
    drawn
}

/// Rules, and the words for missing values.
fn rules(next: &mut impl FnMut() -> u64) -> (FieldRules, &'static [&'static str]) {
    let mut rules = FieldRules { is_told: next().is_multiple_of(2), ..FieldRules::default() };
    let mut nulls: &[&str] = &["", "NA", "null"];
    match next() % 15 {
        0 => rules.decimal = b',',
        1 => (rules.decimal, rules.thousands) = (b',', Some(b'.')),
        2 => rules.thousands = Some(b','),
        3 => nulls = &["-1", "0", "1970-01-01", "false", ""],
        4 => nulls = &["x", "NA"],
        5 => {
            rules.trues = WordSet::new(["1", "true"]);
            rules.falses = WordSet::new(["0", "1970-01-01"]);
        }
        6 => rules.quoting.escape = Some(b'\\'),
        7 => rules.quoting.quote = None,
        8 => rules.format = Some(MomentFormat::new("%d.%m.%Y").expect("a date")),
        9 => rules.format = Some(MomentFormat::new("%d.%m.%Y %H:%M").expect("a date")),
        14 => {
            let format = MomentFormat::new("epoch_s").expect("a name");
            let zoned = next().is_multiple_of(2);
            let unit = arrow_schema::TimeUnit::Nanosecond;
            let kind =
                if zoned { ColumnType::Zoned(unit) } else { ColumnType::Timestamp(unit) };
            rules.format = Some(format.of(kind));
        }
        10 => nulls = &["true", "2024-02-29T12:30:01Z", "0.5", ""],
        _ => {}
    }
    rules.nulls = WordSet::new(nulls);
    if nulls.len() == 2 {
        nulls = &["x", "NA", ""];
    }
    (rules, nulls)
}

/// Returns the result of the fields one by one.
fn one_by_one(
    column_type: ColumnType,
    fields: RawFields<'_>,
    rules: &FieldRules,
) -> (ArrayRef, Option<MisfitAt>) {
    let mut builder = Builder::new(column_type, 0);
    for index in 0..fields.len() {
        let Some(raw) = fields.raw(index) else {
            builder.push_missing();
            continue;
        };
        let mut scratch = Vec::new();
        let field = rules.quoting.field(raw, &mut scratch);
        if let Err(misfit) = builder.push(field, rules, &mut |_, _| {}) {
            return (builder.finish(), Some(MisfitAt { index, misfit }));
        }
    }
    (builder.finish(), None)
}

/// Returns the result of the fields in some pieces.
fn in_pieces(
    column_type: ColumnType,
    fields: RawFields<'_>,
    rules: &FieldRules,
    next: &mut impl FnMut() -> u64,
) -> (ArrayRef, Option<MisfitAt>) {
    let mut builder = Builder::new(column_type, 10);
    let mut done = 0;
    while done < fields.len() {
        let count = 1 + below(next, 200);
        if let Err(MisfitAt { index, misfit }) =
            builder.push_all(fields.some(done, count), rules, &mut |_, _| {})
        {
            assert_eq!(builder.len(), done + index);
            return (builder.finish(), Some(MisfitAt { index: done + index, misfit }));
        }
        done = fields.len().min(done + count);
        assert_eq!(builder.len(), done);
    }
    (builder.finish(), None)
}

fn rounds() -> u64 {
    if cfg!(debug_assertions) { 1500 } else { 30_000 }
}

#[test]
fn whole_columns_are_what_their_fields_give_one_by_one() {
    let mut fit = 0;
    for seed in 0..rounds() {
        let mut next = swath_reference::splitmix(seed);
        let (rules, nulls) = rules(&mut next);
        let drawn = draw(&mut next, nulls);
        for column_type in ColumnType::all() {
            let wanted = one_by_one(column_type, drawn.fields(), &rules);
            let found = in_pieces(column_type, drawn.fields(), &rules, &mut next);
            assert_eq!(found.1, wanted.1, "{column_type}, seed {seed}");
            assert_eq!(&found.0, &wanted.0, "{column_type}, seed {seed}");
            assert_eq!(found.0.data_type(), &column_type.data_type());
            fit += usize::from(found.1.is_none() && !found.0.is_empty());
        }
    }
    assert!(fit > 1000, "{fit} columns had values");
}

#[test]
fn the_type_of_a_column_holds_all_that_it_was_made_of() {
    for seed in 0..4 * rounds() {
        let mut next = swath_reference::splitmix(seed);
        let (rules, nulls) = rules(&mut next);
        let drawn = draw(&mut next, nulls);
        let (fields, rules) =
            (drawn.fields(), FieldRules { is_told: false, format: None, ..rules });
        let mut kinds = Kinds::MISSING;
        for raw in (0..fields.len()).filter_map(|index| fields.raw(index)) {
            let mut scratch = Vec::new();
            kinds |= Kinds::of(rules.quoting.field(raw, &mut scratch), &rules);
        }
        let column_type = kinds.column_type();
        match Builder::new(column_type, 0).push_all(fields, &rules, &mut |_, _| {}) {
            Ok(()) => {}
            Err(MisfitAt { misfit: Misfit::Encoding, .. }) if column_type.is_text() => {}
            Err(at) => panic!("{column_type}, seed {seed}: {at:?}"),
        }
    }
}

#[test]
fn numbers_are_those_of_the_standard_library() {
    let mut next = swath_reference::splitmix(5);
    for _ in 0..rounds() / 10 {
        let mut drawn = Drawn::default();
        let tokens: Vec<String> = (0..below(&mut next, 200))
            .map(|_| match next() % 8 {
                0 => any(&mut next, DECIMAL),
                1 => any(&mut next, WHOLE),
                2 => format!("{:.17}", f64::from_bits(next() >> 2 | 0x3f << 56).fract()),
                3 => format!("{}.5", ((1 << 24) | (next() % (1 << 24))) >> (next() % 2)),
                4 => format!(
                    "{:e}",
                    f32::from_bits(u32::try_from(next() % (255 << 23)).expect("32"))
                ),
                _ => number(&mut next),
            })
            .filter(|token| token.parse::<f32>().is_ok_and(f32::is_finite))
            // Of whole numbers, types do not have all.
            .map(|token| if token.parse::<i128>().is_ok() { token + "." } else { token })
            .collect();
        tokens.iter().for_each(|token| drawn.push(token.as_bytes()));
        let rules = FieldRules { is_told: true, ..FieldRules::default() };
        let (doubles, fault) = in_pieces(ColumnType::F64, drawn.fields(), &rules, &mut next);
        assert_eq!(fault, None);
        let (singles, fault) = in_pieces(ColumnType::F32, drawn.fields(), &rules, &mut next);
        assert_eq!(fault, None);
        for (index, token) in tokens.iter().enumerate() {
            let (double, single) = (
                doubles.as_primitive::<Float64Type>().value(index),
                singles.as_primitive::<Float32Type>().value(index),
            );
            assert_eq!(Ok(double.to_bits()), token.parse().map(f64::to_bits), "{token}");
            assert_eq!(Ok(single.to_bits()), token.parse().map(f32::to_bits), "{token}");
        }
    }
}

#[test]
fn whole_numbers_are_those_of_the_standard_library_or_misfits() {
    for token in WHOLE.iter().chain(ODD_WHOLE) {
        let mut drawn = Drawn::default();
        drawn.push(token.as_bytes());
        let rules = FieldRules { is_told: true, ..FieldRules::default() };
        macro_rules! same {
            ($($column_type:ident as $integer:ty),+) => {$(
                let mut builder = Builder::new(ColumnType::$column_type, 1);
                let fits = builder.push_all(drawn.fields(), &rules, &mut |_, _| {}).is_ok();
                let wanted = token.parse::<$integer>().is_ok();
                assert_eq!(fits, wanted, "{token} as {}", stringify!($integer));
            )+};
        }
        same!(
            I8 as i8, I16 as i16, I32 as i32, I64 as i64, U8 as u8, U16 as u16, U32 as u32,
            U64 as u64
        );
        let mut builder = Builder::new(ColumnType::I64, 1);
        if let Ok(value) = token.parse::<i64>() {
            builder.push_all(drawn.fields(), &rules, &mut |_, _| {}).expect("fits");
            assert_eq!(builder.finish().as_primitive::<Int64Type>().value(0), value);
        }
    }
}

#[test]
fn days_and_times_are_those_of_the_calendar_library() {
    let mut next = swath_reference::splitmix(6);
    for _ in 0..rounds() * 20 {
        let seconds = i64::try_from(next() % 315_537_897_600).expect("small") - 62_135_596_800;
        let nanos = u32::try_from(next() % 1_000_000_000).expect("small");
        let when = chrono::DateTime::from_timestamp(seconds, nanos).expect("in range");
        let digits = below(&mut next, 10);
        let unit = 10_u32.pow(9 - u32::try_from(digits).expect("few"));
        let fraction = format!("{:09}", nanos);
        let fraction =
            if digits == 0 { String::new() } else { format!(".{}", &fraction[..digits]) };
        let offset = i32::try_from(next() % 2879).expect("small") - 1439;
        let east = chrono::FixedOffset::east_opt(offset * 60).expect("in range");
        let (form, zone) = match next() % 3 {
            0 => (when.format("%Y-%m-%dT%H:%M:%S").to_string(), String::new()),
            1 => (when.format("%Y-%m-%d %H:%M:%S").to_string(), "Z".to_owned()),
            _ => {
                let local = when.with_timezone(&east);
                (local.format("%Y-%m-%dT%H:%M:%S").to_string(), local.format("%:z").to_string())
            }
        };
        let token = format!("{form}{fraction}{zone}");
        if !token.starts_with(|byte: char| byte.is_ascii_digit()) || token.starts_with("0000") {
            continue;
        }
        let wanted = swath_simd::Moment {
            seconds,
            nanos: nanos / unit * unit,
            digits: u8::try_from(digits).expect("few"),
            is_zoned: !zone.is_empty(),
        };
        assert_eq!(time::moment(token.as_bytes()), Some(wanted), "{token}");
        let text = format!("{token},next field");
        let ends = [u32::try_from(token.len()).expect("short")];
        let tokens = swath_simd::Tokens { text: text.as_bytes(), starts: &[0], ends: &ends };
        let mut found = None;
        swath_simd::parse_moments(tokens, |_, moment| {
            found = Some(moment);
            true
        });
        assert_eq!(found, Some(wanted), "{token}");
    }
}

#[test]
fn half_a_character_is_a_misfit_even_if_the_next_field_has_the_rest() {
    let mut drawn = Drawn::default();
    for raw in [&b"x"[..], "é".as_bytes(), b"\xc3", b"\xa9", b"y"] {
        drawn.push(raw);
    }
    let mut builder = Builder::new(ColumnType::Text, 0);
    let found = builder.push_all(drawn.fields(), &FieldRules::default(), &mut |_, _| {});
    assert_eq!(found, Err(MisfitAt { index: 2, misfit: Misfit::Encoding }));
    assert_eq!(builder.len(), 2);
    let texts = builder.finish();
    assert_eq!(texts.as_string::<i64>().iter().collect::<Vec<_>>(), [Some("x"), Some("é")]);
}

#[test]
fn seven_digits_of_which_the_last_is_zero_make_nanoseconds_unless_the_unit_is_given() {
    let mut drawn = Drawn::default();
    drawn.push(b"1970-01-01T00:00:00.1234560");
    let micros = || Builder::new("timestamp[us]".parse().expect("a type"), 1);
    let found = micros().push_all(drawn.fields(), &FieldRules::default(), &mut |_, _| {});
    assert_eq!(found, Err(MisfitAt { index: 0, misfit: Misfit::Inexact }));
    let told = FieldRules { is_told: true, ..FieldRules::default() };
    assert_eq!(micros().push_all(drawn.fields(), &told, &mut |_, _| {}), Ok(()));
}

#[test]
fn a_word_and_a_zero_byte_are_another_word() {
    let rules = FieldRules::default();
    for (word, longer) in [("NA", "NA\0"), ("", "\0"), ("null", "null\0\0")] {
        let mut drawn = Drawn::default();
        drawn.push(word.as_bytes());
        drawn.push(longer.as_bytes());
        drawn.push(b"more text");
        let mut builder = Builder::new(ColumnType::Text, 2);
        builder.push_all(drawn.fields(), &rules, &mut |_, _| {}).expect("texts");
        let texts = builder.finish();
        let wanted = [None, Some(longer), Some("more text")];
        assert_eq!(texts.as_string::<i64>().iter().collect::<Vec<_>>(), wanted);
    }
    let mut drawn = Drawn::default();
    drawn.push(b"true");
    drawn.push(b"true\0");
    drawn.push(b"more text");
    let found =
        Builder::new(ColumnType::Bool, 2).push_all(drawn.fields(), &rules, &mut |_, _| {});
    assert_eq!(found, Err(MisfitAt { index: 1, misfit: Misfit::Form }));
}

#[test]
fn a_word_for_a_missing_value_may_be_written_with_escapes_and_doubled_quotes() {
    let mut drawn = Drawn::default();
    for raw in [&br#""N\A""#[..], b"7", br#""a""b""#, b"NA"] {
        drawn.push(raw);
    }
    let nulls = WordSet::new(["NA", "a\"b"]);
    let quoting = QuoteBytes { quote: Some(b'"'), escape: Some(b'\\'), is_json: false };
    let rules = FieldRules { nulls, quoting, ..FieldRules::default() };
    let mut builder = Builder::new(ColumnType::I64, 4);
    builder.push_all(drawn.fields(), &rules, &mut |_, _| {}).expect("one number");
    let numbers = builder.finish();
    let wanted = [None, Some(7), None, None];
    assert_eq!(numbers.as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), wanted);
}
