//! Compressed files come back whole, under the expected names, and nothing is lost by accident.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::child::{code, file_of, run, run_with_input, shell, stderr, stdout, swath, word};

const FORMATS: [(&str, &str); 4] =
    [("zstd", "zst"), ("gzip", "gz"), ("bgzf", "gz"), ("bzip2", "bz2")];

/// Lines of numbers.
fn text(len: usize) -> Vec<u8> {
    let mut next = swath_reference::splitmix(1);
    let mut text: Vec<u8> = Vec::new();
    while text.len() < len {
        text.extend_from_slice(format!("{}\n", next() % 5000).as_bytes());
    }
    text.truncate(len);
    text
}

fn setting(len: usize) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let bytes = text(len);
    let (folder, path) = file_of(&bytes);
    (folder, path, bytes)
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("it is there")
}

fn packed_as(path: &Path, extension: &str) -> PathBuf {
    PathBuf::from(format!("{}.{extension}", word(path)))
}

#[test]
fn each_format_goes_there_and_back_beside_the_input() {
    for (format, extension) in FORMATS {
        let (_folder, path, bytes) = setting(500_000);
        let output = run(["compress", "--format", format, word(&path)]);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{output:?}");
        let packed = packed_as(&path, extension);
        let says = format!("{}: 488.3 KiB (500000 bytes) to ", packed.display());
        assert!(stdout(&output).starts_with(&says), "{}", stdout(&output));
        assert_eq!(read(&path), bytes, "the input is kept");
        assert!(read(&packed).len() < bytes.len() / 2);

        let output = run(["decompress", word(&packed)]);
        assert_eq!(code(&output), 2, "the input is still there");
        assert!(stderr(&output).contains("it exists; try: pass --force"), "{output:?}");
        std::fs::remove_file(&path).expect("removed");
        let output = run(["decompress", word(&packed)]);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{output:?}");
        assert!(stdout(&output).contains("488.3 KiB (500000 bytes) from "), "{output:?}");
        assert!(read(&path) == bytes, "{format}");
    }
}

#[test]
fn streams_go_from_standard_input_to_standard_output() {
    let bytes = text(300_000);
    for (format, _) in FORMATS {
        for words in [
            &["compress", "-", "--format", format][..],
            &["compress", "-", "-", "--format", format],
        ] {
            let packed = run_with_input(words, &bytes);
            assert_eq!((code(&packed), stderr(&packed).as_str()), (0, ""));
            let plain = run_with_input(&["decompress", "-"], &packed.stdout);
            assert!(plain.stdout == bytes, "{format} {}", stderr(&plain));
        }
    }
}

#[test]
fn the_output_is_the_same_for_every_worker_count_and_from_a_pipe() {
    let (_folder, path, bytes) = setting(3_000_000);
    for (format, _) in FORMATS {
        let flags = ["compress", "--format", format, "--block-size", "60000", "--workers"];
        let one = run(flags.iter().copied().chain(["1", word(&path), "-"])).stdout;
        for workers in ["2", "7"] {
            let same = run(flags.iter().copied().chain([workers, word(&path), "-"])).stdout;
            let words: Vec<&str> = flags.iter().copied().chain([workers, "-"]).collect();
            let piped = run_with_input(&words, &bytes).stdout;
            assert!(same == one && piped == one, "{format} {workers}");
        }
    }
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let (_folder, path, _) = setting(1000);
    let packed = packed_as(&path, "zst");
    std::fs::write(&packed, "old").expect("written");
    let output = run(["compress", word(&path)]);
    assert_eq!(code(&output), 2);
    let says =
        format!("swath: cannot write {}: it exists; try: pass --force", packed.display());
    assert!(stderr(&output).starts_with(&says), "{}", stderr(&output));
    assert_eq!(read(&packed), b"old");
    assert_eq!(code(&run(["compress", "--force", word(&path)])), 0);
    assert_ne!(read(&packed), b"old");
}

