//! Sums, counts and checksums are those of the reference and of the standard tools.

use crate::child::{code, file_of, run, run_with_input, stderr, stdout, swath, word};

#[test]
fn sums_and_counts_are_those_of_the_reference() {
    for len in [0, 1, 65_536, 65_537, 2_100_001] {
        let bytes = swath_reference::bytes(len as u64, len);
        let (_folder, path) = file_of(&bytes);
        for engine in ["auto", "serial", "pool", "map"] {
            let value = |verb| stdout(&run([verb, "--engine", engine, word(&path)]));
            let line = |value: u64| format!("{value}  {}\n", word(&path));
            assert_eq!(value("sum"), line(swath_reference::sum(&bytes)), "{engine} {len}");
            let newlines = swath_reference::count(&bytes, b'\n');
            assert_eq!(value("scan"), line(newlines), "{engine} {len}");
        }
    }
}

/// The input of length 1024 of BLAKE3's published test vectors.
#[test]
fn blake3_is_the_published_one() {
    let bytes: Vec<u8> = (0..=250).cycle().take(1024).collect();
    let (_folder, path) = file_of(&bytes);
    let published = "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7";
    let wanted = format!("{published}  {}\n", word(&path));
    assert_eq!(stdout(&run(["sum", "--hash", "blake3", word(&path)])), wanted);
}

#[test]
fn checksums_are_those_of_whole_buffers() {
    let bytes: Vec<u8> = (0..=250).cycle().take(1_500_000).collect();
    let (_folder, path) = file_of(&bytes);
    let blake3 = blake3::hash(&bytes).to_hex().to_string();
    let xxh3 = format!("XXH3_{:016x}", twox_hash::XxHash3_64::oneshot(&bytes));
    let crc32c = format!("{:08x}", bitwise_crc32c(&bytes));
    for (hash, value) in [("blake3", blake3), ("xxh3", xxh3), ("crc32c", crc32c)] {
        let wanted = format!("{value}  {}\n", word(&path));
        assert_eq!(stdout(&run(["sum", "--hash", hash, word(&path)])), wanted);
        let chunked = ["sum", "--hash", hash, "--chunk-size", "4097", word(&path)];
        assert_eq!(stdout(&run(chunked)), wanted, "{hash}");
        let piped = stdout(&run_with_input(&["sum", "--hash", hash, "-"], &bytes));
        assert_eq!(piped, format!("{value}  -\n"));
    }
}

fn bitwise_crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (if crc & 1 == 1 { 0x82f6_3b78 } else { 0 });
        }
    }
    !crc
}

#[test]
fn many_files_have_the_lines_of_each_alone_in_their_order() {
    let folder = tempfile::tempdir().expect("a folder");
    // Short and long ones, which are read differently, empty ones, and one that is not there.
    let names: Vec<String> = (0..40).map(|at| format!("{at}")).collect();
    for (at, name) in names.iter().enumerate().filter(|&(at, _)| at != 13) {
        let len = [0, 1, 9_999, 1 << 20, (1 << 20) + 1, 3_000_001][at % 6];
        let bytes = swath_reference::bytes(at as u64, len);
        std::fs::write(folder.path().join(name), bytes).expect("room");
    }
    let run = |words: &[&str]| swath().args(words).current_dir(folder.path()).output();
    for verb in
        [&["scan"][..], &["sum"], &["scan", "--engine", "pool"], &["sum", "--workers", "3"]]
    {
        let one = |name: &String| run(&[verb, &[name]].concat()).expect("it starts");
        let alone: String = names.iter().map(one).map(|it| stdout(&it)).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let output = run(&[verb, &all].concat()).expect("it starts");
        assert_eq!(code(&output), 1, "{verb:?}: {output:?}");
        assert!(stderr(&output).contains("cannot open 13: "), "{output:?}");
        let together = stdout(&output);
        let lines = together.lines().filter(|line| !line.ends_with("  total"));
        assert_eq!(
            lines.map(|line| format!("{line}\n")).collect::<String>(),
            alone,
            "{verb:?}"
        );
        let count = |line: &str| line.split(' ').next().and_then(|it| it.parse::<u64>().ok());
        let total: u64 = alone.lines().filter_map(count).sum();
        let last = format!("{total}  total\n");
        assert_eq!(together.ends_with(&last), verb[0] == "scan", "{verb:?}");
    }
}

