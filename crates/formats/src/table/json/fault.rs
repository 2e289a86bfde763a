//! The faults of a line of JSON.

/// A fault, and its byte in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct JsonFaultAt {
    pub(in crate::table) fault: JsonFault,
    pub(in crate::table) at: usize,
}

/// A fault of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum JsonFault {
    /// The line does not begin with an object.
    NotObject,
    /// Another token is expected here.
    Expected(&'static str),
    /// Text follows the object.
    After,
    /// A string without an end.
    Open,
    /// A control character in a string.
    Control,
    /// A backslash without a valid escape.
    Escape,
    /// Half of a surrogate pair.
    Surrogate,
    /// The bytes here are not a number.
    Number,
    /// NaN or an infinity.
    Nan,
    /// A key that is not UTF-8.
    Encoding,
    /// A key that occurs twice in the object.
    Twice,
    /// A key that did not exist when the keys of all records were collected.
    New,
}

impl JsonFaultAt {
    /// Whether the only fault is a new key.
    pub(in crate::table) fn is_new(self) -> bool {
        self.fault == JsonFault::New
    }
}

impl JsonFault {
    /// Returns the description and the hint.
    pub(in crate::table) fn words(self) -> (&'static str, &'static str) {
        const FORM: &str = "write one JSON object on each line, or read another form";
        match self {
            Self::NotObject => (
                "not JSON Lines: an object is expected",
                "write one object on each line: jq -c '.[]' takes a list apart",
            ),
            Self::Expected(detail) => (detail, FORM),
            Self::After => ("not JSON Lines: something follows the object", FORM),
            Self::Open => (
                "not JSON: a string is not closed on its line",
                "write newlines in strings as `\\n`",
            ),
            Self::Control => (
                "not JSON: a control character in a string",
                "write it as an escape, such as `\\t`",
            ),
            Self::Escape => ("not JSON: an escape that there is not", "double the backslash"),
            Self::Surrogate => {
                ("not JSON: half of a surrogate pair", "write both halves, or U+FFFD")
            }
            Self::Number => {
                ("not JSON: not a number", "write it without leading zeros, or in quotes")
            }
            Self::Nan => (
                "not JSON: it has no NaN and no infinity",
                "set `json_nan` to read it as a number, or write null",
            ),
            Self::Encoding => (
                "bytes that are not UTF-8 in a key",
                "pass the encoding of the file with `encoding`",
            ),
            Self::Twice => ("a key that the object has already", "rename it, or remove it"),
            Self::New => (
                "a key that no record had when the keys were collected",
                "read it from a file that does not change, or select columns with `columns`",
            ),
        }
    }
}
