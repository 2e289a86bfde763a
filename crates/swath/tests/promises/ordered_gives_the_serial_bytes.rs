//! Ordered mode: whichever ticket is finished first, the bytes are those of the serial loop.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use swath::sink::{Durability, Sparse};
use swath::{Fallback, OutputOptions};

use swath::append::{Direct, Ordered, OrderedOptions, OrderedReport, ordered_to};
use swath_reference::battery::Battery;
use swath_reference::{bytes, splitmix};

const MIB: usize = 1 << 20;
const EDGES: [usize; 9] = [0, 1, 511, 512, 4095, 4096, 4097, MIB, MIB + 1];

/// Chunks at the edges of blocks and at random, a few of them long.
fn chunks(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut next = splitmix(seed);
    let mut below = move |limit: usize| usize::try_from(next()).expect("64 bits") % limit;
    let all = bytes(seed, 2 * MIB);
    let chunk = |_| {
        let len = match below(4) {
            0 => below(20_000),
            1 => below(9),
            _ if below(4) > 0 => EDGES[below(7)],
            _ => EDGES[below(9)],
        };
        let start = below(all.len() - len);
        all[start..start + len].to_vec()
    };
    (0..count).map(chunk).collect()
}

/// A stream that detects two concurrent writes.
#[derive(Clone, Default)]
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    busy: Arc<AtomicBool>,
}

impl Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        assert!(!self.busy.swap(true, Ordering::SeqCst), "two writers at one time");
        // Short writes, as a pipe makes them.
        let len = bytes.len().min(70_000);
        self.bytes.lock().expect("alone").extend_from_slice(&bytes[..len]);
        self.busy.store(false, Ordering::SeqCst);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where a run writes its bytes.
enum Target {
    File(tempfile::TempDir, Direct),
    Stream(Collected),
}

impl Target {
    fn all() -> Vec<Target> {
        let folder = |at: &Path| tempfile::tempdir_in(at).expect("a folder");
        let mut all = vec![
            Target::Stream(Collected::default()),
            Target::File(folder(&std::env::temp_dir()), Direct::No),
            Target::File(folder(&std::env::temp_dir()), Direct::Yes),
        ];
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            all.push(Target::File(folder(memory), Direct::No));
            all.push(Target::File(folder(memory), Direct::Yes));
        }
        all
    }

    fn path(&self) -> PathBuf {
        match self {
            Self::File(folder, _) => folder.path().join("out"),
            Self::Stream(_) => PathBuf::from("<stream>"),
        }
    }

    fn begin(&self, options: OrderedOptions) -> Ordered {
        match self {
            Self::File(_, direct) => {
                let out = options.with_direct(*direct).ordered(self.path());
                out.expect("there is no other writer")
            }
            Self::Stream(stream) => options.ordered_to(stream.clone(), self.path()),
        }
    }

    fn check(&self, written: &OrderedReport, chunks: &[Vec<u8>]) {
        let serial = chunks.concat();
        let found = match self {
            Self::File(folder, _) => {
                let entries = std::fs::read_dir(folder.path()).expect("a folder");
                let mut names: Vec<_> =
                    entries.map(|it| it.expect("an entry").file_name()).collect();
                // FUSE ends a file that is closed in its own time.
                names.retain(|name| !name.to_string_lossy().starts_with(".fuse_hidden"));
                assert_eq!(names.len(), 1, "nothing but the file is left: {names:?}");
                std::fs::read(self.path()).expect("committed")
            }
            Self::Stream(stream) => std::mem::take(&mut *stream.bytes.lock().expect("ended")),
        };
        assert_eq!(found.len(), serial.len());
        assert!(found == serial, "the bytes differ");
        assert_eq!(written.bytes, serial.len() as u64);
        assert_eq!(written.chunks, chunks.len() as u64);
        if matches!(self, Self::File(_, Direct::Yes)) && written.fallbacks.is_empty() {
            assert_eq!(written.direct_bytes, written.bytes / 4096 * 4096);
        } else if !matches!(self, Self::File(_, Direct::Yes)) {
            assert_eq!(written.direct_bytes, 0);
        }
    }
}

