//! One line of JSON, byte by byte.

use super::fault::{Fault, Wrong};
use super::records::Field;

/// A line that is not blank, without its ending.
pub(super) struct Line<'t> {
    pub bytes: &'t [u8],
    /// Its first byte in the text.
    pub at: usize,
    /// Its number, from 1.
    pub number: usize,
    /// Whether `NaN` and infinities are numbers.
    pub has_nan: bool,
    /// Whether a duplicate key in an object inside a value is a fault.
    pub has_unique_keys: bool,
}

/// The members of an object, up to a fault.
#[derive(Default)]
pub(super) struct Object {
    pub keys: Vec<String>,
    /// The values: one fewer than keys, if a value has a fault.
    pub values: Vec<Field>,
    pub fault: Option<Fault>,
}

impl Line<'_> {
    /// Parses the object on this line.
    #[must_use]
    pub(super) fn object(&self) -> Object {
        let mut object = Object::default();
        let (has_nan, has_unique_keys) = (self.has_nan, self.has_unique_keys);
        let mut rest = MembersRest { bytes: self.bytes, at: 0, has_nan, has_unique_keys };
        if let Err((wrong, at)) = rest.members(&mut object, self.at) {
            object.fault = Some(Fault::new(wrong, self.number, self.at + at));
        }
        object
    }
}

type Step<T> = Result<T, (Wrong, usize)>;

struct MembersRest<'t> {
    bytes: &'t [u8],
    at: usize,
    has_nan: bool,
    has_unique_keys: bool,
}

impl MembersRest<'_> {
    /// Returns the next byte after blanks.
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(|byte| b" \t\r".contains(byte)) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn wrong<T>(&self) -> Step<T> {
        Err((Wrong::Json, self.at))
    }

    fn take(&mut self, byte: u8) -> Step<()> {
        if self.peek() != Some(byte) {
            return self.wrong();
        }
        self.at += 1;
        Ok(())
    }

    fn members(&mut self, object: &mut Object, base: usize) -> Step<()> {
        self.take(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                self.key(object)?;
                self.take(b':')?;
                object.values.push(self.value(base)?);
                if self.peek() == Some(b'}') {
                    self.at += 1;
                    break;
                }
                self.take(b',')?;
            }
        }
        if self.peek().is_some() { self.wrong() } else { Ok(()) }
    }

    fn key(&mut self, object: &mut Object) -> Step<()> {
        self.peek();
        let start = self.at;
        let key = String::from_utf8(self.string()?).map_err(|_| (Wrong::Encoding, start))?;
        if object.keys.contains(&key) {
            return Err((Wrong::Twice, start));
        }
        object.keys.push(key);
        Ok(())
    }

    fn value(&mut self, base: usize) -> Step<Field> {
        let is_quoted = self.peek() == Some(b'"');
        let start = self.at;
        let text = if is_quoted {
            self.string()?
        } else {
            self.other()?;
            self.bytes[start..self.at].to_vec()
        };
        let raw = self.bytes[start..self.at].to_vec();
        Ok(Field { at: base + start, text, raw, is_quoted })
    }

    /// Takes a value that is not a string, with its contents.
    fn other(&mut self) -> Step<()> {
        let (mut open, mut keys) = (Vec::new(), Vec::new());
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    open.push(b'}');
                    keys.push(Vec::new());
                    if self.peek() != Some(b'}') {
                        self.name(&mut keys)?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    open.push(b']');
                    if self.peek() != Some(b']') {
                        continue;
                    }
                }
                Some(b'"') => drop(self.string()?),
                Some(b'-' | b'0'..=b'9') => self.number()?,
                _ => self.word()?,
            }
            // After a value, or at the end of an empty one.
            loop {
                let Some(&close) = open.last() else { return Ok(()) };
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if close == b'}' {
                            self.name(&mut keys)?;
                        }
                        break;
                    }
                    Some(byte) if byte == close => {
                        self.at += 1;
                        open.pop();
                        if byte == b'}' {
                            self.check(&keys.pop().expect("those of this object"))?;
                        }
                    }
                    _ => return self.wrong(),
                }
            }
        }
    }

    /// Takes a key inside a value, and the colon after it.
    fn name(&mut self, keys: &mut [Vec<(Vec<u8>, usize)>]) -> Step<()> {
        self.peek();
        let start = self.at;
        let key = self.string()?;
        keys.last_mut().expect("it is in an object").push((key, start));
        self.take(b':')
    }

    /// Checks that no key is duplicate, if that is a fault.
    fn check(&self, keys: &[(Vec<u8>, usize)]) -> Step<()> {
        for (at, (key, start)) in keys.iter().enumerate() {
            if self.has_unique_keys && keys[..at].iter().any(|(other, _)| other == key) {
                return Err((Wrong::Twice, *start));
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Step<()> {
        let numbers = [&b"NaN"[..], b"Infinity", b"-Infinity"];
        let numbers = if self.has_nan { &numbers[..] } else { &[] };
        for word in [&b"null"[..], b"true", b"false"].iter().chain(numbers) {
            if self.bytes[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(());
            }
        }
        self.wrong()
    }

    /// Takes all bytes that a number may have, and checks that they form one.
    fn number(&mut self) -> Step<()> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| b"+-.eE0123456789".contains(byte)) {
            self.at += 1;
        }
        let is_number = is_number(&self.bytes[start..self.at]);
        if is_number {
            return Ok(());
        }
        self.at = start;
        self.word()
    }

    /// Takes a string and returns its decoded bytes.
    fn string(&mut self) -> Step<Vec<u8>> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return self.wrong();
        }
        self.at += 1;
        let mut text = Vec::new();
        loop {
            match self.bytes.get(self.at) {
                None | Some(0..=0x1f) => return self.wrong(),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    let letter = self.escaped()?;
                    text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(&byte) => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn escaped(&mut self) -> Step<char> {
        let simple = [
            (b'"', '"'),
            (b'\\', '\\'),
            (b'/', '/'),
            (b'b', '\u{8}'),
            (b'f', '\u{c}'),
            (b'n', '\n'),
            (b'r', '\r'),
            (b't', '\t'),
        ];
        let next = self.bytes.get(self.at + 1);
        if let Some(&(_, letter)) = simple.iter().find(|(byte, _)| Some(byte) == next) {
            self.at += 2;
            return Ok(letter);
        }
        let first = self.unit(self.at);
        let second = self.unit(self.at + 6);
        let (letter, len) = match (first, second) {
            (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                (char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)), 12)
            }
            (Some(unit), _) => (char::from_u32(unit), 6),
            (None, _) => (None, 0),
        };
        let Some(letter) = letter else { return self.wrong() };
        self.at += len;
        Ok(letter)
    }

    /// Returns the unit of UTF-16 whose escape is at `at`.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
        let digits = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
        u32::from_str_radix(digits, 16).ok()
    }
}

