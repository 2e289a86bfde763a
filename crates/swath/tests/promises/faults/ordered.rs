//! Ordered mode.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use swath::append::OrderedOptions;
use swath::sink::Fs;
use swath::{Error, OutputOptions};

use crate::faults::faulty::{Fault, strike_everywhere};
use crate::hooked::Hooked;

const CHUNK: usize = 700_001;
const CHUNKS: usize = 8;

fn write(path: &Path, fs: Arc<dyn Fs>, workers: usize) -> Result<(), Error> {
    let out =
        OrderedOptions::new().with_output(OutputOptions::new().with_fs(fs)).ordered(path)?;
    out.map_ordered(0..CHUNKS, workers, |index, ticket| {
        let byte = u8::try_from(index).expect("few");
        ticket.write_all(&[byte; CHUNK]).expect("memory");
        Ok::<_, Error>(())
    })?;
    out.commit().map(drop)
}

#[test]
fn whichever_call_fails_the_target_is_the_old_one_or_the_new_one() {
    let new: Vec<u8> = (0..8).flat_map(|byte| vec![byte; CHUNK]).collect();
    for (workers, number) in [(1, 28), (3, 5)] {
        let failures = strike_everywhere(number, &new, |path, fs| write(path, fs, workers));
        assert!(failures > 120, "{failures} of its calls failed");
    }
}

#[test]
fn a_failed_write_is_told_with_the_bytes_of_its_chunk() {
    let folder = tempfile::tempdir().expect("a folder");
    // Lock, unnamed file, and the first chunks in many halves.
    let fault = Arc::new(Fault { calls: 0.into(), fails_at: 30, number: 28 });
    let fs = Arc::new(Hooked(fault));
    let error = write(&folder.path().join("out"), fs, 1).expect_err("the disk is full");
    let extent = error.extent().expect("it was about bytes");
    let (offset, len) = (extent.offset(), extent.len());
    assert_eq!((offset % CHUNK as u64, len), (0, CHUNK as u64));
    let text = format!("{error:?}");
    assert!(text.starts_with("cannot write ") && text.contains("No space left"), "{text}");
}
