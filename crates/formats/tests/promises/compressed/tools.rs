//! The standard tools read what is written here, and what they write is read here.

use std::io::Write;
use std::process::{Command, Stdio};
use swath::ReadOptions;

use swath_formats::compressed::{CompressOptions, DecompressOptions, Format};
use swath_reference::battery::Battery;

use crate::compressed::around::{
    FORMATS, packed, packed_by, packed_small, source, text, unpacked, unpacked_by,
};

/// Returns what a program writes for the input `bytes`; `None`, with a note, if it is not
/// installed.
fn through(words: &[&str], bytes: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            swath_reference::skip("compression-tools", format!("{}: {error}", words[0]));
            return None;
        }
    };
    let mut input = child.stdin.take().expect("it is piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(bytes));
        child.wait_with_output().expect("it ends")
    });
    assert!(output.status.success(), "{words:?} {output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said, "", "{words:?} warns");
    Some(output.stdout)
}

const PYTHON_GZIP: &str =
    "import gzip,sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))";
const PYTHON_BZ2: &str =
    "import bz2,sys; sys.stdout.buffer.write(bz2.decompress(sys.stdin.buffer.read()))";
const PYTHON_ZLIB: &str = "\
import sys, zlib
data, out = sys.stdin.buffer.read(), b''
while data:
    one = zlib.decompressobj(31)
    out += one.decompress(data) + one.flush()
    assert one.eof
    data = one.unused_data
sys.stdout.buffer.write(out)";

fn decoders(format: Format) -> Tools {
    match format {
        Format::Zstd => &[&["zstd", "-dcq"], &["pzstd", "-dcq"]],
        Format::Gzip | Format::Bgzf => &[
            &["gzip", "-dc"],
            &["pigz", "-dc"],
            &["python3", "-c", PYTHON_GZIP],
            &["python3", "-c", PYTHON_ZLIB],
        ],
        _ => &[
            &["bzip2", "-dc"],
            &["lbzip2", "-dc"],
            &["pbzip2", "-dc"],
            &["python3", "-c", PYTHON_BZ2],
        ],
    }
}

fn encoders(format: Format) -> Tools {
    match format {
        Format::Zstd => &[
            &["zstd", "-cq"],
            &["zstd", "-cq", "--no-check", "-1"],
            &["zstd", "-cq", "-T2", "-19"],
            &["pzstd", "-cq", "-p2"],
        ],
        Format::Gzip => &[
            &["gzip", "-c"],
            &["gzip", "-1nc"],
            &["pigz", "-cp2"],
            &["pigz", "-icp2", "-b", "128"],
        ],
        Format::Bgzf => &[&["bgzip", "-c"]],
        _ => &[&["bzip2", "-c"], &["bzip2", "-1c"], &["lbzip2", "-cn2"], &["pbzip2", "-cp2"]],
    }
}

type Tools = &'static [&'static [&'static str]];

/// Each tool of each format with each length; in a push about `slice` of them.
fn every(
    tools: fn(Format) -> Tools,
    lengths: &[usize],
    slice: usize,
) -> Battery<(Format, &'static [&'static str], usize)> {
    let tools =
        FORMATS.into_iter().flat_map(|it| tools(it).iter().map(move |tool| (it, *tool)));
    let all = tools.flat_map(|(it, tool)| lengths.iter().map(move |len| (it, tool, *len)));
    Battery::of_list("combinations", slice, all)
}

#[test]
fn every_tool_reads_every_output() {
    let lengths = [0, 1, 4096, 20_000, 2_500_000];
    for (format, decoder, len) in every(decoders, &lengths, 16) {
        let plain = text(len as u64, len);
        let mut outputs = vec![packed(format, &plain)];
        if len < 100_000 {
            outputs.push(packed_small(format, &plain));
        }
        for bytes in outputs {
            let Some(there) = through(decoder, &bytes) else { continue };
            assert!(there == plain, "{decoder:?} {format} {len}");
        }
    }
}

#[test]
fn the_output_of_every_tool_is_read() {
    for (_, encoder, len) in every(encoders, &[0, 1, 100_000, 3_000_000], 12) {
        let plain = text(len as u64, len);
        let Some(bytes) = through(encoder, &plain) else { continue };
        assert!(unpacked(&bytes).expect("valid") == plain, "{encoder:?} {len}");
        // And two of them, one after another.
        let twice = [bytes.clone(), bytes].concat();
        let both = [plain.clone(), plain.clone()].concat();
        assert!(unpacked(&twice).expect("valid") == both, "{encoder:?} {len}");
    }
}

#[test]
fn frames_longer_than_any_worker_takes_are_read() {
    // 40 MB in one frame, more than is handed out.
    let plain = text(1, 40_000_000);
    let tools = [&["zstd", "-1cq"][..], &["gzip", "-1c"]];
    for encoder in Battery::of_list("combinations", 1, tools) {
        let Some(bytes) = through(encoder, &plain) else { continue };
        let options = DecompressOptions::new().with_read(ReadOptions::new().with_workers(2));
        let (report, there) = unpacked_by(&options, source(&bytes));
        assert!(there == plain, "{encoder:?} {report:?}");
        let options = options.with_offset(39_000_000).with_len(1_000);
        let (report, there) = unpacked_by(&options, source(&bytes));
        assert!(there == plain[39_000_000..39_001_000], "{encoder:?} {report:?}");
    }
}

#[test]
fn a_frame_is_no_larger_than_the_tools_make_it() {
    let plain = text(9, 12 << 20);
    let tools = [
        (Format::Zstd, &["zstd", "-3cq"][..], 1.01),
        (Format::Gzip, &["pigz", "-6c"], 1.0),
        // Each block has its own header and end.
        (Format::Bzip2, &["bzip2", "-9c"], 1.001),
    ];
    for (format, encoder, most) in Battery::of_list("combinations", 1, tools) {
        let Some(theirs) = through(encoder, &plain) else { continue };
        let ours = packed(format, &plain);
        assert!(ours.len() as f64 <= theirs.len() as f64 * most, "{format} {}", ours.len());
    }
}

#[test]
fn the_seek_table_does_not_disturb_a_decoder_that_does_not_know_it() {
    let plain = text(2, 100_000);
    let options = CompressOptions::new().with_format(Format::Zstd).with_block_size(10_000);
    let bytes = packed_by(&options, source(&plain));
    assert!(bytes.ends_with(b"\xb1\xea\x92\x8f"));
    let Some(listed) = through(&["zstd", "-dcq"], &bytes) else { return };
    assert!(listed == plain);
}
