//! The attacks of `torture`: batteries at full size, and checks that are too slow for a push.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{book, c, miri, process, readme};

/// The kind of an attack.
pub(super) enum AttackKind {
    /// Tests, by an expression of nextest, with batteries at full size.
    Tests(&'static str),
    /// Tests whose batteries are lists: another seed tries the same cases.
    Lists(&'static str),
    /// The tests of Rust that no other attack runs; their batteries are named `combinations`.
    Rest,
    /// A battery among the tests of Python, by its marker.
    Python(&'static str),
    /// The other tests of Python.
    PythonRest,
    /// A check that is done once; returns the number of its cases, or `None` if the machine lacks
    /// something that it needs.
    Once(fn(&Workspace) -> Result<Option<u64>>),
}

/// One attack.
pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) kind: AttackKind,
}

impl Attack {
    /// Returns the expression of nextest that chooses its tests, if they are in Rust.
    pub(super) fn filter(&self) -> Option<String> {
        match self.kind {
            AttackKind::Tests(filter) | AttackKind::Lists(filter) => Some(filter.to_owned()),
            AttackKind::Rest => {
                let is_rest = |it: &&Attack| matches!(it.kind, AttackKind::Rest);
                let others = ATTACKS.iter().filter(|it| !is_rest(it)).filter_map(Self::filter);
                Some(format!("not ({})", others.collect::<Vec<_>>().join(" | ")))
            }
            AttackKind::Python(_) | AttackKind::PythonRest | AttackKind::Once(_) => None,
        }
    }

    /// Returns whether another seed gives other cases.
    pub(super) fn is_seeded(&self) -> bool {
        matches!(self.kind, AttackKind::Tests(_) | AttackKind::Python(_))
    }
}

/// All attacks; the first ones have the names of the batteries in their tests.
#[rustfmt::skip]
pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "trees", kind: AttackKind::Tests("test(/^append_trees::/)") },
    Attack { name: "kills", kind: AttackKind::Tests("test(/^crash::kill::/)") },
    Attack { name: "killed-jobs", kind: AttackKind::Tests("test(/^crash::kill_jobs::/)") },
    Attack { name: "power-cuts", kind: AttackKind::Lists("test(/^crash::(jobs|written|appended)::/)") },
    Attack { name: "neighbours", kind: AttackKind::Lists("test(/^neighbours::/)") },
    Attack { name: "tables", kind: AttackKind::Tests("test(/^typed::(random|objects|summaries)::/)") },
    Attack { name: "mutations", kind: AttackKind::Tests("package(swath-fuzz) | test(/^compressed::damaged::/)") },
    Attack { name: "limits", kind: AttackKind::Lists("binary(limits)") },
    Attack { name: "benches", kind: AttackKind::Lists("package(swath-benches)") },
    Attack { name: "combinations", kind: AttackKind::Rest },
    Attack { name: "killed-workers", kind: AttackKind::Python("killed_workers") },
    Attack { name: "killed-ranks", kind: AttackKind::Python("killed_ranks") },
    Attack { name: "python", kind: AttackKind::PythonRest },
    Attack { name: "fuse", kind: AttackKind::Once(super::fuse::run) },
    Attack { name: "valgrind", kind: AttackKind::Once(c::all_under_valgrind) },
    Attack { name: "miri", kind: AttackKind::Once(miri::run) },
    Attack { name: "reference", kind: AttackKind::Once(book::document_others) },
    Attack { name: "features", kind: AttackKind::Once(features) },
    Attack { name: "release", kind: AttackKind::Once(release) },
];

/// Compiles each crate alone, without features and with all: a push compiles all crates with one
/// set.
fn features(workspace: &Workspace) -> Result<Option<u64>> {
    const CRATES: [&str; 10] = [
        "swath-plan",
        "swath-os",
        "swath-simd",
        "swath",
        "swath-formats",
        "swath-arrow",
        "swath-profile",
        "swath-study",
        "swath-cli",
        "swath-capi",
    ];
    for name in CRATES {
        for features in ["--no-default-features", "--all-features"] {
            println!("{name} {features}");
            let words = ["check", "--quiet", "--package", name, features];
            process::run(&mut workspace.cargo(&words))?;
        }
    }
    Ok(Some(2 * CRATES.len() as u64))
}

/// Makes the release build, and runs `demo` and README's installations with it.
fn release(workspace: &Workspace) -> Result<Option<u64>> {
    let words = ["run", "--release", "--quiet", "--", "demo", "--size", "16MiB"];
    process::run(&mut workspace.cargo(&words))?;
    readme::check(workspace, readme::Builds::Release)?;
    Ok(Some(5))
}
