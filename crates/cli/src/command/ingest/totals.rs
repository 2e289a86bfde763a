//! The report of an ingest, as text for people and as JSON for programs.

use serde::Serialize;
use swath::ingest::{IngestReport, OrderGain};

use crate::report::{
    bytes_per_s, counted, object, size_text, texts, time_and_speed, time_text,
};

/// Returns every number of the report, with its unit in the key.
pub(super) fn json(report: &IngestReport) -> impl Serialize {
    let calls = report.calls;
    object! {
        files: report.files,
        bytes: report.bytes,
        failed: report.failed,
        skipped: report.skipped,
        left_out: report.left_out,
        elapsed_s: report.elapsed.as_secs_f64(),
        listing_s: report.listing.as_secs_f64(),
        bytes_per_s: bytes_per_s(report.bytes, report.elapsed),
        files_per_s: report.files_per_s(),
        workers: report.workers,
        queue_depth: report.queue_depth,
        misses: report.misses,
        ring_files: report.ring_files,
        large_files: report.large_files,
        checked_twice: report.checked_twice,
        reason: &report.reason,
        // `null`: without a profile.
        profile: &report.profile,
        open_calls: calls.open,
        read_calls: calls.read,
        stat_calls: calls.stat,
        close_calls: calls.close,
        walk_calls: calls.walk,
        ring_calls: calls.ring,
        order_calls: calls.order,
        calls_per_file: report.calls_per_file(),
        populated_bytes: report.populated_bytes,
        // `null`: files were read in the order given.
        order: report.order.as_ref().map(order_json),
        fallbacks: texts(&report.fallbacks),
    }
}

fn order_json(gain: &OrderGain) -> impl Serialize {
    object! {
        order: gain.order.word(),
        sorting_s: gain.sorting.as_secs_f64(),
        given_files: gain.given.files,
        given_s: gain.given.elapsed.as_secs_f64(),
        ordered_files: gain.ordered.files,
        ordered_s: gain.ordered.elapsed.as_secs_f64(),
        // `null`: there were too few files to measure it.
        gain: gain.ratio(),
    }
}

/// Returns the report for people.
pub(super) fn text(report: &IngestReport) -> String {
    let mut text = format!(
        "{}, {} in {}, {:.0} files/s\n  {}\n",
        counted(report.files, "file"),
        size_text(report.bytes),
        time_and_speed(report.bytes, report.elapsed),
        report.files_per_s(),
        report.reason,
    );
    text += &format!(
        "  {}, {} in flight at most, {} not in the page cache, {:.2} system calls a file, \
         {} to find the files\n",
        counted(report.workers as u64, "worker"),
        counted(report.queue_depth, "file"),
        report.misses,
        report.calls_per_file(),
        time_text(report.listing),
    );
    if let Some(profile) = &report.profile {
        text += &format!("  profile {profile}\n");
    }
    for line in trouble(report) {
        text += &format!("  {line}\n");
    }
    text
}

/// Returns the lines that are printed even beside other results: files that were not read, fallbacks,
/// and the gain of an order.
pub(super) fn trouble(report: &IngestReport) -> Vec<String> {
    let mut lines = Vec::new();
    let (failed, skipped) = (report.failed, report.skipped);
    if failed + skipped > 0 {
        let all = counted(report.files + failed + skipped, "file");
        lines.push(format!(
            "of {all}, {} were read, {failed} failed, {skipped} skipped",
            report.files
        ));
    }
    if report.left_out > 0 {
        lines.push(format!("left out: {} that are not files, or are links", report.left_out));
    }
    lines.extend(report.order.as_ref().map(order_text));
    lines.extend(report.fallbacks.iter().map(|fallback| format!("instead: {fallback}")));
    lines
}

fn order_text(gain: &OrderGain) -> String {
    let (order, sorting) = (gain.order, time_text(gain.sorting));
    match gain.ratio() {
        Some(ratio) => format!(
            "order {order}: {ratio:.2} times as many files a second as in the order given, \
             including the {sorting} to find it"
        ),
        None => format!("order {order}: too few files to tell what it gained"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swath::ingest::{FileOrder, Files, IngestOptions};

    #[test]
    fn every_number_of_the_report_is_in_the_json() {
        let paths = ["/proc/version", "/proc/self/exe"];
        let options = IngestOptions::new().with_order(FileOrder::Inode);
        let ingested = options.ingest(Files::paths(paths)).expect("every process has these");
        let report = ingested.report();
        let json = serde_json::to_value(json(report)).expect("plain data");
        let keys = json.as_object().expect("an object").len();
        // In JSON, `calls` is seven keys, and three figures are added.
        let debug = format!("{report:#?}");
        let fields = debug.lines().filter(|line| {
            line.starts_with("    ") && !line.starts_with("     ") && line.contains(": ")
        });
        assert_eq!(keys, fields.count() - 1 + 7 + 3, "{json}");
        assert_eq!((&json["files"], &json["bytes"]), (&2.into(), &report.bytes.into()));
    }

    #[test]
    fn what_was_not_read_is_counted_and_nothing_is_said_of_nothing() {
        let mut report = IngestReport::default();
        assert!(trouble(&report).is_empty());
        (report.files, report.failed, report.skipped) = (20, 2, 1);
        assert_eq!(trouble(&report), ["of 23 files, 20 were read, 2 failed, 1 skipped"]);
    }
}
