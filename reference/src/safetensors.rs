//! Files of tensors: inspects every member of the header, one after the other.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::json::{Json, parse};

/// The fault of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// It ends within the header or the data.
    Truncated,
    /// A number in the header exceeds the range or the limit.
    TooLarge,
    /// It does not begin like a file of tensors.
    Unknown,
    /// Any other fault.
    Malformed,
}

/// A tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// The type of its elements, as in the header.
    pub dtype: String,
    /// The number of elements along each axis.
    pub shape: Vec<u64>,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The metadata of the whole file.
    pub metadata: BTreeMap<String, String>,
    /// Its tensors, in the order of their bytes, then of the header.
    pub tensors: Vec<Tensor>,
}

/// The element types, with their bits.
pub const DTYPES: &[(&str, u64)] = &[
    ("BOOL", 8),
    ("F4", 4),
    ("F6_E2M3", 6),
    ("F6_E3M2", 6),
    ("U8", 8),
    ("I8", 8),
    ("F8_E5M2", 8),
    ("F8_E4M3", 8),
    ("F8_E8M0", 8),
    ("F8_E4M3FNUZ", 8),
    ("F8_E5M2FNUZ", 8),
    ("I16", 16),
    ("U16", 16),
    ("F16", 16),
    ("BF16", 16),
    ("I32", 32),
    ("U32", 32),
    ("F32", 32),
    ("C64", 64),
    ("F64", 64),
    ("I64", 64),
    ("U64", 64),
];

/// Reads a file.
///
/// # Errors
///
/// The errors of reading; inside the result, the fault of the file.
pub fn read(path: impl AsRef<Path>) -> io::Result<Result<File, FileFault>> {
    Ok(decode(&std::fs::read(path)?))
}

/// Decodes the bytes of a file.
///
/// # Errors
///
/// Its fault.
pub fn decode(bytes: &[u8]) -> Result<File, FileFault> {
    if bytes.len() < 8 {
        return Err(FileFault::Truncated);
    }
    let mut len: u64 = 0;
    for (place, &byte) in bytes[..8].iter().enumerate() {
        len += u64::from(byte) << (8 * place);
    }
    if len > 100_000_000 {
        return Err(FileFault::TooLarge);
    }
    let len = usize::try_from(len).map_err(|_| FileFault::TooLarge)?;
    if bytes.len() < 8 + len {
        return Err(FileFault::Truncated);
    }
    let (header, data) = bytes[8..].split_at(len);
    if header.iter().find(|byte| !b" \t\n\r".contains(byte)) != Some(&b'{') {
        return Err(FileFault::Unknown);
    }
    let text = std::str::from_utf8(header).map_err(|_| FileFault::Malformed)?;
    let Some(Json::Object(members)) = parse(text) else { return Err(FileFault::Malformed) };
    let (metadata, said) = members_of(members).ok_or(FileFault::Malformed)?;
    tensors(said, data, 8 + len as u64).map(|tensors| File { metadata, tensors })
}

type Said = (String, String, Vec<u64>, (u64, u64));

fn members_of(members: Vec<(String, Json)>) -> Option<(BTreeMap<String, String>, Vec<Said>)> {
    let mut metadata = BTreeMap::new();
    let mut said = Vec::new();
    let mut names = Vec::new();
    for (name, value) in members {
        if names.contains(&name) {
            return None;
        }
        names.push(name.clone());
        if name != "__metadata__" {
            said.push(tensor_of(name, value)?);
            continue;
        }
        match value {
            Json::Null => {}
            Json::Object(strings) => {
                for (key, value) in strings {
                    let Json::String(value) = value else { return None };
                    if metadata.insert(key, value).is_some() {
                        return None;
                    }
                }
            }
            _ => return None,
        }
    }
    Some((metadata, said))
}