#[test]
fn a_target_with_further_names_is_broken_away_from_only_if_asked_to() {
    let (folder, path, bytes) = setting(1000);
    let (target, other) = (folder.path().join("out.zst"), folder.path().join("other"));
    std::fs::write(&target, "old").expect("written");
    std::fs::hard_link(&target, &other).expect("linked");
    let words = ["compress", "--force", word(&path), word(&target)];
    let refused = run(words);
    assert_eq!(code(&refused), 2, "{refused:?}");
    assert!(stderr(&refused).contains("hard links"), "{refused:?}");
    assert_eq!(read(&target), b"old");
    let broken = run(words.into_iter().chain(["--hard-links", "break"]));
    assert_eq!(code(&broken), 0, "{broken:?}");
    assert_eq!((read(&other), read(&target) == bytes), (b"old".to_vec(), false));
}

#[test]
fn the_name_of_the_output_tells_the_format() {
    let (folder, path, bytes) = setting(1000);
    for (name, magic) in [
        ("a.gz", &b"\x1f\x8b"[..]),
        ("b.bz2", b"BZh9"),
        ("c.zst", b"\x28\xb5"),
        ("d", b"\x28\xb5"),
    ] {
        let packed = folder.path().join(name);
        assert_eq!(code(&run(["compress", word(&path), word(&packed)])), 0);
        assert!(read(&packed).starts_with(magic), "{name}");
        let plain = folder.path().join("plain");
        assert_eq!(code(&run(["decompress", "-f", word(&packed), word(&plain)])), 0);
        assert_eq!(read(&plain), bytes);
    }
    let output = run(["decompress", word(&folder.path().join("d"))]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("try: name the output as well"), "{output:?}");
    let into = folder.path().join("into");
    std::fs::create_dir(&into).expect("room");
    assert_eq!(code(&run(["compress", word(&path), word(&into)])), 0);
    assert!(into.join("input.zst").exists());
}

#[test]
fn the_output_has_the_permissions_of_the_input() {
    let (folder, path, _) = setting(1000);
    for mode in [0o600, 0o640, 0o700] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
        let (packed, plain) = (folder.path().join("p.gz"), folder.path().join("plain"));
        assert_eq!(code(&run(["compress", word(&path), word(&packed)])), 0);
        assert_eq!(code(&run(["decompress", word(&packed), word(&plain)])), 0);
        for made in [packed, plain] {
            let facts = std::fs::metadata(&made).expect("it is there");
            assert_eq!(facts.permissions().mode() & 0o777, mode, "{}", made.display());
            std::fs::remove_file(made).expect("removed");
        }
    }
}

#[test]
fn what_is_read_from_standard_input_is_as_private_as_its_file() {
    let (folder, path, _) = setting(1000);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("ours");
    let out = folder.path().join("out");
    for words in
        ["cp -", "compress --format zstd -", "convert --from csv --to jsonl -", "manifest -"]
    {
        let line = format!("umask 022; \"$0\" {words} \"$2\" < \"$1\"");
        let done = shell(&line, &[path.as_os_str(), out.as_os_str()]);
        assert_eq!(code(&done), 0, "{words}: {done:?}");
        let facts = std::fs::metadata(&out).expect("there");
        assert_eq!(facts.permissions().mode() & 0o777, 0o600, "{words}");
        std::fs::remove_file(&out).expect("ours");
    }
}