#[test]
fn several_files_have_a_line_each_and_counts_a_total() {
    let (_folder, first) = file_of(b"a\nb\n");
    let (_other, second) = file_of(b"c\n");
    let (first, second) = (word(&first), word(&second));
    let sums = stdout(&run(["sum", first, second]));
    assert_eq!(sums, format!("215  {first}\n109  {second}\n"));
    let counts = stdout(&run(["scan", first, second]));
    assert_eq!(counts, format!("2  {first}\n1  {second}\n3  total\n"));
}

#[test]
fn a_hash_is_not_computed_from_a_map() {
    let (_folder, path) = file_of(b"abc");
    for hash in ["xxh3", "crc32c", "blake3"] {
        let output = run(["sum", "--hash", hash, "--engine", "map", word(&path)]);
        assert_eq!(code(&output), 2, "{hash}");
        assert!(stderr(&output).contains("try: leave out --engine map"), "{output:?}");
    }
}

/// A folder with files, and their list as `sum` prints it.
fn listed(hash: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("a", "first"), ("b\nc", "second"), ("d", "third")] {
        std::fs::write(folder.path().join(name), text).expect("room");
    }
    let output = within(&folder, &["sum", "--hash", hash, "a", "b\nc", "d"], "");
    (folder, stdout(&output))
}

/// Runs in a folder, with `input` as standard input.
fn within(folder: &tempfile::TempDir, words: &[&str], input: &str) -> std::process::Output {
    let path = folder.path().join(".input");
    std::fs::write(&path, input).expect("room");
    let mut command = crate::child::swath();
    command.args(words).current_dir(folder.path());
    command.stdin(std::fs::File::open(&path).expect("there")).output().expect("it starts")
}

#[test]
fn a_list_is_checked_as_it_was_printed() {
    for hash in ["xxh3", "crc32c", "blake3"] {
        let (folder, list) = listed(hash);
        std::fs::write(folder.path().join("sums"), &list).expect("room");
        for words in
            [&["sum", "--check", "sums"][..], &["sum", "-c", "-"], &["sum", "-c", "sums"]]
        {
            let output = within(&folder, &[words, &["--hash", hash]].concat(), &list);
            assert_eq!(
                (code(&output), stderr(&output).as_str()),
                (0, ""),
                "{hash}: {output:?}"
            );
            assert_eq!(stdout(&output), "a: OK\n\\b\\nc: OK\nd: OK\n", "{hash}");
        }
        let check = ["sum", "--hash", hash, "--check", "sums"];
        let quiet = within(&folder, &[&check[..], &["--quiet"]].concat(), "");
        assert_eq!((code(&quiet), stdout(&quiet).as_str()), (0, ""), "{hash}");
        std::fs::write(folder.path().join("a"), "first!").expect("room");
        std::fs::remove_file(folder.path().join("d")).expect("there");
        let output = within(&folder, &check, "");
        assert_eq!(code(&output), 1, "{hash}: {output:?}");
        let wanted = "a: FAILED\n\\b\\nc: OK\nd: FAILED (cannot be read)\n";
        assert_eq!(stdout(&output), wanted, "{hash}");
        let said = stderr(&output);
        assert!(said.contains("swath: cannot open d: No such file"), "{said}");
        assert!(said.contains("swath: sums: 1 of 3 files differs\n"), "{said}");
        assert!(said.contains("swath: sums: 1 of 3 files cannot be read\n"), "{said}");
        let quiet = within(&folder, &[&check[..], &["--quiet"]].concat(), "");
        assert_eq!(stdout(&quiet), "a: FAILED\nd: FAILED (cannot be read)\n", "{hash}");
    }
}

#[test]
fn a_list_that_says_what_it_is_needs_no_flag() {
    for (hash, name) in [("xxh3", "XXH3"), ("crc32c", "CRC32C"), ("blake3", "BLAKE3")] {
        let (folder, _) = listed(hash);
        let words = ["sum", "--hash", hash, "--tag", "a", "b\nc", "d"];
        let list = stdout(&within(&folder, &words, ""));
        assert!(list.starts_with(&format!("{name} (a) = ")), "{list}");
        let output = within(&folder, &["sum", "--check", "-"], &list);
        let verdicts = (code(&output), stdout(&output));
        assert_eq!(verdicts, (0, "a: OK\n\\b\\nc: OK\nd: OK\n".into()), "{output:?}");
    }
    let (folder, list) = listed("xxh3");
    let output = within(&folder, &["sum", "--check", "-"], &list);
    assert_eq!(code(&output), 0, "{output:?}");
}

