//! The Rust blocks of all pages: a test for each, named `PAGE::line_N`.
//!
//! A block runs in a process of its own, in a new folder that has the files of the fixture.

use std::error::Error;
use std::process::{Command, Stdio};

use swath_docs::fixture;

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

type Block = fn() -> Result<(), Box<dyn Error>>;

/// Set for the process that runs one block.
const INSIDE: &str = "SWATH_DOCS_INSIDE";

fn check(page: &str, line: usize, test: &str, runs: bool, block: Block) {
    if !runs {
        return;
    }
    if std::env::var_os(INSIDE).is_some() {
        if let Err(error) = block() {
            panic!("{error:?}");
        }
        return;
    }
    let folder = fixture::folder().expect("a folder");
    let mut own = Command::new(std::env::current_exe().expect("this program"));
    own.args(["--exact", test, "--nocapture", "--test-threads=1"]).stdin(Stdio::null());
    fixture::isolate(&mut own, folder.path());
    let output = own.env(INSIDE, "1").current_dir(folder.path()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(output.status.success() && ran, "{page}:{line}: rust block failed\n{said}");
}

/// The result of the `main` of a block.
#[allow(dead_code, reason = "a block needs no `main`, and perhaps none has one")]
trait Outcome {
    fn outcome(self) -> Result<(), Box<dyn Error>>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), Box<dyn Error>> {
        Ok(())
    }
}

impl<E: Into<Box<dyn Error>>> Outcome for Result<(), E> {
    fn outcome(self) -> Result<(), Box<dyn Error>> {
        self.map_err(Into::into)
    }
}
