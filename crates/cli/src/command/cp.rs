//! `swath cp`: copies a file, or a folder of segments as one file, completely or not at all.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::{Args, ValueHint};
use swath::copy::{Copied, CopyOptions, Preserve, Reflink};
use swath::sink::{Durability, HardLinks, Replace};
use swath::{OutputOptions, ReadOptions};

use super::target::kept;
use super::{Command, Outcome};
use crate::args::{Files, InPlaceFlag, OutFlag, TimelineArgs, count, input, parse_size, words};
use crate::door::{is_folder, refuse_descriptor};
use crate::failure::Refused;
use crate::input::Input;
use crate::output::{tell, wrote};
use crate::progress::Bar;
use crate::report::{
    PathJson, ReportName, bytes_per_s, counted, object, size_text, texts, time_and_speed,
};

/// `swath cp`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath cp data.bin backup/
  swath cp --durability none --workers 4 data.bin copy.bin
  swath cp --reflink always vm.img snapshot.img
  swath cp out.segments/ out.bin           a folder of segments as one plain file
  curl -s https://example.org/data | swath cp - data.bin")]
pub struct Cp {
    /// The file to copy, or a folder of segments; `-` is standard input
    ///
    /// A folder that `append` has written is compared with its checksums first, and copied as the one
    /// file that it represents.
    #[arg(value_name = "IN", default_value = "-", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub from: Input,

    /// The copy, or a folder that gets it under the same name
    ///
    /// It appears in one step, once it is complete. Until then, and if anything fails, an existing
    /// file stays as it is, unless --in-place is given. A file that is replaced keeps its mode, owner and
    /// attributes, unless --preserve is given.
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::AnyPath, required_unless_present = "output")]
    pub to: Option<Input>,

    /// The word OUT as a flag.
    #[command(flatten)]
    pub flag: OutFlag,

    /// Share the blocks of the file instead of copying them: if possible, always, or never
    #[arg(long, value_name = "WHEN", value_parser = words(Reflink::WORDS), default_value = "auto")]
    pub reflink: Reflink,

    /// Keep times, mode, owner and extended attributes of IN, as cp -p does
    ///
    /// Owner and group only where this user may set them. Without the group, its permissions are those
    /// of all others. The bits set-user-id and set-group-id are not kept. A file that is replaced gets all
    /// of it too. If IN is not a regular file, this has no effect.
    #[arg(long, short)]
    pub preserve: bool,

    /// Wait until the device has the file, so that it survives a power cut
    #[arg(long, value_name = "HOW", value_parser = words(Durability::WORDS), default_value = "full")]
    pub durability: Durability,

    /// Do not replace an existing file; without this flag it is replaced, as cp(1) does
    #[arg(long, conflicts_with = "in_place")]
    pub no_clobber: bool,

    /// Whether it is written where it is.
    #[command(flatten)]
    pub place: InPlaceFlag,

    /// If OUT exists and has other hard links: refuse, or replace this name only
    #[arg(long, value_name = "HOW", value_parser = words(HardLinks::WORDS), default_value = "refuse")]
    pub hard_links: HardLinks,

    /// Threads; 0 chooses
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Bytes of one read and write; 0 chooses
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub chunk_size: u64,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

impl Command for Cp {
    fn run(&self) -> Result<Outcome> {
        let target = target(self)?;
        let (read, bar) = Bar::attach(self.read_options(), !self.json);
        let options = self.options(read);
        let extents = self.from.segments()?.map(|opened| opened.extents() as u64);
        let copied = options.copy(self.from.source()?, &target).map_err(kept)?;
        drop(bar);
        let json = object! {
            #[serde(flatten)]
            path: PathJson::from(&target),
            source: PathJson::from(self.from.label()),
            bytes: copied.bytes,
            // For a folder of segments.
            #[serde(flatten)]
            extents: extents.map(|extents| object! { extents }),
            hole_bytes: copied.hole_bytes,
            how: copied.how.to_string(),
            workers: copied.workers,
            elapsed_s: copied.elapsed.as_secs_f64(),
            bytes_per_s: bytes_per_s(copied.bytes, copied.elapsed),
            fallbacks: texts(&copied.fallbacks),
        };
        let text = format!("{}: {}", target.shown(), text(&copied, extents));
        wrote(&target, tell(self.json, &json, text))?;
        Ok(Outcome::Done)
    }

