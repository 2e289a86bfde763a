//! The attacks of `torture`: batteries at full size, and checks that a push has no time for.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{c, miri, process, readme};

/// What an attack runs.
pub(super) enum Kind {
    /// Tests, by an expression of nextest; their batteries have their full size.
    Tests(&'static str),
    /// Tests of Python, by words of pytest.
    Python(&'static [&'static str]),
    /// Something that is done once; it returns how many cases it had, or `None` if the machine lacks what it
    /// needs.
    Once(fn(&Workspace) -> Result<Option<u64>>),
}

/// One attack.
pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

impl Attack {
    /// Whether another seed gives other cases.
    pub(super) fn is_seeded(&self) -> bool {
        !matches!(self.kind, Kind::Once(_))
    }
}

/// The first words are the names that batteries have in their tests.
#[rustfmt::skip]
pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "trees", kind: Kind::Tests("test(/^append_trees::/)") },
    Attack { name: "kills", kind: Kind::Tests("test(/^crash::kill::/)") },
    Attack { name: "killed-jobs", kind: Kind::Tests("test(/^crash::kill_jobs::/)") },
    Attack { name: "power-cuts", kind: Kind::Tests("test(/^crash::(jobs|written|appended)::/)") },
    Attack { name: "neighbours", kind: Kind::Tests("test(/^neighbours::/)") },
    Attack { name: "tables", kind: Kind::Tests("test(/^typed::(random|objects)::/)") },
    Attack { name: "mutations", kind: Kind::Tests("package(swath-fuzz)") },
    Attack { name: "limits", kind: Kind::Tests("binary(limits)") },
    Attack { name: "benches", kind: Kind::Tests("package(swath-benches)") },
    Attack { name: "python", kind: Kind::Python(&["-m", "torture"]) },
    Attack { name: "valgrind", kind: Kind::Once(c::all_under_valgrind) },
    Attack { name: "miri", kind: Kind::Once(miri::run) },
    Attack { name: "features", kind: Kind::Once(features) },
    Attack { name: "release", kind: Kind::Once(release) },
];

/// Each crate alone, with no feature and with all: a push compiles all of them with one set.
fn features(workspace: &Workspace) -> Result<Option<u64>> {
    const CRATES: [&str; 9] = [
        "swath-plan",
        "swath-os",
        "swath-simd",
        "swath",
        "swath-formats",
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

/// The release build, with `demo`, and README's installations from it.
fn release(workspace: &Workspace) -> Result<Option<u64>> {
    let words = ["run", "--release", "--quiet", "--", "demo", "--size", "16MiB"];
    process::run(&mut workspace.cargo(&words))?;
    readme::check(workspace, readme::Builds::Release)?;
    Ok(Some(5))
}
