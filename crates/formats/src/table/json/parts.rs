//! The values in an object or an array that has been checked.

/// The members of an object, or the items of an array, as written.
pub(in crate::table) struct Parts<'t> {
    rest: &'t [u8],
    is_object: bool,
}

/// A member or an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct JsonPart<'t> {
    /// With its quotes; empty for an item.
    pub(in crate::table) key: &'t [u8],
    pub(in crate::table) value: &'t [u8],
}

impl<'t> Parts<'t> {
    /// Returns the parts of an object or array with its brackets.
    pub(in crate::table) fn of(raw: &'t [u8]) -> Self {
        Self { rest: raw.get(1..).unwrap_or_default(), is_object: raw.first() == Some(&b'{') }
    }

    /// Takes the next key or value; `None` at the closing bracket.
    fn take(&mut self) -> Option<&'t [u8]> {
        let start = self.rest.iter().position(|byte| !b" \t\r,:".contains(byte))?;
        let rest = &self.rest[start..];
        let len = match rest[0] {
            b'}' | b']' => return None,
            b'"' => string(rest),
            b'{' | b'[' => nested(rest),
            _ => rest.iter().position(|byte| b" \t\r,]}".contains(byte)).unwrap_or(rest.len()),
        };
        let value;
        (value, self.rest) = rest.split_at(len.min(rest.len()));
        Some(value)
    }
}

impl<'t> Iterator for Parts<'t> {
    type Item = JsonPart<'t>;

    fn next(&mut self) -> Option<JsonPart<'t>> {
        let key = if self.is_object { self.take()? } else { b"" };
        Some(JsonPart { key, value: self.take()? })
    }
}

/// Returns the length of the string at the start of a text.
fn string(text: &[u8]) -> usize {
    let mut at = 1;
    loop {
        match text.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}

/// Returns the length of the object or array at the start of a text.
fn nested(text: &[u8]) -> usize {
    let (mut at, mut open) = (0, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at += string(&text[at..]) - 1,
            b'{' | b'[' => open += 1,
            b'}' | b']' if open == 1 => return at + 1,
            b'}' | b']' => open -= 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_members_and_items_as_they_stand_there() {
        let parts = |raw: &'static str| -> Vec<(&str, &str)> {
            let text = |bytes| std::str::from_utf8(bytes).expect("UTF-8");
            Parts::of(raw.as_bytes()).map(|it| (text(it.key), text(it.value))).collect()
        };
        assert_eq!(parts("{ }"), []);
        assert_eq!(parts("[\t]"), []);
        assert_eq!(parts("[1 ,\"]\\\"\",null]"), [("", "1"), ("", "\"]\\\"\""), ("", "null")]);
        assert_eq!(
            parts("{\"a\" : {\"b\":[\"}\", []]} ,\"\\\\\": -1.5e3}"),
            [("\"a\"", "{\"b\":[\"}\", []]}"), ("\"\\\\\"", "-1.5e3")]
        );
    }
}
