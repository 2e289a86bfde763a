//! The usual tools that read files, for comparison with Swath.
//!
//! Python stays alive between runs and times the load itself, so neither its start nor the check counts.
//! ripgrep can only be timed as a whole process, including its start of about a millisecond. A peer that
//! is not installed is listed as [`Absent`] with a reason.
//!
//! ```text
//! measure ── ["fromfile","data.bin"] ──→ python   loads (timed), then sums (not timed)
//!         ←─ {"seconds":…,"sum":…} ─────
//! ```

pub use crate::measure::Absent;
use crate::measure::{Meter, Outcome};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::cell::RefCell;
use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::time::Instant;
use swath_os::ending;

/// The environment variable that names the Python with NumPy.
pub const PYTHON_VARIABLE: &str = "SWATH_VENV_PYTHON";

/// The result of a Python peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PythonLoaded {
    /// Seconds of the load alone, by Python's clock.
    pub seconds: f64,
    /// CPU seconds of the load.
    pub cpu_seconds: f64,
    /// Bytes loaded, or values parsed.
    pub bytes: u64,
    /// The sum of the bytes or values.
    #[serde(rename = "sum")]
    pub checksum: u64,
}

impl PythonLoaded {
    /// Sets the meter to Python's own seconds; returns the outcome.
    pub fn told(self, meter: &mut Meter) -> Outcome {
        meter.took(self.seconds);
        meter.note("cpu_seconds", self.cpu_seconds);
        Outcome { bytes: self.bytes, checksum: self.checksum }
    }
}

#[derive(Deserialize)]
struct Hello {
    numpy: Option<String>,
    python: String,
}

#[derive(Deserialize)]
struct Reply {
    error: Option<String>,
    #[serde(flatten)]
    loaded: PythonLoaded,
}

const SCRIPT: &str = concat!(include_str!("parsers.py"), "\n", include_str!("peers.py"));

/// A way of Python to load a file, or to parse or write text with numbers; defined in `peers.py` and
/// `parsers.py`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PythonWay {
    /// The name in results.
    pub name: &'static str,
    /// The name in the script.
    pub word: &'static str,
}

impl PythonWay {
    /// `numpy.fromfile(path, numpy.uint8)`
    pub const FROM_FILE: Self = Self { name: "numpy.fromfile", word: "fromfile" };
    /// `open(path, "rb").read()`
    pub const OPEN_READ: Self = Self { name: "python open().read()", word: "open_read" };
    /// `open(path, "rb", buffering=0).readinto(...)` into an array that is used again
    pub const READ_INTO: Self = Self { name: "python readinto()", word: "readinto" };
}

/// One Python for all entrants, of which one runs at a time.
pub type SharedPython = Rc<RefCell<Python>>;

/// A Python process that waits for files to load. It ends when this is dropped.
pub struct Python {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    version: String,
}

