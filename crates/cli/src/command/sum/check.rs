//! `swath sum --check`: compares files with the checksums of a list.
//!
//! ```text
//! XXH3_2d06800538d394c2  a.bin     as `swath sum --hash xxh3` and `xxhsum -H3` print it
//! BLAKE3 (b.bin) = 4f9f…           as `swath sum --tag` prints it
//! 4f9f…  *c.bin                    as `b3sum` does; --hash must name the algorithm
//! 4f9f… d.bin                     as `md5 -r` of BSD does, with one blank, in all such lines or none
//! \\4f9f…  odd\\nname              a path with escapes
//! # a comment
//! ```
//!
//! The number of digits never decides the algorithm of a checksum: SHA-256 has as many as BLAKE3. The
//! whole list is parsed before a file is read: a malformed line is an error with its number.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileTypeExt;

use anyhow::{Result, ensure};
use swath::ReadOptions;
use swath_formats::checksum::{Algorithm, Checksum, ChecksumOptions};

use super::{Sum, read_json, word};
use crate::command::Outcome;
use crate::command::manifest::is_pipe;
use crate::command::several::{escape, must_escape};
use crate::failure::{Refused, describe, is_closed_pipe};
use crate::input::Input;
use crate::output::{complain, print, print_json};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::{PathJson, counted, object};

/// One line of a list.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    algorithm: Algorithm,
    /// The digest, in lower case.
    digest: String,
    path: OsString,
}

/// Counts of files by the result of the comparison.
#[derive(Default)]
struct Totals {
    differ: u64,
    unreadable: u64,
}

/// Compares the files of `list` with its checksums.
pub(super) fn check(args: &Sum, list: &Input) -> Result<Outcome> {
    let facts = list.path().and_then(|path| path.metadata().ok());
    if facts.is_some_and(|facts| facts.file_type().is_char_device()) {
        // A device may never end.
        let what = format!("cannot check {list}: it is a device");
        return Err(Refused::new(what, "name a list that `swath sum --hash` printed").into());
    }
    let bytes = ReadOptions::new().read(list.source()?)?.buffer;
    let entries = parsed(&bytes, list, args.hash)?;
    let from_stdin = entries.iter().any(|entry| entry.path == "-");
    ensure!(
        *list != Input::Stdin || !from_stdin,
        Refused::new(
            "cannot check standard input against a list that is standard input itself",
            "save the list to a file first"
        )
    );
    let (profiles, mut totals) = (Profiles::new(args.how.flow.profile), Totals::default());
    for entry in &entries {
        match compare(args, entry, &profiles, &mut totals) {
            // A closed pipe hides lines, but not the verdict.
            Err(error) if is_closed_pipe(&error) => {}
            ended => ended?,
        }
    }
    let all = counted(entries.len() as u64, "file");
    let differ = if totals.differ == 1 { "differs" } else { "differ" };
    for (count, what) in [(totals.differ, differ), (totals.unreadable, "cannot be read")] {
        if count > 0 {
            complain(format!("{list}: {count} of {all} {what}"));
        }
    }
    let is_same = totals.differ + totals.unreadable == 0;
    Ok(if is_same { Outcome::Done } else { Outcome::Differs })
}

fn compare(args: &Sum, entry: &Entry, profiles: &Profiles, totals: &mut Totals) -> Result<()> {
    let found = checksum(args, entry, profiles);
    let error = found.as_ref().err().map(describe);
    let found = found.ok();
    let actual = found.as_ref().map(Checksum::hex);
    let verified = actual.as_deref() == Some(entry.digest.as_str());
    match (&error, verified) {
        (Some(error), _) => {
            complain(error);
            totals.unreadable += 1;
        }
        (None, false) => totals.differ += 1,
        (None, true) => {}
    }
    if args.json {
        return print_json(&object! {
            #[serde(flatten)]
            path: PathJson::from(&entry.path),
            algorithm: word(entry.algorithm),
            verified,
            expected: &entry.digest,
            // `null`: the file cannot be read.
            actual,
            #[serde(flatten)]
            read: found.map(|it| read_json(it.bytes, it.elapsed, it.report.as_ref())),
            #[serde(flatten)]
            error: error.map(|error| object! { error }),
        });
    }
    if verified && args.quiet {
        return Ok(());
    }
    let verdict = match (verified, error.is_some()) {
        (true, _) => ": OK\n",
        (_, true) => ": FAILED (cannot be read)\n",
        _ => ": FAILED\n",
    };
    let mut line = Vec::new();
    if must_escape(&entry.path) {
        line.push(b'\\');
    }
    escape(&entry.path, &mut line);
    line.extend_from_slice(verdict.as_bytes());
    Ok(print(line)?)
}

