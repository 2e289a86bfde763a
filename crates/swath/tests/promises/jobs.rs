//! Jobs of many processes: each part once, in order, whatever happens to the workers.
//!
//! ```text
//! choice     which attempts count after a commit that failed or was killed
//! contract   what parts, receipts and commits promise
//! division   which bytes a part consists of
//! folders    made by one process, removed as a whole, never another program's
//! trouble    inputs that change, segments that are damaged, folders of others
//! end        abort, remove, sweep, status
//! ```

mod choice;
mod contract;
mod division;
mod end;
mod folders;
mod trouble;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use swath::job::{Done, JobOptions, Part, Plan};
use tempfile::TempDir;

/// A folder with an input of lines, and the output that the serial program writes.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        fs::write(folder.path().join("in.txt"), text).expect("written");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn input(&self) -> PathBuf {
        self.path("in.txt")
    }

    fn output(&self) -> PathBuf {
        self.path("out.txt")
    }

    fn plan(&self, options: &JobOptions) -> Plan {
        options.plan([self.input()], self.output()).expect("planned")
    }

    /// Returns the names in the folder, apart from the input.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).expect("listed");
        let names =
            names.map(|it| it.expect("an entry").file_name().into_string().expect("text"));
        let mut names: Vec<String> = names.filter(|name| name != "in.txt").collect();
        names.sort();
        names
    }
}

/// Lines of different lengths, numbered.
fn lines(count: usize) -> String {
    (0..count).map(|index| format!("{index} {}\n", "x".repeat(index % 17))).collect()
}

/// Returns the output of a part's function for a line.
fn work(line: &[u8]) -> Vec<u8> {
    let mut out = line.to_ascii_uppercase();
    out.reverse();
    out.push(b'\n');
    out
}

/// The lines that begin in the part, changed.
fn output_of(part: &Part) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in part.pieces() {
        let records = swath::records(&piece.path).with_starting_in(piece.extent());
        let changed = records.map_blocks(|block| -> swath::Result<Vec<u8>> {
            Ok(block.records().flat_map(work).collect())
        });
        out.extend(changed.expect("read").concat());
    }
    out
}

fn attempt(part: &Part) -> Done {
    let mut out = part.writer().expect("begun");
    for piece in output_of(part).chunks(7) {
        out.write_all(piece).expect("written");
    }
    out.finish().expect("finished")
}

fn all(plan: &Plan) -> Vec<Done> {
    plan.parts().map(|part| attempt(&part)).collect()
}

fn serial(text: &str) -> Vec<u8> {
    text.lines().flat_map(|line| work(line.as_bytes())).collect()
}
