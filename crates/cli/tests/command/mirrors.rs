//! Copies of one file: made, read, compared and mended.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::child::{code, file_of, run, stderr, stdout, word};

const MIB: usize = 1 << 20;
const LEN: usize = 4 * MIB + 33;

/// A file, two copies in folders of their own, and its manifest.
struct Setting {
    _folder: tempfile::TempDir,
    paths: Vec<PathBuf>,
    manifest: PathBuf,
    right: Vec<u8>,
}

fn setting() -> Setting {
    let right = swath_reference::bytes(4, LEN);
    let (folder, path) = file_of(&right);
    let into = ["one", "two"].map(|name| folder.path().join(name));
    into.iter().for_each(|into| std::fs::create_dir(into).expect("room"));
    let manifest = folder.path().join("sums");
    let output = run([
        "mirror",
        word(&path),
        "--into",
        word(&into[0]),
        word(&into[1]),
        "--manifest",
        word(&manifest),
    ]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{output:?}");
    let paths = vec![path, into[0].join("input"), into[1].join("input")];
    for path in &paths {
        assert!(std::fs::read(path).expect("it was made") == right);
    }
    Setting { _folder: folder, paths, manifest, right }
}

fn damage(path: &Path, offset: usize) {
    let mut bytes = std::fs::read(path).expect("there");
    bytes[offset] ^= 1;
    std::fs::write(path, bytes).expect("room");
}

fn json(output: &std::process::Output) -> Value {
    serde_json::from_str(&stdout(output)).expect("one object")
}

#[test]
fn copies_go_to_the_folders_in_turn_and_beside_the_file_under_further_names() {
    let (folder, path) = file_of(b"bytes");
    let into = folder.path().join("into");
    std::fs::create_dir(&into).expect("room");
    let output =
        run(["mirror", word(&path), "-n", "4", "--into", word(&into), word(folder.path())]);
    assert_eq!(code(&output), 0, "{output:?}");
    for name in ["into/input", "into/input.2", "input.1", "input.2"] {
        assert_eq!(std::fs::read(folder.path().join(name)).expect(name), b"bytes");
    }
    let output = run(["mirror", word(&path), "--into", "/no such folder"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("it does not exist; try: create it first"), "{output:?}");
}

#[test]
fn a_damaged_copy_is_read_right_and_told_of() {
    let Setting { _folder, paths, manifest, right, .. } = setting();
    damage(&paths[0], 2 * MIB + 7);
    let against = format!("manifest={}", manifest.display());
    let mirrors = ["--mirror", word(&paths[1]), "--mirror", word(&paths[2])];
    for against in [against.as_str(), "vote"] {
        let words = |verb| {
            [verb, word(&paths[0]), "--verify-against", against].into_iter().chain(mirrors)
        };
        let output = run(words("cat"));
        assert!(output.stdout == right, "{against}: {}", stderr(&output));
        let output = run(words("read").chain(["--json"]));
        let told = &json(&output)["runs"][0]["mirrors"];
        assert_eq!(told[0]["errors"], 1, "{told}");
        assert_eq!(told[0]["fail_overs"], 1, "{told}");
        for key in ["path", "state", "bytes", "chunks", "hedges_won", "hedges_lost"] {
            assert!(!told[1][key].is_null(), "{key}: {told}");
        }
        let output = run(words("sum"));
        let sum: u64 = right.iter().map(|&byte| u64::from(byte)).sum();
        assert!(stdout(&output).starts_with(&format!("{sum} ")), "{output:?}");
    }
    let output = run(["read", word(&paths[0]), "--mirror", "/gone", "--hedge=10"]);
    let said = stdout(&output);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(said.contains("mirror /gone (unusable): 0 bytes in 0 chunks"), "{said}");
    assert!(said.contains("instead: mirror /gone is not read: No such file"), "{said}");
    let output = run(["sum", word(&paths[0]), word(&paths[1]), "--mirror", word(&paths[2])]);
    assert_eq!(code(&output), 2, "{output:?}");
}

#[test]
fn a_manifest_finds_damage_and_names_the_bytes() {
    let Setting { _folder, paths, manifest, .. } = setting();
    let check = |path: &Path| run(["manifest", "--check", word(&manifest), word(path)]);
    let output = check(&paths[1]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(stdout(&output).contains(": right, 4.0 MiB"), "{output:?}");
    damage(&paths[1], MIB);
    let output = check(&paths[1]);
    assert_eq!(code(&output), 1, "{output:?}");
    assert!(stdout(&output).contains("bad: bytes 1048576..2097152"), "{output:?}");
    let output = run(["manifest", word(&paths[2]), "--chunk-size", "64KiB", "--json"]);
    assert_eq!(json(&output)["chunk_size_bytes"], 65536);
    let written = paths[2].with_file_name("input.manifest");
    assert_eq!(std::fs::metadata(&written).expect("it was named after").len(), 40 + 8 * 65);
    std::fs::write(&manifest, b"something else").expect("room");
    let output = check(&paths[1]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("not a checksum manifest"), "{output:?}");
}

#[test]
fn heal_mends_what_is_bad_and_looks_only_when_asked_to() {
    let Setting { _folder, paths, right, .. } = setting();
    damage(&paths[1], 3 * MIB);
    std::fs::remove_file(&paths[2]).expect("there");
    let all = || paths.iter().map(|path| word(path));
    let vote = ["heal", "--verify-against", "vote"];
    let output = run(vote.into_iter().chain(all()));
    assert_eq!(code(&output), 2, "one of three is no majority: {output:?}");
    assert!(stderr(&output).contains("nothing was changed"), "{output:?}");
    std::fs::write(&paths[2], &right).expect("room");
    let output = run(vote.into_iter().chain(["--dry-run"]).chain(all()));
    assert_eq!(code(&output), 1, "{output:?}");
    assert!(stdout(&output).contains("bad: bytes 3145728..4194304"), "{output:?}");
    assert!(std::fs::read(&paths[1]).expect("there") != right, "only looked at");
    let output = run(vote.into_iter().chain(["--json"]).chain(all()));
    assert_eq!(code(&output), 0, "{output:?}");
    let told = &json(&output)["copies"];
    assert_eq!((&told[0]["was_good"], &told[1]["healed"]), (&true.into(), &true.into()));
    assert_eq!(told[1]["healed_bytes"], MIB);
    assert!(std::fs::read(&paths[1]).expect("there") == right);
    let output = run(vote.into_iter().chain(all()));
    assert_eq!(stdout(&output).matches(": good\n").count(), 3, "{output:?}");
}

#[test]
fn a_file_that_is_not_a_manifest_is_never_replaced_by_one() {
    let Setting { _folder, paths, manifest, .. } = setting();
    let new = _folder.path().join("new");
    std::fs::create_dir(&new).expect("room");
    let precious = _folder.path().join("precious");
    std::fs::write(&precious, b"precious").expect("room");
    let mirrored = |manifest: &Path, more: &[&str]| {
        let words = ["mirror", word(&paths[0]), word(&new), "--manifest", word(manifest)];
        run(words.into_iter().chain(more.iter().copied()))
    };
    for output in [mirrored(&precious, &[]), mirrored(&manifest, &["--no-clobber"])] {
        assert_eq!(code(&output), 2, "{output:?}");
        assert!(stderr(&output).contains("cannot write the manifest to "), "{output:?}");
        assert_eq!(std::fs::read_dir(&new).expect("a folder").count(), 0, "nothing is copied");
    }
    assert_eq!(std::fs::read(&precious).expect("there"), b"precious");
    assert_eq!(code(&mirrored(&manifest, &[])), 0, "an older manifest is replaced");
}

#[test]
fn what_would_write_over_the_file_its_copies_or_the_manifest_is_refused() {
    let Setting { _folder, paths, manifest, right } = setting();
    let folder = _folder.path();
    let (soft, hard) = (folder.join("soft"), folder.join("hard"));
    std::os::unix::fs::symlink(&paths[0], &soft).expect("a link");
    std::fs::hard_link(&paths[0], &hard).expect("a second name");
    let against = format!("manifest={}", manifest.display());
    let before = std::fs::read(&manifest).expect("there");
    let new = folder.join("new");
    std::fs::create_dir(&new).expect("room");
    let mirrored = |manifest: &Path| {
        run(["mirror", word(&paths[0]), "--into", word(&new), "--manifest", word(manifest)])
    };
    let refused = [
        run(["manifest", word(&paths[0]), "-o", word(&paths[0])]),
        run(["manifest", word(&paths[0]), "-o", word(&soft)]),
        run(["manifest", word(&paths[0]), "-o", word(&hard)]),
        mirrored(&paths[0]),
        mirrored(&soft),
        mirrored(&new.join("input")),
        mirrored(&new.join("../new/input")),
        run(["heal", "--verify-against", &against, word(&paths[1]), word(&manifest)]),
    ];
    for output in refused {
        assert_eq!(code(&output), 2, "{output:?}");
        let whys = ["it is the input", "it is the copy", "it is the manifest itself"];
        assert!(whys.iter().any(|why| stderr(&output).contains(why)), "{output:?}");
        assert!(std::fs::read(&paths[0]).expect("there") == right);
        assert!(std::fs::read(&manifest).expect("there") == before);
        assert_eq!(std::fs::read_dir(&new).expect("a folder").count(), 0);
    }
}

#[test]
fn heal_tells_what_it_could_not_heal_and_heals_the_rest() {
    let Setting { _folder, mut paths, manifest, right } = setting();
    damage(&paths[2], MIB);
    paths.insert(1, _folder.path().join("no folder/copy"));
    let against = format!("manifest={}", manifest.display());
    let words = ["heal", "--verify-against", &against, "--json"];
    let output = run(words.into_iter().chain(paths.iter().map(|path| word(path))));
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("no folder/copy: No such file"), "{output:?}");
    let told = &json(&output)["copies"];
    assert!(told[1]["error"].as_str().expect("a reason").contains("No such file"), "{told}");
    assert_eq!((&told[1]["healed"], &told[3]["healed"]), (&false.into(), &true.into()));
    assert!(std::fs::read(&paths[3]).expect("there") == right);
}
