//! The files that contain tensors: finds and opens them, and reads their headers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

use swath::{Input, ReadOptions, Source};

use super::header::{PREFIX, TensorHeader, header_len, shortened};
use super::json;
use super::options::TensorOptions;
use crate::error::{Error, FormatReason, Result};
use crate::input;

/// Number of bytes read first; nearly every header is shorter.
const GUESS: u64 = 64 << 10;
/// The longest index accepted.
const MOST_INDEX: u64 = 100_000_000;

/// One file of tensors: its path and its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    path: PathBuf,
    header: TensorHeader,
}

/// A shard whose data can be read. It remains the same file, even if its name changes.
#[derive(Debug)]
pub(super) struct OpenShard {
    pub(super) shard: Shard,
    input: Input,
}

impl Shard {
    /// Reads the header of a file, and no data.
    ///
    /// ```
    /// use swath_formats::safetensors::{self, Dtype, Shard, Tensor};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// # safetensors::write(&path, [Tensor { name: "a", dtype: Dtype::U8, shape: &[1], bytes: b"x"
    /// }])?;
    /// let shard = Shard::of(&path)?;
    /// assert_eq!((shard.path(), shard.header().data_len()), (path.as_path(), 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`TensorHeader::parse`]; whatever opening and reading report.
    pub fn of(source: impl Into<Source>) -> Result<Self> {
        let opened = OpenShard::open(source.into(), &ReadOptions::new())?;
        opened.check_unchanged()?;
        Ok(opened.shard)
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its header.
    pub fn header(&self) -> &TensorHeader {
        &self.header
    }
}

impl OpenShard {
    fn open(source: Source, read: &ReadOptions) -> Result<Self> {
        // Progress counts tensors, and a header is small.
        let read = ReadOptions::new().with_timeline(read.timeline().cloned());
        let input::OpenedText { input, len } = input::open(source, &read)?;
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

    /// Checks that the file is unchanged since its header was read.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        Ok(self.input.check_unchanged()?)
    }
}

/// Opens all of `sources`, and the files in an index. Fails if a name is in two files, or if a
/// selected one is in none.
pub(super) fn open_all(
    sources: Vec<Source>,
    options: &TensorOptions,
) -> Result<Vec<OpenShard>> {
    let wanted = options.names.as_ref().map(|names| names.iter().map(String::as_str));
    let wanted: Option<BTreeSet<&str>> = wanted.map(Iterator::collect);
    let mut shards = Vec::new();
    let names: Vec<PathBuf> = sources.iter().map(Source::name).collect();
    for (source, name) in sources.into_iter().zip(&names) {
        if is_index(name) {
            open_index(source, options, wanted.as_ref(), &mut shards)?;
        } else {
            shards.push(OpenShard::open(source, &options.read)?);
        }
    }
    let mut owners = HashMap::new();
    for OpenShard { shard, .. } in &shards {
        for tensor in shard.header.tensors() {
            if let Some(other) = owners.insert(tensor.name.as_str(), shard) {
                let name = shortened(&tensor.name).into_owned();
                let detail = format!("tensor {name:?} is also in {}", other.path.display());
                let error = Error::reading(&shard.path, FormatReason::Invalid, detail);
                let offset = shard.header.extent(tensor).start;
                return Err(error.at(offset).hint("read the files one at a time"));
            }
        }
    }
    let missing = wanted.into_iter().flatten().find(|&name| !owners.contains_key(name));
    missing.map_or(Ok(()), |name| Err(not_there(&names, name)))?;
    Ok(shards)
}

/// Returns the error for a name that no tensor has.
pub(super) fn not_there(paths: &[PathBuf], name: &str) -> Error {
    missing(paths, name, "").hint("run `swath info` to list the names")
}

/// Returns the error for an order with a name that is not among those to read.
pub(super) fn not_among(paths: &[PathBuf], name: &str) -> Error {
    missing(paths, name, " among the names")
        .hint("remove it from the order, or add it to the names")
}

fn missing(paths: &[PathBuf], name: &str, among: &str) -> Error {
    let path = paths.first().map_or(Path::new("<no file>"), PathBuf::as_path);
    let detail = format!("there is no tensor {:?}{among}", shortened(name));
    Error::reading(path, FormatReason::Invalid, detail)
}

/// Whether the file is the index of a model's shards.
fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Opens the files of an index that hold selected tensors, in the order of their names.
fn open_index(
    source: Source,
    options: &TensorOptions,
    wanted: Option<&BTreeSet<&str>>,
    shards: &mut Vec<OpenShard>,
) -> Result<()> {
    let input::OpenedText { input, len } = input::open(source, &ReadOptions::new())?;
    let path = input.name();
    let fail = |offset: usize, detail: String| {
        let error = Error::reading(path, FormatReason::Malformed, shortened(&detail));
        error
            .at(offset as u64)
            .hint("pass an index with a `weight_map` from tensor names to files")
    };
    if len > MOST_INDEX {
        let detail = format!("the index has {len} bytes, above the limit of {MOST_INDEX}");
        return Err(Error::reading(path, FormatReason::TooLarge, detail));
    }
    let bytes = ReadOptions::new().read(&input)?.buffer;
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| fail(error.valid_up_to(), String::from("the index is not UTF-8")))?;
    let map = json::parse_index(text).map_err(|(offset, what)| fail(offset, what))?;
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, file) in &map {
        if wanted.is_none_or(|wanted| wanted.contains(name.as_str())) {
            files.entry(file).or_default().push(name);
        }
    }
    for (file, names) in files {
        if !is_beside(Path::new(file)) {
            return Err(fail(
                0,
                format!("{file:?} is not a file name in the folder of the index"),
            ));
        }
        // A file in the index may have become a pipe: opening does not wait for it.
        let shard = Input::open_at_once(path.with_file_name(file))?;
        if shard.len().is_none() {
            return Err(fail(0, format!("{file:?} is a pipe or a device, not a file")));
        }
        let opened = OpenShard::open(Source::from(&shard), &options.read)?;
        let there: BTreeSet<&str> =
            opened.shard.header.tensors().iter().map(|tensor| tensor.name.as_str()).collect();
        if let Some(name) = names.into_iter().find(|name| !there.contains(name)) {
            return Err(fail(
                0,
                format!("tensor {name:?} is not in {file}, where the index puts it"),
            ));
        }
        shards.push(opened);
    }
    Ok(())
}

/// Whether the path stays in this folder or below it.
fn is_beside(file: &Path) -> bool {
    !file.as_os_str().is_empty()
        && file.components().all(|part| matches!(part, Component::Normal(_)))
}