/// Computes the checksum of one file.
fn checksum(args: &Sum, entry: &Entry, profiles: &Profiles) -> Result<Checksum> {
    // A name in a list is a path, never a URI.
    let input = match entry.path.as_bytes() {
        b"-" => Input::Stdin,
        _ => Input::Path(entry.path.clone().into()),
    };
    // A list has names of files; a pipe may have no writer.
    if input.path().and_then(|path| path.metadata().ok()).is_some_and(is_pipe) {
        let what = format!("cannot read {input}: it is a named pipe");
        return Err(Refused::new(what, "pass the pipe itself to `swath sum`").into());
    }
    let options = profiles.apply(args.how.options(), &input);
    let (options, _bar) = Bar::attach(options, !args.json);
    let options = ChecksumOptions::new().with_read(options);
    // The file may just have been replaced by a pipe.
    Ok(options.checksum(swath::Input::open_at_once(input.source()?)?, entry.algorithm)?)
}

/// Parses a whole list.
fn parsed(bytes: &[u8], list: &Input, wanted: Option<Algorithm>) -> Result<Vec<Entry>> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        let what = format!("cannot check {list}: it is text in UTF-16");
        let hint = "convert it first: `iconv -f UTF-16 -t UTF-8 LIST | swath sum --check -`";
        return Err(Refused::new(what, hint).into());
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (mut entries, mut gap) = (Vec::new(), None);
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let entry = entry(line, wanted, &mut gap).map_err(|(why, hint)| {
            Refused::new(format!("cannot check {list}: line {number}: {why}"), hint)
        })?;
        entries.push(entry);
    }
    let nothing = format!("cannot check {list}: it has no checksums");
    ensure!(
        !entries.is_empty(),
        Refused::new(nothing, "name a list that `swath sum --hash` printed")
    );
    Ok(entries)
}

/// The fault of a malformed line, and a hint.
type Malformed = (String, &'static str);

const FORM: &str = "write `HASH  PATH`, as `swath sum --hash` prints it";

/// The separator between a checksum and its path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    One,
    /// Two blanks, or a blank and the mark of binary files.
    Two,
}

/// Splits `digest  path`. The first line decides whether one blank or two separate them: otherwise a path that
/// begins with a blank would be misread.
fn split<'l>(line: &'l [u8], gap: &mut Option<Gap>) -> Result<(&'l [u8], &'l [u8]), Malformed> {
    let blank = line.iter().position(|byte| b" \t".contains(byte));
    let blank =
        blank.ok_or_else(|| (String::from("there is no path after the checksum"), FORM))?;
    let (digest, rest) = (&line[..blank], &line[blank + 1..]);
    let found = if matches!(rest, [b' ' | b'*', ..]) { Gap::Two } else { Gap::One };
    match (*gap.get_or_insert(found), found) {
        (Gap::One, _) => Ok((digest, rest)),
        (Gap::Two, Gap::Two) => Ok((digest, &rest[1..])),
        (Gap::Two, Gap::One) => {
            let why = "one blank follows the checksum, and two follow those of earlier lines";
            Err((String::from(why), FORM))
        }
    }
}

