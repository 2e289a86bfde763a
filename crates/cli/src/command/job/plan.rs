//! `swath job plan`: divides inputs, and creates the folder of a job.

use std::fs::{self, File};
use std::io::{self, Read};
use std::num::NonZeroU64;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueHint};
use rustix::fs::{CWD, OFlags};
use swath::OutputOptions;
use swath::job::{Division, Form, JobOptions, Plan};
use swath::machine::EndDelay;
use swath::sink::{Durability, Replace};
use swath_formats::compressed::Format;
use swath_os::names::open_at_once;

use crate::args::{count, file, parse_size, path, words};
use crate::command::target::refused;
use crate::command::{Command, Outcome};
use crate::door::refuse_descriptor;
use crate::failure::Refused;
use crate::output::{print, print_json, wrote};
use crate::report::{PathJson, ReportName, object};
use crate::signal::is_ending;

const DIVISIONS: &[(&str, Division)] = &[
    ("lines", Division::Lines),
    ("bytes", Division::Bytes),
    ("inputs", Division::Inputs),
    ("groups", Division::Groups),
];

/// `swath job plan`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  folder=$(swath job plan out.txt in.log)
  swath job plan out.txt 2026-*.log --parts 100
  swath job plan out.bin records.bin --width 24 --part-size 16MiB
  swath job plan out.txt *.gz --division inputs
  swath job plan results.csv --parts 1000          (no input: each part makes its own)
  swath job plan out.segments in.log --segments")]
pub struct PlanArgs {
    /// The output of the commit
    #[arg(value_name = "TARGET", value_parser = file(), value_hint = ValueHint::FilePath)]
    pub target: PathBuf,

    /// Files to divide, in this order; without any, pass --parts: these parts have no input
    #[arg(value_name = "INPUT", value_parser = file(), value_hint = ValueHint::FilePath, required_unless_present = "parts")]
    pub inputs: Vec<PathBuf>,

    /// At most this many parts, since none is empty; 0 is one for each --part-size [default: 0]
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0, hide_default_value = true, conflicts_with = "part_size")]
    pub parts: usize,

    /// Bytes of input in each part; 0 is 64MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", hide_default_value = true, allow_negative_numbers = true)]
    pub part_size: u64,

    /// Where inputs are divided
    ///
    /// lines: where lines begin, so that a part has whole lines; all inputs are one text, as for
    /// cat(1). bytes: at any byte. inputs: each input that has bytes is one part, for formats that
    /// cannot be read from the middle or begin with a header; --parts and --part-size have no
    /// effect. groups: between inputs only, and a part may have several small ones.
    #[arg(long, value_name = "WHERE", value_parser = words(DIVISIONS), default_value = "lines", conflicts_with = "width")]
    pub division: Division,

    /// Divide at multiples of this many bytes from the start of each input: records of one length
    #[arg(long, value_name = "SIZE", value_parser = parse_width, allow_negative_numbers = true)]
    pub width: Option<NonZeroU64>,

    /// The output is a folder of segments: the commit moves nothing
    ///
    /// TARGET is then the folder of the job. Commands read it as one file, as `swath cat TARGET`.
    #[arg(long, conflicts_with = "folder")]
    pub segments: bool,

    /// The folder to create for the output of parts, on the file system of TARGET if possible
    /// [default: a new one next to TARGET]
    #[arg(long, value_name = "PATH", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,

    /// Replace TARGET at the commit if it exists; without this flag that is an error
    #[arg(long, short)]
    pub force: bool,

    /// Wait at the commit until the device has the output, so that it survives a power cut
    #[arg(long, value_name = "HOW", value_parser = words(Durability::WORDS), default_value = "full")]
    pub durability: Durability,

    /// Print JSON, with units in its keys, instead of the path of the folder
    #[arg(long)]
    pub json: bool,
}

impl Command for PlanArgs {
    fn run(&self) -> Result<Outcome> {
        refuse_descriptor(&self.target)?;
        if self.inputs.is_empty() && self.parts == 0 {
            let what = "cannot plan a job that has neither inputs nor parts";
            return Err(Refused::new(what, "name inputs, or pass --parts with a number").into());
        }
        for input in &self.inputs {
            refuse_stream(input)?;
            refuse_folder(input)?;
            if self.division() == Division::Lines {
                refuse_compressed(input)?;
            }
        }
        let mut delay = None;
        let begin = || delay = EndDelay::begin();
        let planned = self.options().plan_then(&self.inputs, &self.target, begin);
        let plan = planned.map_err(|error| self.explained(error))?;
        if is_ending() {
            // The folder's name has not been printed. If it cannot be removed, it is swept later.
            let _ = plan.abort();
            return Ok(Outcome::Done);
        }
        let printed = match self.json {
            true => print_json(&json(&plan)),
            false => {
                let line = [plan.folder().as_os_str().as_bytes(), b"\n"].concat();
                print(line).map_err(Into::into)
            }
        };
        wrote(plan.folder(), printed)?;
        Ok(Outcome::Done)
    }
}

