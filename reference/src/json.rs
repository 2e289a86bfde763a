//! JSON, character by character. Objects keep every member, in order, even duplicates.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, in its original form.
    Number(String),
    /// Text.
    String(String),
    /// Values in brackets.
    Array(Vec<Json>),
    /// Members in braces.
    Object(Vec<(String, Json)>),
}

/// The maximum depth of nesting.
const DEEPEST: usize = 127;

/// Returns the value of `text`, if it is a single one.
#[must_use]
pub fn parse(text: &str) -> Option<Json> {
    let mut rest = JsonRest(text);
    let value = rest.value(0)?;
    rest.skip_white();
    rest.0.is_empty().then_some(value)
}

struct JsonRest<'t>(&'t str);

impl JsonRest<'_> {
    fn skip_white(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.0.chars().next()?;
        self.0 = &self.0[letter.len_utf8()..];
        Some(letter)
    }

    /// Takes `word` if it is next.
    fn take(&mut self, word: &str) -> bool {
        match self.0.strip_prefix(word) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        self.skip_white();
        match self.0.chars().next()? {
            '{' if depth < DEEPEST => self.object(depth),
            '[' if depth < DEEPEST => self.array(depth),
            '"' => Some(Json::String(self.string()?)),
            '-' | '0'..='9' => self.number(),
            _ if self.take("null") => Some(Json::Null),
            _ if self.take("true") => Some(Json::Bool(true)),
            _ if self.take("false") => Some(Json::Bool(false)),
            _ => None,
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut members = Vec::new();
        self.next();
        self.skip_white();
        if self.take("}") {
            return Some(Json::Object(members));
        }
        loop {
            self.skip_white();
            let name = self.string()?;
            self.skip_white();
            if !self.take(":") {
                return None;
            }
            members.push((name, self.value(depth + 1)?));
            self.skip_white();
            match self.next()? {
                ',' => {}
                '}' => return Some(Json::Object(members)),
                _ => return None,
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Json> {
        let mut values = Vec::new();
        self.next();
        self.skip_white();
        if self.take("]") {
            return Some(Json::Array(values));
        }
        loop {
            values.push(self.value(depth + 1)?);
            self.skip_white();
            match self.next()? {
                ',' => {}
                ']' => return Some(Json::Array(values)),
                _ => return None,
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        if !self.take("\"") {
            return None;
        }
        let mut text = String::new();
        loop {
            match self.next()? {
                '"' => return Some(text),
                '\\' => text.push(self.escaped()?),
                letter if letter < ' ' => return None,
                letter => text.push(letter),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        Some(match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            letter @ ('"' | '\\' | '/') => letter,
            'u' => {
                let first = self.hex()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first);
                }
                if !self.take("\\u") {
                    return None;
                }
                let second = self.hex()?;
                if !(0xdc00..0xe000).contains(&second) {
                    return None;
                }
                char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))?
            }
            _ => return None,
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let mut value = 0;
        for _ in 0..4 {
            value = value * 16 + self.next()?.to_digit(16)?;
        }
        Some(value)
    }

    fn number(&mut self) -> Option<Json> {
        let all = self.0;
        self.take("-");
        if !self.take("0") {
            self.digits()?;
        }
        if self.take(".") {
            self.digits()?;
        }
        if self.take("e") || self.take("E") {
            let _ = self.take("+") || self.take("-");
            self.digits()?;
        }
        let number = &all[..all.len() - self.0.len()];
        // Other readers also reject a number too large for a double.
        number.parse::<f64>().ok().filter(|value| value.is_finite())?;
        Some(Json::Number(number.to_owned()))
    }

    fn digits(&mut self) -> Option<()> {
        let rest = self.0.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let some = rest.len() < self.0.len();
        self.0 = rest;
        some.then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_they_say() {
        let text = r#" {"a": [1, -2.5e3, "\u00e9\ud83d\ude00\n"], "a": null, "b": {} } "#;
        let number = |text: &str| Json::Number(text.to_owned());
        let list = vec![number("1"), number("-2.5e3"), Json::String("é😀\n".to_owned())];
        let a = || String::from("a");
        let members = vec![
            (a(), Json::Array(list)),
            (a(), Json::Null),
            (String::from("b"), Json::Object(Vec::new())),
        ];
        assert_eq!(parse(text), Some(Json::Object(members)));
    }

    #[test]
    fn what_is_no_json_is_none() {
        for text in ["", "{", "[1,]", "01", "1.", "\"\\x\"", "\"\n\"", "{} x", "+1", "1e999"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("\"\\ud800\""), None, "half a character");
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(DEEPEST)).is_some() && parse(&nested(DEEPEST + 1)).is_none());
    }
}
