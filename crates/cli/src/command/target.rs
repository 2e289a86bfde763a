//! The output of a command: a file, or standard output.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use rustix::io::Errno;
use serde::Serialize;
use swath::append::{Ordered, OrderedOptions};
use swath::sink::Replace;
use swath::{Access, OutputOptions, ReadOptions};

use crate::args::{ForceFlag, OutputArgs, ProfileArgs};
use crate::door::{is_folder, is_special, open_special, refuse_descriptor};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{complain, tell, truncated, unbuffered, wrote};
use crate::profile::Profiles;
use crate::progress::Bar;
use crate::report::ReportName;
use crate::same_file::{is_input, is_name_of_stdout, is_stdout};

/// Fails if the file system cannot look up a name: its server has died, and the next look-up might be in the
/// folder under the mount.
fn refuse_unseen(path: &Path) -> Result<(), Refused> {
    let unseen = [Errno::IO, Errno::NOTCONN, Errno::STALE, Errno::CONNABORTED];
    let seen = path.symlink_metadata();
    let error = seen.err().filter(|error| {
        Errno::from_io_error(error).is_some_and(|error| unseen.contains(&error))
    });
    let Some(error) = error else { return Ok(()) };
    let what = format!("cannot look at {}", path.shown());
    Err(Refused::new(what, "mount its file system again").with_source(error))
}

/// A file, or standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Stdout,
    Path(PathBuf),
}

impl Target {
    /// Returns the given output, or else the one `named` after the input. A folder gets the file under that
    /// name.
    pub(crate) fn choose(
        from: &Input,
        to: Option<&Input>,
        named: impl Fn(&Path) -> Option<PathBuf>,
    ) -> Result<Self> {
        let nameless = |what: String| Refused::new(what, "name the output as well");
        if let Some(Input::Path(to)) = to {
            refuse_unseen(to)?;
        }
        let default = from.path().and_then(named);
        match (to, from) {
            (Some(Input::Stdin), _) | (None, Input::Stdin) => Ok(Self::Stdout),
            (Some(Input::Path(to)), _) if is_folder(to) => {
                let name = default.as_deref().and_then(Path::file_name);
                let what = || format!("cannot make a file in {}: it has no name", to.shown());
                ensure!(name.is_some(), nameless(what()));
                Ok(Self::Path(name.map_or_else(|| to.clone(), |name| to.join(name))))
            }
            (Some(Input::Path(to)), _) => Ok(Self::at(to.clone())?),
            (None, _) => {
                let what = || format!("cannot derive the name of the output from {from}");
                default.map(Self::Path).ok_or_else(|| nameless(what()).into())
            }
        }
    }

    /// Returns the output of this name. A name that leads to standard output, as `/dev/stdout` does, counts as
    /// standard output: otherwise a report would follow the data.
    ///
    /// # Errors
    ///
    /// [`Refused`] for the name of a descriptor that leads to a file.
    pub(crate) fn at(path: PathBuf) -> Result<Self, Refused> {
        refuse_unseen(&path)?;
        refuse_descriptor(&path)?;
        Ok(if is_name_of_stdout(&path) { Self::Stdout } else { Self::Path(path) })
    }

    /// Begins to write the output. A new file gets the permissions `like`.
    fn begin(
        &self,
        args: &OutputArgs,
        like: Option<Access>,
        ordered: OrderedOptions,
    ) -> Result<Ordered> {
        let mut options = args.output_options();
        if let Some(access) = like.filter(|_| *self != Self::Stdout) {
            options = options.with_permissions(access);
        }
        self.ordered(ordered, options, args.stream_options())
    }