#[test]
fn a_converted_file_and_the_output_of_a_job_are_read_by_those_who_may_read_every_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("days")).expect("room");
    let inputs = ["days/1.csv", "days/2.csv"].map(at);
    for ends in [[0o600, 0o644], [0o644, 0o600], [0o640, 0o604], [0o644, 0o755]] {
        for (path, mode) in inputs.iter().zip(ends) {
            std::fs::write(path, "a,b\n1,2\n").expect("room");
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("set");
        }
        let both = ends[0] & ends[1];
        let [first, second] = inputs.each_ref().map(|path| word(path));
        let mut made = Vec::new();
        for form in ["csv", "jsonl", "arrow", "npy"] {
            let one = at(&format!("one.{form}"));
            assert_eq!(code(&run(["convert", first, word(&one)])), 0);
            made.push((one, ends[0]));
        }
        let all = at("all.csv");
        assert_eq!(code(&run(["convert", word(&at("days")), word(&all)])), 0);
        made.push((all, both));
        let out = at("out");
        let job = run(["job", "plan", word(&out), first, second, "--parts", "2"]);
        let job = stdout(&job).trim_end().to_owned();
        assert_eq!(code(&run(["job", "run", &job, "--all", "--", "cat"])), 0);
        assert_eq!(code(&run(["job", "commit", &job])), 0);
        made.push((out, both));
        let manifest = at("days/1.csv.manifest");
        assert_eq!(code(&run(["manifest", first, word(&manifest)])), 0);
        made.push((manifest, ends[0]));
        for (path, wanted) in made {
            let facts = std::fs::metadata(&path).expect("it is there");
            let mode = facts.permissions().mode() & 0o777;
            assert_eq!(mode, wanted & 0o666, "{} {ends:?}", path.display());
            std::fs::remove_file(path).expect("removed");
        }
    }
}

/// The group of the folder and the process is another one than that of the input: its members get no more than all
/// others, whichever verb makes the file.
#[test]
fn group_permissions_are_for_the_group_of_the_input() {
    const GROUP: u32 = 4242;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (shared, days) = (at("shared"), at("days"));
    std::fs::create_dir(&days).and_then(|()| std::fs::create_dir(&shared)).expect("room");
    if let Err(error) = chown(&shared, None, Some(GROUP)) {
        return swath_reference::skip("root", error);
    }
    std::fs::set_permissions(&shared, PermissionsExt::from_mode(0o2755)).expect("ours");
    let inputs = ["1.csv", "2.csv"].map(|name| days.join(name));
    for path in &inputs {
        std::fs::write(path, "a,b\n1,2\n").expect("room");
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o640)).expect("ours");
        chown(path, None, Some(GROUP)).expect("as before");
    }
    let [first, second] = inputs.each_ref().map(|path| word(path));
    let job = "job=$(\"$0\" job plan \"$@\" --parts 2) && \"$0\" job run \"$job\" --all -- cat \
               && \"$0\" job commit \"$job\"";
    for (to, mode) in [(folder.path(), 0o600), (&shared, 0o640)] {
        let names = ["packed.zst", "plain", "copy", "one.jsonl", "manifest", "both.csv"];
        let made = names.map(|name| to.join(name));
        let [packed, plain, copy, one, manifest, both] = made.each_ref().map(|path| word(path));
        for words in [
            ["compress", first, packed],
            ["decompress", packed, plain],
            ["cp", first, copy],
            ["convert", first, one],
            ["manifest", first, manifest],
            ["convert", word(&days), both],
        ] {
            assert_eq!(code(&run(words)), 0, "{words:?}");
        }
        let (file, segments) = (to.join("file"), to.join("segments"));
        for (out, flag) in [(&file, "--force"), (&segments, "--segments")] {
            let words = [word(out), first, second, flag].map(OsStr::new);
            assert_eq!(code(&shell(job, &words)), 0, "{words:?}");
        }
        let parts = std::fs::read_dir(&segments).expect("a folder");
        let parts = parts.map(|entry| entry.expect("read").path());
        let is_part = |path: &PathBuf| word(path).contains("part-");
        let made: Vec<_> =
            made.into_iter().chain([file]).chain(parts.filter(is_part)).collect();
        assert_eq!(made.len(), 9);
        for path in made {
            let facts = path.metadata().expect("there");
            assert_eq!(facts.permissions().mode() & 0o777, mode, "{}", path.display());
        }
        let may_enter = segments.metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!(may_enter, mode | 0o100 | (mode & 0o040) >> 2);
    }
}

