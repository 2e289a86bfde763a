//! The limits of the rules: every table in one place, to be edited with `STYLE.md` at hand.

/// A top-level module of `crates/swath` and what it never names: other rooms, groups of
/// them (`base`, `verb`), or a crate by its name in Rust.
pub(super) struct Room {
    pub(super) name: &'static str,
    pub(super) group: FloorGroup,
    pub(super) never: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FloorGroup {
    /// Known to every room.
    Base,
    Middle,
    /// Public; knows every room.
    Verb,
}

const fn base(name: &'static str, never: &'static [&'static str]) -> Room {
    Room { name, group: FloorGroup::Base, never }
}

const fn middle(name: &'static str, never: &'static [&'static str]) -> Room {
    Room { name, group: FloorGroup::Middle, never }
}

const fn verb(name: &'static str) -> Room {
    Room { name, group: FloorGroup::Verb, never: &[] }
}

pub(super) const ROOMS: &[Room] = &[
    base("error", &["source", "buffer", "engine", "records", "sink", "verb"]),
    base("report", &["source", "buffer", "engine", "records", "sink", "verb"]),
    base("observe", &["source", "buffer", "engine", "records", "sink", "verb"]),
    base("timeline", &["source", "buffer", "engine", "records", "sink", "verb"]),
    // Options hold a pool to take buffers from and say which source they are for.
    base("options", &["engine", "records", "sink", "verb"]),
    base("profile", &["source", "buffer", "engine", "records", "sink", "verb"]),
    base("array", &["source", "engine", "records", "sink", "verb"]),
    base("locks", &["source", "buffer", "engine", "records", "sink", "verb"]),
    base("failures", &["source", "buffer", "engine", "records", "sink", "verb"]),
    base("threads", &["source", "buffer", "engine", "records", "sink", "verb"]),
    base("together", &["source", "buffer", "engine", "records", "sink", "verb"]),
    middle("source", &["engine", "records", "sink", "verb"]),
    middle("buffer", &["engine", "records", "sink", "verb"]),
    middle("engine", &["records", "sink", "verb"]),
    middle("records", &["sink", "verb", "swath_os"]),
    middle("sink", &["engine", "records", "verb"]),
    // The rooms from which all verbs begin.
    verb("planned"),
    verb("read"),
    verb("scan"),
    verb("reader"),
    verb("prioritised"),
    verb("blocks"),
    verb("ingest"),
    verb("transform"),
    verb("append"),
    verb("job"),
    verb("write"),
    verb("copy"),
    verb("heal"),
    verb("manifest"),
    verb("mirror"),
];

/// Tokens that files below `under` must not have, except those below `except`.
pub(super) struct Banned {
    pub(super) tokens: &'static [&'static str],
    pub(super) under: &'static [&'static str],
    pub(super) except: &'static [&'static str],
    pub(super) in_tests: bool,
    pub(super) why: &'static str,
}

const PRODUCT: &[&str] = &["crates/", "lab/study/", "python/"];
const PANICS: &str =
    "panics where no thread can be started: use `thread::Builder`, which returns an error";

pub(super) const BANNED: &[Banned] = &[
    Banned {
        tokens: &["unsafe"],
        under: &[""],
        except: &[
            "crates/os/",
            "crates/simd/",
            "crates/arrow/",
            "crates/capi/",
            "lab/study/",
            "python/",
        ],
        in_tests: true,
        why: "`unsafe` belongs in os, simd, arrow, capi, study and python",
    },
    Banned {
        tokens: &["thread", ":", ":", "spawn", "("],
        under: PRODUCT,
        except: &[],
        in_tests: false,
        why: PANICS,
    },
    // A `std::thread::Scope`, always named `scope` here.
    Banned {
        tokens: &["scope", ".", "spawn", "("],
        under: PRODUCT,
        except: &[],
        in_tests: false,
        why: PANICS,
    },
    // Every source must be readable, and one that changes between two passes is an error.
    Banned {
        tokens: &["std", ":", ":", "fs"],
        under: &["crates/formats/src/"],
        except: &[],
        in_tests: false,
        why: "a format must not open files: let `swath::Input` open them",
    },
    Banned {
        tokens: &["swath_study"],
        under: &["crates/cli/src/"],
        except: &["crates/cli/src/lab"],
        in_tests: false,
        why: "the laboratory is named below crates/cli/src/lab only",
    },
];