fn entry(
    line: &[u8],
    wanted: Option<Algorithm>,
    gap: &mut Option<Gap>,
) -> Result<Entry, Malformed> {
    let (line, is_escaped) = match line.strip_prefix(b"\\") {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    let (tag, digest, path) = match tagged(line) {
        Some((name, digest, path)) => (Some(named(name)?), digest, path),
        None => {
            let (digest, path) = split(line, gap)?;
            (None, digest, path)
        }
    };
    let digest = String::from_utf8_lossy(digest).to_ascii_lowercase();
    let (digest, tag) = match digest.strip_prefix("xxh3_") {
        Some(rest) => (rest.to_owned(), Some(Algorithm::Xxh3)),
        None => (digest, tag),
    };
    let is_hex = !digest.is_empty() && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex {
        return Err((format!("`{digest}` is not a checksum in hexadecimal digits"), FORM));
    }
    if path.is_empty() {
        return Err((String::from("there is no path after the checksum"), FORM));
    }
    let path = if is_escaped { unescaped(path) } else { Some(path.to_vec()) };
    let path = path.ok_or_else(|| (String::from("unknown escape in the path"), FORM))?;
    let algorithm = algorithm(&digest, tag, wanted)?;
    Ok(Entry { algorithm, digest, path: OsString::from_vec(path) })
}

/// Splits `NAME (path) = digest`. OpenSSL writes it without the first two spaces.
fn tagged(line: &[u8]) -> Option<(&str, &[u8], &[u8])> {
    let open = line.iter().position(|&byte| byte == b'(')?;
    let name = std::str::from_utf8(&line[..open]).ok()?;
    let name = name.strip_suffix(' ').unwrap_or(name);
    let is_name =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-/_".contains(&byte));
    let rest = &line[open + 1..];
    let close = rest.windows(3).rposition(|part| part == b")= ").map(|at| (at, at + 3));
    let close =
        rest.windows(4).rposition(|part| part == b") = ").map(|at| (at, at + 4)).or(close);
    let (end, digest) = close.filter(|_| is_name && !name.is_empty())?;
    Some((name, &rest[digest..], &rest[..end]))
}

/// Returns the algorithm of this name.
fn named(name: &str) -> Result<Algorithm, Malformed> {
    let known = |(word, _): &&(&str, Algorithm)| word.eq_ignore_ascii_case(name);
    Algorithm::WORDS.iter().find(known).map(|&(_, algorithm)| algorithm).ok_or_else(|| {
        let all: Vec<_> = Algorithm::WORDS.iter().map(|&(word, _)| word).collect();
        let why = format!("{name} is not a supported algorithm ({})", all.join(", "));
        (why, "check the list with the tool that made it")
    })
}

/// Returns the algorithm that the line names, or that of --hash. The number of digits alone does not decide.
fn algorithm(
    digest: &str,
    tag: Option<Algorithm>,
    wanted: Option<Algorithm>,
) -> Result<Algorithm, Malformed> {
    if let (Some(tag), Some(wanted)) = (tag, wanted)
        && tag != wanted
    {
        let why = format!("it is a checksum of {}, not {}", word(tag), word(wanted));
        return Err((why, "leave out --hash, or pass the algorithm of the list"));
    }
    match tag.or(wanted) {
        Some(found) if digits(found) == digest.len() => Ok(found),
        Some(found) => {
            let (wanted, word) = (digits(found), word(found));
            let why = format!("a checksum has {wanted} ({word}) digits, not {}", digest.len());
            Err((why, "check the list with the tool that made it"))
        }
        None => Err(nameless(digest.len())),
    }
}

/// Returns the error of a checksum without the name of its algorithm.
fn nameless(len: usize) -> Malformed {
    let all = Algorithm::WORDS.iter().map(|&(_, algorithm)| algorithm);
    let (other, hint) = match all.into_iter().find(|&it| digits(it) == len) {
        Some(Algorithm::Crc32c) => {
            ("crc32c, CRC-32 or XXH32", "pass --hash crc32c if `swath sum` printed the list")
        }
        Some(Algorithm::Xxh3) => ("xxh3 or XXH64", "pass --hash xxh3 if it is a list of XXH3"),
        Some(_) => {
            ("blake3 or SHA-256", "pass --hash blake3 if b3sum or `swath sum` printed the list")
        }
        None => {
            let why = "a checksum has 8 (crc32c), 16 (xxh3) or 64 (blake3) digits";
            let hint = "check the list with the tool that made it";
            return (format!("{why}, not {len}"), hint);
        }
    };
    (
        format!("a checksum of {len} digits can be {other}, and the line does not say which"),
        hint,
    )
}

fn digits(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::Crc32c => 8,
        Algorithm::Xxh3 => 16,
        _ => 64,
    }
}