#[test]
fn every_target_and_number_of_threads_and_window_gives_the_serial_bytes() {
    for target in Target::all() {
        for threads in 1..=8 {
            for window in [0, 1, 2, 5] {
                let seed = threads as u64 * 10 + window as u64;
                eprintln!(
                    "{} threads {threads} window {window} seed {seed}",
                    target.path().display()
                );
                let chunks = chunks(seed, 40);
                let out = target.begin(OrderedOptions::new().with_window(window));
                let (open, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let mapped = out.map_ordered(&chunks, threads, |chunk, ticket| {
                    most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    let (left, right) = chunk.split_at(chunk.len() / 3);
                    ticket.write_all(left)?;
                    ticket.buffer().extend_from_slice(right);
                    open.fetch_sub(1, Ordering::SeqCst);
                    io::Result::Ok(())
                });
                mapped.expect("nothing fails");
                let written = out.commit().expect("complete");
                target.check(&written, &chunks);
                let window = if window == 0 { (2 * threads).max(2 * cores()) } else { window };
                assert!(written.buffers <= window as u64, "{} buffers", written.buffers);
                assert!(most.into_inner() <= window);
            }
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[test]
fn tickets_may_be_done_in_any_order_by_one_thread() {
    for target in Target::all() {
        for (seed, window) in [(1, 1), (2, 2), (3, 7), (4, 16)] {
            for backwards in [false, true] {
                eprintln!("{} seed {seed} window {window}", target.path().display());
                let chunks = chunks(seed, 48);
                let out = target.begin(OrderedOptions::new().with_window(window));
                let mut next = splitmix(seed);
                for group in chunks.chunks(window) {
                    let mut tickets: Vec<_> = group
                        .iter()
                        .map(|chunk| (out.ticket().expect("room"), chunk))
                        .collect();
                    if backwards {
                        tickets.reverse();
                    } else {
                        tickets.sort_by_cached_key(|_| next());
                    }
                    for (mut ticket, chunk) in tickets {
                        ticket.write_all(chunk).expect("memory");
                        ticket.done().expect("never waits");
                    }
                }
                let written = out.commit().expect("complete");
                assert!(written.buffers <= window as u64);
                target.check(&written, &chunks);
            }
        }
    }
}

#[test]
fn tickets_may_be_done_in_any_order_by_several_threads() {
    for target in Target::all() {
        for seed in 0..6 {
            eprintln!("{} seed {seed}", target.path().display());
            let chunks = chunks(seed, 60);
            let out = target.begin(OrderedOptions::new().with_window(60));
            let mut tickets: Vec<_> =
                chunks.iter().map(|chunk| (out.ticket().expect("room"), chunk)).collect();
            let mut next = splitmix(seed);
            tickets.sort_by_cached_key(|_| next());
            let tickets = Mutex::new(tickets);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        loop {
                            let taken = tickets.lock().expect("no panic").pop();
                            let Some((mut ticket, chunk)) = taken else { break };
                            ticket.write_all(chunk).expect("memory");
                            ticket.done().expect("never waits");
                        }
                    });
                }
            });
            target.check(&out.commit().expect("complete"), &chunks);
        }
    }
}

/// A pipe with a slow reader: chunks pile up.
struct Slow(Collected);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        std::thread::sleep(std::time::Duration::from_micros(300));
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn a_slow_stream_gets_its_chunks_in_order() {
    for (seed, threads) in [(1, 2), (2, 8)] {
        let chunks = chunks(seed, 300);
        let target = Target::Stream(Collected::default());
        let Target::Stream(collected) = &target else { unreachable!("made above") };
        let slow = Slow(collected.clone());
        let out = ordered_to(slow, Path::new("<slow>"));
        out.map_ordered(&chunks, threads, |chunk, ticket| ticket.write_all(chunk))
            .expect("nothing fails");
        target.check(&out.commit().expect("complete"), &chunks);
    }
}

#[test]
fn nothing_written_is_an_empty_file() {
    for target in Target::all() {
        let written = target.begin(OrderedOptions::new()).commit().expect("complete");
        target.check(&written, &[]);
        let out = target.begin(OrderedOptions::new());
        out.ticket().expect("room").done().expect("empty");
        target.check(&out.commit().expect("complete"), &[Vec::new()]);
    }
}

#[test]
fn a_file_that_grows_past_every_reservation_is_cut_to_its_length() {
    use std::os::unix::fs::MetadataExt;
    for target in Target::all() {
        let chunks = vec![bytes(7, 8 * MIB + 13); 3];
        let out = target.begin(OrderedOptions::new());
        let mapped = out.map_ordered(&chunks, 2, |chunk, ticket| ticket.write_all(chunk));
        mapped.expect("nothing fails");
        target.check(&out.commit().expect("complete"), &chunks);
        if let Target::File(..) = target {
            let facts = std::fs::metadata(target.path()).expect("there");
            let spare = (facts.blocks() * 512).saturating_sub(facts.len());
            assert!(spare < MIB as u64, "{spare} bytes of space were not freed");
        }
    }
}

#[test]
fn who_makes_a_place_known_writes_what_was_left_behind_and_makes_room() {
    let target = &Target::all()[1];
    let out = target.begin(OrderedOptions::new().with_window(2));
    let (first, mut second) = (out.ticket().expect("room"), out.ticket().expect("room"));
    second.write_all(b"second").expect("memory");
    second.done().expect("put aside");
    std::thread::scope(|scope| {
        let third = scope.spawn(|| out.ticket());
        first.done().expect("empty");
        third.join().expect("no panic").expect("room").done().expect("empty");
    });
    target.check(&out.commit().expect("complete"), &[vec![], b"second".to_vec(), vec![]]);
}