impl PlanArgs {
    fn division(&self) -> Division {
        self.width.map_or(self.division, Division::Width)
    }

    fn options(&self) -> JobOptions {
        let replace = if self.force { Replace::Allowed } else { Replace::Refused };
        let output =
            OutputOptions::new().with_replace(replace).with_durability(self.durability);
        let options = JobOptions::new()
            .with_parts(self.parts)
            .with_part_size(self.part_size)
            .with_division(self.division())
            .with_form(if self.segments { Form::Segments } else { Form::File })
            .with_output(output);
        match &self.folder {
            Some(folder) => options.with_folder(folder),
            None => options,
        }
    }

    /// Adds the usual hint for an existing target, or the one for an existing folder.
    fn explained(&self, error: swath::Error) -> anyhow::Error {
        let is_of_target = self.folder.is_none()
            || std::path::absolute(&self.target).is_ok_and(|it| it == error.path());
        if is_of_target { refused(error.into(), &self.target) } else { error.into() }
    }
}

fn json(plan: &Plan) -> impl serde::Serialize {
    let lens = plan.parts().flat_map(|part| part.pieces().to_vec());
    object! {
        #[serde(flatten)]
        path: PathJson::from(plan.folder()),
        id: plan.id().to_owned(),
        target: PathJson::from(plan.target()),
        form: plan.form().to_string(),
        division: division_text(plan.division()),
        inputs: plan.inputs().len(),
        parts: plan.parts().len(),
        bytes_in: lens.map(|piece| piece.len).sum::<u64>(),
    }
}

/// Returns the word for a division.
pub(super) fn division_text(division: Division) -> String {
    match division {
        Division::Width(width) => format!("width {width}"),
        // Planned by a program: a command cannot find records, so it does not offer this division.
        Division::Records => String::from("records"),
        division => DIVISIONS
            .iter()
            .find(|(_, listed)| *listed == division)
            .map_or_else(String::new, |&(word, _)| word.to_owned()),
    }
}

fn parse_width(word: &str) -> Result<NonZeroU64, String> {
    let width = parse_size(word).map_err(|error| error.to_string())?;
    NonZeroU64::new(width).ok_or_else(|| String::from("a record has at least 1 byte"))
}

/// Refuses standard input, by any of its names: several processes must read an input.
fn refuse_stream(input: &Path) -> Result<(), Refused> {
    let names = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    if !names.iter().any(|name| input == Path::new(name)) {
        return Ok(());
    }
    let what = format!(
        "cannot divide {}: it is standard input, which other processes cannot read",
        input.shown()
    );
    Err(Refused::new(what, "write it to a file first, and name that file"))
}

/// Refuses a folder, with a hint at the files that may be meant.
fn refuse_folder(input: &Path) -> Result<(), Refused> {
    if !input.is_dir() {
        return Ok(());
    }
    let name = input.shown();
    Err(match input.join("MANIFEST").exists() {
        true => Refused::new(
            format!("cannot divide {name}: it is a folder of segments"),
            "copy it to one file with `swath cp`, and name that file",
        ),
        false => Refused::new(
            format!("cannot divide {name}: it is a folder"),
            "name the files in it, as in FOLDER/*",
        ),
    })
}

/// Refuses compressed bytes, which have no lines.
fn refuse_compressed(input: &Path) -> Result<(), Refused> {
    // Opening a pipe would wait; it is refused later.
    if !fs::metadata(input).is_ok_and(|facts| facts.is_file()) {
        return Ok(());
    }
    let mut head = Vec::new();
    // The name may lead to a pipe by now.
    let open = || open_at_once(CWD, input, OFlags::RDONLY | OFlags::CLOEXEC);
    let read = open().map(File::from).map_err(io::Error::from);
    let read = read.and_then(|file| file.take(16).read_to_end(&mut head));
    match read.ok().and_then(|_| Format::detect(&head)) {
        None => Ok(()),
        Some(_) => Err(Refused::new(
            format!("cannot divide {} into lines: it is compressed", input.shown()),
            "run `swath decompress` first, or pass --division inputs and let the command decompress",
        )),
    }
}
