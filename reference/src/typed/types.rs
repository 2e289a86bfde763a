//! The types of columns and their values.

/// The unit of a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    /// All units, coarse ones first, with their words in options.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("s", Self::Seconds),
        ("ms", Self::Milliseconds),
        ("us", Self::Microseconds),
        ("ns", Self::Nanoseconds),
    ];

    /// Returns the number of nanoseconds in one unit.
    #[must_use]
    pub fn nanoseconds(self) -> i128 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        }
    }

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, unit)| *unit == self).expect("all are listed").0
    }
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Every value is missing.
    Null,
    /// True or false.
    Bool,
    /// A whole number of this many bits.
    Whole {
        /// 8, 16, 32 or 64.
        bits: u32,
        /// Whether it can be negative.
        signed: bool,
    },
    /// A single.
    F32,
    /// A double.
    F64,
    /// A day.
    Date,
    /// A moment.
    Timestamp {
        /// The unit.
        unit: Unit,
        /// Whether the text has a zone; the value is then UTC.
        zoned: bool,
    },
    /// Text.
    Text,
    /// Text, with each distinct value kept once.
    Dictionary,
    /// Objects, with any contents.
    Struct,
    /// Arrays.
    List,
}

impl Type {
    /// `i64`.
    pub const I64: Self = Self::Whole { bits: 64, signed: true };
    /// `u64`.
    pub const U64: Self = Self::Whole { bits: 64, signed: false };

    /// Returns its name in options.
    #[must_use]
    pub fn word(self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Whole { bits, signed: true } => format!("i{bits}"),
            Self::Whole { bits, signed: false } => format!("u{bits}"),
            Self::F32 => "f32".to_owned(),
            Self::F64 => "f64".to_owned(),
            Self::Date => "date".to_owned(),
            Self::Timestamp { unit, zoned: false } => format!("timestamp[{}]", unit.word()),
            Self::Timestamp { unit, zoned: true } => format!("timestamp[{}, UTC]", unit.word()),
            Self::Text => "text".to_owned(),
            Self::Dictionary => "dictionary".to_owned(),
            Self::Struct => "struct".to_owned(),
            Self::List => "list".to_owned(),
        }
    }

    /// Returns every type that can be given.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Bool, Self::F32, Self::F64, Self::Date, Self::Text];
        all.push(Self::Dictionary);
        for bits in [8, 16, 32, 64] {
            all.extend([true, false].map(|signed| Self::Whole { bits, signed }));
        }
        for (_, unit) in Unit::WORDS {
            all.extend([true, false].map(|zoned| Self::Timestamp { unit, zoned }));
        }
        all
    }

    /// Returns the type of this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::all().into_iter().find(|one| one.word() == word)
    }
}

/// A value of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// No value.
    Missing,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Whole(i128),
    /// The bits of a double, or of a single widened to one; every NaN has the same bits.
    Float(u64),
    /// Days since 1 January 1970.
    Date(i64),
    /// A moment.
    Timestamp {
        /// Nanoseconds since 1 January 1970.
        nanoseconds: i128,
        /// Whether it is UTC.
        zoned: bool,
    },
    /// Text.
    Text(String),
    /// An object or array, as text.
    Nested(String),
}

impl Value {
    /// Makes a double.
    #[must_use]
    pub fn float(value: f64) -> Self {
        Self::Float(if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() })
    }
}