/// Whether this is a number by the grammar.
fn is_number(text: &[u8]) -> bool {
    let is_some_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = text.splitn(2, |byte| b"eE".contains(byte));
    let (number, exponent) = (parts.next().unwrap_or_default(), parts.next());
    let mut parts = number.splitn(2, |&byte| byte == b'.');
    let (whole, fraction) = (parts.next().unwrap_or_default(), parts.next());
    let sign = |text: &'_ [u8]| usize::from(matches!(text.first(), Some(b'+' | b'-')));
    is_some_digits(whole)
        && (whole.len() == 1 || whole[0] != b'0')
        && fraction.is_none_or(is_some_digits)
        && exponent.is_none_or(|text| is_some_digits(&text[sign(text)..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line<'_> {
        let (has_nan, has_unique_keys) = (false, true);
        Line { bytes: text.as_bytes(), at: 0, number: 1, has_nan, has_unique_keys }
    }

    fn fault(text: &str) -> Option<(Wrong, usize)> {
        let object = line(text).object();
        object.fault.map(|fault| (fault.wrong, fault.byte))
    }

    #[test]
    fn an_object_is_one_whole_object_of_json() {
        let good =
            r#"{"a":[],"b":{"x":[1,{"y":{}}],"z":-0.5e+7},"c":"\ud83d\ude00\n","":null} "#;
        assert_eq!(fault(good), None);
        assert_eq!(fault("{}"), None);
        for (text, at) in [
            ("", 0),
            ("[1]", 0),
            ("{} x", 3),
            ("{\"a\"", 4),
            ("{\"a\":}", 5),
            ("{\"a\":1,}", 7),
            ("{\"a\":01}", 5),
            ("{\"a\":1x}", 6),
            ("{\"a\":NaN}", 5),
            ("{\"a\":[,1]}", 6),
            ("{\"a\":[1,]}", 8),
            ("{\"a\":[1}}", 7),
            ("{\"a\":\"\\x\"}", 6),
            ("{\"a\":\"\\ud800\"}", 6),
            ("{\"a\":\"\\u00+1\"}", 6),
            ("{\"a\":\"b", 7),
        ] {
            assert_eq!(fault(text), Some((Wrong::Json, at)), "{text}");
        }
        assert_eq!(fault(r#"{"a":1,"\u0061":2}"#), Some((Wrong::Twice, 7)));
        assert_eq!(fault(r#"{"a":[{"b":{"b":1},"\u0062":2}]}"#), Some((Wrong::Twice, 19)));
    }
}
