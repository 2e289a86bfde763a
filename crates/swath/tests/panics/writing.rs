//! Callbacks of verbs that write.

use std::io::{self, Write};
use std::path::Path;

use rayon::prelude::*;
use swath::append::{self, Append, AppendOptions, AppendTo, Direct, OrderedOptions};
use swath::copy::{CopyOptions, Reflink};
use swath::heal::HealOptions;
use swath::mirror::{MirrorOptions, Verify};
use swath::sink::Durability;
use swath::{Error, Output, OutputOptions, ReadOptions, WriteOptions};

use crate::trap::Trap;
use crate::{Case, Place};

fn said<T, E: std::fmt::Debug>(ended: std::result::Result<T, E>) -> String {
    ended.map_or_else(|error| format!("{error:?}"), |_| String::from("all was well"))
}

fn write(p: &Place<'_>, t: Trap) -> WriteOptions {
    let output = quick().with_workers(p.workers).with_progress(move |_| t.step());
    WriteOptions::new().with_output(output).with_chunk_size(16 << 10)
}

fn quick() -> OutputOptions {
    OutputOptions::new().with_durability(Durability::None)
}

fn read(p: &Place<'_>) -> ReadOptions {
    ReadOptions::new().with_workers(p.workers)
}

fn ordered(p: &Place<'_>) -> append::Ordered {
    let options = OrderedOptions::new().with_output(quick());
    options.ordered(p.folder.join("out")).expect("a folder to write to")
}

fn appended(p: &Place<'_>, body: impl FnOnce(&Append) -> String + Send) -> String {
    let options = AppendOptions::new().with_output(quick());
    let out = options.create(p.folder.join("out")).expect("a folder to write to");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(p.workers).build().expect("a pool");
    pool.install(|| body(&out))
}

fn transform(p: &Place<'_>, output: impl Into<Output>, trap: Option<Trap>) -> String {
    let options = ReadOptions::new().with_workers(p.workers).with_chunk_size(16 << 10);
    let options = match trap {
        Some(trap) => options.with_progress(move |_| trap.step()),
        None => options,
    };
    said(options.records(p.input).transform(output, |line, out| {
        out.extend_from_slice(line);
        Ok::<_, Error>(())
    }))
}

/// Three copies of the input, one of them damaged.
fn copies(p: &Place<'_>) -> [std::path::PathBuf; 3] {
    let bytes = std::fs::read(p.input).expect("it is there");
    let paths = ["a", "b", "c"].map(|name| p.folder.join(name));
    for (at, path) in paths.iter().enumerate() {
        let mut bytes = bytes.clone();
        bytes[100_000] = if at == 1 { b'!' } else { bytes[100_000] };
        std::fs::write(path, bytes).expect("room on disk");
    }
    paths
}

struct Rude(Trap);

