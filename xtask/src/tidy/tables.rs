//! The limits of the rules: every table in one place, to be edited with `STYLE.md` at hand.

/// A member of the workspace and the members that its `[dependencies]` may name.
/// Names are without `swath-`.
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) may: &'static [&'static str],
}

pub(super) const MEMBERS: &[Member] = &[
    Member { name: "plan", may: &[] },
    Member { name: "os", may: &["simd"] },
    Member { name: "simd", may: &[] },
    Member { name: "swath", may: &["plan", "os", "simd"] },
    Member { name: "arrow", may: &["os"] },
    Member { name: "formats", may: &["swath", "simd"] },
    Member { name: "profile", may: &["swath", "os", "plan"] },
    Member { name: "study", may: &["swath", "formats", "profile", "os", "simd", "plan"] },
    Member { name: "cli", may: &["swath", "formats", "profile", "study", "os", "simd"] },
    Member { name: "capi", may: &["swath", "formats", "profile", "arrow"] },
    Member { name: "python", may: &["swath", "formats", "profile", "arrow"] },
    Member { name: "reference", may: &[] },
    Member {
        name: "benches",
        may: &["swath", "formats", "profile", "study", "os", "simd", "plan"],
    },
    Member { name: "examples", may: &["swath", "formats"] },
    Member { name: "docs", may: &["swath"] },
    Member { name: "fuzz", may: &["swath", "plan", "formats", "profile"] },
    Member { name: "xtask", may: &[] },
];

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
    // What all verbs begin with.
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

/// Folders whose Rust may say `unsafe`.
pub(super) const UNSAFE_UNDER: &[&str] =
    &["crates/os/", "crates/simd/", "crates/arrow/", "crates/capi/", "lab/study/", "python/"];

/// Crates whose roots carry `#![forbid(unsafe_code)]`.
pub(super) const FORBID_UNSAFE_IN: &[&str] = &[
    "crates/plan",
    "crates/swath",
    "crates/formats",
    "crates/profile",
    "crates/cli",
    "lab/study",
];

/// Lints that are on unless a manifest says otherwise, as far as they are expected somewhere.
pub(super) const DEFAULT_LINTS: &[&str] = &[
    "dead_code",
    "non_camel_case_types",
    "non_upper_case_globals",
    "clippy::large_enum_variant",
    "clippy::len_without_is_empty",
    "clippy::missing_safety_doc",
    "clippy::too_many_arguments",
    "clippy::unnecessary_cast",
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

/// The options that hang on a call: set with those of reading or of writing, and nowhere else.
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
