//! Fields of columns: mostly of one family, some of another, some missing.

use super::super::options::Options;
use super::super::types::{Type, Unit};
use super::dice::Dice;

/// The family of a column's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Small,
    Edges,
    Long,
    Zeros,
    Plain,
    Scientific,
    Words,
    Bool,
    Date,
    Moment,
    Nanoseconds,
    Zoned,
    Almost,
    Word,
    Text,
    Special,
    Null,
    Local,
    German,
}

/// Families, the frequent ones several times.
const FAMILIES: [Family; 27] = [
    Family::Small,
    Family::Small,
    Family::Small,
    Family::Edges,
    Family::Edges,
    Family::Long,
    Family::Zeros,
    Family::Plain,
    Family::Plain,
    Family::Plain,
    Family::Scientific,
    Family::Words,
    Family::Bool,
    Family::Bool,
    Family::Date,
    Family::Date,
    Family::Moment,
    Family::Moment,
    Family::Nanoseconds,
    Family::Zoned,
    Family::Almost,
    Family::Word,
    Family::Text,
    Family::Text,
    Family::Special,
    Family::Local,
    Family::German,
];

/// The recipe for the fields of a column.
pub(super) struct Recipe {
    pub(super) family: Family,
    /// Another family, for one field in this many; 0 for none.
    other: (Family, u64),
    /// One field in this many is missing; 0 for none.
    nulls: u64,
    /// One field in this many has blanks around it; 0 for none.
    blanks: u64,
}

impl Recipe {
    pub(super) fn draw(dice: &mut Dice) -> Self {
        Self {
            family: *dice.pick(&FAMILIES),
            other: (*dice.pick(&FAMILIES), *dice.pick(&[0, 0, 0, 2, 5, 20, 100])),
            nulls: *dice.pick(&[0, 0, 0, 10, 10, 10, 3, 3, 1]),
            blanks: *dice.pick(&[0, 0, 0, 0, 5]),
        }
    }

    /// Draws a field, without the quotes that it may need.
    pub(super) fn field(&self, dice: &mut Dice, options: &Options) -> String {
        let family = if self.nulls > 0 && dice.one_in(self.nulls) {
            Family::Null
        } else if self.other.1 > 0 && dice.one_in(self.other.1) {
            self.other.0
        } else {
            self.family
        };
        let mut field = family.field(dice, options);
        if options.decimal != b'.' && family != Family::Null && dice.below(10) > 0 {
            field = field.replace('.', &char::from(options.decimal).to_string());
        }
        if self.blanks > 0 && dice.one_in(self.blanks) {
            let around = [" ", "", "\t", "  "];
            field = format!("{}{field}{}", dice.pick(&around), dice.pick(&around));
        }
        field
    }

    /// Draws a type that holds most of its fields, or, sometimes, any type.
    pub(super) fn type_to_give(&self, dice: &mut Dice) -> Type {
        let unit = dice.pick(&Unit::WORDS).1;
        let all = Type::all();
        match self.family {
            _ if dice.one_in(6) => *dice.pick(&all),
            Family::Small | Family::Edges | Family::Zeros => {
                let bits = *dice.pick(&[8, 16, 32, 64, 64, 64]);
                Type::Whole { bits, signed: !dice.one_in(3) }
            }
            Family::Plain | Family::Scientific | Family::Words | Family::Long => {
                *dice.pick(&[Type::F64, Type::F64, Type::F32])
            }
            Family::Bool => Type::Bool,
            Family::Date | Family::German => Type::Date,
            Family::Moment => Type::Timestamp { unit, zoned: false },
            Family::Nanoseconds => Type::Timestamp { unit: Unit::Nanoseconds, zoned: false },
            Family::Zoned => Type::Timestamp { unit, zoned: true },
            _ => *dice.pick(&[Type::Text, Type::Dictionary]),
        }
    }
}