    fn timeline(&self) -> Option<Files<'_>> {
        let to = self.flag.or(&self.to);
        Some(Files::beside(&self.timeline).input(&self.from).inputs(to))
    }
}

impl Cp {
    /// Returns the library's options for reading the source.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::new()
            .with_workers(self.workers)
            .with_chunk_size(self.chunk_size)
            .with_timeline(self.timeline.handle())
    }

    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> CopyOptions {
        let replace = if self.no_clobber { Replace::Refused } else { Replace::Allowed };
        let preserve = if self.preserve { Preserve::All } else { Preserve::Permissions };
        CopyOptions::new()
            .with_reflink(self.reflink)
            .with_preserve(preserve)
            .with_output(
                OutputOptions::new()
                    .with_durability(self.durability)
                    .with_replace(self.place.or(replace))
                    .with_hard_links(self.hard_links),
            )
            .with_read(read)
    }
}

/// Returns the name of the copy: a folder gets it under the name of the original.
fn target(args: &Cp) -> Result<PathBuf> {
    let Some(Input::Path(to)) = args.flag.or(&args.to) else {
        let hint = "use `swath cat` for standard output (a file of this name is ./-)";
        return Err(Refused::new("cannot copy to -: it is not the name of a file", hint).into());
    };
    refuse_descriptor(to)?;
    if !is_folder(to) {
        return Ok(to.clone());
    }
    let name = args.from.path().and_then(Path::file_name);
    ensure!(
        name.is_some(),
        Refused::new(
            format!("cannot copy {} into {}: it has no name", args.from, to.shown()),
            "name the copy as well"
        )
    );
    Ok(name.map_or_else(|| to.clone(), |name| to.join(name)))
}

fn text(copied: &Copied, extents: Option<u64>) -> String {
    let mut text = format!(
        "{} in {}\n  {}, {}",
        size_text(copied.bytes),
        time_and_speed(copied.bytes, copied.elapsed),
        copied.how,
        counted(copied.workers as u64, "worker"),
    );
    if copied.hole_bytes > 0 {
        text += &format!(", {} in holes", size_text(copied.hole_bytes));
    }
    text.push('\n');
    if let Some(extents) = extents {
        text += &format!("  from {}, their checksums compared\n", counted(extents, "extent"));
    }
    for fallback in &copied.fallbacks {
        text += &format!("  instead: {fallback}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        cp: Cp,
    }

    fn parsed(words: &[&str]) -> Cp {
        Only::try_parse_from(["only"].iter().chain(words)).expect("known words").cp
    }

    #[test]
    fn nothing_said_leaves_every_choice_to_the_library() {
        let (ours, library) = (parsed(&["a", "b"]), CopyOptions::new());
        let ours = ours.options(ours.read_options());
        assert_eq!(format!("{ours:?}"), format!("{library:?}"));
    }

    #[test]
    fn every_word_is_an_option_of_the_library() {
        for (word, reflink) in Reflink::WORDS {
            assert_eq!(parsed(&["--reflink", word, "a", "b"]).reflink, *reflink);
        }
        let cp = parsed(&[
            "--durability",
            "none",
            "--hard-links",
            "break",
            "--no-clobber",
            "-p",
            "a",
            "b",
        ]);
        let library = CopyOptions::new().with_preserve(Preserve::All).with_output(
            OutputOptions::new()
                .with_durability(Durability::None)
                .with_hard_links(HardLinks::Broken)
                .with_replace(Replace::Refused),
        );
        assert_eq!(format!("{:?}", cp.options(cp.read_options())), format!("{library:?}"));
    }
}
