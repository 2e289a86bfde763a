//! Files of 0 and 1 byte, files of the kernel, and pipes.

use std::io::Read;

use crate::child::{code, file_of, run, run_with_input, shell, stderr, stdout, word};

#[test]
fn files_of_0_and_1_byte_are_read_by_every_engine() {
    for bytes in [&b""[..], b"\n"] {
        let (_folder, path) = file_of(bytes);
        for engine in ["auto", "serial", "pool", "ring", "map"] {
            let read = run(["read", "--verify", "--engine", engine, word(&path)]);
            assert_eq!(code(&read), 0, "{engine} {read:?}");
            for verb in ["sum", "scan"] {
                let output = run([verb, "--engine", engine, word(&path)]);
                let value = if verb == "sum" { 10 * bytes.len() } else { bytes.len() };
                assert_eq!(stdout(&output), format!("{value}  {}\n", word(&path)), "{engine}");
            }
        }
        assert_eq!(run(["cat", word(&path)]).stdout, bytes);
    }
}

#[test]
fn files_that_the_kernel_makes_are_read_whole() {
    let wanted = std::fs::read_to_string("/proc/version").expect("it is there");
    assert_eq!(stdout(&run(["cat", "/proc/version"])), wanted);
    let sum: u64 = wanted.bytes().map(u64::from).sum();
    assert_eq!(stdout(&run(["sum", "/proc/version"])), format!("{sum}  /proc/version\n"));
    let status = stdout(&run(["cat", "/proc/self/status"]));
    assert!(status.contains("Name:\tswath"), "{status}");
    let read = run(["read", "/proc/self/status"]);
    assert_eq!(code(&read), 0, "{read:?}");
    assert!(!stdout(&read).contains(": 0 bytes"), "{read:?}");
    let setting = "/sys/kernel/mm/transparent_hugepage/enabled";
    if let Ok(text) = std::fs::read_to_string(setting) {
        assert_eq!(stdout(&run(["cat", setting])), text);
        let sum: u64 = text.bytes().skip(3).map(u64::from).sum();
        let wanted = format!("{sum}  {setting}\n");
        assert_eq!(stdout(&run(["sum", "--offset", "3", setting])), wanted);
    }
}

#[test]
fn a_pipe_is_read_in_order_to_its_end() {
    let bytes: Vec<u8> = (0..=255).cycle().take(3_000_001).collect();
    let sum: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
    let read = run_with_input(&["read", "-"], &bytes);
    assert_eq!(code(&read), 0, "{read:?}");
    let text = stdout(&read);
    assert!(text.starts_with("<stdin>: ") && text.contains("3000001 bytes"), "{text}");
    assert!(text.contains("engine serial"), "{text}");
    assert_eq!(stdout(&run_with_input(&["sum", "-"], &bytes)), format!("{sum}  -\n"));
    assert!(run_with_input(&["cat", "-"], &bytes).stdout == bytes);
    let part = run_with_input(&["cat", "--offset", "5", "--length", "4", "-"], &bytes);
    assert!(part.stdout == [5, 6, 7, 8], "{} bytes", part.stdout.len());
}

#[test]
fn a_pipe_cannot_come_twice_or_be_mapped() {
    for words in [&["--verify"][..], &["--repeat", "2"], &["--engine", "map"]] {
        let words: Vec<&str> = ["read"].iter().chain(words).chain(&["-"]).copied().collect();
        let output = run_with_input(&words, b"abc");
        assert_eq!(code(&output), 2, "{words:?} {output:?}");
        assert!(stderr(&output).contains("<stdin>"), "{output:?}");
    }
}

#[test]
fn a_list_of_checksums_that_names_a_pipe_does_not_wait_for_its_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let line =
        r#"mkfifo "$1" && echo "XXH3_2d06800538d394c2  $1" | timeout 20 "$0" sum --check -"#;
    let output = shell(line, &[pipe.as_os_str()]);
    assert_eq!(code(&output), 1, "{output:?}");
    assert!(stderr(&output).contains("it is a named pipe; try: pass"), "{output:?}");
}