#[test]
fn segments_of_a_job_are_no_more_open_than_its_inputs() {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, out) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, "a\nb\n").expect("room");
    std::fs::set_permissions(&input, PermissionsExt::from_mode(0o640)).expect("set");
    let job = "umask 0; \"$0\" job plan \"$2\" \"$1\" --segments --parts 2 && \"$0\" job run \"$2\" --all -- cat \
               && \"$0\" job commit \"$2\"";
    let ran = shell(job, &[input.as_os_str(), out.as_os_str()]);
    assert_eq!(code(&ran), 0, "{ran:?}");
    let mut parts = 0;
    for entry in std::fs::read_dir(&out).expect("a folder") {
        let entry = entry.expect("read");
        if entry.file_name().to_string_lossy().starts_with("part-") {
            let mode = entry.metadata().expect("there").permissions().mode() & 0o777;
            assert_eq!(mode, 0o640, "{:?}", entry.path());
            parts += 1;
        }
    }
    assert_eq!(parts, 2);
}

#[test]
fn cat_counts_decompressed_bytes_only_if_asked_to_decompress() {
    let (_folder, path, bytes) = setting(400_000);
    for (format, extension) in FORMATS {
        let words =
            ["compress", "-f", "--format", format, "--block-size", "16KiB", word(&path)];
        assert_eq!(code(&run(words)), 0);
        let packed = packed_as(&path, extension);
        let raw = run(["cat", "--offset", "3", "--length", "5", word(&packed)]);
        assert_eq!(raw.stdout, read(&packed)[3..8]);
        let all = run(["cat", "--decompress", word(&packed)]);
        assert!(all.stdout == bytes, "{format}");
        let words = ["cat", "-d", "--offset", "100000", "--length", "33333", word(&packed)];
        assert!(run(words).stdout == bytes[100_000..133_333], "{format}");
        let piped = run_with_input(&["cat", "-d", "--offset", "399999", "-"], &read(&packed));
        assert!(piped.stdout == bytes[399_999..], "{format}");
        let output = run(["cat", "-d", "--offset", "399999", "--length", "2", word(&packed)]);
        assert_eq!(code(&output), 2, "{format}");
        assert!(stderr(&output).contains(
            "it decompresses to 400000 bytes only; try: request bytes before that end"
        ));
    }
}

#[test]
fn json_has_every_number_and_goes_where_the_bytes_do_not() {
    let (_folder, path, bytes) = setting(100_000);
    let output = run(["compress", "--json", "--level", "7", word(&path)]);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("one line of JSON");
    let packed = packed_as(&path, "zst");
    assert_eq!(value["path"], word(&packed));
    assert_eq!(value["source"]["path"], word(&path));
    assert_eq!((&value["bytes_in"], &value["level"]), (&100_000.into(), &7.into()));
    assert_eq!(value["bytes_out"], read(&packed).len());
    assert_eq!((&value["frames"], &value["format"]), (&1.into(), &"zstd".into()));
    for key in ["ratio", "workers", "elapsed_s", "bytes_per_s", "block_size_bytes", "fallbacks"]
    {
        assert!(!value[key].is_null(), "{key} in {value}");
    }
    let output = run(["decompress", "--json", word(&packed), "-"]);
    assert!(output.stdout == bytes);
    let value: Value = serde_json::from_str(&stderr(&output)).expect("one line of JSON");
    assert_eq!((&value["path"], &value["bytes_out"]), (&"-".into(), &100_000.into()));
    for key in ["bytes_in", "ratio", "frames", "workers", "elapsed_s", "notes", "fallbacks"] {
        assert!(!value[key].is_null(), "{key} in {value}");
    }
}