impl Family {
    fn field(self, dice: &mut Dice, options: &Options) -> String {
        match self {
            Self::Small => (i128::from(dice.below(300)) - 20).to_string(),
            Self::Edges => edge(dice),
            Self::Long => digits(dice, 19, 40),
            Self::Zeros => {
                format!("{}{}", dice.pick(&["0", "00", "-0", "+", "+0"]), dice.below(50))
            }
            Self::Plain => plain(dice),
            Self::Scientific => scientific(dice),
            Self::Words => {
                (*dice.pick(&["nan", "-NaN", "inf", "-Infinity", "+INF", "1.5", "2"]))
                    .to_owned()
            }
            Self::Bool => boolean(dice, options),
            Self::Date => date(dice),
            Self::Moment => moment(dice, 6),
            Self::Nanoseconds => moment(dice, 9),
            Self::Zoned => zoned(dice),
            Self::Almost => almost(dice),
            Self::Word => (*dice.pick(&["red", "green", "blue", "Köln", "x"])).to_owned(),
            Self::Text => text(dice, &["a", "b", "é", "€", "z", " ", "12", "ü", "long "]),
            Self::Special => text(
                dice,
                &[
                    "\"", "'", ",", ";", "\n", "\r\n", "\r", "\\", "#", "a", "\t", "|", " ",
                    "日", "\0", "0",
                ],
            ),
            Self::Null => null(dice, options),
            Self::Local => local(dice, options),
            Self::German => format!(
                "{:02}.{:02}.{}",
                1 + dice.below(31),
                1 + dice.below(12),
                1990 + dice.below(40)
            ),
        }
    }
}

fn digits(dice: &mut Dice, least: usize, most: usize) -> String {
    let count = least + dice.index(most - least + 1);
    let mut text = (1 + dice.below(9)).to_string();
    for _ in 1..count {
        text.push_str(&dice.below(10).to_string());
    }
    let sign = if dice.one_in(4) { "-" } else { "" };
    format!("{sign}{text}")
}

/// Draws a whole number near the limit of a type.
fn edge(dice: &mut Dice) -> String {
    let power = *dice.pick(&[7, 8, 15, 16, 31, 32, 53, 63, 64]);
    let near = (1_i128 << power) + i128::from(dice.below(3)) - 1;
    (if dice.one_in(3) { -near } else { near }).to_string()
}

fn plain(dice: &mut Dice) -> String {
    let sign = *dice.pick(&["", "", "", "-", "+"]);
    let whole = dice.below(2000);
    match dice.below(6) {
        0 => format!("{sign}{whole}."),
        1 => format!("{sign}.{}", dice.below(1000)),
        2 => format!("{}", dice.below(100)),
        3 => format!("{sign}{whole}.{}", digits(dice, 1, 25).trim_start_matches('-')),
        _ => format!("{sign}{whole}.{:02}", dice.below(100)),
    }
}

fn scientific(dice: &mut Dice) -> String {
    let value = f64::from_bits(dice.bits());
    match dice.below(4) {
        0 if value.is_finite() => format!("{value:e}"),
        1 if value.is_finite() => format!("{value:.18E}"),
        2 => format!(
            "{}e{}",
            dice.below(1000),
            *dice.pick(&["5", "+05", "-3", "400", "-400", "308"])
        ),
        _ => format!("{}.{}e-{}", dice.below(10), dice.below(1_000_000), dice.below(30)),
    }
}

fn boolean(dice: &mut Dice, options: &Options) -> String {
    let words = if dice.one_in(2) { &options.trues } else { &options.falses };
    if words.is_empty() || dice.one_in(50) {
        return (*dice.pick(&["true", "yes", "0", "tRUE", "T"])).to_owned();
    }
    dice.pick(words).clone()
}