#[test]
fn a_pipe_that_is_found_and_not_named_is_not_waited_for() {
    let (_folder, path) = file_of(b"");
    let index = r#"{"weight_map":{"a":"m.safetensors"}}"#;
    for (made, line, says) in [
        ("1.csv", r#""$0" info ."#, "name the files"),
        ("1.csv", r#""$0" head "*.csv""#, "name the files"),
        (
            "m.safetensors",
            r#""$0" info m.safetensors.index.json"#,
            "is a pipe or a device, not a file",
        ),
    ] {
        let at = r#"mkdir -p "$1.d" && cd "$1.d" && rm -f * && mkfifo"#;
        let line = format!(
            "{at} {made} && echo '{index}' > m.safetensors.index.json && timeout 20 {line}"
        );
        let output = shell(&line, &[path.as_os_str()]);
        assert_eq!(code(&output), 2, "{line}: {output:?}");
        assert!(stderr(&output).contains(says), "{line}: {output:?}");
    }
}

#[test]
fn a_named_pipe_is_read_in_order_and_not_waited_for_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pipe");
    let line =
        r#"mkfifo "$1" && { printf abc > "$1" & "$0" cat "$1"; "$0" read --verify "$1"; }"#;
    let output = shell(line, &[path.as_os_str()]);
    assert_eq!((stdout(&output).as_str(), code(&output)), ("abc", 2), "{output:?}");
    assert!(stderr(&output).contains("a second time"), "{output:?}");
}

#[test]
fn standard_input_that_is_a_file_is_read_like_one() {
    let (_folder, path) = file_of(&[7; 100_000]);
    let open = || std::fs::File::open(&path).expect("it is there");
    for words in
        [&["read", "--verify", "--repeat", "2", "-"][..], &["sum", "-"], &["scan", "-"]]
    {
        let output = crate::child::swath().args(words).stdin(open()).output();
        assert_eq!(output.expect("it starts").status.code(), Some(0), "{words:?}");
    }
}

#[test]
fn standard_output_by_its_path_does_not_lose_what_a_log_has() {
    let (_folder, path) = file_of(b"bytes");
    let log = path.with_file_name("log");
    for verb in ["compress -f", "cp", "gen letters --force 5"] {
        std::fs::write(&log, b"history\n").expect("room");
        let input = if verb.starts_with("gen") { "" } else { r#""$1""# };
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            let line = format!(r#""$0" {verb} {input} -o {name} >> "$2""#);
            let output = shell(&line, &[path.as_os_str(), log.as_os_str()]);
            assert_eq!(code(&output), 2, "{line}: {output:?}");
            assert!(stderr(&output).contains("pass `-` for standard output"), "{output:?}");
            assert_eq!(std::fs::read(&log).expect("there"), b"history\n", "{line}");
        }
    }
}

#[test]
fn standard_output_by_another_name_has_the_data_alone() {
    let (folder, path) = file_of(b"a,b\n1,2\n");
    let pipe = path.with_file_name("pipe");
    assert_eq!(code(&shell(r#"mkfifo "$1""#, &[pipe.as_os_str()])), 0);
    for verb in [
        r#"compress "$1""#,
        r#"manifest "$1""#,
        r#"convert --from csv --to csv "$1""#,
        "gen bytes 1000",
        "gen edges --scale 3",
    ] {
        let data = shell(&format!(r#""$0" {verb} -f -o - | cat"#), &[path.as_os_str()]);
        assert!(!data.stdout.is_empty(), "{verb}: {data:?}");
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"] {
            let line = format!(r#""$0" {verb} -f -o {name} | cat"#);
            let output = shell(&line, &[path.as_os_str()]);
            assert_eq!(output.stdout, data.stdout, "{line}: {}", stderr(&output));
        }
        let line = format!(r#"cat "$2" & "$0" {verb} -f -o "$2" > "$2"; wait"#);
        let output = shell(&line, &[path.as_os_str(), pipe.as_os_str()]);
        assert_eq!(output.stdout, data.stdout, "{line}: {}", stderr(&output));
    }
    let timeline = r#""$0" cat --timeline /dev/stdout "$1" | cat"#;
    let output = shell(timeline, &[path.as_os_str()]);
    assert!(stderr(&output).contains("it is standard output; try: name a file"), "{output:?}");
    assert!(output.stdout.is_empty());
    drop(folder);
}

#[test]
fn standard_output_that_does_not_block_is_waited_for() {
    let (_folder, path) = file_of(&[7; 3 << 20]);
    for verb in ["cat", "cat --copy", "compress --format gzip -o -", "sum"] {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let flags = rustix::fs::fcntl_getfl(&writer).expect("open");
        rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK).expect("set");
        let mut command = crate::child::swath();
        command.args(verb.split(' ')).arg(&path).stdout(writer);
        let mut child = command.spawn().expect("it starts");
        drop(command);
        let mut bytes = Vec::new();
        // After the pipe is full.
        std::thread::sleep(std::time::Duration::from_millis(100));
        reader.read_to_end(&mut bytes).expect("readable");
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{verb}");
        assert!(!verb.starts_with("cat") || bytes == [7; 3 << 20], "{verb}: {}", bytes.len());
    }
}

#[test]
fn names_in_reports_write_no_lines_and_no_sequences() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ev\u{1b}[31mil\nname.csv");
    std::fs::write(&path, "a\u{1b}]0;T\u{7},b\n1,2\n").expect("room");
    let arrow = folder.path().join("t\u{1b}.arrow");
    let job = folder.path().join("x\nfake: line");
    let plan = run([
        "job",
        "plan",
        word(&job),
        word(&path),
        "--folder",
        word(&folder.path().join("j")),
    ]);
    assert_eq!(code(&plan), 0, "{plan:?}");
    assert_eq!(code(&run(["convert", word(&path), word(&arrow)])), 0);
    for words in [
        &["info", word(&path)][..],
        &["info", word(&arrow)],
        &["read", word(&path)],
        &["compress", "-f", word(&path)],
        &["manifest", "-f", word(&path), "-o", word(&folder.path().join("m\u{1b}"))],
        &["cp", word(&path), word(&folder.path().join("copy\u{1b}"))],
        &["job", "status", word(&folder.path().join("j"))],
    ] {
        let output = run(words);
        assert_eq!(code(&output), 0, "{output:?}");
        let text = stdout(&output);
        let is_odd = |sign: char| sign.is_control() && sign != '\n';
        assert!(!text.contains(is_odd), "{words:?}: {text:?}");
        assert!(
            !text.contains("\nname.csv") && !text.contains("\nfake"),
            "{words:?}: {text:?}"
        );
    }
}

#[test]
fn a_sparse_file_beyond_4_gib_is_addressed_rightly() {
    let (_folder, path) = file_of(b"");
    let file = std::fs::File::options().write(true).open(&path).expect("it is there");
    let end = (5 << 30) + 3;
    std::os::unix::fs::FileExt::write_all_at(&file, b"end", end - 3).expect("written");
    let offset = (end - 4).to_string();
    let output = run(["cat", "--offset", &offset, word(&path)]);
    assert_eq!(output.stdout, b"\0end");
    let part = run(["read", "--verify", "--offset", "4GiB", "--length", "1MiB", word(&path)]);
    assert_eq!(code(&part), 0, "{part:?}");
}

#[test]
fn standard_input_goes_on_from_where_it_stands() {
    let (_folder, path) = file_of(b"0123456789");
    let line = r#"(dd bs=1 count=4 of=/dev/null 2>/dev/null; "$0" cat -; "$0" read -) < "$1""#;
    let output = shell(line, &[path.as_os_str()]);
    let text = stdout(&output);
    assert!(text.starts_with("456789"), "{text}");
    assert!(text.contains("0 bytes"), "the first command moved it to the end: {text}");
}

#[test]
fn a_folder_whose_path_is_longer_than_the_kernel_takes_is_read_and_written() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let line = r#"
        cd -P "$1" && echo 1 > before && name=$(printf %0200d 7) && way=.
        for number in $(seq 24); do
            mkdir $name && cd -P $name && way=$way/$name || exit 1
        done
        echo deep > a && for number in 1 2 3 4 5; do echo small > in-$number; done &&
        "$0" cp a b && "$0" cp --in-place a b && "$0" compress a && "$0" decompress a.zst c &&
        mkdir d && "$0" mirror a d && "$0" manifest a && "$0" manifest --check a.manifest b &&
        cmp a b && cmp a c && cmp a d/a && "$0" ingest --keep . &&
        cd -P "$1" && "$0" ingest --keep . && "$0" ingest before $way/a && "$0" cp before $way/new &&
        "$0" cp before "$1"/$way/new && "$0" ingest --keep "$1"/$way && echo whole
    "#;
    let output = shell(line, &[folder.path().as_os_str()]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(stdout(&output).ends_with("whole\n"), "{output:?}");
}