fn tensor_of(name: String, value: Json) -> Option<Said> {
    let Json::Object(members) = value else { return None };
    let (mut dtypes, mut shapes, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    for (key, value) in members {
        match key.as_str() {
            "dtype" => dtypes.push(value),
            "shape" => shapes.push(numbers(value)?),
            "data_offsets" => offsets.push(numbers(value)?),
            _ => {}
        }
    }
    let (&[Json::String(ref dtype)], [shape], [offsets]) =
        (&dtypes[..], &shapes[..], &offsets[..])
    else {
        return None;
    };
    let &[start, end] = &offsets[..] else { return None };
    DTYPES.iter().find(|(word, _)| word == dtype)?;
    Some((name, dtype.clone(), shape.clone(), (start, end)))
}

fn numbers(value: Json) -> Option<Vec<u64>> {
    let Json::Array(values) = value else { return None };
    let mut numbers = Vec::new();
    for value in values {
        let Json::Number(number) = value else { return None };
        numbers.push(number.parse().ok()?);
    }
    Some(numbers)
}

fn tensors(mut said: Vec<Said>, data: &[u8], base: u64) -> Result<Vec<Tensor>, FileFault> {
    said.sort_by_key(|&(.., offsets)| offsets);
    let mut last = 0;
    for (_, dtype, shape, (start, end)) in &said {
        if *start != last || end < start {
            return Err(FileFault::Malformed);
        }
        last = *end;
        let mut count: u64 = 1;
        for &len in shape {
            count = count.checked_mul(len).ok_or(FileFault::TooLarge)?;
        }
        let each = DTYPES.iter().find(|(word, _)| word == dtype).ok_or(FileFault::Malformed)?.1;
        let bits = count.checked_mul(each).ok_or(FileFault::TooLarge)?;
        if bits % 8 != 0 || bits / 8 != end - start {
            return Err(FileFault::Malformed);
        }
    }
    if last > data.len() as u64 {
        return Err(FileFault::Truncated);
    }
    if last < data.len() as u64 {
        return Err(FileFault::Malformed);
    }
    let mut tensors = Vec::new();
    for (name, dtype, shape, (start, end)) in said {
        let at = |place: u64| usize::try_from(place).unwrap_or(data.len());
        let bytes = data[at(start)..at(end)].to_vec();
        tensors.push(Tensor { name, dtype, shape, offset: base + start, bytes });
    }
    Ok(tensors)
}

/// Returns the bytes of a file with these tensors, in the form of the format's own library.
#[must_use]
pub fn encode(metadata: &BTreeMap<String, String>, tensors: &[Tensor]) -> Vec<u8> {
    let rank = |tensor: &Tensor| DTYPES.iter().position(|(word, _)| *word == tensor.dtype);
    let mut sorted = tensors.to_vec();
    sorted.sort_by(|left, right| {
        rank(right).cmp(&rank(left)).then_with(|| left.name.cmp(&right.name))
    });
    let mut members = Vec::new();
    if !metadata.is_empty() {
        let pairs =
            metadata.iter().map(|(key, value)| format!("{}:{}", quoted(key), quoted(value)));
        members.push(format!("\"__metadata__\":{{{}}}", pairs.collect::<Vec<_>>().join(",")));
    }
    let mut data = Vec::new();
    for Tensor { name, dtype, shape, bytes, .. } in sorted {
        let start = data.len();
        data.extend(bytes);
        let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
        members.push(format!(
            "{}:{{\"dtype\":\"{dtype}\",\"shape\":[{}],\"data_offsets\":[{start},{}]}}",
            quoted(&name),
            shape.join(","),
            data.len()
        ));
    }
    let mut header = format!("{{{}}}", members.join(","));
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    file.extend(data);
    file
}

/// Returns a string as JSON.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            letter if letter < ' ' => quoted.push_str(&format!("\\u{:04x}", letter as u32)),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let tensor = |name: &str, dtype: &str, shape: &[u64], bytes: &[u8]| {
            let (name, dtype, shape) = (name.to_owned(), dtype.to_owned(), shape.to_vec());
            Tensor { name, dtype, shape, offset: 0, bytes: bytes.to_vec() }
        };
        let all = [tensor("a\"", "U8", &[3], b"abc"), tensor("b", "F32", &[], b"1234")];
        let metadata = BTreeMap::from([(String::from("k\n"), String::from("é"))]);
        let bytes = encode(&metadata, &all);
        let file = decode(&bytes).expect("valid");
        assert_eq!(file.metadata, metadata);
        let names: Vec<_> = file.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        assert_eq!(names, ["b", "a\""], "wide elements first");
        assert_eq!(file.tensors[1].bytes, b"abc");
        assert_eq!(file.tensors[1].offset + 3, bytes.len() as u64);
        assert_eq!(decode(&bytes[..bytes.len() - 1]), Err(FileFault::Truncated));
        assert_eq!(decode(b"\x02\0\0\0\0\0\0\0[]"), Err(FileFault::Unknown));
        assert_eq!(decode(&[0xff; 20]), Err(FileFault::TooLarge));
        assert_eq!(decode(b"\x03\0\0\0\0\0\0\0{} x"), Err(FileFault::Malformed));
    }
}