    /// Refuses to write to the input, under any name.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub(crate) fn refuse_input(&self, from: &Input) -> Result<(), Refused> {
        let (is_input, name) = match self {
            Self::Stdout => (is_stdout(from), String::from("to standard output")),
            Self::Path(path) => (path.is_file() && is_input(from, path), path.shown()),
        };
        if is_input {
            let what = format!("cannot write {name}: it is the input");
            return Err(Refused::new(what, "name another output"));
        }
        Ok(())
    }

    /// Refuses to write bytes that are not text to a terminal, unless the flag, if there is one, forces it.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub(crate) fn refuse_terminal(
        &self,
        what: &str,
        flag: Option<ForceFlag>,
    ) -> Result<(), Refused> {
        let is_forced = flag.is_some_and(|flag| flag.force);
        if *self == Self::Stdout && !is_forced && io::stdout().is_terminal() {
            let hint = match flag {
                Some(_) => "name an output file, redirect standard output, or pass --force",
                None => "name an output file, or redirect standard output",
            };
            return Err(Refused::new(format!("cannot write {what} to a terminal"), hint));
        }
        Ok(())
    }

    /// Begins to write the output: a file with the options `file`, a stream with the options `stream`.
    pub(crate) fn ordered(
        &self,
        ordered: OrderedOptions,
        file: OutputOptions,
        stream: OutputOptions,
    ) -> Result<Ordered> {
        match self {
            Self::Path(path) if !is_special(path) => {
                let is_in_place = file.replace() == Replace::InPlace && path.is_file();
                let begun = ordered.with_output(file).ordered(path);
                let begun = begun.map_err(|error| refused(error.into(), path))?;
                if is_in_place {
                    truncated(path);
                }
                Ok(begun)
            }
            _ => {
                let (out, name) = self.stream()?;
                Ok(ordered.with_output(stream).ordered_to(out, name))
            }
        }
    }

    /// Whether it is written as a stream: standard output, a pipe or a device, where no file can be
    /// replaced.
    pub(crate) fn is_stream(&self) -> bool {
        match self {
            Self::Stdout => true,
            Self::Path(path) => is_special(path),
        }
    }

    /// Opens the output as a stream; returns its name in messages too.
    pub(crate) fn stream(&self) -> Result<(Box<dyn Write + Send>, PathBuf)> {
        let Self::Path(path) = self else {
            return Ok((Box::new(unbuffered()?), PathBuf::from("<stdout>")));
        };
        let file = open_special(path).map_err(|error| {
            Refused::new(format!("cannot open {}", path.shown()), "name another output")
                .with_source(error)
        })?;
        Ok((Box::new(file), path.clone()))
    }

    /// Runs a verb that writes the output from `from`, with the profile of that file system and a progress bar.
    pub(crate) fn filled<R>(
        &self,
        args: &OutputArgs,
        profile: ProfileArgs,
        from: &Input,
        ordered: OrderedOptions,
        verb: impl FnOnce(ReadOptions, &swath::Input, Ordered) -> Result<R>,
    ) -> Result<R> {
        let read = Profiles::new(profile).apply(args.read_options(), from);
        let (read, _bar) = Bar::attach(read, !args.json);
        self.refuse_input(from)?;
        // Opened before an output in place loses its old bytes.
        let input = swath::Input::open(from.source()?)?;
        let output = self.begin(args, input.access()?, ordered)?;
        verb(read, &input, output)
    }

    /// Returns its name in reports.
    pub(crate) fn label(&self) -> OsString {
        match self {
            Self::Stdout => OsString::from("-"),
            Self::Path(path) => path.clone().into_os_string(),
        }
    }

    /// Prints a report. If the bytes went to standard output, the report goes to standard error, and only with
    /// --json.
    pub(crate) fn report(
        &self,
        args: &OutputArgs,
        json: &impl Serialize,
        text: &str,
    ) -> Result<()> {
        self.tell(args.json, json, text)
    }

    /// As [`report`](Self::report), with the flag itself.
    pub(crate) fn tell(&self, is_json: bool, json: &impl Serialize, text: &str) -> Result<()> {
        match (self, is_json) {
            // If standard error is closed too, there is nowhere to report to.
            (Self::Stdout, true) => {
                let _ = writeln!(io::stderr(), "{}", serde_json::to_string(json)?);
            }
            (Self::Stdout, false) => {}
            (Self::Path(path), is_json) => wrote(path, tell(is_json, json, text))?,
        }
        Ok(())
    }
}

/// Gives the output the times of the input, if that has a name, as gzip, bzip2, xz and zstd do.
pub(crate) fn keep_times(
    from: &Input,
    input: &swath::Input,
    output: &mut Ordered,
) -> Result<()> {
    if from.path().is_some() {
        output.set_times(input.times()?);
    }
    Ok(())
}

/// Returns the error of an output that exists, if `error` is that; any other error unchanged.
pub(crate) fn refused(error: anyhow::Error, path: &Path) -> anyhow::Error {
    let of_format = error.downcast_ref::<swath_formats::Error>().and_then(|it| it.library());
    let kind = of_format.or_else(|| error.downcast_ref()).map(swath::Error::io_kind);
    match kind {
        Some(ErrorKind::AlreadyExists) => exists(path).into(),
        _ => error,
    }
}

/// Returns the error of an output that exists.
pub(crate) fn exists(path: &Path) -> Refused {
    let what = format!("cannot write {}: it exists", path.shown());
    Refused::new(what, "pass --force to replace it, or name another output")
}

/// Returns the error of a file that --no-clobber has kept, if `error` is that; any other error unchanged.
pub(crate) fn kept(error: swath::Error) -> anyhow::Error {
    if error.io_kind() != ErrorKind::AlreadyExists {
        return error.into();
    }
    let what = format!("cannot write {}", error.path().shown());
    let hint = "leave out --no-clobber to replace it, or name another output";
    let source = match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => ErrorKind::AlreadyExists.into(),
    };
    Refused::new(what, hint).with_source(source).into()
}

/// Returns the error of `-` for a command that needs a file.
pub(crate) fn needs_file(command: &str) -> Refused {
    let what = format!("cannot write the output of `{command}` to standard output");
    Refused::new(what, "name a file (a file of this name is ./-)")
}

/// Reports fallbacks on standard error.
pub(crate) fn note_all(from: &Input, notes: &[impl Display]) {
    for note in notes {
        complain(format!("note: {from}: {note}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(from: &str, to: Option<&str>) -> Option<Target> {
        let input = |word: &str| Input::parse(word.as_ref()).expect("a path");
        let to = to.map(input);
        let named = |path: &Path| (path != Path::new("odd")).then(|| path.with_extension("z"));
        Target::choose(&input(from), to.as_ref(), named).ok()
    }

    #[test]
    fn what_is_not_named_is_named_after_the_input() {
        let path = |path: &str| Some(Target::Path(PathBuf::from(path)));
        assert_eq!(chosen("a/b", None), path("a/b.z"));
        assert_eq!(chosen("a/b", Some("c")), path("c"));
        assert_eq!(chosen("a/b", Some("/tmp")), path("/tmp/b.z"));
        assert_eq!(chosen("a/b", Some("-")), Some(Target::Stdout));
        assert_eq!(chosen("-", None), Some(Target::Stdout));
        assert_eq!(chosen("-", Some("c")), path("c"));
        assert_eq!(chosen("odd", Some("c")), path("c"));
        for (from, to) in [("odd", None), ("-", Some("/tmp")), ("odd", Some("/tmp"))] {
            assert_eq!(chosen(from, to), None, "{from}");
        }
    }
}
