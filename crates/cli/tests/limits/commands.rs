//! All commands, with words that make them do what they are there for.

use clap::{Command, CommandFactory};
use swath_cli::cli::Cli;

/// The answer that is compared with that of a run without limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The text on standard output, which is always the same.
    Printed,
    /// The files it leaves; it prints a report with times.
    Left,
    /// The file `out`, if it is there: the folder of its job has names of its own.
    Job,
    /// Nothing: it prints times.
    Measured,
    /// Nothing: it is an error, for what it wants takes too long to make here.
    Refused,
}

use Answer::{Job, Left, Measured, Printed, Refused};

/// One command.
#[derive(Debug)]
pub(crate) struct Case {
    /// `IN/` stands for the folder of inputs.
    pub(crate) words: &'static [&'static str],
    pub(crate) answer: Answer,
}

const fn case(words: &'static [&'static str], answer: Answer) -> Case {
    Case { words, answer }
}

const POOL: Case =
    case(&["read", "IN/bytes", "--engine", "pool", "--workers", "4", "--json"], Measured);

/// Asked for several workers.
pub(crate) const ALONE: &[Case] = &[
    POOL,
    case(&["ingest", "IN/tree", "--workers", "4", "--json"], Measured),
    case(&["cp", "IN/bytes", "out", "--reflink", "never", "--workers", "4", "--json"], Left),
    case(&["compress", "IN/letters", "out.zst", "--workers", "4", "--json"], Left),
    case(&["decompress", "IN/letters.zst", "out", "--workers", "4", "--json"], Left),
    case(&["price", "IN/options", "-o", "out", "--workers", "4", "--json"], Left),
];

pub(crate) const CASES: &[Case] = &[
    case(&["read", "IN/bytes", "--verify"], Measured),
    POOL,
    case(&["read", "IN/bytes", "--classes", "4", "--chunks", "16", "--workers", "3"], Measured),
    case(&["read", "IN/bytes", "--mirror", "IN/copy", "--workers", "2"], Measured),
    case(&["ingest", "IN/tree"], Measured),
    case(&["ingest", "--keep", "IN/tree"], Measured),
    case(&["ingest", "--hash", "xxh3", "IN/tree"], Printed),
    case(&["ingest", "--hash", "xxh3", "--workers", "3", "IN/tree", "IN/bytes"], Printed),
    case(&["sum", "IN/bytes"], Printed),
    case(&["sum", "--hash", "blake3", "--workers", "3", "IN/bytes", "IN/segments"], Printed),
    case(&["scan", "IN/graph.mtx", "IN/options"], Printed),
    case(&["cat", "IN/bytes"], Printed),
    case(&["cat", "--decompress", "IN/letters.zst"], Printed),
    case(&["cat", "--starting-in", "100..90000", "IN/letters"], Printed),
    case(&["convert", "--starting-in", "0..700", "IN/graph.mtx", "out.npz"], Left),
    case(&["read", "IN/bytes", "--mirror", "IN/copy", "--verify-against", "vote"], Measured),
    case(&["cp", "IN/bytes", "out"], Left),
    case(&["mirror", "IN/bytes", "-n", "1", "--into", "into"], Left),
    case(&["manifest", "IN/bytes", "-o", "out"], Left),
    case(&["heal", "damaged", "good", "--verify-against", "manifest=IN/manifest"], Left),
    case(&["job", "plan", "out", "IN/letters", "IN/bytes", "--parts", "9"], Job),
    case(&["job", "run", "job", "0", "--", "cat"], Job),
    case(&["job", "run", "job", "--all", "--workers", "3", "--", "head", "-c", "9"], Job),
    case(&["job", "read", "job", "1"], Printed),
    case(&["job", "write", "job", "1"], Job),
    case(&["job", "status", "job", "--missing"], Printed),
    case(&["job", "commit", "job"], Job),
    case(&["job", "abort", "job"], Job),
    case(&["job", "sweep", "--older-than", "0s", "."], Job),
    case(&["compress", "IN/letters", "out.zst"], Left),
    case(&["compress", "--format", "gzip", "--workers", "4", "IN/letters", "out.gz"], Left),
    case(&["decompress", "IN/letters.zst", "out"], Left),
    case(&["price", "IN/options", "-o", "out", "--workers", "3"], Left),
    case(&["cp", "IN/segments", "out"], Left),
    case(&["convert", "IN/graph.mtx", "out.npz"], Left),
    case(&["convert", "IN/people.csv", "out.jsonl"], Left),
    case(&["convert", "IN/people.csv", "out.arrow"], Left),
    case(&["convert", "IN/people.csv", "out.csv.zst", "--workers", "3"], Left),
    case(&["convert", "IN/peopl?.csv", "out.arrow", "--file-column", "file"], Left),
    case(&["head", "IN/people.csv"], Printed),
    case(&["head", "--json", "IN/people.csv.gz"], Printed),
    case(&["info", "IN/people.csv"], Printed),
    case(&["info", "IN/graph.mtx", "IN/letters.zst"], Printed),
    case(&["convert", "IN/graph.mtx", "-", "--to", "npz"], Printed),
    case(&["manifest", "IN/bytes", "-"], Printed),
    case(&["gen", "letters", "100KiB", "-o", "-"], Printed),
    case(&["gen", "csv", "100KiB", "-o", "-"], Printed),
    case(&["gen", "bytes", "100KiB", "-o", "out"], Left),
    case(&["gen", "letters", "100KiB", "-o", "out"], Left),
    case(&["gen", "csv-numbers", "100KiB", "-o", "out"], Left),
    case(&["gen", "csv", "100KiB", "-o", "out"], Left),
    case(&["gen", "mtx", "--scale", "6", "-o", "out"], Left),
    case(&["gen", "edges", "--scale", "6", "-o", "out"], Left),
    case(&["gen", "options", "500", "-o", "out"], Left),
    case(&["gen", "tree", "--files", "20", "--size", "1kB", "-o", "out"], Left),
    case(&["demo", "--size", "64KiB", "--dir", "."], Measured),
    case(&["study", "--list"], Printed),
    case(&["study", "fib", "8", "--bytes", "1KiB", "-o", "out"], Left),
    case(
        &["study", "fib", "8", "--bytes", "1KiB", "-o", "out", "--mode", "segments"],
        Measured,
    ),
    case(&["study", "compare", "IN/tree", "IN/tree"], Refused),
    case(&["study", "report", "IN/tree"], Refused),
    case(&["tune", "--path", ".", "--budget", "1"], Measured),
    case(&["completions", "bash"], Printed),
    case(&["man"], Printed),
];

