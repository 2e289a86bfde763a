//! Headers that must be rejected, and headers that must not.

use swath_formats::FormatReason;
use swath_formats::safetensors::{self, Shard};
use swath_reference::safetensors as reference;

use super::{file, made};

const T: &str = r#""dtype":"F32","shape":[1],"data_offsets":[0,4]"#;

/// Returns what the library says about a file: the names of its tensors, or the error and its byte.
fn judged(bytes: &[u8]) -> Result<Vec<String>, (FormatReason, Option<u64>, String)> {
    let made = made(bytes);
    let read = safetensors::read([&made.path]);
    let right = reference::read(&made.path).expect("read");
    match (&read, &right) {
        (Ok(tensors), Ok(right)) => {
            super::assert_same(tensors, &right.tensors);
            assert_eq!(tensors.shards()[0].header().metadata(), &right.metadata);
        }
        (Err(error), Err(fault)) => {
            let class = match error.reason() {
                FormatReason::Truncated => reference::FileFault::Truncated,
                FormatReason::TooLarge => reference::FileFault::TooLarge,
                FormatReason::UnknownFormat => reference::FileFault::Unknown,
                FormatReason::Malformed => reference::FileFault::Malformed,
                other => panic!("{other:?}: {error}"),
            };
            assert_eq!(class, *fault, "{error}");
            assert!(Shard::of(&made.path).is_err(), "the header alone is taken for valid");
            assert_eq!(error.path(), made.path);
            assert!(
                error.to_string().len() < 1000,
                "a long message: {}",
                error.to_string().len()
            );
            assert!(!error.what_to_try().is_empty(), "nothing to try: {error}");
        }
        _ => panic!("{:?}, the reference says {:?}", read.map(|_| ()), right.map(|_| ())),
    }
    drop(made.folder);
    match read {
        Ok(tensors) => Ok(tensors.iter().map(|tensor| tensor.name.to_owned()).collect()),
        Err(error) => Err((error.reason(), error.offset(), error.to_string())),
    }
}

#[track_caller]
fn refused(header: &str, data: &[u8], reason: FormatReason, offset: u64, says: &str) {
    match judged(&file(header, data)) {
        Ok(names) => panic!("taken for valid: {names:?}"),
        Err((why, at, text)) => {
            assert_eq!((why, at), (reason, Some(offset)), "{text}");
            assert!(text.contains(says), "{text}");
        }
    }
}

#[test]
fn the_length_of_the_header_is_checked_against_the_file() {
    for (bytes, reason, offset) in [
        (&b""[..], FormatReason::Truncated, 0),
        (b"1234567", FormatReason::Truncated, 7),
        (b"\x03\0\0\0\0\0\0\0{}", FormatReason::Truncated, 10),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff{}", FormatReason::TooLarge, 0),
        (b"\x01\xe1\xf5\x05\0\0\0\0{}", FormatReason::TooLarge, 0),
        (b"\0\xe1\xf5\x05\0\0\0\0{}", FormatReason::Truncated, 10),
        (b"\0\0\0\0\0\0\0\0", FormatReason::UnknownFormat, 8),
        (b"\x02\0\0\0\0\0\0\0[]", FormatReason::UnknownFormat, 8),
    ] {
        let error = judged(bytes).expect_err("damaged");
        assert_eq!((error.0, error.1), (reason, Some(offset)), "{}", error.2);
    }
}

