//! Ordered mode: a dropped ticket, an error, a panic, a closed pipe: every caller gets an error,
//! and no file remains.

use std::io::{self, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use swath::append::{Direct, Ordered, OrderedOptions, ordered_to};
use swath::{CancelToken, Error, Extent, Operation, OutputOptions, Reason};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("out")
    }

    fn begin(&self, options: OrderedOptions) -> Ordered {
        options.ordered(self.path()).expect("there is no other writer")
    }

    fn is_empty(&self) -> bool {
        std::fs::read_dir(self.0.path()).expect("a folder").next().is_none()
    }
}

fn wide() -> OrderedOptions {
    OrderedOptions::new().with_window(16)
}

#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Vec<u8>>>);

impl Collected {
    fn taken(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().expect("no panic"))
    }
}

impl Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_dropped_ticket_poisons_what_follows_and_leaves_no_file() {
    let place = Place::new();
    let out = place.begin(wide());
    let mut before = out.ticket().expect("room");
    before.write_all(b"before").expect("memory");
    let dropped = out.ticket().expect("room");
    let after = out.ticket().expect("room");
    drop(dropped);
    before.done().expect("it stands before the dropped one");
    let error = after.done().expect_err("it has no place");
    assert_eq!((error.reason(), error.operation()), (Reason::Poisoned, Operation::Write));
    assert_eq!((error.path(), error.extent()), (&*place.path(), Extent::new(6, 0)));
    assert!(error.to_string().contains("ticket 1 was dropped"), "{error}");
    assert_eq!(out.ticket().expect_err("poisoned").reason(), Reason::Poisoned);
    assert_eq!(out.commit().expect_err("poisoned").reason(), Reason::Poisoned);
    assert!(place.is_empty());
}

#[test]
fn direct_writers_end_with_their_file_however_it_ends() {
    for ending in ["commit", "drop a ticket", "fail", "panic", "cancel", "drop"] {
        let place = Place::new();
        let token = CancelToken::new();
        let options = OrderedOptions::new()
            .with_direct(Direct::Yes)
            .with_output(OutputOptions::new().with_cancel(token.clone()));
        let out = place.begin(options);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            out.map_ordered(0..40, 3, |item, ticket| -> io::Result<()> {
                ticket.buffer().resize(300_007, 1);
                match ending {
                    "fail" if item == 20 => Err(ErrorKind::NotFound.into()),
                    "panic" if item == 20 => panic!("at item 20"),
                    "cancel" if item == 20 => {
                        token.cancel();
                        Ok(())
                    }
                    _ => Ok(()),
                }
            })
        }));
        assert_eq!(ended.is_err(), ending == "panic");
        if ending == "drop a ticket" {
            drop(out.ticket().expect("room"));
        }
        if ending == "drop" {
            drop(out);
        } else {
            // Threads are joined, so the test would hang if they did not end.
            let committed = out.commit();
            assert_eq!(committed.is_ok(), ending == "commit", "{ending}: {committed:?}");
        }
        assert_eq!(place.is_empty(), ending != "commit", "{ending}");
    }
}

#[test]
fn who_waits_for_room_is_told_when_the_last_ticket_is_dropped() {
    let place = Place::new();
    let out = place.begin(OrderedOptions::new().with_window(1));
    let ticket = out.ticket().expect("room");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| out.ticket().map(drop));
        drop(ticket);
        let error =
            waiting.join().expect("no panic").expect_err("nothing has a place any more");
        assert_eq!(error.reason(), Reason::Poisoned);
    });
}

#[test]
fn commit_says_how_many_tickets_are_open_and_does_not_wait() {
    let place = Place::new();
    let out = place.begin(wide());
    let tickets = [out.ticket().expect("room"), out.ticket().expect("room")];
    let error = out.commit().expect_err("two are open");
    assert_eq!((error.reason(), error.operation()), (Reason::Busy, Operation::Commit));
    assert!(error.to_string().contains("2 of its tickets"), "{error}");
    assert!(place.is_empty());
    for ticket in tickets {
        let error = ticket.done().expect_err("its file is gone");
        assert_eq!(error.reason(), Reason::Poisoned);
    }
}