impl Write for Rude {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.step();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn branch(trap: &Trap, w: &mut append::Writer<'_>) -> io::Result<()> {
    w.write_all(b"before")?;
    trap.step();
    trap.step();
    w.write_all(b"after")
}

pub(crate) const CASES: &[Case] = &[
    ("write, progress", |p, t| said(write(p, t).write(p.folder.join("out"), vec![7; 1 << 20]))),
    ("write_parts, progress", |p, t| {
        let parts: Vec<&[u8]> = vec![&[7; 5000]; 100];
        said(write(p, t).write_parts(p.folder.join("out"), &parts))
    }),
    ("positional, progress", |p, t| {
        let out = write(p, t).create(p.folder.join("out"), 1 << 20).expect("room");
        said((0..64).try_for_each(|at| out.write_at(&[7; 16 << 10], at << 14)))
    }),
    ("copy, progress", |p, t| {
        let read = ReadOptions::new().with_workers(p.workers).with_chunk_size(16 << 10);
        let options = CopyOptions::new().with_reflink(Reflink::Never).with_output(quick());
        let options = options.with_read(read.with_progress(move |_| t.step()));
        said(options.copy(p.input, p.folder.join("out")))
    }),
    ("mirror, progress", |p, t| {
        let targets = [p.folder.join("one"), p.folder.join("two")];
        let options = MirrorOptions::new()
            .with_output(quick())
            .with_read(read(p).with_progress(move |_| t.step()));
        said(options.mirror(p.input, &targets))
    }),
    ("heal, progress", |p, t| {
        let options = HealOptions::new()
            .with_output(quick())
            .with_read(read(p).with_progress(move |_| t.step()));
        said(options.heal(&copies(p), &Verify::Vote))
    }),
    ("transform, f", |p, t| {
        let options = ReadOptions::new().with_workers(p.workers).with_chunk_size(16 << 10);
        let f = |_: &[u8], _: &mut Vec<u8>| t.try_step();
        said(options.records(p.input).transform(p.folder.join("out"), f))
    }),
    ("transform, progress of reading", |p, t| transform(p, p.folder.join("out"), Some(t))),
    ("transform, progress of writing", |p, t| {
        let options =
            OrderedOptions::new().with_output(quick().with_progress(move |_| t.step()));
        transform(p, options.ordered(p.folder.join("out")).expect("a folder"), None)
    }),
    ("transform, writer", |p, t| transform(p, Output::stream(Rude(t), "<rude>"), None)),
    ("map_ordered, f", |p, t| {
        said(ordered(p).map_ordered(0..100, p.workers, |_, _| t.try_step()))
    }),
    ("map_ordered, iterator", |p, t| {
        let items = (0..100).inspect(|_| t.step());
        said(ordered(p).map_ordered(items, p.workers, |_, ticket| ticket.write_all(b"item")))
    }),
    ("map_ordered, progress", |p, t| {
        let options =
            OrderedOptions::new().with_output(quick().with_progress(move |_| t.step()));
        let out = options.ordered(p.folder.join("out")).expect("a folder to write to");
        said(out.map_ordered(0..100, p.workers, |_, ticket| ticket.write_all(b"item")))
    }),
    ("map_ordered, progress of direct writes", |p, t| {
        let options = OrderedOptions::new()
            .with_output(quick().with_progress(move |_| t.step()))
            .with_direct(Direct::Yes);
        let out = options.ordered(p.folder.join("out")).expect("a folder to write to");
        said(out.map_ordered(0..100, p.workers, |_, ticket| ticket.write_all(&[7; 8192])))
    }),
    ("ordered, progress of direct writes", |p, t| {
        let options = OrderedOptions::new()
            .with_output(quick().with_progress(move |_| t.step()))
            .with_direct(Direct::Yes);
        let out = options.ordered(p.folder.join("out")).expect("a folder to write to");
        let mut ticket = out.ticket().expect("a window");
        ticket.write_all(&[7; 8192]).expect("memory");
        said(ticket.done().and_then(|()| out.commit()))
    }),
    ("map_ordered, writer", |p, t| {
        let out = append::ordered_to(Rude(t), Path::new("<rude>"));
        said(out.map_ordered(0..100, p.workers, |_, ticket| ticket.write_all(b"item")))
    }),
    ("append, scope", |p, t| appended(p, move |out| said(out.scope(|w| branch(&t, w))))),
    ("append, left of a join", |p, t| {
        appended(p, move |out| {
            said(out.scope(|w| w.join(|w| branch(&t, w), |w| w.write_all(b"right"))))
        })
    }),
    ("append, right of a join", |p, t| {
        appended(p, move |out| {
            said(out.scope(|w| w.join(|w| w.write_all(b"left"), |w| branch(&t, w))))
        })
    }),
    ("append, a task", |p, t| {
        appended(p, move |out| {
            said(out.scope(|w| {
                w.scope(|s| {
                    for _ in 0..8 {
                        let t = t.clone();
                        s.spawn(move |w| branch(&t, w));
                    }
                    Ok::<_, io::Error>(())
                })
            }))
        })
    }),
    ("append, an item", |p, t| {
        appended(p, move |out| {
            said((0..1000).into_par_iter().append_to(out, |_, w| branch(&t, w)))
        })
    }),
    ("append, a fork", |p, t| {
        appended(p, move |out| {
            let mut fork = out.fork().expect("nobody writes");
            said(fork.with(|w| branch(&t, w)))
        })
    }),
];