#[test]
fn what_is_damaged_or_unknown_is_2_and_leaves_no_file() {
    let (folder, path, _) = setting(100_000);
    assert_eq!(code(&run(["compress", "--format", "gzip", word(&path)])), 0);
    let mut bytes = read(&packed_as(&path, "gz"));
    let whole = bytes.clone();
    bytes[5_000] ^= 1;
    let packed = folder.path().join("damaged.gz");
    for (bytes, says) in [
        (&bytes[..], "damaged.gz at byte 0: "),
        (&whole[..5_000], "is incomplete; try: fetch the rest of the file"),
        (b"plain text", "at byte 0: it does not begin like a zstd, gzip or bzip2 file"),
        (b"", "the file is empty; try: pass a zstd, gzip or bzip2 file"),
    ] {
        std::fs::write(&packed, bytes).expect("written");
        let output = run(["decompress", word(&packed)]);
        assert_eq!(code(&output), 2);
        assert!(
            stderr(&output).starts_with("swath: cannot decompress "),
            "{}",
            stderr(&output)
        );
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
        assert!(!folder.path().join("damaged").exists());
    }
    for (words, says) in [
        (
            ["--level", "23"],
            "level 23 does not exist for zstd, which has 1 to 22; try: choose a value in this range",
        ),
        (["--level", "-5"], "level -5 does not exist for zstd"),
        (["--block-size", "1"], "a block size of 1 byte is not possible for zstd"),
        (["--format", "xz"], "[possible values: zstd, gzip, bgzf, bzip2]"),
    ] {
        let output = run(["compress"].iter().chain(&words).copied().chain([word(&path)]));
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 3);
}