/// The checksums of `first` by other tools, which are as long as ours.
#[test]
fn a_list_of_another_algorithm_is_not_judged() {
    const SHA256: &str = "a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e";
    let (folder, _) = listed("blake3");
    for (line, why, hint) in [
        (format!("{SHA256}  a"), "64 digits can be blake3 or SHA-256", "pass --hash blake3"),
        (String::from("2d06800538d394c2  a"), "can be xxh3 or XXH64", "pass --hash xxh3"),
        (String::from("e3069283  a"), "can be crc32c, CRC-32 or XXH32", "pass --hash crc32c"),
        (
            format!("SHA256 (a) = {SHA256}"),
            "SHA256 is not a supported algorithm (xxh3",
            "check",
        ),
        (format!("SHA2-256(a)= {SHA256}"), "SHA2-256 is not a supported algorithm", "check"),
    ] {
        let output = within(&folder, &["sum", "--check", "-"], &format!("{line}\n"));
        let said = stderr(&output);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{said}");
        assert!(said.starts_with("swath: cannot check <stdin>: line 1: "), "{said}");
        assert!(said.contains(why) && said.contains(&format!("; try: {hint}")), "{said}");
    }
}

#[test]
fn a_list_of_ingest_is_checked_too() {
    let (folder, _) = listed("xxh3");
    let list = stdout(&within(&folder, &["ingest", "--hash", "xxh3", "a", "d"], ""));
    let output = within(&folder, &["sum", "--check", "-"], &list);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "a: OK\nd: OK\n"), "{output:?}");
}

#[test]
fn a_malformed_line_is_2_with_its_number_and_nothing_is_read() {
    let (folder, list) = listed("crc32c");
    for (line, why) in [
        ("nothing", "line 4: there is no path after the checksum; try: write"),
        ("12345  a", "line 4: a checksum has 8 (crc32c) digits, not 5"),
        ("zzzzzzzz  a", "line 4: `zzzzzzzz` is not a checksum"),
    ] {
        let words = ["sum", "--check", "-", "--hash", "crc32c"];
        let output = within(&folder, &words, &format!("{list}{line}\n"));
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{output:?}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
    let output = within(&folder, &["sum", "--check", "-", "--hash", "xxh3"], &list);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("line 1: a checksum has 16 (xxh3) digits, not 8"));
    let output = within(&folder, &["sum", "--check", "-"], "12345  a\n");
    let wanted = "line 1: a checksum has 8 (crc32c), 16 (xxh3) or 64 (blake3) digits, not 5";
    assert!(code(&output) == 2 && stderr(&output).contains(wanted), "{output:?}");
    let output = within(&folder, &["sum", "--check", "missing"], "");
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("cannot open missing: No such file"), "{output:?}");
    for words in [&["sum", "--check", "-", "a"][..], &["sum", "--quiet", "a"]] {
        assert_eq!(code(&within(&folder, words, &list)), 2, "{words:?}");
    }
    let output = within(&folder, &["sum", "--quiet", "a"], "");
    let wanted = "swath: cannot use --quiet without a list of checksums; try: pass --check LIST, \
                  or leave out --quiet\n";
    assert_eq!(stderr(&output), wanted);
}

#[test]
fn a_list_as_other_tools_and_editors_leave_it_is_checked() {
    let (folder, list) = listed("crc32c");
    let one_blank = list.replace("  ", " ").replace('\n', "\r\n");
    for list in
        [format!("\u{feff}# made today\n\n{list}# the end\n"), format!("\u{feff}{one_blank}")]
    {
        let output = within(&folder, &["sum", "--check", "-", "--hash", "crc32c"], &list);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{output:?}");
        assert!(stdout(&output).lines().all(|line| line.ends_with(": OK")), "{output:?}");
    }
}

#[test]
fn a_device_is_no_list() {
    let output = run(["sum", "--check", "/dev/zero"]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("cannot check /dev/zero: it is a device"), "{output:?}");
}
