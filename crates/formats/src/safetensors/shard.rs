//! The files that tensors are in: found, opened, their headers read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use swath::{ReadOptions, Source};

use super::header::{Header, PREFIX, header_len, shortened};
use super::json;
use super::options::TensorOptions;
use crate::error::{Error, Reason, Result};

/// What is read of a file to begin with: nearly every header is shorter.
const GUESS: u64 = 64 << 10;
/// An index that is longer is none.
const MOST_INDEX: u64 = 100_000_000;

/// One file of tensors: where it is, and what its header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    path: PathBuf,
    header: Header,
}

/// A shard whose data can be read: of the same file as its header, whatever becomes of its name.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) shard: Shard,
    file: Arc<File>,
    seen: Seen,
}

/// What changes when a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Seen {
    fn of(facts: &Metadata) -> Self {
        Self {
            len: facts.len(),
            modified: (facts.mtime(), facts.mtime_nsec()),
            changed: (facts.ctime(), facts.ctime_nsec()),
        }
    }
}

impl Shard {
    /// Reads the header of a file, and nothing else of it.
    ///
    /// # Errors
    ///
    /// As [`Header::parse`]; and what opening and reading say.
    pub fn of(path: impl AsRef<Path>) -> Result<Self> {
        let opened = Opened::open(path.as_ref(), &ReadOptions::new())?;
        opened.check_unchanged()?;
        Ok(opened.shard)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it.
    pub fn header(&self) -> &Header {
        &self.header
    }
}

impl Opened {
    fn open(path: &Path, read: &ReadOptions) -> Result<Self> {
        let (file, len) = open(path)?;
        let seen = Seen::of(&inspect(&file, path)?);
        // Progress is of tensors, and a header is small.
        let read = ReadOptions::new().with_timeline(read.timeline().cloned());
        let part = |len: u64| read.clone().with_len(len).read(source(&file, path));
        let mut start = part(len.min(GUESS))?.buffer;
        let needed = PREFIX + header_len(path, &start, len)?;
        if needed > GUESS {
            start = part(needed)?.buffer;
        }
        let header = Header::parse(path, &start, len)?;
        Ok(Self { shard: Shard { path: path.to_owned(), header }, file, seen })
    }

    pub(super) fn source(&self) -> Source {
        source(&self.file, &self.shard.path)
    }

    /// Whether it still is what its header was read from.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        if Seen::of(&inspect(&self.file, &self.shard.path)?) == self.seen {
            return Ok(());
        }
        let detail = "it changed while it was read";
        Err(Error::reading(&self.shard.path, Reason::Invalid, detail).hint("read it again"))
    }
}

fn source(file: &Arc<File>, path: &Path) -> Source {
    Source::file(Arc::clone(file), path)
}

fn inspect(file: &File, path: &Path) -> Result<Metadata> {
    file.metadata().map_err(|error| Error::reading(path, Reason::Invalid, error.to_string()))
}

/// A regular file and its length; anything else is refused before it is opened, as a pipe would
/// wait for somebody who writes.
fn open(path: &Path) -> Result<(Arc<File>, u64)> {
    let is_odd = path.metadata().is_ok_and(|facts| !facts.is_file() && !facts.is_dir());
    if is_odd {
        let detail = "it is no file that can be read by position";
        return Err(
            Error::reading(path, Reason::Unsupported, detail).hint("copy it to a file first")
        );
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            // Fails again, and says how.
            ReadOptions::new().with_len(0).read(path)?;
            return Err(Error::reading(path, Reason::Invalid, error.to_string()));
        }
    };
    let facts = inspect(&file, path)?;
    if facts.is_dir() {
        let detail = "it is a folder";
        return Err(Error::reading(path, Reason::Invalid, detail).hint("name the files in it"));
    }
    Ok((Arc::new(file), facts.len()))
}