#[test]
fn a_ticket_may_outlive_its_writer_and_is_refused() {
    let place = Place::new();
    let out = place.begin(wide());
    let (ticket, other) = (out.ticket().expect("room"), out.ticket().expect("room"));
    drop(out);
    assert!(place.is_empty());
    let error = ticket.done().expect_err("the writer is gone");
    assert!(error.to_string().contains("its writer was dropped"), "{error}");
    drop(other);
}

#[test]
fn a_target_is_what_it_was_until_commit_and_after_a_failure() {
    let place = Place::new();
    std::fs::write(place.path(), b"old").expect("room");
    let out = place.begin(wide());
    let mut ticket = out.ticket().expect("room");
    ticket.write_all(b"new").expect("memory");
    ticket.done().expect("written");
    assert_eq!(std::fs::read(place.path()).expect("there"), b"old");
    drop(out.ticket().expect("room"));
    out.commit().expect_err("poisoned");
    assert_eq!(std::fs::read(place.path()).expect("there"), b"old");
}

#[test]
fn two_writers_of_one_target_are_one_too_many() {
    let place = Place::new();
    let out = place.begin(wide());
    let error = wide().ordered(place.path()).expect_err("it is being written");
    assert_eq!(error.reason(), Reason::Busy);
    out.commit().expect("the first one");
}

#[derive(Debug)]
enum Wrong {
    Item(u64),
    Swath(Error),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self::Swath(error)
    }
}

#[test]
fn the_first_error_in_serial_order_is_reported_and_nothing_behind_it_is_written() {
    for (workers, window) in [(1, 1), (2, 2), (4, 0), (8, 3)] {
        for wrong in [vec![0], vec![5], vec![31, 30, 29], vec![7, 99], vec![99]] {
            let stream = Collected::default();
            let options = OrderedOptions::new().with_window(window);
            let out = options.ordered_to(stream.clone(), Path::new("<stream>"));
            let ended = out.map_ordered(0..100_u64, workers, |item, ticket| {
                if wrong.contains(&item) {
                    // A smaller number may be found later.
                    std::thread::yield_now();
                    return Err(Wrong::Item(item));
                }
                writeln!(ticket, "{item}").expect("memory");
                Ok(())
            });
            let first = *wrong.iter().min().expect("one at least");
            match ended {
                Err(Wrong::Item(item)) => assert_eq!(item, first),
                other => panic!("{other:?}"),
            }
            let serial: String = (0..first).map(|item| format!("{item}\n")).collect();
            assert_eq!(String::from_utf8(stream.taken()).expect("digits"), serial);
            let later = out.map_ordered(0..1, 1, |_, _| Ok::<_, Wrong>(()));
            let Err(Wrong::Swath(error)) = later else { panic!("poisoned") };
            assert_eq!(error.reason(), Reason::Poisoned);
            assert_eq!(out.commit().expect_err("poisoned").reason(), Reason::Poisoned);
        }
    }
}

#[test]
fn a_panic_goes_on_in_the_caller_and_leaves_no_file() {
    for workers in [1, 4] {
        let place = Place::new();
        let out = place.begin(OrderedOptions::new());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            out.map_ordered(0..50, workers, |item, ticket| -> io::Result<()> {
                assert_ne!(item, 20, "no twenties");
                ticket.write_all(b"item")
            })
        }));
        let payload = panicked.expect_err("an item panicked");
        let text = payload.downcast_ref::<String>().expect("a formatted message");
        assert!(text.contains("no twenties"), "{text}");
        assert_eq!(out.commit().expect_err("poisoned").reason(), Reason::Poisoned);
        assert!(place.is_empty());
    }
}

#[test]
fn a_panic_of_the_iterator_goes_on_in_the_caller_and_leaves_no_file() {
    for workers in [1, 2, 4] {
        let place = Place::new();
        let out = place.begin(OrderedOptions::new());
        let items = (0..50).inspect(|&item| assert_ne!(item, 20, "no twenties"));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            out.map_ordered(items, workers, |_, ticket| ticket.write_all(b"item"))
        }));
        let payload = panicked.expect_err("the iterator panicked");
        let text = payload.downcast_ref::<String>().expect("a formatted message");
        assert!(text.contains("no twenties"), "{text}");
        assert_eq!(out.ticket().expect_err("poisoned").reason(), Reason::Poisoned);
        assert_eq!(out.commit().expect_err("poisoned").reason(), Reason::Poisoned);
        assert!(place.is_empty());
    }
}

