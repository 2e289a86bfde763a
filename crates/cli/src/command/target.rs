//! Where `compress` and `decompress` leave what they make.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde::Serialize;
use swath::append::{Ordered, OrderedOptions};
use swath::{OutputOptions, ReadOptions, Source};

use crate::args::{OutputArgs, ProfileArgs};
use crate::door::{is_folder, is_special};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{complain, tell, unbuffered, wrote};
use crate::profile::Profiles;
use crate::progress::Bar;

/// A file, or standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Stdout,
    Path(PathBuf),
}

impl Target {
    /// What was named, or else `named` after the input. A folder gets the file under that name.
    pub(super) fn choose(
        from: &Input,
        to: Option<&Input>,
        named: impl Fn(&Path) -> Option<PathBuf>,
    ) -> Result<Self> {
        let nameless = |what: String| Refused::new(what, "name the output as well");
        let default = from.path().and_then(named);
        match (to, from) {
            (Some(Input::Stdin), _) | (None, Input::Stdin) => Ok(Self::Stdout),
            (Some(Input::Path(to)), _) if is_folder(to) => {
                let name = default.as_deref().and_then(Path::file_name);
                let what = || format!("cannot make a file in {}: it has no name", to.display());
                ensure!(name.is_some(), nameless(what()));
                Ok(Self::Path(name.map_or_else(|| to.clone(), |name| to.join(name))))
            }
            (Some(Input::Path(to)), _) => Ok(Self::Path(to.clone())),
            (None, _) => {
                let what = || format!("cannot name the output of {from} after it");
                default.map(Self::Path).ok_or_else(|| nameless(what()).into())
            }
        }
    }

    /// Begins to write it. A new file gets the permissions of the input.
    pub(super) fn begin(&self, args: &OutputArgs, from: &Input) -> Result<Ordered> {
        let Self::Path(path) = self else {
            let (out, name) = (unbuffered()?, Path::new("<stdout>"));
            return Ok(ordered(args.stream_options()).ordered_to(out, name));
        };
        let failed = |error| {
            Refused::new(format!("cannot open {}", path.display()), "check the path")
                .with_source(error)
        };
        if same_file(from, path) {
            let what = format!("cannot write {}: it is the input", path.display());
            return Err(Refused::new(what, "another name for the output").into());
        }
        // Pipes and devices are written as they are: nothing stands there that could be replaced.
        if is_special(path) {
            let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            return Ok(ordered(args.stream_options()).ordered_to(file, path));
        }
        let mut options = args.output_options();
        if let Some(permissions) = permissions(from) {
            options = options.with_permissions(permissions);
        }
        ordered(options).ordered(path).map_err(|error| match error.io_kind() {
            ErrorKind::AlreadyExists => {
                let what = format!("cannot write {}: there is such a file", path.display());
                Refused::new(what, "--force to replace it, or another name").into()
            }
            _ => error.into(),
        })
    }

    /// Has a verb write it from `from`, by what was measured of that, with a bar.
    pub(super) fn filled<R>(
        &self,
        args: &OutputArgs,
        profile: ProfileArgs,
        from: &Input,
        verb: impl FnOnce(ReadOptions, Source, Ordered) -> Result<R>,
    ) -> Result<R> {
        let read = Profiles::new(profile).apply(args.read_options(), from);
        let (read, _bar) = Bar::attach(read, !args.json);
        let output = self.begin(args, from)?;
        verb(read, from.source()?, output)
    }

    /// What results call it.
    pub(super) fn label(&self) -> OsString {
        match self {
            Self::Stdout => OsString::from("-"),
            Self::Path(path) => path.clone().into_os_string(),
        }
    }

    /// Prints a report: to standard error, and only if asked for, where the bytes themselves went
    /// to standard output.
    pub(super) fn report(
        &self,
        args: &OutputArgs,
        json: &impl Serialize,
        text: &str,
    ) -> Result<()> {
        match (self, args.json) {
            // If standard error is gone too, nobody is left to tell.
            (Self::Stdout, true) => {
                let _ = writeln!(io::stderr(), "{}", serde_json::to_string(json)?);
            }
            (Self::Stdout, false) => {}
            (Self::Path(path), is_json) => wrote(path, tell(is_json, json, text))?,
        }
        Ok(())
    }
}

/// Whether both are one file, by whatever names.
fn same_file(from: &Input, to: &Path) -> bool {
    let of = |facts: io::Result<fs::Metadata>| facts.ok().map(|it| (it.dev(), it.ino()));
    let from = of(from.open().and_then(|file| file.metadata()));
    from.is_some() && from == of(fs::metadata(to)) && to.is_file()
}

fn ordered(output: OutputOptions) -> OrderedOptions {
    OrderedOptions::new().with_output(output)
}

fn permissions(from: &Input) -> Option<Permissions> {
    let Input::Path(path) = from else { return None };
    let facts = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(facts.permissions())
}

/// Says on standard error what was done other than asked for.
pub(super) fn note_all(from: &Input, notes: &[impl Display]) {
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