/// Inputs that a worker for each core, or each that was asked for, has too little memory for.
pub(crate) const LARGE: &[Case] = &[
    case(&["compress", "--level", "19", "IN/large", "out.zst"], Measured),
    case(
        &["compress", "--format", "bzip2", "--workers", "16", "IN/larger", "out.bz2"],
        Measured,
    ),
    case(&["decompress", "--workers", "16", "IN/larger.bz2", "out"], Left),
    case(&["decompress", "--workers", "16", "IN/larger.zst", "out"], Left),
    case(&["ingest", "--keep", "IN/many"], Measured),
    case(&["info", "IN/large.arrow"], Printed),
    case(&["convert", "IN/large.arrow", "out.npy"], Measured),
    case(&["convert", "IN/entries.csv", "out.mtx"], Measured),
    case(&["convert", "IN/entries.csv", "out.npz"], Measured),
    case(&["convert", "IN/entries.csv.gz", "out.mtx"], Measured),
    case(&["convert", "IN/wide.csv", "out.arrow"], Measured),
    case(&["info", "IN/wide.csv"], Measured),
    case(&["info", "--json", "IN/wide.csv"], Measured),
    case(&["info", "--columns", "0,1", "IN/wide.csv"], Measured),
    case(&["info", "IN/broad.csv"], Measured),
    case(&["info", "--json", "IN/broad.csv"], Measured),
    case(&["head", "IN/wide.csv"], Measured),
    case(&["head", "IN/broad.csv"], Measured),
    case(&["head", "--json", "IN/broad.csv"], Measured),
    case(&["head", "IN/large.arrow"], Printed),
    case(&["convert", "IN/broad.csv", "out.jsonl"], Measured),
    case(&["convert", "IN/large.csv", "out.jsonl"], Left),
    // Where batches end depends on the memory at hand.
    case(&["convert", "IN/large.csv", "out.arrow"], Measured),
    case(&["convert", "--workers", "8", "IN/large.csv", "out.arrow"], Measured),
    case(&["convert", "--workers", "8", "IN/large.csv", "out.csv"], Left),
    case(&["info", "IN/large.csv"], Printed),
    case(&["head", "IN/large.csv.gz"], Printed),
];

/// The commands below `command`, with the words that lead to them.
fn leaves(command: &Command, words: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let is_shown = |it: &&Command| it.get_name() != "help" && !it.is_hide_set();
    let own: Vec<_> = command.get_subcommands().filter(is_shown).collect();
    if own.is_empty() || command.get_arguments().any(|argument| !argument.is_global_set()) {
        found.extend((!words.is_empty()).then(|| words.clone()));
    }
    for below in own {
        words.push(below.get_name().to_owned());
        leaves(below, words, found);
        words.pop();
    }
}

#[test]
fn no_command_is_missing() {
    let mut found = Vec::new();
    leaves(&Cli::command(), &mut Vec::new(), &mut found);
    assert!(found.len() > 20, "{found:?}");
    for words in found {
        let is_there =
            CASES.iter().any(|case| case.words.iter().zip(&words).all(|(a, b)| a == b));
        assert!(is_there, "`{}` is run under no limit: add it to CASES", words.join(" "));
    }
}
