//! Every way of writing, and what must hold after a refusal.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use swath::append::{self, AppendOptions, Direct, Mode, OrderedOptions};
use swath::copy::CopyOptions;
use swath::{Error, OutputOptions, Reason, WriteOptions};

/// A way of writing bytes to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Write,
    Positional,
    /// By two writers that open it, as other processes do.
    Shared,
    Strands,
    /// Little memory, so that strands spill.
    Spilling,
    Segments,
    Tickets,
    DirectTickets,
    Copy,
}

impl Way {
    pub(crate) const ALL: [Way; 9] = [
        Way::Write,
        Way::Positional,
        Way::Shared,
        Way::Strands,
        Way::Spilling,
        Way::Segments,
        Way::Tickets,
        Way::DirectTickets,
        Way::Copy,
    ];

    pub(crate) fn is_folder(self) -> bool {
        self == Way::Segments
    }

    /// Makes `path` hold `bytes`.
    ///
    /// # Errors
    ///
    /// The library's own, extracted from any `std::io` wrapper.
    pub(crate) fn leave(self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        self.leave_as(&OutputOptions::new(), path, bytes)
    }

    /// As [`leave`](Self::leave), with these options.
    ///
    /// # Errors
    ///
    /// As [`leave`](Self::leave).
    pub(crate) fn leave_as(
        self,
        output: &OutputOptions,
        path: &Path,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let write = WriteOptions::new().with_output(output.clone());
        let append = AppendOptions::new().with_output(output.clone());
        match self {
            Way::Write => write
                .with_output(output.clone().with_workers(3))
                .with_chunk_size(50_000)
                .write(path, bytes)
                .map(|_| ()),
            Way::Positional => {
                let out = write.create(path, bytes.len() as u64)?;
                for (index, chunk) in bytes.chunks(50_000).enumerate().rev() {
                    out.write_at(chunk, 50_000 * index as u64)?;
                }
                out.commit()
            }
            Way::Shared => shared(&write, path, bytes),
            Way::Strands => strands(path, bytes, append),
            Way::Spilling => strands(path, bytes, append.with_memory_limit(1)),
            Way::Segments => strands(path, bytes, append.with_mode(Mode::Segments)),
            Way::Tickets => tickets(output, path, bytes, Direct::No),
            Way::DirectTickets => tickets(output, path, bytes, Direct::Yes),
            Way::Copy => {
                let copy = CopyOptions::new().with_output(output.clone());
                copy.copy(source(bytes).path(), path).map(|_| ())
            }
        }
    }
}

/// A file to copy, created where all users may create one, and without the file size limit.
fn source(bytes: &[u8]) -> tempfile::NamedTempFile {
    let source = tempfile::NamedTempFile::new().expect("a temporary file");
    let limit = getrlimit(Resource::Fsize);
    let none = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Fsize, none).expect("up to the maximum");
    fs::write(source.path(), bytes).expect("room for the source");
    setrlimit(Resource::Fsize, limit).expect("lower");
    source
}

/// The library's error inside one of `std::io`.
fn ours(error: io::Error) -> Error {
    let text = error.to_string();
    let inner = error.into_inner().and_then(|inner| inner.downcast::<Error>().ok());
    *inner.unwrap_or_else(|| panic!("not an error of ours: {text}"))
}

fn strands(path: &Path, bytes: &[u8], options: AppendOptions) -> Result<(), Error> {
    let out = options.with_buffer_size(40_000).create(path)?;
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let (mut one, mut two) = (out.fork()?, out.fork()?);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| two.write_all(second).map_err(ours));
        let here = one.write_all(first).map_err(ours);
        let there = other.join().expect("no panic");
        // The second one may only report that the first has failed.
        match (here, there) {
            (Err(error), there) if error.reason() == Reason::Poisoned => there.and(Err(error)),
            (here, there) => here.and(there),
        }
    })?;
    one.finish()?;
    two.finish()?;
    out.commit().map(|_| ())
}

fn shared(options: &WriteOptions, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let draft = options.create_shared(path, bytes.len() as u64)?;
    let middle = bytes.len() / 2;
    let mut receipts = Vec::new();
    for (offset, part) in [(middle, &bytes[middle..]), (0, &bytes[..middle])] {
        let out = WriteOptions::new().open_shared(draft.token())?;
        out.write_at(part, offset as u64)?;
        receipts.push(out.finish()?);
    }
    draft.commit(&receipts)
}

fn tickets(
    output: &OutputOptions,
    path: &Path,
    bytes: &[u8],
    direct: Direct,
) -> Result<(), Error> {
    let options = OrderedOptions::new().with_output(output.clone());
    let options = options.with_direct(direct).with_chunk_size(50_000);
    let out = options.ordered(path)?;
    out.map_ordered(bytes.chunks(50_000), 2, |chunk, ticket| -> Result<(), Error> {
        ticket.write_all(chunk).map_err(ours)
    })?;
    out.commit().map(|_| ())
}

pub(crate) fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|index| u8::try_from(index * 31 % 251).expect("below 251")).collect()
}

/// Returns the bytes that a reader finds at a path, also in a folder of segments.
pub(crate) fn read(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut opened = append::open(path).expect("it is there");
    opened.read_to_end(&mut bytes).expect("it is whole");
    bytes
}

/// The names in a folder and in its subfolders, without `lost+found`.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).expect("listed") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "lost+found" {
            names.push(name);
        }
    }
    names.sort();
    names
}

/// Writes `bytes` in every way, over nothing and over old bytes, and checks that each attempt is
/// refused with this error number, and everything is what it was.
#[track_caller]
pub(crate) fn all_refuse(folder: &Path, bytes: &[u8], number: i32) {
    for way in Way::ALL {
        let path = folder.join("new");
        let before = names(folder);
        let error = way.leave(&path, bytes).expect_err("refused");
        assert_eq!(error.raw_os_error(), Some(number), "{way:?}: {error:?}");
        assert!(!error.what_to_try().is_empty(), "{way:?}: {error:?}");
        assert_eq!(names(folder), before, "{way:?}");

        let path = folder.join(format!("old of {way:?}"));
        way.leave(&path, b"old").unwrap_or_else(|error| panic!("{way:?}: {error:?}"));
        let (before, inside) = (names(folder), inner_names(&path));
        let error = way.leave(&path, bytes).expect_err("refused");
        assert_eq!(error.raw_os_error(), Some(number), "{way:?}: {error:?}");
        assert_eq!(read(&path), b"old", "{way:?}");
        assert_eq!((names(folder), inner_names(&path)), (before, inside), "{way:?}");
    }
}

fn inner_names(path: &Path) -> Vec<String> {
    if path.is_dir() { names(path) } else { Vec::new() }
}
