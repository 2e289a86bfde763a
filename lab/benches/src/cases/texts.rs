//! Texts for measuring the formats.

use crate::bench::Bench;
use anyhow::Result;
use swath_study::fields::text::{TextField, TextKind};
use swath_study::workload::{Style, Table};

/// The recipe of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipes {
    /// 67 million edges, without values.
    Pattern,
    /// 20 million entries with values.
    Real,
    /// 1,024 whole numbers a line.
    Integers,
    /// 1,024 numbers of 17 digits a line.
    Doubles,
    /// Eight columns of `%.6f`.
    Fixed,
}

/// Edges of each vertex.
const DEGREE: u64 = 16;

impl Recipes {
    /// Makes the text.
    pub(crate) fn make(self, bench: &Bench) -> Result<TextField> {
        let table = |size: u64, columns, style| {
            (TextKind::Table(Table { columns, style }, bench.pick(size, 1 << 20)), "csv")
        };
        let (kind, ending) = match self {
            Self::Pattern => {
                let scale = bench.pick(22, 10);
                (TextKind::Edges { scale, count: DEGREE << scale }, "mtx")
            }
            Self::Real => {
                let scale = bench.pick(20, 10);
                (TextKind::Entries { scale, count: DEGREE << scale }, "mtx")
            }
            Self::Integers => table(1_000_000_000, 1024, Style::Integers),
            Self::Doubles => table(1_000_000_000, 1024, Style::Fractions(17)),
            Self::Fixed => table(500_000_000, 8, Style::Fixed(6)),
        };
        let name = format!("{}.{ending}", self.word());
        eprintln!("making {name}");
        TextField::new(&bench.stage, &name, kind)
    }

    /// Returns the label.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Real => "real",
            Self::Integers => "integers",
            Self::Doubles => "doubles",
            Self::Fixed => "fixed",
        }
    }
}