#[test]
fn a_header_is_json_and_nothing_else() {
    let malformed = FormatReason::Malformed;
    for other in ["\u{b}{}", "\u{c}{}", "\0{}", "\u{feff}{}", "\u{a0}{}", "  ", "\n[]"] {
        refused(other, b"", FormatReason::UnknownFormat, 8, "does not begin with");
    }
    refused("{}\0", b"", malformed, 10, "trailing characters");
    refused("{} {}", b"", malformed, 11, "trailing characters");
    refused("{", b"", malformed, 8, "EOF");
    refused(&format!("{{\"a\":{{{T}}},}}"), b"1234", malformed, 8 + 54, "trailing comma");
    refused("{\n\"\\ud800\":1}", b"", malformed, 8 + 9, "hex escape");
    let mut bytes = file(&format!("{{\"a\":{{{T}}}}}"), b"1234");
    bytes[10] = 0xff;
    let error = judged(&bytes).expect_err("no UTF-8");
    assert_eq!((error.0, error.1), (malformed, Some(10)), "{}", error.2);
    let deep = format!("{{\"a\":{{{T},\"x\":{}1{}}}}}", "[".repeat(200), "]".repeat(200));
    let error = judged(&file(&deep, b"1234")).expect_err("too deep");
    assert_eq!(error.0, malformed, "{}", error.2);
}

#[test]
fn white_space_may_stand_before_a_header() {
    for before in [" ", "\n", "\t\r\n ", &" ".repeat(70_000)] {
        let header = format!("{before}{{\"a\":{{{T}}}}} \n");
        assert_eq!(judged(&file(&header, b"1234")).expect("valid"), ["a"], "{before:?}");
        refused(
            &format!("{before}{{\"a\":}}"),
            b"",
            FormatReason::Malformed,
            8 + before.len() as u64 + 5,
            "expected",
        );
    }
}