impl Python {
    /// Starts the Python of [`PYTHON_VARIABLE`], or else `python3`.
    ///
    /// # Errors
    ///
    /// [`Absent`] if it does not start or has no NumPy, which the check of the sum also needs.
    pub fn start() -> Result<Self, Absent> {
        let program = env::var_os(PYTHON_VARIABLE).unwrap_or_else(|| "python3".into());
        let absent = |reason: String| {
            let text = format!("{}: {reason}", program.to_string_lossy());
            Absent::new("python", text)
        };
        let mut command = Command::new(&program);
        command.args(["-u", "-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = ending::spawn(command.stderr(Stdio::null()))
            .map_err(|error| absent(error.to_string()))?;
        let input = child.stdin.take();
        let output = child.stdout.take().map(BufReader::new).expect("it was piped");
        let mut python = Self { child, input, output, version: String::new() };
        let hello: Hello = python.receive().map_err(|error| absent(format!("{error:#}")))?;
        let Some(numpy) = hello.numpy else {
            return Err(absent(format!("NumPy is not installed (set {PYTHON_VARIABLE})")));
        };
        python.version = format!("Python {}, NumPy {numpy}", hello.python);
        Ok(python)
    }

    /// Returns the versions.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Loads the file at `path` and sums it; or parses it, or writes the values parsed before. Then the result
    /// has the number of values in place of bytes, and their sum.
    ///
    /// # Errors
    ///
    /// If Python fails or has ended, if the library is not installed, or if the path is not UTF-8.
    pub fn ask(&mut self, way: PythonWay, path: &Path) -> Result<PythonLoaded> {
        let (way, path) = (way.word, path.to_str());
        let path = path.context("the Python peer takes UTF-8 paths only")?;
        let command = serde_json::to_string(&[way, path])?;
        let input = self.input.as_mut().context("the Python peer has ended")?;
        writeln!(input, "{command}").context("cannot write to the Python peer")?;
        let Reply { error, loaded } = self.receive()?;
        if let Some(error) = error {
            bail!("{way} of {path}: {error}");
        }
        Ok(loaded)
    }

    fn receive<T: for<'d> Deserialize<'d>>(&mut self) -> Result<T> {
        let mut line = String::new();
        let len = self.output.read_line(&mut line).context("cannot read from Python")?;
        ensure!(len > 0, "it ended without an answer");
        serde_json::from_str(&line).with_context(|| format!("cannot understand {line:?}"))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // Python ends when its input is closed.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// ripgrep as a counter of lines.
#[derive(Clone, Debug)]
pub struct Ripgrep {
    version: String,
}

/// The result of one run of ripgrep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinesCounted {
    /// Seconds from before its start to after its end.
    pub seconds: f64,
    /// Lines in the file.
    pub lines: u64,
}

impl Ripgrep {
    /// Looks for `rg`.
    ///
    /// # Errors
    ///
    /// [`Absent`] if it does not run.
    pub fn find() -> Result<Self, Absent> {
        let absent = |reason: String| Absent::new("rg", reason);
        let output = Command::new("rg").arg("--version").stdin(Stdio::null()).output();
        let output = output.map_err(|error| absent(format!("rg: {error}")))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let first = text.lines().next().filter(|_| output.status.success());
        let version = first.ok_or_else(|| absent("`rg --version` fails".to_owned()))?;
        Ok(Self { version: version.to_owned() })
    }

    /// Returns the version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs `rg --mmap -c '' PATH`, which scans the whole file for line ends.
    ///
    /// # Errors
    ///
    /// If it fails or prints something other than a number.
    pub fn count_lines(&self, path: &Path) -> Result<LinesCounted> {
        let (text, seconds) = self.run(&["--mmap", "-c", ""], path)?;
        let lines = text.trim().parse();
        Ok(LinesCounted { seconds, lines: lines.with_context(|| format!("rg: {text:?}"))? })
    }

    /// Runs `rg -c '' FOLDER`, which scans all files below it, and adds up the counts.
    ///
    /// # Errors
    ///
    /// As [`count_lines`](Self::count_lines).
    pub fn count_lines_below(&self, folder: &Path) -> Result<LinesCounted> {
        // The user's ignore files must not exclude any.
        let (text, seconds) = self.run(&["--no-ignore", "--hidden", "-c", ""], folder)?;
        let count = |line: &str| -> Option<u64> { line.rsplit_once(':')?.1.parse().ok() };
        let lines =
            text.lines().map(|line| count(line).with_context(|| format!("rg: {line:?}")));
        Ok(LinesCounted { seconds, lines: lines.sum::<Result<u64>>()? })
    }

    /// Returns the output of ripgrep, and the seconds that it took.
    fn run(&self, words: &[&str], path: &Path) -> Result<(String, f64)> {
        let start = Instant::now();
        let mut command = Command::new("rg");
        // The user's configuration must not add flags.
        command.arg("--no-config").args(words).arg(path).stdin(Stdio::null());
        let child = ending::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let output = child.and_then(Child::wait_with_output).context("cannot run rg")?;
        let seconds = start.elapsed().as_secs_f64();
        ensure!(output.status.success(), "rg ended with {}", output.status);
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), seconds))
    }
}