/// Undoes the escapes of a path; `None` for an unknown escape.
fn unescaped(path: &[u8]) -> Option<Vec<u8>> {
    let (mut plain, mut rest) = (Vec::with_capacity(path.len()), path.iter());
    while let Some(&byte) = rest.next() {
        plain.push(match byte {
            b'\\' => match rest.next()? {
                b'n' => b'\n',
                b'r' => b'\r',
                b'\\' => b'\\',
                _ => return None,
            },
            byte => byte,
        });
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    const CRC: &str = "e3069283";
    const XXH3: &str = "2d06800538d394c2";

    fn one(line: &str, wanted: Option<Algorithm>) -> Result<Entry, String> {
        entry(line.as_bytes(), wanted, &mut None).map_err(|(why, _)| why)
    }

    #[test]
    fn lines_of_the_usual_tools_are_understood() {
        let blake3 = "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7";
        let (crc32c, xxh3) = (Some(Algorithm::Crc32c), Some(Algorithm::Xxh3));
        for (line, wanted, algorithm, path) in [
            (format!("{CRC}  a b"), crc32c, Algorithm::Crc32c, "a b"),
            (format!("{CRC} a b"), crc32c, Algorithm::Crc32c, "a b"),
            (format!("{CRC}\ta"), crc32c, Algorithm::Crc32c, "a"),
            (format!("\\{CRC} a\\nb"), crc32c, Algorithm::Crc32c, "a\nb"),
            (format!("{CRC} *a (b) = c"), crc32c, Algorithm::Crc32c, "a (b) = c"),
            (format!("{}  a", CRC.to_uppercase()), crc32c, Algorithm::Crc32c, "a"),
            (format!("{XXH3}  a"), xxh3, Algorithm::Xxh3, "a"),
            (format!("XXH3_{XXH3}  a"), None, Algorithm::Xxh3, "a"),
            (format!("XXH3 (a) (b) = {XXH3}"), None, Algorithm::Xxh3, "a) (b"),
            (format!("{blake3}  a"), Some(Algorithm::Blake3), Algorithm::Blake3, "a"),
            (format!("BLAKE3 (a) = {blake3}"), None, Algorithm::Blake3, "a"),
            (format!("\\{CRC}  a\\nb\\\\c"), crc32c, Algorithm::Crc32c, "a\nb\\c"),
            (format!("\\CRC32C (a\\nb) = {CRC}"), None, Algorithm::Crc32c, "a\nb"),
            (format!("{CRC}  a\\nb"), crc32c, Algorithm::Crc32c, "a\\nb"),
        ] {
            let found = one(&line, wanted).expect("a line");
            assert_eq!(
                (found.algorithm, found.path.as_os_str()),
                (algorithm, OsStr::new(path))
            );
            assert!(found.digest.bytes().all(|byte| !byte.is_ascii_uppercase()), "{line}");
        }
    }

    #[test]
    fn a_list_has_comments_a_mark_of_utf_8_and_one_kind_of_gap() {
        let list = Input::Path("list".into());
        let paths = |text: &str| {
            let entries = parsed(text.as_bytes(), &list, Some(Algorithm::Crc32c));
            let path = |entry: Entry| entry.path.into_string().expect("UTF-8");
            entries
                .map(|all| Vec::from_iter(all.into_iter().map(path)))
                .map_err(|it| describe(&it))
        };
        let found = paths("\u{feff}# today\r\n\r\ne3069283  a\r\ne3069283 *b\r\n");
        assert_eq!(found.expect("lines of two blanks"), ["a", "b"]);
        let found = paths("\u{feff}e3069283 a\ne3069283  b\ne3069283 *c\n");
        assert_eq!(found.expect("lines of one blank"), ["a", " b", "*c"]);
        let error =
            paths("#\ne3069283  a\nCRC32C (b) = e3069283\ne3069283 c\n").expect_err("mixed");
        assert!(error.starts_with("cannot check list: line 4: one blank follows"), "{error}");
        for mark in [&b"\xff\xfee\0"[..], b"\xfe\xff\0e"] {
            let error = parsed(mark, &list, None).expect_err("not UTF-8");
            assert!(describe(&error).contains("in UTF-16; try: convert it"), "{error}");
        }
    }

    #[test]
    fn malformed_lines_are_refused_with_the_reason() {
        for (line, wanted, why) in [
            ("e3069283", None, "no path"),
            ("e3069283  ", None, "no path"),
            ("e3069283 ", None, "no path"),
            ("e306928x  a", None, "not a checksum"),
            ("e3069283  a", None, "8 digits can be crc32c, CRC-32 or XXH32"),
            ("2d06800538d394c2  a", None, "16 digits can be xxh3 or XXH64"),
            ("SHA256 (a) = e306", None, "SHA256 is not a supported algorithm (xxh3, crc32c, "),
            ("SHA2-256(a)= e306", None, "SHA2-256 is not a supported algorithm"),
            ("XXH64 (a) = 2d06800538d394c2", Some(Algorithm::Xxh3), "XXH64 is not a supported"),
            ("e30692  a", None, "8 (crc32c), 16 (xxh3) or 64 (blake3) digits, not 6"),
            ("e3069283  a", Some(Algorithm::Xxh3), "16 (xxh3) digits, not 8"),
            ("XXH3_2d06800538d394c2  a", Some(Algorithm::Blake3), "of xxh3, not blake3"),
            ("BLAKE3 (a) = e3069283", None, "64 (blake3) digits, not 8"),
            ("\\e3069283  a\\tb", None, "escape"),
        ] {
            let error = one(line, wanted).expect_err(line);
            assert!(error.contains(why), "{line}: {error}");
        }
        let list = Input::Path("list".into());
        let crc32c = Some(Algorithm::Crc32c);
        let error = parsed(b"# made today\n\ne3069283  a\nnothing\n", &list, crc32c);
        let error = describe(&error.expect_err("its last line"));
        assert!(error.starts_with("cannot check list: line 4: "), "{error}");
        let error = describe(&parsed(b"\n", &list, None).expect_err("empty"));
        assert!(error.contains("it has no checksums"), "{error}");
    }
}