/// Files, and a line that each must have.
pub(super) const REQUIRED: &[(&str, &str)] = &[
    // Keeps files, threads and clocks out of the planner.
    ("crates/plan/src/lib.rs", "#![no_std]"),
    ("crates/plan/src/lib.rs", "#![forbid(unsafe_code)]"),
    ("crates/swath/src/lib.rs", "#![forbid(unsafe_code)]"),
    ("crates/formats/src/lib.rs", "#![forbid(unsafe_code)]"),
    ("crates/profile/src/lib.rs", "#![forbid(unsafe_code)]"),
    ("crates/cli/src/lib.rs", "#![forbid(unsafe_code)]"),
    ("crates/cli/src/main.rs", "#![forbid(unsafe_code)]"),
    ("lab/study/src/lib.rs", "#![forbid(unsafe_code)]"),
];

pub(super) const FILE_LINES: usize = 500;

/// Names that say nothing about what is inside.
pub(super) const EMPTY_NAMES: &[&str] = &["utils", "util", "common", "misc"];

/// Words that mark unfinished work in any text. In two halves, so that this file passes.
pub(super) const UNFINISHED_WORDS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];

/// Phrases that read as translated, in lower case, and what to write. `TO_BE` is a form of *to be*, `THING` one
/// of [`THINGS`], `ARTICLE` one of [`ARTICLES`], `.` the end of a phrase, as `:` and `"` are, `NOUN` any word but *longer* and *more*, `SUBJECT` any but *there*. In two halves where they are one word, so that
/// this file passes.
pub(super) const PHRASES: &[(&str, &str)] = &[
    (concat!("be", "hind"), "after, past or beyond"),
    (concat!("who", "ever"), "the caller, or who it is"),
    (concat!("mean", "while"), "during the call, or in the meantime"),
    ("SUBJECT TO_BE none", "there is none, or is not a"),
    ("THING TO_BE no NOUN", "is not a"),
    (concat!("so", " many"), "this many, or as many"),
    ("TO_BE told", "is reported, or who tells whom"),
    ("TO_BE said", "is reported, or says"),
    ("TO_BE had", "is available, or could not be obtained"),
    (concat!("as", " ever"), "as usual"),
    (concat!("all", " the same"), "anyway, or still"),
    ("hint . \" ARTICLE", "an instruction, which begins with a verb"),
    ("try : ARTICLE", "an instruction, which begins with a verb"),
];
pub(super) const BE: &[&str] = &["is", "are", "be", "was", "were", "been"];
pub(super) const ARTICLES: &[&str] = &["a", "an", "the", "no"];
pub(super) const THINGS: &[&str] = &["it", "that", "this", "which", "they"];

/// Texts that others wrote, or that must stay as they were.
pub(super) const NOT_OURS: &[&str] = &["LICENSE", "Cargo.lock"];

/// Words of `README.md`, at most.
pub(super) const README_WORDS: usize = 1000;

/// Hosts of package registries. In two halves, so that this file passes.
pub(super) const REGISTRY_HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".com"),
    concat!("npmjs", ".org"),
    concat!("anaconda", ".org"),
    concat!("proxy.golang", ".org"),
];

/// Written by Cargo, with the registry's name on every line.
pub(super) const MAY_NAME_HOSTS: &[&str] = &["Cargo.lock"];

/// Written by `cargo xtask header`.
pub(super) const GENERATED: &[&str] = &["crates/capi/include/swath.h"];

/// Data whose white space and words are not ours to judge.
pub(super) const DATA_UNDER: &[&str] = &["vectors/", "lab/record/"];
/// The ending of the files that people write and read.
pub(super) const PROSE: &str = ".md";

/// Signs of a measured figure.
pub(super) const FIGURE_UNITS: &[&str] = &["GB/s", "GiB/s", "MB/s", "MiB/s"];
pub(super) const RECORDS: &str = "lab/record";

/// Papers that say how many claims hold: they take the sentence from a record's summary.
pub(super) const TAKE_COUNTS: &[&str] = &["README.md", "docs/guide/findings.md"];

/// Libraries whose public functions have one shape.
pub(super) const SHAPED: &[&str] = &["crates/swath/src", "crates/formats/src"];

/// Options of a whole call: set with those of reading or of writing, and nowhere else.
pub(super) const HUNG: &[&str] = &[
    "workers",
    "progress",
    "cancel",
    "timeline",
    "profile",
    "durability",
    "replace",
    "hard_links",
    "fs",
];

/// Public functions other than verbs: they ask the machine, look at bytes in memory, or name a file of
/// Swath's own, and nothing can be chosen about them.
pub(super) const PLAIN: &[&str] = &[
    "counted",
    "escaped",
    "format_prices",
    "has_banner",
    "in_one_line",
    "load",
    "of",
    "open",
    "save",
    "status",
    "sweep",
];

/// Names at the root of a library, modules left out, at most.
pub(super) const ROOT_NAMES: usize = 50;