/// Sums the bytes of `reader` in the reader's buffer.
///
/// # Errors
///
/// If `reader` fails.
pub fn sum_reader(mut reader: impl BufRead) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    loop {
        let buffer = reader.fill_buf()?;
        let len = buffer.len();
        if len == 0 {
            return Ok(outcome);
        }
        outcome.bytes += len as u64;
        outcome.checksum += swath_simd::sum(buffer);
        reader.consume(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), bytes).expect("some bytes");
        file
    }

    #[test]
    fn python_loads_in_every_way_and_sums_rightly() {
        let mut python = match Python::start() {
            Ok(python) => python,
            Err(absent) => return swath_reference::skip("numpy", absent),
        };
        let bytes: Vec<u8> = (0..=255).cycle().take(3_000_001).collect();
        let file = file_of(&bytes);
        let sum = swath_simd::sum(&bytes);
        for load in [PythonWay::FROM_FILE, PythonWay::OPEN_READ, PythonWay::READ_INTO] {
            let loaded = python.ask(load, file.path()).expect("it can be read");
            assert_eq!((loaded.bytes, loaded.checksum), (bytes.len() as u64, sum), "{load:?}");
        }
        let missing = python.ask(PythonWay::OPEN_READ, Path::new("/no/such/file"));
        assert!(missing.is_err());
        python.ask(PythonWay::FROM_FILE, file.path()).expect("it goes on after an error");
    }

    #[test]
    fn python_parses_what_is_installed_and_agrees() {
        let mut python = match Python::start() {
            Ok(python) => python,
            Err(absent) => return swath_reference::skip("numpy", absent),
        };
        let graph = b"%%MatrixMarket matrix coordinate pattern general\n5 5 3\n1 2\n3 4\n5 5\n";
        let (graph, table) = (file_of(graph), file_of(b"1.5,2.25\n3,4\n5,6.25\n"));
        let mut ways = 0;
        for (words, path, expected) in [
            (["scipy_mtx", "fmm_csr", "polars_mtx", "duckdb_mtx"], graph.path(), (3, 14)),
            (
                ["numpy_table", "pandas_table", "polars_table", "duckdb_table"],
                table.path(),
                (6, 22),
            ),
        ] {
            for word in words {
                match python.ask(PythonWay { name: word, word }, path) {
                    Ok(parsed) => {
                        assert_eq!((parsed.bytes, parsed.checksum), expected, "{word}");
                        ways += 1;
                    }
                    Err(error) => {
                        assert!(error.to_string().contains("ModuleNotFound"), "{error:#}")
                    }
                }
            }
        }
        assert!(ways > 0, "NumPy itself is there");
    }

    #[test]
    fn ripgrep_counts_lines() {
        match Ripgrep::find() {
            Ok(ripgrep) => {
                let file = file_of(b"one\ntwo\nthree\n");
                assert_eq!(ripgrep.count_lines(file.path()).expect("it runs").lines, 3);
                let folder = tempfile::tempdir().expect("a folder");
                for name in ["a", "b:c", ".d"] {
                    std::fs::write(folder.path().join(name), "one\ntwo\n").expect("written");
                }
                let counted = ripgrep.count_lines_below(folder.path()).expect("it runs");
                assert_eq!(counted.lines, 6);
            }
            Err(absent) => swath_reference::skip("ripgrep", absent),
        }
    }

    #[test]
    fn a_reader_is_summed_to_its_end() {
        let bytes = vec![3; 2001];
        let sum = sum_reader(BufReader::with_capacity(1000, &bytes[..])).expect("memory");
        assert_eq!(sum, Outcome { bytes: 2001, checksum: 6003 });
    }
}
