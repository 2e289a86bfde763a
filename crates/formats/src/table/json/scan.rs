//! Finds where values end, and whether they are JSON.

use std::collections::HashSet;
use std::ops::Range;

use super::decode::{decode, unit, unquoted};
use super::fault::{JsonFault, JsonFaultAt};
use super::keys::ValueRules;
use super::marks::Marks;

type Step<T> = Result<T, JsonFaultAt>;

/// Memory for scanning, reused for each line.
#[derive(Clone, Debug, Default)]
pub(super) struct ScanScratch {
    pub(super) marks: Marks,
    /// The closing brackets of the open objects and arrays.
    open: Vec<u8>,
    /// The keys of the open objects; `firsts` has the index of each object's first key.
    keys: Vec<Range<usize>>,
    firsts: Vec<usize>,
}

/// A place in a text.
pub(super) struct Scan<'t> {
    pub(super) text: &'t [u8],
    pub(super) at: usize,
    pub(super) rules: ValueRules,
    pub(super) scratch: &'t mut ScanScratch,
}

impl Scan<'_> {
    pub(super) fn fault<T>(&self, fault: JsonFault) -> Step<T> {
        Err(JsonFaultAt { fault, at: self.at })
    }

    /// Skips blanks, and returns the next byte.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Skips blanks and this byte.
    #[inline]
    pub(super) fn take(&mut self, byte: u8, otherwise: &'static str) -> Step<()> {
        if self.peek() != Some(byte) {
            return self.fault(JsonFault::Expected(otherwise));
        }
        self.at += 1;
        Ok(())
    }

    /// Skips the value that begins here.
    #[inline]
    pub(super) fn value(&mut self) -> Step<()> {
        match self.text.get(self.at) {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'{' | b'[') => self.nested(),
            _ => self.word(),
        }
    }

    /// Skips the string that begins here.
    #[inline]
    pub(super) fn string(&mut self) -> Step<()> {
        let mut from = self.at + 1;
        loop {
            let mark = self.scratch.marks.next(self.text, from);
            match self.text.get(mark) {
                Some(b'"') => {
                    self.at = mark + 1;
                    return Ok(());
                }
                Some(b'\\') => from = self.escape(mark)?,
                other => {
                    self.at = mark;
                    let is_open = matches!(other, None | Some(b'\n'));
                    return self.fault(if is_open {
                        JsonFault::Open
                    } else {
                        JsonFault::Control
                    });
                }
            }
        }
    }

    /// Returns the end of the escape at `at`.
    fn escape(&self, at: usize) -> Step<usize> {
        match self.text.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => return Ok(at + 2),
            Some(b'u') => {}
            _ => return Err(JsonFaultAt { fault: JsonFault::Escape, at }),
        }
        match unit(&self.text[at..]) {
            None => Err(JsonFaultAt { fault: JsonFault::Escape, at }),
            Some(0xd800..=0xdbff) => match unit(&self.text[at + 6..]) {
                Some(0xdc00..=0xdfff) => Ok(at + 12),
                _ => Err(JsonFaultAt { fault: JsonFault::Surrogate, at }),
            },
            Some(0xdc00..=0xdfff) => Err(JsonFaultAt { fault: JsonFault::Surrogate, at }),
            Some(_) => Ok(at + 6),
        }
    }

    /// Skips the number that begins here.
    #[inline]
    fn number(&mut self) -> Step<()> {
        let (text, start) = (self.text, self.at);
        let mut at = start + usize::from(text[start] == b'-');
        let whole = digits(text, at);
        let is_padded = whole > at + 1 && text[at] == b'0';
        let mut is_number = whole > at && !is_padded;
        at = whole;
        if text.get(at) == Some(&b'.') {
            let fraction = digits(text, at + 1);
            is_number &= fraction > at + 1;
            at = fraction;
        }
        if let Some(b'e' | b'E') = text.get(at) {
            let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(text, at + 1 + sign);
            is_number &= exponent > at + 1 + sign;
            at = exponent;
        }
        let goes_on =
            matches!(text.get(at), Some(b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E'));
        if !is_number || goes_on {
            return self.no_number(JsonFault::Number);
        }
        self.at = at;
        Ok(())
    }

    fn word(&mut self) -> Step<()> {
        let rest = &self.text[self.at..];
        for word in [&b"null"[..], b"true", b"false"] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(());
            }
        }
        self.no_number(JsonFault::Expected("not JSON: a value is expected"))
    }

    /// Accepts NaN or an infinity if the rules allow it; otherwise reports a fault.
    #[cold]
    fn no_number(&mut self, otherwise: JsonFault) -> Step<()> {
        let rest = &self.text[self.at..];
        let words = [&b"NaN"[..], b"Infinity", b"-Infinity"];
        match words.into_iter().find(|word| rest.starts_with(word)) {
            None => self.fault(otherwise),
            Some(_) if !self.rules.has_nan => self.fault(JsonFault::Nan),
            Some(word) => {
                self.at += word.len();
                Ok(())
            }
        }
    }

    /// Skips the object or array that begins here, at any depth.
    fn nested(&mut self) -> Step<()> {
        self.scratch.open.clear();
        self.scratch.keys.clear();
        self.scratch.firsts.clear();
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.scratch.open.push(b'}');
                    self.scratch.firsts.push(self.scratch.keys.len());
                    if self.peek() != Some(b'}') {
                        self.name()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.scratch.open.push(b']');
                    if self.peek() != Some(b']') {
                        continue;
                    }
                }
                Some(b'"') => self.string()?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                _ => self.word()?,
            }
            if self.close()? {
                return Ok(());
            }
        }
    }

    /// Skips the closing brackets after a value, and the comma before the next one. Returns whether
    /// all brackets are closed.
    fn close(&mut self) -> Step<bool> {
        while let Some(&close) = self.scratch.open.last() {
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    if close == b'}' {
                        self.name()?;
                    }
                    return Ok(false);
                }
                Some(byte) if byte == close => {
                    self.at += 1;
                    self.scratch.open.pop();
                    if byte == b'}' {
                        self.check_keys()?;
                    }
                }
                _ => {
                    return self.fault(JsonFault::Expected(
                        "not JSON: a comma or a closing bracket is expected",
                    ));
                }
            }
        }
        Ok(true)
    }

    /// Skips a key inside a value, and the colon after it.
    fn name(&mut self) -> Step<()> {
        if self.peek() != Some(b'"') {
            return self.fault(JsonFault::Expected(KEY));
        }
        let start = self.at;
        self.string()?;
        if self.rules.has_unique_keys {
            self.scratch.keys.push(start..self.at);
        }
        self.take(b':', COLON)
    }

    /// Refuses the object that ends here if a key occurs twice.
    fn check_keys(&mut self) -> Step<()> {
        let first = self.scratch.firsts.pop().unwrap_or_default();
        let second = second(self.text, &self.scratch.keys[first..]);
        self.scratch.keys.truncate(first);
        second.map_or(Ok(()), |at| Err(JsonFaultAt { fault: JsonFault::Twice, at }))
    }
}

/// Returns the start of the first key that has occurred before, if any.
fn second(text: &[u8], keys: &[Range<usize>]) -> Option<usize> {
    const FEW: usize = 8;
    let raw = |key: &Range<usize>| unquoted(&text[key.clone()]).unwrap_or_default();
    let is_plain = |key: &Range<usize>| !raw(key).contains(&b'\\');
    if keys.len() <= FEW && keys.iter().all(is_plain) {
        let is_before = |at: &usize| keys[..*at].iter().any(|it| raw(it) == raw(&keys[*at]));
        return (1..keys.len()).find(is_before).map(|at| keys[at].start);
    }
    let mut known = HashSet::new();
    let mut is_new = |key: &Range<usize>| {
        let mut decoded = Vec::new();
        decode(raw(key), &mut decoded);
        known.insert(decoded)
    };
    keys.iter().find(|key| !is_new(key)).map(|key| key.start)
}

pub(super) const KEY: &str = "not JSON: a key in quotes is expected";
pub(super) const COLON: &str = "not JSON: a colon is expected";

/// Returns the end of the digits at `at`.
#[inline]
fn digits(text: &[u8], at: usize) -> usize {
    let mut at = at;
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}
