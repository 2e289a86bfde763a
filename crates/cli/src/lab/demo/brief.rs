//! The five lines: the usual way, and Swath beside it.

use super::Findings;
use super::compared::{Compared, Verdict};
use super::layout::{Align, columns, digits, filled};
use super::row::{DemoRow, Line};

impl Line {
    pub(super) const ALL: [Self; 5] =
        [Self::Warm, Self::Cold, Self::Write, Self::Parse, Self::SmallFiles];

    /// Returns its names for people and for programs, and the usual way.
    pub(super) fn texts(self) -> [&'static str; 3] {
        match self {
            Self::Warm => ["read, warm", "read_warm", "std::fs::read"],
            Self::Cold => ["read, cold", "read_cold", "std::fs::read"],
            Self::Write => ["write", "write_unsynced", "BufWriter"],
            Self::Parse => ["parse CSV", "parse_csv", "BufRead, split, parse"],
            Self::SmallFiles => ["small files", "small_files", "loop of std::fs::read"],
        }
    }
}

/// Both rows of a line, compared.
pub(super) struct Beside<'f> {
    pub(super) today: &'f DemoRow,
    pub(super) swath: &'f DemoRow,
    pub(super) compared: Compared,
}

impl Findings {
    /// Returns both rows of `line`; `None` if they could not be measured.
    pub(super) fn beside(&self, line: Line) -> Option<Beside<'_>> {
        let of = |is_peer: bool| {
            let is_it =
                |row: &&DemoRow| row.about.line == Some(line) && row.about.is_peer == is_peer;
            self.rows.iter().find(is_it)
        };
        let (today, swath) = (of(true)?, of(false)?);
        Some(Beside { today, swath, compared: Compared::of(swath, today)? })
    }
}

/// Returns the five lines below their heading, in columns if they fit.
pub(super) fn lines(findings: &Findings, width: usize) -> Vec<String> {
    let heading = ["", "today", "GB/s", "Swath", "Swath is"].map(str::to_owned);
    let rows = Line::ALL.map(|line| cells(findings, line));
    let aligned = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Left];
    let table: Vec<_> = std::iter::once(heading).chain(rows.clone()).collect();
    columns(&table, aligned, width).unwrap_or_else(|| {
        let stacked = |[name, today, its, ours, is]: [String; 5]| {
            let (first, second) =
                (format!("{name}: {is}"), format!("  Swath {ours} GB/s, {today} {its} GB/s"));
            [filled(&first, width, 2), filled(&second, width, 4)].concat()
        };
        rows.into_iter().flat_map(stacked).collect()
    })
}

fn cells(findings: &Findings, line: Line) -> [String; 5] {
    let (its, ours, is) = match findings.beside(line) {
        None => (String::from("-"), String::from("-"), String::from("not measured")),
        Some(Beside { today, swath, compared }) => {
            let speed = |row: &DemoRow| digits(row.bytes_per_s(findings.size) / 1e9);
            let is =
                if today.is_right && swath.is_right { words(compared) } else { "WRONG".into() };
            (speed(today), speed(swath), is)
        }
    };
    let [name, _, today] = line.texts().map(str::to_owned);
    [name, today, its, ours, is]
}

fn words(compared: Compared) -> String {
    let spread = compared.spread();
    match compared.verdict {
        Verdict::AboutTheSame => format!("about the same{spread}"),
        Verdict::Undecided => format!("undecided{spread}"),
        Verdict::Faster | Verdict::Slower => {
            format!("{}× as fast{spread}", digits(compared.ratio.estimate))
        }
    }
}