#[test]
fn members_are_there_once_and_of_their_kind() {
    let mal = FormatReason::Malformed;
    let all = [
        (format!(r#"{{"a":{{{T}}},"a":{{{T}}}}}"#), r#"duplicate tensor "a""#),
        (format!(r#"{{"a":{{{T}}},"\u0061":{{{T}}}}}"#), r#"duplicate tensor "a""#),
        (format!(r#"{{"a":{{{T},"shape":[1]}}}}"#), "duplicate member `shape`"),
        (String::from(r#"{"__metadata__":{},"__metadata__":{}}"#), "duplicate member"),
        (String::from(r#"{"__metadata__":{"k":"1","k":"2"}}"#), "duplicate name"),
        (String::from(r#"{"__metadata__":{"k":1}}"#), "expected a string"),
        (String::from(r#"{"__metadata__":[]}"#), "object of strings"),
        (String::from(r#"{"a":1}"#), "an object with dtype"),
        (String::from(r#"{"a":null}"#), "an object with dtype"),
        (String::from(r#"{"a":["F32",[1],[0,4]]}"#), "an object with dtype"),
        (String::from(r#"{"a":{"dtype":"F32","shape":[1]}}"#), "`data_offsets` is missing"),
        (String::from(r#"{"a":{"dtype":"F32","data_offsets":[0,4]}}"#), "`shape` is missing"),
        (String::from(r#"{"a":{"shape":[1],"data_offsets":[0,4]}}"#), "`dtype` is missing"),
        (T.replace("F32", "f32"), r#"unknown dtype "f32""#),
        (T.replace("F32", "I4"), r#"unknown dtype "I4""#),
        (T.replace(r#""F32""#, "32"), "name of a dtype"),
        (T.replace("[1]", "[-1]"), "-1"),
        (T.replace("[1]", "[1.0]"), "floating point"),
        (T.replace("[1]", "[1e0]"), "floating point"),
        (T.replace("[1]", "[18446744073709551616]"), "floating point"),
        (T.replace("[1]", "1"), "a sequence"),
        (T.replace("[0,4]", "[0,4,4]"), "data_offsets"),
        (T.replace("[0,4]", "[4]"), "data_offsets"),
        (T.replace("[0,4]", r#"{"0":4}"#), "data_offsets"),
    ];
    for (header, says) in all {
        let is_member = !header.starts_with('{');
        let header = if is_member { format!("{{\"a\":{{{header}}}}}") } else { header };
        let error = judged(&file(&header, b"1234")).expect_err(&header);
        assert_eq!(error.0, mal, "{header}: {}", error.2);
        let at = error.1.expect("a place");
        assert!((8..8 + header.len() as u64).contains(&at), "{header}: byte {at}");
        let is_said = error.2.contains(says) || says == "data_offsets";
        assert!(is_said && (!is_member || error.2.contains("\"a\"")), "{header}: {}", error.2);
    }
}

#[test]
fn offsets_cover_the_data_and_fit_the_shapes() {
    let said = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}"#)
    };
    let one = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"t":{}}}"#, said(dtype, shape, offsets))
    };
    let two = |first: &str, second: &str| {
        let (first, second) = (said("U8", "[2]", first), said("U8", "[2]", second));
        format!(r#"{{"a":{first},"b":{second}}}"#)
    };
    let data = |header: &str| 8 + header.len() as u64;
    let refuse = |header: &str, bytes: &[u8], reason, place: u64, says: &str| {
        refused(header, bytes, reason, data(header) + place, says);
    };
    let (mal, large, short) =
        (FormatReason::Malformed, FormatReason::TooLarge, FormatReason::Truncated);
    refuse(&one("U8", "[1]", "[1,2]"), b"12", mal, 1, "there is a gap");
    refuse(&two("[0,2]", "[3,5]"), b"12345", mal, 3, "there is a gap");
    refuse(&two("[0,2]", "[1,3]"), b"123", mal, 1, "they overlap");
    refuse(&two("[0,2]", "[0,2]"), b"12", mal, 0, "they overlap");
    refuse(&one("U8", "[1]", "[1,0]"), b"1", mal, 1, "ends before it begins");
    refuse(&one("U8", "[2]", "[0,1]"), b"1", mal, 0, "needs 2 bytes, but has 1 in the file");
    refuse(&one("F32", "[1]", "[0,4]"), b"123", short, 3, "the tensors end at byte");
    refuse(&one("F32", "[1]", "[0,4]"), b"12345", mal, 4, "1 extra byte after the last tensor");
    refuse("{}", b"1", mal, 0, "after the last tensor");
    refuse(&one("F4", "[3]", "[0,1]"), b"1", mal, 0, "not fill whole bytes");
    refuse(&one("F6_E2M3", "[5]", "[0,3]"), b"123", mal, 0, "not fill whole bytes");
    let (max, half) = (u64::MAX, 1_u64 << 63);
    refuse(&one("U8", &format!("[{max},2]"), "[0,1]"), b"1", large, 0, "too many elements");
    refuse(&one("U8", &format!("[{half},4,0]"), "[0,0]"), b"", large, 0, "too many elements");
    refuse(&one("U8", &format!("[{half}]"), "[0,1]"), b"1", large, 0, "too many bits");
    let far = format!("[0,{}]", max / 8);
    refuse(
        &one("U8", &format!("[{}]", max / 8), &far),
        b"1",
        short,
        1,
        "the tensors end at byte",
    );
    let far = format!("[{max},{max}]");
    let header = one("U8", "[0]", &far);
    let error = judged(&file(&header, b"")).expect_err("far away");
    assert_eq!((error.0, error.1), (mal, Some(max)), "{}", error.2);
}

#[test]
fn what_harms_nobody_is_taken() {
    let taken = |header: &str, data: &[u8]| judged(&file(header, data)).expect(header);
    assert!(taken("{}", b"").is_empty());
    assert!(taken(r#"{"__metadata__":null}  "#, b"").is_empty());
    assert!(taken(r#"{"__metadata__":{"format":"pt"}}"#, b"").is_empty());
    assert_eq!(taken(&format!("{{\"a\":{{{T}}}}}\n\t "), b"1234"), ["a"]);
    assert_eq!(taken(&format!(r#"{{"":{{{T},"more":[{{"x":null}},1e300]}}}}"#), b"1234"), [""]);
    let more = r#""b":{"dtype":"U8","shape":[1],"data_offsets":[4,5]}"#;
    assert_eq!(taken(&format!(r#"{{{more},"a":{{{T}}}}}"#), b"12345"), ["a", "b"]);
    let nothing = r#"{"dtype":"F64","shape":[0,18446744073709551615],"data_offsets":[4,4]}"#;
    let header = format!(r#"{{"z":{nothing},"y":{nothing},"a":{{{T}}}}}"#);
    assert_eq!(taken(&header, b"1234"), ["a", "z", "y"]);
    for (dtype, bits) in reference::DTYPES {
        let header =
            format!(r#"{{"t":{{"dtype":"{dtype}","shape":[2,4],"data_offsets":[0,{bits}]}}}}"#);
        assert_eq!(taken(&header, &vec![7; usize::try_from(*bits).expect("small")]), ["t"]);
    }
}

#[test]
fn a_header_that_is_longer_than_the_first_read_is_read_whole() {
    let metadata =
        format!(r#"{{"__metadata__":{{"k":"{}"}},"a":{{{T}}}}}"#, "x".repeat(200_000));
    assert_eq!(judged(&file(&metadata, b"1234")).expect("valid"), ["a"]);
    let long = format!("{{\"{}\":1}}", "x".repeat(200_000));
    assert_eq!(judged(&file(&long, b"")).expect_err("no tensor").0, FormatReason::Malformed);
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let folder = tempfile::tempdir().expect("a folder");
    let read =
        |path: &std::path::Path| safetensors::read([path]).map(drop).expect_err("no file");
    let of_folder = read(folder.path());
    assert_eq!(
        of_folder.library().and_then(swath::Error::raw_os_error),
        Some(21),
        "{of_folder}"
    );
    assert_eq!(read(std::path::Path::new("/dev/zero")).reason(), FormatReason::Unsupported);
    let missing = read(&folder.path().join("missing"));
    assert_eq!(missing.library().and_then(swath::Error::raw_os_error), Some(2), "{missing}");
}

/// Mutations of a header that keep most of it: members, numbers and marks inserted, removed,
/// repeated.
fn mutate(header: &mut Vec<u8>, next: &mut impl FnMut() -> u64) {
    const TOKENS: [&[u8]; 19] = [
        b"0",
        b"1",
        b"-1",
        b"4294967296",
        b"9223372036854775808",
        b"18446744073709551616",
        b"1e0",
        b"1.0",
        b"null",
        b"[]",
        b"{}",
        b",",
        b"\"",
        b"\\u0061",
        b"\\ud800",
        b" ",
        b"\n",
        b"\"shape\":[2],",
        b"\"x\":[[{}]],",
    ];
    let mut below = |len: usize| usize::try_from(next() % (len as u64 + 1)).expect("small");
    for _ in 0..=below(2) {
        let at = below(header.len());
        let until = (at + below(8)).min(header.len());
        match below(4) {
            0 => drop(header.splice(at..at, TOKENS[below(18)].iter().copied())),
            1 => drop(header.splice(at..until, TOKENS[below(18)].iter().copied())),
            2 => drop(header.drain(at..until)),
            3 => header.extend_from_within(at..until),
            _ if at < header.len() => header[at] ^= 1 << below(7),
            _ => {}
        }
    }
}

#[test]
fn mutated_headers_are_judged_as_the_reference_judges_them() {
    let metadata = r#""__metadata__":{"format":"pt","é":"\\n"}"#;
    let tensors = [
        r#""a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}"#,
        r#""b\u00e9":{"dtype":"U8","shape":[],"data_offsets":[8,9]}"#,
        r#""c":{"data_offsets":[9,9],"shape":[0,4],"dtype":"F64","x":{"y":[1.5,true]}}"#,
        r#""d":{"dtype":"F4","shape":[4],"data_offsets":[9,11]}"#,
    ];
    let valid = format!("{{{metadata},{}}}", tensors.join(","));
    let mut taken = 0;
    for seed in 0..3000 {
        let mut next = swath_reference::splitmix(seed);
        let mut header = valid.clone().into_bytes();
        mutate(&mut header, &mut next);
        println!("seed {seed}: {}", header.escape_ascii());
        let len = (header.len() as u64).to_le_bytes();
        // `judged` compares.
        taken += usize::from(judged(&[&len, &header[..], b"12345678901"].concat()).is_ok());
    }
    assert!((1..2500).contains(&taken), "{taken} of 3000 are still valid");
}
