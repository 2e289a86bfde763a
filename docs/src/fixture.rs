//! Makes the folder that a block finds when it runs: small files under the names that pages use.
//!
//! | Names | Hold |
//! | --- | --- |
//! | `data.bin` | 2,000,000 bytes: lines of letters |
//! | `disk1/data.bin`, `disk2/data.bin` | copies of it; `data.manifest` has its checksums |
//! | `data.csv`, `points.csv`, `table.csv` | numbers under the names `id,x,y,score` |
//! | `people.csv` | names, postal codes, dates, numbers and booleans, with quotes and missing values |
//! | `german.csv`, `export.csv` | the same in other forms; the latter in Latin-1 |
//! | `days/` | a table of numbers for each of three days |
//! | `log.jsonl` | 100 objects with a number, a time and texts |
//! | `data.f8` | 8,000 doubles |
//! | `text`, `in.log`, `log.txt`, `in.csv` | lines of words and numbers, some with `error` |
//! | `options.txt` | 1,000 option contracts |
//! | `graph.mtx`, `edges.el` | a graph of 1,000 vertices |
//! | `images/`, `photos/`, `data/` | 30 small files in three folders; `data/` has `.json` files |
//! | `model.safetensors` | four tensors: `wte.weight`, `wpe.weight`, `h.0.attn.weight`, `lm_head.weight` |
//! | `a.safetensors`, `b.safetensors`, `model.safetensors.index.json` | the same in two shards |

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

/// Makes a new folder with all files; it is removed when the result is dropped.
///
/// # Errors
///
/// If it cannot be made.
pub fn folder() -> Result<TempDir> {
    let made = tempfile::Builder::new().prefix("swath-docs-").tempdir()?;
    fill(made.path())?;
    Ok(made)
}

/// Keeps `command` from settings of the user: blocks find none.
pub fn isolate(command: &mut Command, folder: &Path) {
    command.env("HOME", folder).env("XDG_CONFIG_HOME", folder.join(".config"));
}

fn fill(folder: &Path) -> Result<()> {
    let data = lines(2_000_000);
    fs::write(folder.join("data.bin"), &data)?;
    for disk in ["disk1", "disk2"] {
        fs::create_dir(folder.join(disk))?;
        fs::write(folder.join(disk).join("data.bin"), &data)?;
    }
    let sums = swath::manifest::of(folder.join("data.bin"))?;
    swath::manifest::save(folder.join("data.manifest"), &sums)?;
    for name in ["data.csv", "points.csv", "table.csv"] {
        fs::write(folder.join(name), table())?;
    }
    fs::write(folder.join("people.csv"), people())?;
    fs::write(folder.join("german.csv"), "name;zip;born\nAnn;01067;29.02.1980\nBob;80331\n")?;
    fs::write(folder.join("export.csv"), export())?;
    fs::create_dir(folder.join("days"))?;
    for day in 1..4 {
        fs::write(folder.join(format!("days/day-{day}.csv")), table())?;
    }
    fs::write(folder.join("log.jsonl"), log())?;
    let doubles = (0..8_000_u32).flat_map(|index| f64::from(index).to_le_bytes());
    fs::write(folder.join("data.f8"), doubles.collect::<Vec<u8>>())?;
    for name in ["text", "in.log", "log.txt", "in.csv"] {
        fs::write(folder.join(name), words())?;
    }
    fs::write(folder.join("options.txt"), options())?;
    let edges = graph();
    let mtx = format!("%%MatrixMarket matrix coordinate pattern general\n1000 1000 {EDGES}\n");
    fs::write(folder.join("graph.mtx"), mtx + &edges)?;
    fs::write(folder.join("edges.el"), edges)?;
    for (name, extension) in [("images", "png"), ("photos", "jpg"), ("data", "json")] {
        small_files(&folder.join(name), extension)?;
    }
    tensors(folder)
}

/// Lines of 63 letters.
fn lines(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let byte = |index: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if index % 64 == 63 { b'\n' } else { b'a' + (state >> 24).to_le_bytes()[0] % 26 }
    };
    (0..len).map(byte).collect()
}

