//! The hooks of options (progress, cancelling, a timeline), and what they say about the target,
//! are honoured by every verb that takes them: one row for each verb.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::append::{AppendOptions, Mode, Ordered, OrderedOptions};
use swath::classes::ClassPlan;
use swath::copy::{CopyOptions, Reflink};
use swath::heal::HealOptions;
use swath::ingest::{Files, IngestOptions};
use swath::mirror::{MirrorOptions, Verify};
use swath::sink::{Durability, HardLinks, Replace};
use swath::{
    CancelToken, Error, OutputOptions, Progress, ReadOptions, Reason, Result, Timeline,
    WriteOptions, manifest,
};
use swath_reference::battery::Battery;

const LEN: usize = 4 << 20;

/// The hooks of one call of a verb.
#[derive(Clone, Default)]
struct Hooks {
    told: Arc<AtomicU64>,
    /// Cancels at the call that reports this many bytes.
    last: Option<u64>,
    /// Most bytes reported.
    most: Arc<AtomicU64>,
    cancel: CancelToken,
    timeline: Timeline,
}

/// A file, two copies of it that are bad in one place each, and a place for a target.
struct Place {
    folder: tempfile::TempDir,
    input: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let bytes: Vec<u8> = b"a line of text\n".iter().copied().cycle().take(LEN).collect();
        for (name, bad) in [("input", None), ("one", Some(7)), ("two", Some(3_000_000))] {
            let mut bytes = bytes.clone();
            if let Some(bad) = bad {
                bytes[bad] = b'!';
            }
            fs::write(folder.path().join(name), bytes).expect("room on disk");
        }
        let input = folder.path().join("input");
        Self { folder, input }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn out(&self) -> PathBuf {
        self.at("out")
    }

    fn copies(&self) -> [PathBuf; 3] {
        ["input", "one", "two"].map(|name| self.at(name))
    }
}

/// Gives `$hooks` to options of any type.
macro_rules! hung {
    ($options:expr, $hooks:expr) => {{
        let Hooks { told, last, most, cancel, timeline } = $hooks.clone();
        let token = cancel.clone();
        let progress = move |progress: Progress| {
            told.fetch_add(1, Ordering::SeqCst);
            most.fetch_max(progress.bytes, Ordering::SeqCst);
            if last == Some(progress.bytes) {
                token.cancel();
            }
        };
        $options.with_progress(progress).with_cancel(cancel).with_timeline(timeline)
    }};
}

fn reading(hooks: &Hooks) -> ReadOptions {
    hung!(ReadOptions::new().with_workers(2), hooks)
}

fn writing(hooks: &Hooks) -> OutputOptions {
    hung!(quick(), hooks)
}

fn quick() -> OutputOptions {
    OutputOptions::new().with_durability(Durability::None)
}

fn write(hooks: &Hooks) -> WriteOptions {
    WriteOptions::new().with_output(writing(hooks))
}

fn ordered(hooks: &Hooks) -> OrderedOptions {
    OrderedOptions::new().with_output(writing(hooks))
}

fn copy() -> CopyOptions {
    CopyOptions::new().with_reflink(Reflink::Never).with_output(quick())
}

fn ingest(hooks: &Hooks) -> IngestOptions {
    IngestOptions::new().with_read(reading(hooks))
}

fn fill(out: Ordered) -> Result<()> {
    out.map_ordered(0..100, 2, |_, ticket| -> Result<()> {
        ticket.buffer().extend_from_slice(&[7; 1000]);
        Ok(())
    })?;
    out.commit().map(drop)
}

fn appended(place: &Place, hooks: &Hooks, mode: Mode) -> Result<()> {
    let options = AppendOptions::new().with_mode(mode).with_output(writing(hooks));
    let mut out = options.create(place.out())?;
    out.write_all(&[7; 1 << 20]).map_err(ours)?;
    out.commit().map(drop)
}

/// The library's own error, out of one of `std`'s.
fn ours(error: io::Error) -> Error {
    error.downcast().expect("of our type")
}