/// Opens all of `paths`, and of an index the files that it lists; refuses a name that is in two of
/// them, and one that is asked for and in none.
pub(super) fn open_all(paths: &[PathBuf], options: &TensorOptions) -> Result<Vec<Opened>> {
    let wanted = options.names.as_ref().map(|names| names.iter().map(String::as_str));
    let wanted: Option<BTreeSet<&str>> = wanted.map(Iterator::collect);
    let mut shards = Vec::new();
    for path in paths {
        if is_index(path) {
            open_index(path, options, wanted.as_ref(), &mut shards)?;
        } else {
            shards.push(Opened::open(path, &options.read)?);
        }
    }
    let mut owners = HashMap::new();
    for Opened { shard, .. } in &shards {
        for tensor in shard.header.tensors() {
            if let Some(other) = owners.insert(tensor.name.as_str(), shard) {
                let name = shortened(&tensor.name).into_owned();
                let detail = format!("tensor {name:?} is in {} as well", other.path.display());
                let error = Error::reading(&shard.path, Reason::Invalid, detail);
                let offset = shard.header.extent(tensor).start;
                return Err(error.at(offset).hint("read them one after the other"));
            }
        }
    }
    let missing = wanted.into_iter().flatten().find(|&name| !owners.contains_key(name));
    missing.map_or(Ok(()), |name| Err(not_there(paths, name)))?;
    Ok(shards)
}

/// Nothing that is there has this name.
pub(super) fn not_there(paths: &[PathBuf], name: &str) -> Error {
    missing(paths, name, "").hint("`swath info` lists what there is")
}

/// An order has a name that is none of those which are to be read.
pub(super) fn not_among(paths: &[PathBuf], name: &str) -> Error {
    missing(paths, name, " among the names").hint("an order lists some of the names")
}

fn missing(paths: &[PathBuf], name: &str, among: &str) -> Error {
    let path = paths.first().map_or(Path::new("<no file>"), PathBuf::as_path);
    let detail = format!("there is no tensor {:?}{among}", shortened(name));
    Error::reading(path, Reason::Invalid, detail)
}

/// Whether it is the list of a model's shards.
fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Opens the files beside an index that hold tensors which are wanted, in the order of their names.
fn open_index(
    path: &Path,
    options: &TensorOptions,
    wanted: Option<&BTreeSet<&str>>,
    shards: &mut Vec<Opened>,
) -> Result<()> {
    let fail = |offset: usize, detail: String| {
        let error = Error::reading(path, Reason::Malformed, shortened(&detail));
        error.at(offset as u64).hint("an index has a `weight_map` of tensor names to files")
    };
    let (file, len) = open(path)?;
    if len > MOST_INDEX {
        let detail = format!("an index of {len} bytes, and at most {MOST_INDEX} may be");
        return Err(Error::reading(path, Reason::TooLarge, detail));
    }
    let bytes = ReadOptions::new().read(source(&file, path))?.buffer;
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| fail(error.valid_up_to(), String::from("it is not UTF-8")))?;
    let map = json::parse_index(text).map_err(|(offset, what)| fail(offset, what))?;
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, file) in &map {
        if wanted.is_none_or(|wanted| wanted.contains(name.as_str())) {
            files.entry(file).or_default().push(name);
        }
    }
    for (file, names) in files {
        if !is_beside(Path::new(file)) {
            return Err(fail(0, format!("{file:?} is no name of a file beside it")));
        }
        let opened = Opened::open(&path.with_file_name(file), &options.read)?;
        let there: BTreeSet<&str> =
            opened.shard.header.tensors().iter().map(|tensor| tensor.name.as_str()).collect();
        if let Some(name) = names.into_iter().find(|name| !there.contains(name)) {
            return Err(fail(0, format!("tensor {name:?} is not in {file}, where it says")));
        }
        shards.push(opened);
    }
    Ok(())
}

/// Whether it leads to somewhere in the same folder or below it.
fn is_beside(file: &Path) -> bool {
    !file.as_os_str().is_empty()
        && file.components().all(|part| matches!(part, Component::Normal(_)))
}
