//! The whole table, group by group, and the meaning of its figures.

use super::Findings;
use super::compared::{Compared, FEWEST, Verdict};
use super::layout::{Align, columns, digits, filled};
use super::limit::LIMITS;
use super::row::{About, DemoRow, Limit};

/// The groups in order: the capability of their rows, their title, and the base of their ratios.
const GROUPS: [(&str, &str, &str); 13] = [
    (LIMITS, "limits of this machine", ""),
    ("read", "read", STD),
    ("scan", "scan", STD),
    ("write", "write", FIRST),
    ("format", "write text, made on the way", FIRST),
    ("compress", "compress", FIRST),
    ("parse", "parse CSV", FIRST),
    ("convert", "parse a graph", FIRST),
    ("price", "parse, price and write options", FIRST),
    ("ingest", "many files", FIRST),
    ("classes", "priorities", STD),
    ("mirrors", "mirrors", STD),
    ("tensors", "tensors", FIRST),
];
const STD: &str = "× std::fs::read";
const FIRST: &str = "× the first row";

const MEANING: &str = "\
\"Of limit\" 1.00 is as fast as this machine sums or copies memory, or reads its device with O_DIRECT. \
A ratio compares times, warm with warm and cold with cold; \"same\": 1 is in the interval; with a ? it is \
undecided. Two rows differ only if their intervals do not overlap. Warm files are in the page cache, \
cold ones are not; reads are warm and into a fresh buffer unless the row says otherwise.";

/// Returns the place of a capability in the table: reads first, limits last.
pub(super) fn place(capability: &str) -> usize {
    let known = GROUPS.iter().skip(1).position(|group| group.0 == capability);
    known.unwrap_or(GROUPS.len())
}

impl Findings {
    /// Returns a row's speed as a share of its limit: exactly 1 if they differ by noise alone.
    pub(super) fn ratio_to_limit(&self, row: &DemoRow) -> Option<f64> {
        let name = row.about.limit.name();
        let is_limit = |it: &&DemoRow| it.about.capability == LIMITS && it.about.way == name;
        let limit = self.rows.iter().find(is_limit)?;
        let ratio = Compared::of(row, limit)?.ratio;
        let ratio = ratio.scaled(row.bytes(self.size) / limit.bytes(self.size));
        let is_one = ratio.lower <= 1.0 && ratio.upper >= 1.0;
        Some(if is_one { 1.0 } else { ratio.estimate })
    }

    /// Returns the row that `row` is compared with: of its capability and state, else of reads.
    fn peer(&self, row: &DemoRow) -> Option<&DemoRow> {
        let of = |capability: &str| {
            self.rows.iter().find(|other| {
                let About { capability: its, state, is_peer, .. } = other.about;
                is_peer && state == row.about.state && its == capability
            })
        };
        of(row.about.capability).or_else(|| of("read"))
    }

    /// Returns how many times as fast as its peer a row is; `None` if it has none, or is one.
    pub(super) fn ratio_to_peer(&self, row: &DemoRow) -> Option<Compared> {
        let peer = self.peer(row).filter(|peer| !std::ptr::eq(*peer, row))?;
        Compared::of(row, peer)
    }
}

/// Returns all groups, in columns if they fit, and the meaning of the figures.
pub(super) fn lines(findings: &Findings, width: usize) -> Vec<String> {
    let order = GROUPS.iter().skip(1).chain(&GROUPS[..1]);
    let groups: Vec<_> = order
        .map(|&(capability, title, against)| {
            let is_of = |row: &&DemoRow| row.about.capability == capability;
            let rows: Vec<_> = findings.rows.iter().filter(is_of).collect();
            (title, against, rows)
        })
        .filter(|(_, _, rows)| !rows.is_empty())
        .collect();
    let mut table = Vec::new();
    for (title, against, rows) in &groups {
        let limit = if against.is_empty() { "" } else { "of limit" };
        table.push([title, "GB/s", limit, against].map(str::to_owned));
        table.extend(rows.iter().map(|row| cells(findings, row)));
    }
    let aligned = [Align::Left, Align::Right, Align::Left, Align::Left];
    let lines = columns(&table, aligned, width).unwrap_or_else(|| stacked(&table, width));
    let mut parted = Vec::new();
    for line in lines {
        if !line.starts_with(' ') && !parted.is_empty() {
            parted.push(String::new());
        }
        parted.push(line);
    }
    parted.push(String::new());
    parted.extend(filled(MEANING, width, 0));
    parted
}

/// Returns the cells of a row, indented below the title of its group.
fn cells(findings: &Findings, row: &DemoRow) -> [String; 4] {
    let about = row.about;
    let speed = match about.bytes {
        Some(0) => String::from("-"),
        _ => digits(row.bytes_per_s(findings.size) / 1e9),
    };
    let limit = match (findings.ratio_to_limit(row), about.limit, about.bytes) {
        _ if about.capability == LIMITS => String::new(),
        (None, ..) | (_, Limit::Computing, _) | (.., Some(0)) => String::from("-"),
        (Some(ratio), limit, _) => {
            let doubt = if row.rounds() < FEWEST { "?" } else { "" };
            format!("{}{doubt} {}", digits(ratio), limit.word())
        }
    };
    let ratio = match findings.ratio_to_peer(row) {
        _ if !row.is_right => String::from("WRONG"),
        _ if about.capability == LIMITS => String::new(),
        None if about.is_peer => String::from("1"),
        None => String::from("-"),
        Some(compared) => ratio_text(compared),
    };
    [format!("  {}", about.name()), speed, limit, ratio]
}

fn ratio_text(compared: Compared) -> String {
    let (spread, ratio) = (compared.spread(), digits(compared.ratio.estimate));
    match compared.verdict {
        Verdict::AboutTheSame => format!("same{spread}"),
        Verdict::Undecided => format!("{ratio}?{spread}"),
        Verdict::Faster | Verdict::Slower => format!("{ratio}{spread}"),
    }
}

/// Returns figures below their names.
fn stacked(table: &[[String; 4]], width: usize) -> Vec<String> {
    let mut against = "";
    let mut lines = Vec::new();
    for [name, speed, limit, ratio] in table {
        if !name.starts_with(' ') {
            against = ratio;
            lines.extend(filled(name, width, 2));
            continue;
        }
        lines.extend(filled(name, width, 4));
        let mut figures = vec![format!("    {speed} GB/s")];
        if !["", "-"].contains(&&limit[..]) {
            figures.push(format!("{limit} limit"));
        }
        if !["", "-", "1"].contains(&&ratio[..]) {
            figures.push(format!("{ratio} {against}"));
        }
        lines.extend(filled(&figures.join(", "), width, 6));
    }
    lines
}