type Verb = (&'static str, fn(&Place, &Hooks) -> Result<()>);

const VERBS: &[Verb] = &[
    ("read", |p, h| reading(h).read(&*p.input).map(drop)),
    ("read_into", |p, h| reading(h).read_into(&*p.input, &mut vec![0; 4 << 20]).map(drop)),
    ("scan", |p, h| reading(h).scan(&*p.input, |_| (), |(), ()| ()).map(drop)),
    ("sum", |p, h| reading(h).sum(&*p.input).map(drop)),
    ("reader", |p, h| {
        let mut reader = reading(h).reader(&*p.input)?;
        io::copy(&mut reader, &mut io::sink()).map(drop).map_err(ours)
    }),
    ("read_prioritised", |p, h| {
        reading(h)
            .read_prioritised(&*p.input, ClassPlan::by_position(LEN as u64, 8, 4))?
            .finish()
            .map(drop)
    }),
    ("map_blocks", |p, h| reading(h).records(&*p.input).map_blocks(|_| Ok(())).map(drop)),
    ("for_each_block", |p, h| {
        reading(h).records(&*p.input).for_each_block(|_| Ok::<_, Error>(())).map(drop)
    }),
    ("map_reduce", |p, h| {
        let records = reading(h).records(&*p.input);
        records.map_reduce(|_| Ok::<_, Error>(()), |(), ()| ()).map(drop)
    }),
    ("fold_reduce", |p, h| {
        let records = reading(h).records(&*p.input);
        records.fold_reduce(|| (), |(), _| Ok::<_, Error>(()), |(), ()| ()).map(drop)
    }),
    ("transform, reading", |p, h| {
        let records = reading(h).records(&*p.input);
        records.transform(p.out(), |_, _| Ok::<_, Error>(())).map(drop)
    }),
    ("transform, writing", |p, h| {
        let records = ReadOptions::new().records(&*p.input).with_output(writing(h));
        let dot = |_: &[u8], out: &mut Vec<u8>| {
            out.push(b'.');
            Ok::<_, Error>(())
        };
        records.transform(p.out(), dot).map(drop)
    }),
    ("checksums", |p, h| reading(h).checksums(&*p.input, 1 << 20).map(drop)),
    ("check", |p, h| reading(h).check(&*p.input, &manifest::of(&*p.input)?).map(drop)),
    ("write", |p, h| write(h).write(p.out(), [7; 3000]).map(drop)),
    ("write_parts", |p, h| write(h).write_parts(p.out(), &[b"head", b"body"]).map(drop)),
    ("create", |p, h| {
        let out = write(h).create(p.out(), 10)?;
        out.write_at(b"bytes", 3)?;
        out.commit()
    }),
    ("transform, begun before", |p, h| {
        let out = ordered(h).ordered(p.out())?;
        let dot = |_: &[u8], out: &mut Vec<u8>| {
            out.push(b'.');
            Ok::<_, Error>(())
        };
        swath::transform(&*p.input, out, dot).map(drop)
    }),
    ("copy, reading", |p, h| copy().with_read(reading(h)).copy(&*p.input, p.out()).map(drop)),
    ("copy, writing", |p, h| copy().with_output(writing(h)).copy(&*p.input, p.out()).map(drop)),
    ("copy of a stream", |p, h| {
        // Of the same length each time.
        copy().with_output(writing(h)).copy(Path::new("/proc/version"), p.out()).map(drop)
    }),
    ("mirror, reading", |p, h| {
        let options = MirrorOptions::new().with_output(quick()).with_read(reading(h));
        options.mirror(&p.input, &[p.out()]).map(drop)
    }),
    ("mirror, writing", |p, h| {
        let options = MirrorOptions::new().with_output(writing(h));
        options.mirror(&p.input, &[p.out()]).map(drop)
    }),
    ("examine", |p, h| {
        let options = HealOptions::new().with_read(reading(h));
        options.examine(&p.copies(), &Verify::Vote).map(drop)
    }),
    ("heal, reading", |p, h| {
        let options = HealOptions::new().with_output(quick()).with_read(reading(h));
        options.heal(&p.copies(), &Verify::Vote).map(drop)
    }),
    ("heal, writing", |p, h| {
        let options = HealOptions::new().with_output(writing(h));
        options.heal(&p.copies(), &Verify::Vote).map(drop)
    }),
    ("ordered", |p, h| fill(ordered(h).ordered(p.out())?)),
    ("ordered_to", |_, h| fill(ordered(h).ordered_to(io::sink(), Path::new("<nowhere>")))),
    ("append", |p, h| appended(p, h, Mode::Plain)),
    ("append, segments", |p, h| appended(p, h, Mode::Segments)),
    ("ingest", |p, h| ingest(h).ingest(Files::paths(p.copies())).map(drop)),
    ("ingest, streaming", |p, h| {
        ingest(h).stream(Files::paths(p.copies()), |_| Ok::<_, Error>(())).map(drop)
    }),
];

#[test]
fn every_verb_tells_of_progress_and_records_a_timeline() {
    let mut silent = Vec::new();
    for (name, verb) in Battery::of_list("combinations", 12, VERBS) {
        let (place, hooks) = (Place::new(), Hooks::default());
        verb(&place, &hooks).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        if hooks.told.load(Ordering::SeqCst) == 0 {
            silent.push(format!("{name}: no progress"));
        }
        if hooks.timeline.take().is_empty() {
            silent.push(format!("{name}: nothing in the timeline"));
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn every_verb_is_cancelled_and_leaves_no_target() {
    for (name, verb) in Battery::of_list("combinations", 12, VERBS) {
        let (place, hooks) = (Place::new(), Hooks::default());
        let before = fs::read(place.at("one")).expect("there");
        hooks.cancel.cancel();
        let ended = verb(&place, &hooks);
        let reason = ended.as_ref().expect_err(name).reason();
        assert_eq!(reason, Reason::Cancelled, "{name}: {ended:?}");
        assert!(!place.out().exists(), "{name}");
        assert!(fs::read(place.at("one")).expect("there") == before, "{name}");
    }
}

#[test]
fn who_cancels_when_the_last_bytes_are_told_of_gets_no_target() {
    for (name, verb) in Battery::of_list("combinations", 12, VERBS) {
        let (place, hooks) = (Place::new(), Hooks::default());
        verb(&place, &hooks).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        if !place.out().exists() {
            continue;
        }
        let last = Some(hooks.most.load(Ordering::SeqCst));
        let (place, hooks) = (Place::new(), Hooks { last, ..Hooks::default() });
        let ended = verb(&place, &hooks);
        assert!(hooks.cancel.is_cancelled(), "{name}");
        assert_eq!(ended.expect_err(name).reason(), Reason::Cancelled, "{name}");
        assert!(!place.out().exists(), "{name}");
    }
}

/// The options about a target.
#[derive(Clone, Copy)]
struct Wish(Replace, HardLinks);

macro_rules! aimed {
    ($options:expr, $wish:expr) => {
        $options.with_output(quick().with_replace($wish.0).with_hard_links($wish.1))
    };
}

type Leaver = (&'static str, fn(&Place, Wish) -> Result<()>);

const LEAVERS: &[Leaver] = &[
    ("write", |p, w| aimed!(WriteOptions::new(), w).write(p.out(), b"new").map(drop)),
    ("create", |p, w| aimed!(WriteOptions::new(), w).create(p.out(), 3)?.commit()),
    ("copy", |p, w| aimed!(CopyOptions::new(), w).copy(&*p.input, p.out()).map(drop)),
    ("mirror", |p, w| aimed!(MirrorOptions::new(), w).mirror(&p.input, &[p.out()]).map(drop)),
    ("append", |p, w| aimed!(AppendOptions::new(), w).create(p.out())?.commit().map(drop)),
    ("ordered", |p, w| fill(aimed!(OrderedOptions::new(), w).ordered(p.out())?)),
    ("transform", |p, w| {
        let records = aimed!(swath::records(&*p.input), w);
        records.transform(p.out(), |_, _| Ok::<_, Error>(())).map(drop)
    }),
];

#[test]
fn every_verb_that_leaves_a_file_hears_what_is_said_of_the_target() {
    let broken = HardLinks::Broken;
    for (name, leave) in LEAVERS {
        let place = Place::new();
        fs::write(place.out(), "old").expect("room on disk");
        let old = |path: &str| fs::read(place.at(path)).expect("there") == b"old";
        let refused = leave(&place, Wish(Replace::Refused, broken)).expect_err(name);
        assert_eq!(refused.io_kind(), io::ErrorKind::AlreadyExists, "{name}: {refused:?}");
        assert!(old("out"), "{name}");

        fs::hard_link(place.out(), place.at("other")).expect("linked");
        let refused = leave(&place, Wish(Replace::Allowed, HardLinks::Refused));
        assert_eq!(refused.as_ref().expect_err(name).reason(), Reason::Invalid, "{name}");
        assert!(old("out") && old("other"), "{name}");
        leave(&place, Wish(Replace::Allowed, broken))
            .unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert!(!old("out") && old("other"), "{name}");
    }
}
