//! Completions know the commands, the pages of `man`, the experiments of `study`, and the words of
//! flags: as bash and fish ask for them, and in the scripts of both and of zsh.

use std::process::Command;

use crate::child::{run, stdout};

/// Returns the words that bash offers after these; the last one is incomplete.
fn offered(words: &[&str]) -> Option<Vec<String>> {
    let script = r#"
        source <("$0" completions bash)
        COMP_WORDS=(swath "$@")
        COMP_CWORD=$#
        _swath swath "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script, env!("CARGO_BIN_EXE_swath")]).args(words);
    let Ok(output) = bash.output() else {
        swath_reference::skip("bash", "it cannot be started");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    Some(stdout(&output).lines().map(String::from).collect())
}

#[test]
fn bash_completes_commands_pages_experiments_and_words() {
    for (words, yes, no) in [
        (&["de"][..], "decompress", "read"),
        (&["man", ""], "gen-bytes", "a-threads"),
        (&["man", "stu"], "study-fib", "read"),
        (&["study", "--only", ""], "a-threads", "read"),
        (&["study", "--only", "d-"], "d-advice", "a-threads"),
        (&["study", "f"], "fib", "compare"),
        (&["compress", "--format", ""], "bgzf", "read"),
        (&["sum", "--"], "--check", "--classes"),
        (&["gen", "mtx", "--"], "--output", "--check"),
        (&["job", "c"], "commit", "read"),
        (&["job", "plan", "--division", ""], "lines", "read"),
        (&["man", "job-"], "job-run", "read"),
    ] {
        let Some(offered) = offered(words) else { return };
        assert!(offered.iter().any(|it| it == yes), "{words:?}: {offered:?}");
        assert!(!offered.iter().any(|it| it == no), "{words:?}: {offered:?}");
    }
}

/// Returns the words that fish offers after this line.
fn offered_by_fish(line: &str) -> Option<Vec<String>> {
    let script = "$argv[1] completions fish | source; complete -C $argv[2]";
    let mut fish = Command::new("fish");
    fish.args(["--no-config", "-c", script, env!("CARGO_BIN_EXE_swath"), line]);
    let Ok(output) = fish.output() else {
        swath_reference::skip("fish", "it cannot be started");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    let text = stdout(&output);
    // A tab is followed by the description.
    Some(text.lines().filter_map(|it| it.split('\t').next()).map(String::from).collect())
}

#[test]
fn fish_completes_commands_pages_experiments_words_and_paths() {
    for (line, yes, no) in [
        ("swath de", "decompress", "read"),
        ("swath man gen-", "gen-bytes", "a-threads"),
        ("swath study --only a-", "a-threads", "d-advice"),
        ("swath study f", "fib", "compare"),
        ("swath compress --format ", "bgzf", "read"),
        ("swath sum --", "--check", "--classes"),
        ("swath gen mtx --", "--output", "--check"),
        ("swath sum /de", "/dev/", "/proc/"),
    ] {
        let Some(offered) = offered_by_fish(line) else { return };
        assert!(offered.iter().any(|it| it == yes), "{line}: {offered:?}");
        assert!(!offered.iter().any(|it| it == no), "{line}: {offered:?}");
    }
}

#[test]
fn zsh_and_fish_know_the_same() {
    for shell in ["zsh", "fish"] {
        let script = stdout(&run(["completions", shell]));
        for word in ["gen-bytes", "study-fib", "a-threads", "bgzf", "decompress"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
