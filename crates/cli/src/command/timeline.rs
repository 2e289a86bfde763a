//! `--timeline FILE`: a path that cannot be written is an error before the command begins. The file is created
//! after the command, even if that failed, so the command never meets it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Result;
use rustix::fs::OFlags;
use swath::append::{Ordered, OrderedOptions, Ticket};
use swath::sink::{Durability, Fs, LocalFs, Located};
use swath::{OutputOptions, Timeline};

use super::Command;
use crate::args::Files;
use crate::door::{above, is_folder, is_special, open_special};
use crate::failure::Refused;
use crate::output::complain;
use crate::report::ReportName;
use crate::same_file::{is_name_of_stdout, is_same_file};
use crate::trace::{BEGIN, Trace};

/// Bytes written at one time.
const STEP: usize = 1 << 20;

/// The file of a timeline that is being recorded.
pub(crate) struct Recording<'v> {
    timeline: Timeline,
    path: &'v Path,
    command: &'v str,
    /// A pipe or a device, opened at the beginning.
    opened: Option<Ordered>,
    /// How a file is written: in the folder to which its path led at the beginning.
    output: OutputOptions,
}

impl<'v> Recording<'v> {
    /// Begins the file that the words of a command name, if any.
    pub(crate) fn begin(command: &'v dyn Command, word: &'v str) -> Result<Option<Self>> {
        let Some(files) = command.timeline() else { return Ok(None) };
        let args = files.timeline;
        let Some((path, timeline)) = args.timeline.as_deref().zip(args.handle()) else {
            return Ok(None);
        };
        refuse(&files, path)?;
        let opened = open(path)?;
        if opened.is_none() {
            try_folder(path)?;
        }
        // A timeline need not survive a power cut.
        let output = OutputOptions::new().with_durability(Durability::None);
        let output = output.in_same_folders(&[path]);
        Ok(Some(Self { timeline, path, command: word, opened, output }))
    }

    /// Writes the recorded timeline.
    ///
    /// # Errors
    ///
    /// The error of writing it, with the name of its file.
    pub(crate) fn leave(self) -> Result<()> {
        let path = self.path;
        self.write().map_err(|error| match error.is::<Refused>() {
            true => error,
            false => error.context(cannot_write(path)),
        })
    }

    fn write(self) -> Result<()> {
        let output = match self.opened {
            Some(opened) => opened,
            None => {
                // By now the command or another user may have put a file there, so only the file that is inspected
                // here is replaced.
                let earlier = earlier(self.path)?;
                OrderedOptions::new()
                    .with_output(self.output.with_only(earlier)?)
                    .ordered(self.path)?
            }
        };
        let dropped = self.timeline.dropped();
        let spans = self.timeline.take();
        if dropped > 0 {
            let (path, kept) = (self.path.shown(), spans.len());
            complain(format!(
                "note: {path}: the first {kept} spans are in it, {dropped} more were not kept; \
                 try: raise --chunk-size, or read fewer bytes"
            ));
        }
        let (timeline, command) = (&self.timeline, self.command);
        let trace = Trace { timeline, spans: &spans, dropped, command };
        let mut out = Tickets { output: &output, ticket: None };
        let written = trace.write(BufWriter::with_capacity(STEP, &mut out));
        written.map_err(|error| {
            Refused::new(cannot_write(self.path), "choose another name").with_source(error)
        })?;
        out.done()?;
        output.commit()?;
        Ok(())
    }
}

/// Refuses paths that would destroy a file of the command, or mix with its output.
fn refuse(files: &Files<'_>, path: &Path) -> Result<()> {
    if is_name_of_stdout(path) {
        let what = format!("{}: it is standard output", cannot_write(path));
        let hint = "name a file, or another pipe";
        return Err(Refused::new(what, hint).into());
    }
    if let Some(other) = files.in_the_way_of(path) {
        let is = if is_same_file(other, path) { "it is" } else { "it is in" };
        let what = cannot_write(path);
        let what = format!("{what}: {is} {}, which the command works on", other.shown());
        return Err(Refused::new(what, "choose another name for --timeline").into());
    }
    earlier(path).map(drop)
}

/// Opens an earlier timeline; `None` if there is no regular file. Refuses any other file: the words of a command do not
/// name the files of a folder or of segments, so only a timeline, or an empty file, is replaced.
fn earlier(path: &Path) -> Result<Option<File>> {
    if !fs::metadata(path).is_ok_and(|facts| facts.is_file()) {
        return Ok(None);
    }
    // Does not wait if it is a pipe by now.
    let opened = File::options()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path);
    let is_earlier = |file: &File| {
        let mut begin = Vec::new();
        let read = file.take(BEGIN.len() as u64).read_to_end(&mut begin);
        read.is_ok() && (begin.is_empty() || begin == BEGIN)
    };
    match opened {
        Ok(file) if is_earlier(&file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        _ => {
            let what = format!("{}: it exists and is not a timeline", cannot_write(path));
            Err(Refused::new(what, "choose another name for --timeline").into())
        }
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write the timeline to {}", path.shown())
}

/// Opens a pipe or a device, which is written to and not replaced.
fn open(path: &Path) -> Result<Option<Ordered>> {
    if !is_special(path) {
        return Ok(None);
    }
    let file = open_special(path).map_err(|error| {
        Refused::new(cannot_write(path), "name another output").with_source(error)
    })?;
    Ok(Some(
        OrderedOptions::new()
            .with_output(OutputOptions::new().with_durability(Durability::None))
            .ordered_to(file, path),
    ))
}

/// Checks that a file can be created at `path`, without creating it.
fn try_folder(path: &Path) -> Result<()> {
    let refused = |error| {
        let hint = "name a file in an existing folder that you can write to";
        Refused::new(cannot_write(path), hint).with_source(error)
    };
    if is_folder(path) {
        return Err(refused(io::ErrorKind::IsADirectory.into()).into());
    }
    let Located { folder, .. } = LocalFs.locate(path).map_err(refused)?;
    match folder.create_nameless() {
        // This file system has no files without names.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            tempfile::tempfile_in(above(path)).map(drop).map_err(refused)?;
        }
        made => drop(made.map_err(refused)?),
    }
    Ok(())
}

/// Writes to one ticket after the other.
struct Tickets<'o> {
    output: &'o Ordered,
    ticket: Option<Ticket>,
}

impl Tickets<'_> {
    fn done(self) -> swath::Result<()> {
        self.ticket.map_or(Ok(()), Ticket::done)
    }
}

impl Write for Tickets<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.ticket.as_mut().is_some_and(|ticket| ticket.buffer().len() >= STEP)
            && let Some(full) = self.ticket.take()
        {
            full.done()?;
        }
        let ticket = match self.ticket.take() {
            Some(ticket) => ticket,
            None => self.output.ticket()?,
        };
        self.ticket.insert(ticket).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
