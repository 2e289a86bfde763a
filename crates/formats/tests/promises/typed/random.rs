//! Tables that are drawn are read as the oracle reads them.

use swath_reference::battery::{Battery, BatterySize};
use swath_reference::typed::draw::{Drawn, draw, draw_fixed, draw_objects};
use swath_reference::typed::{Fault, Table, Wrong, answer, read, show_fault};

use crate::typed::oracle::{self, How};

/// Tables that are drawn.
const SIZE: BatterySize = BatterySize { slice: 600, full: 10_000 };

/// Wrong tables after which no more are drawn.
const MOST: usize = 10;

/// How a table is read: workers, bytes of a block. Small blocks are for small tables.
const SMALL: [(usize, u64); 8] =
    [(1, 1), (4, 1), (2, 2), (3, 3), (2, 7), (4, 16), (3, 64), (2, 1000)];
const LARGE: [(usize, u64); 5] = [(1, 0), (2, 100), (3, 1000), (4, 5000), (4, 333)];

#[test]
fn drawn_tables_are_read_as_the_oracle_reads_them() {
    compare("drawn.csv", draw);
}

#[test]
fn drawn_objects_are_read_as_the_oracle_reads_them() {
    compare("drawn.jsonl", draw_objects);
}

#[test]
fn drawn_tables_of_fixed_width_are_read_as_the_oracle_reads_them() {
    compare("drawn.txt", draw_fixed);
}

fn compare(name: &str, draw: fn(u64) -> Drawn) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    let mut wrong = Vec::new();
    for seed in Battery::new("tables", SIZE) {
        let Drawn { bytes, options } = draw(seed);
        let wanted = read(&bytes, &options);
        std::fs::write(&path, &bytes).expect("written");
        let ways = if bytes.len() < 2000 { &SMALL[..] } else { &LARGE[..] };
        for at in [seed, seed / 8 + seed + 3] {
            let (workers, block_size) = ways[usize::try_from(at).expect("small") % ways.len()];
            let how = How { workers, block_size, is_stream: at % 3 == 0 };
            let found = oracle::read(&path, &oracle::options(&options), how);
            if !is_same(&found, &wanted) {
                wrong.push(report(seed, how, &bytes, &found, &wanted, &options));
                break;
            }
        }
        if wrong.len() == MOST {
            break;
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether both are the same; a file without records has no line.
fn is_same(found: &Result<Table, Fault>, wanted: &Result<Table, Fault>) -> bool {
    match (found, wanted) {
        (Err(found), Err(wanted)) if wanted.wrong == Wrong::Empty => {
            (found.wrong, found.byte) == (wanted.wrong, wanted.byte)
        }
        _ => found == wanted,
    }
}

fn report(
    seed: u64,
    how: How,
    bytes: &[u8],
    found: &Result<Table, Fault>,
    wanted: &Result<Table, Fault>,
    options: &swath_reference::typed::Options,
) -> String {
    let shown = |one: &Result<Table, Fault>| match one {
        Ok(table) => answer(table),
        Err(fault) => show_fault(fault),
    };
    let text = bytes.escape_ascii().to_string().replace("\\n", "\\n\n");
    let text: String = text.chars().take(3000).collect();
    let (found, wanted) = (shown(found), shown(wanted));
    let differ = found.lines().zip(wanted.lines()).position(|(one, other)| one != other);
    let cut =
        |text: &str| text.lines().take(differ.unwrap_or(0) + 3).collect::<Vec<_>>().join("\n");
    format!(
        "seed {seed} {how:?} {options:?}\n{text}\nfound\n{}\nwanted\n{}\n",
        cut(&found),
        cut(&wanted)
    )
}
