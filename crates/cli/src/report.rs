//! Reports of reads, as text for people and as JSON for programs.
//!
//! Every number of the library's [`Report`] is in the JSON, with its unit in the key.

use std::ffi::OsStr;
use std::fmt::Write;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use swath::mirror::MirrorReport;
use swath::reading::Usage;
use swath::{Fallback, Report};

use crate::grid::terminal_columns;

/// Builds a JSON object, with its keys in this order.
macro_rules! object {
    ($($(#[$how:meta])* $key:ident $(: $value:expr)?),+ $(,)?) => {{
        #[expect(non_camel_case_types, reason = "the type of a value has the name of its key")]
        let object = {
            #[derive(serde::Serialize)]
            struct Object<$($key),+> { $($(#[$how])* $key: $key),+ }
            Object { $($key $(: $value)?),+ }
        };
        object
    }};
}
pub(crate) use object;

/// A name in a report: control characters are escaped, so that it cannot write lines of its own or send
/// sequences to a terminal.
pub(crate) trait ReportName {
    /// Returns the name for a report.
    fn shown(&self) -> String;
}

impl ReportName for Path {
    fn shown(&self) -> String {
        swath::machine::escaped(&self.to_string_lossy())
    }
}

impl ReportName for OsStr {
    fn shown(&self) -> String {
        Path::new(self).shown()
    }
}

/// Returns every number of a [`Report`], with the units in its keys.
pub(crate) fn report_json(report: &Report) -> impl Serialize + use<> {
    let mirrors: Vec<_> = report.mirrors.iter().map(mirror_json).collect();
    object! {
        bytes: report.bytes,
        elapsed_s: report.elapsed.as_secs_f64(),
        bytes_per_s: bytes_per_s(report.bytes, report.elapsed),
        engine: report.engine.to_string(),
        page_cache: report.page_cache.to_string(),
        reason: report.reason.clone(),
        // The profile that was used; `null` without one.
        profile: report.profile.clone(),
        workers: report.workers,
        queue_depth: report.queue_depth,
        chunk_size_bytes: report.chunk_size,
        chunks: report.chunks,
        calls: report.calls,
        retries: report.retries,
        direct_bytes: report.direct_bytes,
        populated_bytes: report.populated_bytes,
        fallbacks: texts(&report.fallbacks),
        // The cost to the process, with --usage.
        #[serde(flatten)]
        usage: report.usage.as_ref().map(usage_json),
        // The share of each copy, for a file with several.
        #[serde(flatten)]
        mirrors: (!mirrors.is_empty()).then(|| object! { mirrors }),
    }
}

/// Returns the share of one copy of a file, for programs.
fn mirror_json(mirror: &MirrorReport) -> impl Serialize + use<> {
    object! {
        #[serde(flatten)]
        path: PathJson::from(mirror.path.as_os_str()),
        state: mirror.state.to_string(),
        // Its last error.
        trouble: mirror.trouble.clone(),
        bytes: mirror.bytes,
        chunks: mirror.chunks,
        errors: mirror.errors,
        // Errors after which another copy had the chunk.
        fail_overs: mirror.fail_overs,
        // Second reads from the copy: those that finished before the first read, and those that did not.
        hedges_won: mirror.hedges_won,
        hedges_lost: mirror.hedges_lost,
    }
}

/// Returns the cost of a read to the process, for programs.
fn usage_json(usage: &Usage) -> impl Serialize + use<> {
    object! {
        minor_faults: usage.minor_faults,
        major_faults: usage.major_faults,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        cpu_user_s: usage.user.as_secs_f64(),
        cpu_system_s: usage.system.as_secs_f64(),
        peak_rss_bytes: usage.peak_rss,
    }
}

/// A path in JSON, which has only Unicode.
#[derive(Clone, Debug, Serialize)]
pub struct PathJson {
    /// The path, with replacement characters where it is not UTF-8.
    pub path: String,
    /// Its bytes in hexadecimal, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
}

impl<P: AsRef<OsStr> + ?Sized> From<&P> for PathJson {
    fn from(path: &P) -> Self {
        let path = path.as_ref();
        let path_hex = match path.to_str() {
            Some(_) => None,
            None => Some(hex(path.as_bytes())),
        };
        Self { path: path.to_string_lossy().into_owned(), path_hex }
    }
}

/// Returns `bytes` in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns fallbacks as texts.
pub fn texts(fallbacks: &[Fallback]) -> Vec<String> {
    fallbacks.iter().map(Fallback::to_string).collect()
}

/// Returns a table without rows, for people.
pub(crate) fn table<'h>(head: impl IntoIterator<Item = &'h str>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(columns) = terminal_columns() {
        table.set_width(columns);
    }
    table.set_header(head);
    table
}

/// Returns rows as a table for a terminal; otherwise a line for each row, with short cells aligned.
pub(crate) fn lines(heads: &[&str], rows: &[&[String]]) -> String {
    const SHORT: usize = 32;
    if std::io::stdout().is_terminal() {
        let mut table = table(heads.iter().copied());
        table.add_rows(rows.iter().map(|row| row.iter()));
        return format!("{table}\n");
    }
    let len = |row: &&[String], at: usize| row[at].chars().count();
    let widest = |at| rows.iter().map(|row| len(row, at)).max().unwrap_or(0);
    let widths =
        (0..heads.len()).map(widest).map(|width| if width > SHORT { 0 } else { width });
    let widths: Vec<usize> = widths.collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text + "\n"
}

/// Returns the first line of a report: size, time and speed.
pub fn headline(report: &Report) -> String {
    let Report { bytes, elapsed, .. } = report;
    format!("{} in {}", size_text(*bytes), time_and_speed(*bytes, *elapsed))
}

/// Returns lines about the way of reading and its reason, each indented.
pub fn details(report: &Report) -> String {
    let mut text = format!(
        "  engine {}, page cache {}: {}\n",
        report.engine, report.page_cache, report.reason
    );
    text += &format!(
        "  {}, {} in flight at most, {} of {}, {}, {}\n",
        counted(report.workers as u64, "worker"),
        counted(report.queue_depth, "read"),
        counted(report.chunks, "chunk"),
        size_text(report.chunk_size),
        counted(report.calls, "call"),
        match report.retries {
            1 => String::from("1 retry"),
            retries => format!("{retries} retries"),
        },
    );
    if let Some(profile) = &report.profile {
        text += &format!("  profile {profile}\n");
    }
    for mirror in &report.mirrors {
        text += &mirror_text(mirror);
    }
    for fallback in &report.fallbacks {
        text += &format!("  instead: {fallback}\n");
    }
    if let Some(usage) = &report.usage {
        text += &usage_text(usage);
    }
    text
}

fn mirror_text(mirror: &MirrorReport) -> String {
    let mut text = format!(
        "  mirror {} ({}): {} in {}, {}, {}",
        mirror.path.shown(),
        mirror.state,
        size_text(mirror.bytes),
        counted(mirror.chunks, "chunk"),
        counted(mirror.errors, "error"),
        counted(mirror.fail_overs, "fail-over"),
    );
    if mirror.hedges_won + mirror.hedges_lost > 0 {
        let (won, lost) = (mirror.hedges_won, mirror.hedges_lost);
        text += &format!(", second reads {won} won, {lost} lost");
    }
    text.push('\n');
    text
}

fn usage_text(usage: &Usage) -> String {
    format!(
        "  {} and {} page faults (minor, major), {} and {} context switches (voluntary, not), \
         CPU {} user and {} system, peak memory {}\n",
        usage.minor_faults,
        usage.major_faults,
        usage.voluntary_switches,
        usage.involuntary_switches,
        time_text(usage.user),
        time_text(usage.system),
        size_text(usage.peak_rss),
    )
}

pub use swath::machine::counted;

/// Returns bytes over time; a time of 0 counts as a nanosecond.
pub fn bytes_per_s(bytes: u64, elapsed: Duration) -> f64 {
    bytes as f64 / elapsed.as_secs_f64().max(1e-9)
}

/// Returns a time and, for enough bytes, the speed.
pub fn time_and_speed(bytes: u64, elapsed: Duration) -> String {
    /// The time for fewer bytes depends more on the process than on the machine.
    const FEW: u64 = 1 << 20;
    let time = time_text(elapsed);
    match bytes {
        ..FEW => time,
        _ => format!("{time}, {:.2} GB/s", bytes_per_s(bytes, elapsed) / 1e9),
    }
}

/// Returns a size for people, with the exact bytes where it was rounded.
pub fn size_text(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let Some(unit) = (0..4).rev().find(|&unit| bytes >> (10 * (unit + 1)) > 0) else {
        return counted(bytes, "byte");
    };
    let shift = 10 * (unit + 1);
    let name = UNITS[unit];
    if bytes.trailing_zeros() as usize >= shift {
        return format!("{} {name}", bytes >> shift);
    }
    let rounded = bytes as f64 / (1_u64 << shift) as f64;
    format!("{rounded:.1} {name} ({bytes} bytes)")
}

/// Returns a time for people, to three digits.
pub fn time_text(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else if seconds >= 1e-3 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{:.0} µs", seconds * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short_and_exact() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1025, "1.0 KiB (1025 bytes)"),
            (3 << 19, "1.5 MiB (1572864 bytes)"),
            (1 << 30, "1 GiB"),
            (5 << 40, "5 TiB"),
            (u64::MAX, "16777216.0 TiB (18446744073709551615 bytes)"),
        ] {
            assert_eq!(size_text(bytes), text);
        }
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        for (time, text) in [
            (Duration::from_micros(12), "12 µs"),
            (Duration::from_micros(1500), "1.5 ms"),
            (Duration::from_millis(2340), "2.34 s"),
        ] {
            assert_eq!(time_text(time), text);
        }
    }

    #[test]
    fn every_number_of_the_report_is_in_the_json() {
        let options = swath::ReadOptions::new().with_costs(swath::reading::Costs::Process);
        let report = options.read("/proc/self/exe").expect("this test is a file").report;
        let json = serde_json::to_value(report_json(&report)).expect("plain data");
        let fields = format!("{report:?}");
        // `usage` is one field there and seven keys here; `bytes_per_s` is added here.
        let own = fields.matches(": ").count();
        let keys = json.as_object().expect("an object").len();
        assert!(keys >= 15 + 7, "{keys} keys for {own} fields: {json}");
        assert_eq!(json["bytes"], report.bytes);
        assert_eq!(json["peak_rss_bytes"], report.usage.expect("asked for").peak_rss);
    }

    #[test]
    fn a_path_that_is_no_utf_8_keeps_its_bytes() {
        let odd = PathJson::from(OsStr::from_bytes(b"a\xff"));
        assert_eq!((odd.path.as_str(), odd.path_hex.as_deref()), ("a\u{fffd}", Some("61ff")));
        assert_eq!(PathJson::from(OsStr::new("plain")).path_hex, None);
    }
}