#[test]
fn who_waits_for_a_place_need_not_wait_for_ever() {
    let target = &Target::all()[1];
    let out = target.begin(OrderedOptions::new().with_window(1));
    let first = out.ticket().expect("room");
    let most = std::time::Duration::from_millis(5);
    assert!(out.ticket_within(most).expect("no failure").is_none());
    assert!(out.ticket_within(std::time::Duration::ZERO).expect("no failure").is_none());
    first.done().expect("empty");
    let second = out.ticket_within(most).expect("no failure").expect("room");
    second.done().expect("empty");
    target.check(&out.commit().expect("complete"), &[vec![], vec![]]);
}

#[test]
fn a_new_file_gets_permissions_and_one_that_is_replaced_keeps_its_own() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    let path = folder.path().join("out");
    let mode = || std::fs::metadata(&path).expect("it is there").permissions().mode() & 0o7777;
    for (asked, kept) in [(0o600, 0o600), (0o640, 0o600), (0o400, 0o600)] {
        let options = OrderedOptions::new()
            .with_output(OutputOptions::new().with_permissions(Permissions::from_mode(asked)));
        options.ordered(&path).and_then(Ordered::commit).expect("an empty file");
        assert_eq!(mode(), kept, "{asked:o}");
    }
}

#[test]
fn long_runs_of_zeros_become_holes_and_read_as_zeros() {
    const KIB: usize = 1 << 10;
    let zeros = |len: usize| vec![0; len];
    let data = |len: usize| vec![1; len];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    let quick = OutputOptions::new().with_durability(Durability::None);
    let options = OrderedOptions::new().with_output(quick);
    let cases: [Vec<Vec<u8>>; 8] = [
        vec![zeros(8 << 20), zeros(8 << 20)],
        vec![zeros(1)],
        vec![data(1), zeros(4 << 20), data(1)],
        vec![data(5_000), zeros(100_001), zeros(7), zeros(300_000), data(3)],
        vec![data(4 << 20), zeros(4 << 20)],
        vec![zeros(4 << 20), data(4 << 20)],
        vec![[data(KIB), zeros(31 * KIB), data(KIB), zeros(40 * KIB), data(KIB)].concat()],
        (0..300)
            .map(|index| if index % 3 == 0 { data(20_000) } else { zeros(65_280) })
            .collect(),
    ];
    for (index, chunks) in Battery::of_list("combinations", 3, cases.iter().enumerate()) {
        let expected = chunks.concat();
        for workers in [1, 3] {
            for is_there in [false, true] {
                let _ = fs::remove_file(&path);
                if is_there {
                    fs::write(&path, bytes(1, expected.len())).expect("room");
                }
                let write = |sparse| {
                    let out =
                        options.clone().with_sparse(sparse).ordered(&path).expect("begun");
                    out.map_ordered(chunks, workers, |chunk, ticket| -> io::Result<()> {
                        ticket.write_all(chunk)
                    })
                    .expect("written");
                    out.commit().expect("committed");
                    assert!(fs::read(&path).expect("there") == expected, "{index} {sparse:?}");
                    fs::metadata(&path).expect("there").blocks() * 512
                };
                let [sparse, full] = [Sparse::Auto, Sparse::Never].map(write);
                let written = expected.iter().filter(|&&byte| byte != 0).count() as u64;
                // Each run has blocks at its ends, and runs below 32 KiB are written.
                let most = written + chunks.len() as u64 * 16_384 + 65_536;
                if full >= expected.len() as u64 && sparse > most {
                    assert!(!has_holes(folder.path()), "{index}: {sparse} bytes, {full} full");
                }
            }
        }
    }
}

/// Whether the file system has holes.
fn has_holes(folder: &Path) -> bool {
    let path = folder.join("hole");
    fs::File::create(&path).expect("room").set_len(1 << 20).expect("room");
    fs::metadata(&path).expect("there").blocks() < 100
}

#[test]
fn direct_writes_and_streams_get_all_zeros() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    let zeros = vec![0; 1 << 20];
    let quick = OutputOptions::new().with_durability(Durability::None);
    let options = OrderedOptions::new().with_output(quick).with_sparse(Sparse::Auto);
    let out = options.clone().with_direct(Direct::Yes).ordered(&path).expect("begun");
    let mut ticket = out.ticket().expect("a place");
    ticket.write_all(&zeros).expect("memory");
    ticket.done().expect("written");
    let report = out.commit().expect("committed");
    let is_refused = report.fallbacks.iter().any(Fallback::is_direct_refused);
    let is_noted =
        report.fallbacks.iter().any(|it| matches!(it, Fallback::Unused { what: "sparse", .. }));
    assert!(is_noted || is_refused, "{report:?}");
    assert!(fs::read(&path).expect("there") == zeros);
    let (mut from, to) = io::pipe().expect("a pipe");
    let out = options.ordered_to(to, "pipe");
    let reader = std::thread::spawn(move || {
        let mut came = Vec::new();
        from.read_to_end(&mut came).map(|_| came)
    });
    let mut ticket = out.ticket().expect("a place");
    ticket.write_all(&zeros).expect("memory");
    ticket.done().expect("written");
    out.commit().expect("flushed");
    assert!(reader.join().expect("it ends").expect("read") == zeros);
}
