//! Pages of a file that are moved into a pipe: the serial bytes, or an error at the end.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use swath::{PageCache, Progress, ReadOptions};

use crate::trouble::inputs::file;

/// Returns the bytes from a pipe, the number that was moved, and the end of the reader.
fn through_a_pipe(options: &ReadOptions, path: &Path) -> (Vec<u8>, u64, io::Result<()>) {
    let (mut from, mut to) = io::pipe().expect("a pipe");
    let came = std::thread::spawn(move || {
        let mut came = Vec::new();
        from.read_to_end(&mut came).map(|_| came)
    });
    let mut reader = options.reader(path).expect("opens");
    let mut moved = 0;
    let mut write = || {
        moved = reader.move_to_pipe(&to)?;
        loop {
            let block = reader.fill_buf()?;
            if block.is_empty() {
                return Ok(());
            }
            to.write_all(block)?;
            let len = block.len();
            reader.consume(len);
        }
    };
    let ended = write();
    drop(to);
    (came.join().expect("no panic").expect("it reads"), moved, ended)
}

#[test]
fn what_comes_out_are_the_bytes_of_the_file() {
    let holds = swath_os::pipe::capacity(io::pipe().expect("a pipe").1).expect("a pipe");
    let most = swath_os::pipe::most_capacity().unwrap_or(0);
    let capacity = usize::try_from(holds.max(most)).expect("small").max(1 << 20);
    let page = 4096;
    let lens = [0, 1, page, capacity - 1, capacity, capacity + 1, capacity + page + 1];
    let long =
        [2 * capacity, (8 << 20) + capacity - 1, (8 << 20) + capacity + 1, (20 << 20) + 7];
    for len in lens.into_iter().chain(long) {
        let (file, bytes) = (file(len), swath_reference::bytes(5, len));
        std::fs::write(file.path(), &bytes).expect("room");
        let (came, moved, ended) = through_a_pipe(&ReadOptions::new(), file.path());
        ended.expect("nothing changes it");
        assert!(came == bytes, "{len} bytes");
        // It was just written, so it is in the page cache, unless memory is scarce.
        assert!(moved <= len.saturating_sub(capacity) as u64, "{moved} of {len}");
        if moved == 0 && len >= 2 * capacity {
            swath_reference::skip("page-cache", "a file that was just written is not in it");
        }
        for (from, part) in [(0, len / 2), (len / 3, len / 2), (1, len.saturating_sub(1))] {
            let options = ReadOptions::new().with_offset(from as u64).with_len(part as u64);
            if from + part > len {
                continue;
            }
            let (came, _, ended) = through_a_pipe(&options, file.path());
            ended.expect("nothing changes it");
            assert!(came == bytes[from..from + part], "{part} bytes of {len} from {from}");
        }
    }
}

#[test]
fn options_that_say_how_to_read_are_kept() {
    let file = file(4 << 20);
    let bytes = std::fs::read(file.path()).expect("there");
    for options in [
        ReadOptions::new().with_page_cache(PageCache::Drop),
        ReadOptions::new().with_rate_bytes_per_s(1 << 40),
        ReadOptions::new().with_workers(2),
    ] {
        let (came, moved, ended) = through_a_pipe(&options, file.path());
        ended.expect("nothing changes it");
        assert!((came == bytes, moved) == (true, 0), "{options:?}");
    }
}

#[test]
fn a_change_while_pages_are_moved_is_an_error_at_the_end() {
    let overwrite: fn(&Path) = |path| {
        let file = OpenOptions::new().write(true).open(path).expect("it is there");
        file.write_all_at(&[1; 100], 3 << 20).expect("room");
    };
    let truncate: fn(&Path) = |path| {
        let file = OpenOptions::new().write(true).open(path).expect("it is there");
        file.set_len(5000).expect("shorter");
    };
    for change in [overwrite, truncate] {
        let file = file(20 << 20);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (done, path) = (AtomicBool::new(false), file.path().to_owned());
        let options = ReadOptions::new().with_progress(move |_: Progress| {
            if !done.swap(true, Ordering::SeqCst) {
                change(&path);
            }
        });
        let (_, _, ended) = through_a_pipe(&options, file.path());
        ended.expect_err("it changed");
    }
}

#[test]
fn a_change_after_the_last_bytes_were_read_is_an_error_if_pages_were_moved() {
    for moves in [false, true] {
        let file = file(4 << 20);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (mut from, to) = io::pipe().expect("a pipe");
        let came = std::thread::spawn(move || io::copy(&mut from, &mut io::sink()));
        let mut reader = swath::reader(file.path()).expect("opens");
        let moved = if moves { reader.move_to_pipe(&to).expect("a pipe") } else { 0 };
        while reader.end_position() != Some(reader.position()) {
            let len = reader.fill_buf().expect("nothing changes it").len();
            reader.consume(len);
        }
        std::fs::write(file.path(), vec![3; 4 << 20]).expect("room");
        // Without pages in the pipe, all bytes were compared with the file before they were handed out.
        assert_eq!(reader.fill_buf().is_err(), moved > 0);
        drop(to);
        came.join().expect("no panic").expect("it reads");
    }
}

#[test]
fn a_pipe_that_nobody_reads_is_broken() {
    let file = file(4 << 20);
    let (from, to) = io::pipe().expect("a pipe");
    drop(from);
    let mut reader = swath::reader(file.path()).expect("opens");
    match reader.move_to_pipe(&to) {
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::BrokenPipe),
        Ok(moved) => assert_eq!(moved, 0, "only what is not in the page cache is left"),
    }
}