fn date(dice: &mut Dice) -> String {
    let year = match dice.below(12) {
        0 => *dice.pick(&[0, 1, 1600, 1677, 1900, 2262, 2263, 9999]),
        _ => 1960 + dice.below(80),
    };
    let day = if dice.one_in(25) { 31 } else { 1 + dice.below(28) };
    format!("{year:04}-{:02}-{day:02}", 1 + dice.below(12))
}

/// Draws a moment with at most this many digits of fraction.
fn moment(dice: &mut Dice, most: usize) -> String {
    let (day, sign) = (date(dice), dice.pick(&["T", " "]));
    let time = format!("{:02}:{:02}", dice.below(24), dice.below(60));
    let second = if dice.one_in(40) { 60 } else { dice.below(60) };
    let count = if dice.one_in(60) { 10 } else { 1 + dice.index(most) };
    let fraction: String = (0..count).map(|_| dice.below(10).to_string()).collect();
    match dice.below(5) {
        0 => format!("{day}{sign}{time}"),
        1 | 2 => format!("{day}{sign}{time}:{second:02}"),
        3 => format!("{day}{sign}{time}:{second:02}.{}", dice.pick(&["0", "000", "500"])),
        _ => format!("{day}{sign}{time}:{second:02}.{fraction}"),
    }
}

fn zoned(dice: &mut Dice) -> String {
    let digits = *dice.pick(&[3, 6, 6, 6, 9]);
    let moment = moment(dice, digits);
    let zones =
        ["Z", "Z", "+00:00", "+01:00", "-0530", "+14", "-23:59", "+24:00", " Z", "z", "+1", ""];
    // The first ones are valid.
    let most = if dice.one_in(20) { zones.len() } else { 7 };
    format!("{moment}{}", zones[dice.index(most)])
}

/// Draws a text that resembles another kind.
fn almost(dice: &mut Dice) -> String {
    let texts = [
        "1e",
        "1_000",
        "--1",
        "+",
        "-",
        ".",
        "e5",
        ".e5",
        "0x10",
        "1 000",
        "infinit",
        "nan1",
        "NaN ",
        "1e400",
        "-1e400",
        "1e-400",
        "0.1e309",
        "-0",
        "-0.0",
        "00",
        "0",
        "tru",
        "2020-02-30",
        "2020-1-01",
        "20200101",
        "2020-01-01T",
        "2020-01-01T1:00",
        "2020-01-01T24:00",
        "12:00",
        "1,5",
        "1.5.2",
        "NA1",
        "nul",
        "N/",
        "na",
        "None",
        "१२",
        "5 %",
        "$5",
        "(1+2j)",
        "−5",
    ];
    (*dice.pick(&texts)).to_owned()
}

fn text(dice: &mut Dice, parts: &[&str]) -> String {
    let count = match dice.below(150) {
        0 => 400,
        1..=9 => 20,
        _ => dice.below(8),
    };
    (0..count).map(|_| *dice.pick(parts)).collect()
}

fn null(dice: &mut Dice, options: &Options) -> String {
    if options.nulls.is_empty() || dice.one_in(10) {
        return (*dice.pick(&["", "NA", "null"])).to_owned();
    }
    dice.pick(&options.nulls).clone()
}

/// Draws numbers with groups of digits, mostly valid ones.
fn local(dice: &mut Dice, options: &Options) -> String {
    let mark = options.thousands.map_or("_".to_owned(), |byte| char::from(byte).to_string());
    let whole = dice.below(2000);
    let group = dice.below(1000);
    match dice.below(8) {
        0 => format!("{whole}{mark}{group}"),
        1 => format!("{}{mark}{group:03}{mark}{:03}", 1 + whole % 9, dice.below(1000)),
        2 | 3 => format!("{}{mark}{group:03}.{}", 1 + whole % 999, dice.below(100)),
        4 => format!("-{}{mark}{group:03}", 1 + whole % 99),
        5 => format!("0{mark}{group:03}"),
        _ => format!("{whole}.{group}"),
    }
}