#[test]
fn what_follows_the_end_is_skipped_with_a_note_and_1() {
    let (folder, path, bytes) = setting(1000);
    assert_eq!(code(&run(["compress", "--format", "gzip", word(&path)])), 0);
    let packed = folder.path().join("longer.gz");
    let whole = read(&packed_as(&path, "gz"));
    std::fs::write(&packed, [&whole[..], b"garbage"].concat()).expect("written");
    let output = run(["decompress", word(&packed)]);
    assert_eq!(code(&output), 1, "{output:?}");
    let note = format!(
        "swath: note: {}: 7 bytes from byte {} on are not part of the stream and were skipped\n",
        packed.display(),
        whole.len()
    );
    assert_eq!(stderr(&output), note);
    assert_eq!(read(&folder.path().join("longer")), bytes);
    std::fs::write(&packed, [&whole[..], &[0; 512]].concat()).expect("written");
    let output = run(["cat", "-d", word(&packed)]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let (_folder, path, _) = setting(4_000_000);
    let packed = packed_as(&path, "gz");
    assert_eq!(code(&run(["compress", word(&path), word(&packed)])), 0);
    for words in [
        &["compress", "--workers", "3", word(&path), "-"][..],
        &["decompress", word(&packed), "-"],
        &["cat", "--decompress", word(&packed)],
    ] {
        let mut command = swath();
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut first = [0; 3];
        let mut pipe = child.stdout.take().expect("it is piped");
        pipe.read_exact(&mut first).expect("three bytes");
        drop(pipe);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(
            (output.status.code(), stderr(&output).as_str()),
            (Some(0), ""),
            "{words:?}"
        );
    }
}

#[test]
fn devices_and_full_devices_are_written_as_they_are() {
    let (_folder, path, _) = setting(300_000);
    let output = run(["compress", word(&path), "/dev/null"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{output:?}");
    let output = run(["compress", word(&path), "/dev/full"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("cannot write /dev/full"), "{}", stderr(&output));
    assert!(stderr(&output).contains("No space left"), "{}", stderr(&output));
    let output = shell(r#""$0" compress "$1" - > /dev/full"#, &[path.as_os_str()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("cannot write <stdout>"), "{}", stderr(&output));
}

#[test]
fn an_input_that_is_not_there_is_2_and_leaves_no_output() {
    let folder = tempfile::tempdir().expect("a folder");
    for verb in ["compress", "decompress"] {
        for missing in ["missing", "missing.gz"] {
            let path = folder.path().join(missing);
            let output = run([verb, word(&path), word(&folder.path().join("out"))]);
            assert_eq!(code(&output), 2);
            assert!(stderr(&output).contains("No such file"), "{}", stderr(&output));
        }
        let output = run([verb, word(folder.path()), word(&folder.path().join("out"))]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("Is a directory"), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn the_input_is_never_its_own_output() {
    let (folder, path) = file_of(b"some bytes");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    for verb in ["compress", "decompress"] {
        for to in [&path, &link] {
            let output = run([verb, "--force", word(&path), word(to)]);
            assert_eq!(code(&output), 2, "{output:?}");
            assert!(stderr(&output).contains("it is the input"), "{output:?}");
        }
    }
    assert_eq!(std::fs::read(&path).expect("there"), b"some bytes");
}

#[test]
fn a_limit_of_file_sizes_is_an_error_of_standard_output_too() {
    let (folder, path) = file_of(&swath_reference::bytes(1, 200_000));
    let out = folder.path().join("out");
    let output = crate::child::shell(
        r#"ulimit -f 20; "$0" cat "$1" > "$2""#,
        &[path.as_ref(), out.as_ref()],
    );
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("File too large"), "{output:?}");
}

/// Sets the time of the last write, and returns it.
fn set_modified(path: &Path) -> SystemTime {
    let time = UNIX_EPOCH + Duration::new(981_158_400, 123_456_789);
    let file = std::fs::File::options().write(true).open(path).expect("mine");
    file.set_modified(time).expect("mine");
    time
}

fn modified(path: &Path) -> SystemTime {
    path.metadata().and_then(|facts| facts.modified()).expect("it is there")
}

#[test]
fn the_output_has_the_time_of_the_last_write_of_its_input() {
    for (format, extension) in FORMATS {
        let (_folder, path, _) = setting(100_000);
        let time = set_modified(&path);
        let (packed, plain) = (packed_as(&path, extension), path.with_extension("plain"));
        for flags in [&[][..], &["--force"], &["--force", "--durability", "none"]] {
            let words = [&["compress", "--format", format, word(&path)], flags].concat();
            let output = run(words);
            assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{output:?}");
            assert_eq!(modified(&packed), time, "{format} {flags:?}");
            let words = [&["decompress", word(&packed), word(&plain)], flags].concat();
            let output = run(words);
            assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{output:?}");
            assert_eq!(modified(&plain), time, "{format} {flags:?}");
        }
        assert_eq!(read(&path), read(&plain));
    }
    // Bytes from a pipe have no time.
    let (_folder, path, _) = setting(100);
    let packed = packed_as(&path, "zst");
    let line = r#"cat "$1" | "$0" compress -o "$2""#;
    let output = shell(line, &[path.as_os_str(), packed.as_os_str()]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(modified(&packed) > modified(&path) - Duration::from_secs(1));
}

#[test]
fn zeros_become_holes_in_a_file_and_are_written_to_anything_else() {
    const MIB: usize = 1 << 20;
    let data = text(MIB);
    let plain = [vec![0; 6 * MIB], data.clone(), vec![0; 6 * MIB + 1]].concat();
    for (format, extension) in FORMATS {
        let (_folder, path) = file_of(&plain);
        let packed = packed_as(&path, extension);
        assert_eq!(code(&run(["compress", "--format", format, word(&path)])), 0);
        // Two streams, one after the other.
        let two = [read(&packed), read(&packed)].concat();
        std::fs::write(&packed, two).expect("room");
        let expected = [&plain[..], &plain].concat();
        for sparse in ["auto", "never"] {
            for workers in ["1", "3"] {
                let words = ["decompress", "--sparse", sparse, "--workers", workers, "--force"];
                let output = run(words.into_iter().chain([word(&packed), word(&path)]));
                assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{output:?}");
                assert!(read(&path) == expected, "{format} {sparse} {workers}");
                let taken = path.metadata().expect("there").blocks() * 512;
                assert_eq!(taken < 6 << 20, sparse == "auto", "{format}: {taken}");
            }
        }
        let output = run(["decompress", word(&packed), "-"]);
        assert!(code(&output) == 0 && output.stdout == expected, "{format}");
        let line =
            r#"mkfifo "$2" && { cat "$2" & "$0" decompress "$1" -o "$2" > /dev/null; wait; }"#;
        let fifo = path.with_extension("fifo");
        let output = shell(line, &[packed.as_os_str(), fifo.as_os_str()]);
        assert!(code(&output) == 0 && output.stdout == expected, "{format}");
    }
}
