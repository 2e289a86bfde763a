//! The files that tensors are in: found, opened, their headers read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

use swath::{Input, ReadOptions, Source};

use super::header::{PREFIX, TensorHeader, header_len, shortened};
use super::json;
use super::options::TensorOptions;
use crate::error::{Error, FormatReason, Result};
use crate::input;

/// What is read of a file to begin with: nearly every header is shorter.
const GUESS: u64 = 64 << 10;
/// An index that is longer is none.
const MOST_INDEX: u64 = 100_000_000;

/// One file of tensors: where it is, and what its header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    path: PathBuf,
    header: TensorHeader,
}

/// A shard whose data can be read: of the same file as its header, whatever becomes of its name.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) shard: Shard,
    input: Input,
}

impl Shard {
    /// Reads the header of a file, and nothing else of it.
    ///
    /// # Errors
    ///
    /// As [`TensorHeader::parse`]; and what opening and reading say.
    pub fn of(source: impl Into<Source>) -> Result<Self> {
        let opened = Opened::open(source.into(), &ReadOptions::new())?;
        opened.check_unchanged()?;
        Ok(opened.shard)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it.
    pub fn header(&self) -> &TensorHeader {
        &self.header
    }
}

impl Opened {
    fn open(source: Source, read: &ReadOptions) -> Result<Self> {
        // Progress is of tensors, and a header is small.
        let read = ReadOptions::new().with_timeline(read.timeline().cloned());
        let input::Opened { input, len } = input::open(source, &read)?;
        let path = input.name();
        let part = |len: u64| read.clone().with_len(len).read(&input);
        let mut start = part(len.min(GUESS))?.buffer;
        let needed = PREFIX + header_len(path, &start, len)?;
        if needed > GUESS {
            start = part(needed)?.buffer;
        }
        let header = TensorHeader::parse(path, &start, len)?;
        Ok(Self { shard: Shard { path: path.to_owned(), header }, input })
    }

    pub(super) fn source(&self) -> Source {
        Source::from(&self.input)
    }

    /// Whether it still is what its header was read from.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        Ok(self.input.check_unchanged()?)
    }
}

/// Opens all of `sources`, and of an index the files that it lists; refuses a name that is in two of
/// them, and one that is asked for and in none.
pub(super) fn open_all(sources: Vec<Source>, options: &TensorOptions) -> Result<Vec<Opened>> {
    let wanted = options.names.as_ref().map(|names| names.iter().map(String::as_str));
    let wanted: Option<BTreeSet<&str>> = wanted.map(Iterator::collect);
    let mut shards = Vec::new();
    let names: Vec<PathBuf> = sources.iter().map(Source::name).collect();
    for (source, name) in sources.into_iter().zip(&names) {
        if is_index(name) {
            open_index(source, options, wanted.as_ref(), &mut shards)?;
        } else {
            shards.push(Opened::open(source, &options.read)?);
        }
    }
    let mut owners = HashMap::new();
    for Opened { shard, .. } in &shards {
        for tensor in shard.header.tensors() {
            if let Some(other) = owners.insert(tensor.name.as_str(), shard) {
                let name = shortened(&tensor.name).into_owned();
                let detail = format!("tensor {name:?} is in {} as well", other.path.display());
                let error = Error::reading(&shard.path, FormatReason::Invalid, detail);
                let offset = shard.header.extent(tensor).start;
                return Err(error.at(offset).hint("read them one after the other"));
            }
        }
    }
    let missing = wanted.into_iter().flatten().find(|&name| !owners.contains_key(name));
    missing.map_or(Ok(()), |name| Err(not_there(&names, name)))?;
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
    Error::reading(path, FormatReason::Invalid, detail)
}

/// Whether it is the list of a model's shards.
fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Opens the files beside an index that hold tensors which are wanted, in the order of their names.
fn open_index(
    source: Source,
    options: &TensorOptions,
    wanted: Option<&BTreeSet<&str>>,
    shards: &mut Vec<Opened>,
) -> Result<()> {
    let input::Opened { input, len } = input::open(source, &ReadOptions::new())?;
    let path = input.name();
    let fail = |offset: usize, detail: String| {
        let error = Error::reading(path, FormatReason::Malformed, shortened(&detail));
        error.at(offset as u64).hint("an index has a `weight_map` of tensor names to files")
    };
    if len > MOST_INDEX {
        let detail = format!("an index of {len} bytes, and at most {MOST_INDEX} may be");
        return Err(Error::reading(path, FormatReason::TooLarge, detail));
    }
    let bytes = ReadOptions::new().read(&input)?.buffer;
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
        let opened = Opened::open(path.with_file_name(file).into(), &options.read)?;
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