fn table() -> String {
    let mut text = String::from("id,x,y,score\n");
    for row in 0..1_000_u32 {
        let _ = writeln!(text, "{row},{}.5,-{}.25,{}", row % 97, row % 89, row % 7);
    }
    text
}

fn people() -> String {
    let mut text = String::from("id,name,born,zip,score,member\n");
    for row in 0..1_000_u32 {
        let (day, member) = (row % 28 + 1, row % 2 == 0);
        let score = if row % 7 == 0 { String::new() } else { format!("{}.5", row % 97) };
        let _ = writeln!(
            text,
            "{row},\"Smith, {row}\",1980-02-{day:02},{:05},{score},{member}",
            row * 31 % 99_999
        );
    }
    text
}

fn log() -> String {
    let mut text = String::new();
    for row in 0..100_u32 {
        let second = row % 60;
        let _ = writeln!(
            text,
            r#"{{"id":{row},"at":"2024-02-01T10:00:{second:02}Z","level":"info","text":"line {row}"}}"#
        );
    }
    text
}

/// Every character is a byte.
fn export() -> Vec<u8> {
    let mut text = String::from("Ort;Umsatz\n");
    for row in 0..100_u32 {
        let _ = writeln!(text, "K\u{f6}ln {row};1.{:03},{:02}", row * 9, row);
    }
    text.chars().filter_map(|sign| u8::try_from(u32::from(sign)).ok()).collect()
}

fn words() -> String {
    let mut text = String::new();
    for line in 0..2_000_u32 {
        let level = if line % 10 == 0 { "error" } else { "info" };
        let _ = writeln!(text, "{level},{line},{}", line % 13);
    }
    text
}

fn options() -> String {
    let contracts = [
        "42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.759422392871532\n",
        "42.00 40.00 0.1000 0.00 0.20 0.50 P 0.00 0.808599372900096\n",
    ];
    format!("1000\n{}", contracts.concat().repeat(500))
}

const EDGES: u32 = 3_000;

/// Vertices are counted from 1, as Matrix Market does it; each edge is there once.
fn graph() -> String {
    let mut text = String::new();
    for edge in 0..EDGES {
        let _ = writeln!(text, "{} {}", edge / 3 + 1, (edge * 7) % 1_000 + 1);
    }
    text
}

fn small_files(folder: &Path, extension: &str) -> Result<()> {
    for inner in ["", "one", "two"] {
        let inner = folder.join(inner);
        fs::create_dir_all(&inner)?;
        for index in 0..10 {
            let text = format!("{{\"index\": {index}}}\n").repeat(index + 1);
            fs::write(inner.join(format!("{index}.{extension}")), text)?;
        }
    }
    Ok(())
}

const TENSORS: [&str; 4] = ["wte.weight", "wpe.weight", "h.0.attn.weight", "lm_head.weight"];

fn tensors(folder: &Path) -> Result<()> {
    fs::write(folder.join("model.safetensors"), safetensors(&TENSORS))?;
    let mut map = Vec::new();
    for (name, inside) in [("a.safetensors", &TENSORS[..2]), ("b.safetensors", &TENSORS[2..])] {
        fs::write(folder.join(name), safetensors(inside))?;
        map.extend(inside.iter().map(|tensor| format!("\"{tensor}\": \"{name}\"")));
    }
    let index = format!("{{\"metadata\": {{}}, \"weight_map\": {{{}}}}}", map.join(", "));
    fs::write(folder.join("model.safetensors.index.json"), index)?;
    Ok(())
}

/// Tensors of 8 × 16 floats each.
fn safetensors(names: &[&str]) -> Vec<u8> {
    const LEN: usize = 8 * 16 * 4;
    let entry = |(index, name): (usize, &&str)| {
        let (from, to) = (index * LEN, (index + 1) * LEN);
        format!(
            "\"{name}\":{{\"dtype\":\"F32\",\"shape\":[8,16],\"data_offsets\":[{from},{to}]}}"
        )
    };
    let entries: Vec<String> = names.iter().enumerate().map(entry).collect();
    let mut header = format!("{{{}}}", entries.join(","));
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend(
        names.iter().flat_map(|_| (0..128_u16).flat_map(|it| f32::from(it).to_le_bytes())),
    );
    file
}