#[test]
fn a_stream_gets_what_is_before_the_item_of_which_the_iterator_panicked() {
    for workers in [1, 2, 4] {
        let stream = Collected::default();
        let out = ordered_to(stream.clone(), Path::new("<stream>"));
        let items = (0..50).inspect(|&item| assert_ne!(item, 20, "no twenties"));
        catch_unwind(AssertUnwindSafe(|| {
            out.map_ordered(items, workers, |item, ticket| writeln!(ticket, "{item}"))
        }))
        .expect_err("the iterator panicked");
        let serial: String = (0..20).map(|item| format!("{item}\n")).collect();
        assert_eq!(String::from_utf8(stream.taken()).expect("digits"), serial);
        assert_eq!(out.commit().expect_err("poisoned").reason(), Reason::Poisoned);
    }
}

#[test]
fn a_closed_pipe_is_told_as_one_to_everybody() {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let out = wide().ordered_to(writer, Path::new("<stdout>"));
    let mut ticket = out.ticket().expect("room");
    ticket.write_all(b"this is not read.").expect("memory");
    let errors = [
        ticket.done().expect_err("a closed pipe"),
        out.ticket().expect_err("a closed pipe"),
        out.commit().expect_err("a closed pipe"),
    ];
    for error in errors {
        assert_eq!((error.io_kind(), error.reason()), (ErrorKind::BrokenPipe, Reason::Io));
        assert_eq!((error.path(), error.raw_os_error()), (Path::new("<stdout>"), Some(32)));
        assert_eq!(error.extent(), Extent::new(0, 17));
    }
}

#[test]
fn a_pipe_that_closes_midway_ends_all_workers() {
    use std::io::Read;
    let (mut reader, writer) = io::pipe().expect("a pipe");
    let out = ordered_to(writer, Path::new("<stdout>"));
    std::thread::scope(|scope| {
        scope.spawn(move || reader.read_exact(&mut [0; 1000]).expect("some come"));
        let ended = out.map_ordered(std::iter::repeat([7; 5000]), 4, |chunk, ticket| {
            ticket.write_all(&chunk)
        });
        assert_eq!(ended.expect_err("it closes").kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_stream_whose_writer_panics_fails_for_the_others() {
    struct Rude;
    impl Write for Rude {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            panic!("no manners")
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let out = wide().ordered_to(Rude, Path::new("<rude>"));
    let (mut first, second) = (out.ticket().expect("room"), out.ticket().expect("room"));
    first.write_all(b"please").expect("memory");
    catch_unwind(AssertUnwindSafe(|| first.done())).expect_err("it panics");
    let error = second.done().expect_err("nothing goes on");
    assert_eq!(error.reason(), Reason::Io);
    out.commit().expect_err("nothing goes on");
}

#[test]
fn who_cancels_ends_those_who_write_and_those_who_wait() {
    let place = Place::new();
    let token = CancelToken::new();
    let out = place.begin(
        OrderedOptions::new()
            .with_window(1)
            .with_output(OutputOptions::new().with_cancel(token.clone())),
    );
    let ticket = out.ticket().expect("room");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| out.ticket().map(drop));
        token.cancel();
        let error = waiting.join().expect("no panic").expect_err("cancelled");
        assert_eq!(error.reason(), Reason::Cancelled);
    });
    assert_eq!(ticket.done().expect_err("cancelled").reason(), Reason::Cancelled);
    assert_eq!(out.commit().expect_err("cancelled").reason(), Reason::Cancelled);
    assert!(place.is_empty());
}

#[test]
fn progress_tells_every_byte_once() {
    let place = Place::new();
    let most = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&most);
    let out = place.begin(OrderedOptions::new().with_output(
        OutputOptions::new().with_progress(move |progress| {
            assert_eq!(progress.total, None);
            let mut most = seen.lock().expect("no panic");
            *most = progress.bytes.max(*most);
        }),
    ));
    out.map_ordered(0..100, 4, |_, ticket| ticket.write_all(&[1; 1000])).expect("written");
    assert_eq!(out.commit().expect("complete").bytes, 100_000);
    assert_eq!(*most.lock().expect("no panic"), 100_000);
}
