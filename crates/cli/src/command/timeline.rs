//! `--timeline FILE`: what cannot be written is told before the command begins, and the file is made
//! behind it, also if it failed. While the command works, nothing is there that it could meet.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use anyhow::Result;
use swath::append::{Ordered, OrderedOptions, Ticket};
use swath::sink::{Durability, Fs, LocalFs, Located};
use swath::{OutputOptions, Timeline};

use super::Command;
use crate::args::Files;
use crate::door::{above, is_folder, is_special};
use crate::failure::Refused;
use crate::output::complain;
use crate::same_file::is_same_file;
use crate::trace::{BEGIN, Trace};

/// Bytes that are handed over at one time.
const STEP: usize = 1 << 20;

/// The file of a timeline that is being recorded.
pub(crate) struct Recording<'v> {
    timeline: Timeline,
    path: &'v Path,
    command: &'v str,
    /// A pipe or a device, which was opened at once.
    opened: Option<Ordered>,
}

impl<'v> Recording<'v> {
    /// Begins the file that the words of a command name, if they name one.
    pub(crate) fn begin(command: &'v dyn Command, word: &'v str) -> Result<Option<Self>> {
        let Some(files) = command.timeline() else { return Ok(None) };
        let args = files.timeline;
        let Some((path, timeline)) = args.timeline.as_deref().zip(args.handle()) else {
            return Ok(None);
        };
        refuse(files, path)?;
        let opened = open(path)?;
        if opened.is_none() {
            try_folder(path)?;
        }
        Ok(Some(Self { timeline, path, command: word, opened }))
    }

    /// Writes what was recorded.
    pub(crate) fn leave(self) -> Result<()> {
        let output = match self.opened {
            Some(opened) => opened,
            None => {
                // By then the command may have made something of that name.
                refuse_other(self.path)?;
                // What is made again in no time need not survive a power cut.
                OrderedOptions::new()
                    .with_output(OutputOptions::new().with_durability(Durability::None))
                    .ordered(self.path)?
            }
        };
        let dropped = self.timeline.dropped();
        let spans = self.timeline.take();
        if dropped > 0 {
            let (path, kept) = (self.path.display(), spans.len());
            complain(format!(
                "note: {path}: the first {kept} spans are in it, {dropped} more were not kept; \
                 try: a larger --chunk-size, or fewer bytes"
            ));
        }
        let (timeline, command) = (&self.timeline, self.command);
        let trace = Trace { timeline, spans: &spans, dropped, command };
        let mut out = Tickets { output: &output, ticket: None };
        let written = trace.write(BufWriter::with_capacity(STEP, &mut out));
        written.map_err(|error| {
            Refused::new(cannot_write(self.path), "another name for it").with_source(error)
        })?;
        out.done()?;
        output.commit()?;
        Ok(())
    }
}

/// What would destroy something, or mix with it.
fn refuse(files: Files<'_>, path: &Path) -> Result<()> {
    let what = |why: &str| format!("{}: {why}", cannot_write(path));
    if path == Path::new("-") {
        let hint = "the name of a file (one of this name is ./-)";
        return Err(Refused::new(what("results go to standard output"), hint).into());
    }
    let mut others = files.into_inner().into_iter();
    if let Some(other) = others.find(|other| is_same_file(other, path)) {
        let why = format!("it is {}, which the command works on", other.display());
        return Err(Refused::new(what(&why), "--timeline with another name").into());
    }
    refuse_other(path)
}

/// Files of a folder, of segments or behind a pipe are not named by anybody: so nothing is replaced
/// but what was left here before.
fn refuse_other(path: &Path) -> Result<()> {
    if is_replaceable(path) {
        return Ok(());
    }
    let what = format!("{}: there is something else, which is no timeline", cannot_write(path));
    Err(Refused::new(what, "--timeline with another name").into())
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write the timeline to {}", path.display())
}

/// Whether there is nothing at `path`, or nothing in it, or an earlier timeline, or no file at all.
fn is_replaceable(path: &Path) -> bool {
    let Ok(facts) = fs::metadata(path) else { return true };
    if !facts.is_file() || facts.len() == 0 {
        return true;
    }
    let mut begin = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(BEGIN.len() as u64).read_to_end(&mut begin));
    read.is_ok() && begin == BEGIN
}

/// Opens a pipe or a device: they are written as they are, for nothing stands there that could be
/// replaced.
fn open(path: &Path) -> Result<Option<Ordered>> {
    if !is_special(path) {
        return Ok(None);
    }
    let file = OpenOptions::new().write(true).open(path).map_err(|error| {
        Refused::new(cannot_write(path), "check the path").with_source(error)
    })?;
    Ok(Some(
        OrderedOptions::new()
            .with_output(OutputOptions::new().with_durability(Durability::None))
            .ordered_to(file, path),
    ))
}

/// Sees to it that a file can be made where `path` is, and leaves none.
fn try_folder(path: &Path) -> Result<()> {
    let refused = |error| {
        let hint = "the name of a file in a folder that is there and can be written";
        Refused::new(cannot_write(path), hint).with_source(error)
    };
    if is_folder(path) {
        return Err(refused(io::ErrorKind::IsADirectory.into()).into());
    }
    let Located { folder, .. } = LocalFs.locate(path).map_err(refused)?;
    match folder.create_nameless() {
        // Files must have names here.
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
