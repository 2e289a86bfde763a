//! `gen` makes the same bytes everywhere; completions and manual pages come from the flags.

use crate::child::{code, run, stderr, stdout, word};

#[test]
fn the_same_seed_makes_the_same_bytes_at_every_worker_count() {
    let folder = tempfile::tempdir().expect("a folder");
    for kind in ["bytes", "letters", "csv-numbers", "csv"] {
        let made = |name: &str, seed: &str, workers: &str| {
            let path = folder.path().join(name);
            let words = ["gen", kind, "2500001", "-o", word(&path), "--force", "--seed", seed];
            let output = run(words.into_iter().chain(["--workers", workers]));
            assert_eq!(code(&output), 0, "{output:?}");
            std::fs::read(&path).expect("made")
        };
        let one = made("one", "1", "1");
        assert!(one == made("three", "1", "3"), "{kind}");
        assert!(one != made("other", "2", "3"), "{kind}");
        assert!(one.len() > 2_400_000 && one.len() <= 2_500_001, "{kind} {}", one.len());
    }
}

#[test]
fn what_cannot_be_made_is_2_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let into = |name: &str| folder.path().join(name);
    let missing = run(["gen", "bytes", "1KiB", "-o", word(&into("no/such"))]);
    assert_eq!(code(&missing), 2, "{missing:?}");
    assert!(stderr(&missing).contains("try: make the folder first"), "{missing:?}");
    let is_folder = run(["gen", "bytes", "1KiB", "-o", word(folder.path())]);
    assert_eq!(code(&is_folder), 2, "{is_folder:?}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
}

#[test]
fn completions_of_every_shell_know_the_commands() {
    // The generators of the last two know flags, but not the words that follow them.
    let shells = ["bash", "zsh", "fish", "elvish", "powershell"];
    for (shell, lists_words) in shells.into_iter().zip([true, true, true, false, false]) {
        let output = run(["completions", shell]);
        assert_eq!(code(&output), 0, "{shell}");
        let text = stdout(&output);
        assert!(
            text.contains("page-cache") && text.contains("bypass") == lists_words,
            "{shell}"
        );
        // `study worker` is for the study itself.
        assert!(text.contains("report") && !text.contains("hands to it"), "{shell}");
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let all = stdout(&run(["man"]));
    assert!(all.contains(".TH swath") && all.contains("Exit status"), "{all}");
    for verb in ["read", "sum", "scan", "cat", "gen", "demo", "completions", "man"] {
        let page = stdout(&run(["man", verb]));
        assert!(page.contains(&format!("swath\\-{verb}")), "{page}");
        assert!(page.contains("Examples:"), "{page}");
    }
    let output = run(["man", "fly"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("try: run `swath man --list`"), "{output:?}");
}
