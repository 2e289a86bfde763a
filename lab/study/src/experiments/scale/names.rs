//! The names of series, cases and metrics, which claims and entrants share.

use crate::scale::{Callers, ONE_PROCESS, OutputForm, Strategy};

/// The name of the series of costs.
pub(super) const HERE: &str = "this machine";
/// The multiple of the mean after which a second attempt begins.
const LATE: f64 = 1.5;

/// The names of the cases of the local cluster, in the order of their places.
pub(super) const CASES: [&str; 6] = [
    "1 worker",
    "2 workers",
    "4 workers",
    "2, one 4 × slower",
    "4, one 4 × slower",
    "2, one killed",
];
pub(super) const SERIES: [(&str, Strategy); 3] = [
    ("fixed shares", Strategy::Static),
    ("pull", Strategy::Pull),
    ("pull and hedge", Strategy::Hedged { late: LATE }),
];
/// The metric of the simulated time divided by the measured time.
pub(super) const RATIO: &str = "simulated_over_measured";

pub(super) const FIXED: &str = "fixed shares";
pub(super) const PULLED: &str = "pull";
pub(super) const HEDGED: &str = "pull and hedge";

/// The multiples of the mean after which a second attempt begins, in the experiment on hedging.
pub(super) const LATES: [f64; 3] = [1.2, 1.5, 3.0];

/// Returns the name of a series of hedging.
pub(super) fn hedge_series(late: f64) -> String {
    format!("hedge after {late} × the mean")
}

/// The names of the series of heavy and light parts on each storage.
pub(super) const STORAGES: [&str; 5] = [
    "this machine, heavy parts",
    "one fast disk, heavy parts",
    "file server, heavy parts",
    "parallel file system, heavy parts",
    "parallel file system, light parts",
];
/// The resources that workers wait for, each with the metrics of the waiting time and of its use.
pub(super) const SHARED: [(&str, &str, &str); 4] = [
    ("the client", "asking_share", "client_busy"),
    ("operations on names", "naming_share", "names_busy"),
    ("reads", "reading_share", "read_busy"),
    ("writes", "writing_share", "write_busy"),
];

/// Returns the name of a series of the experiment on the size of parts.
pub(super) fn size_series(workers: usize, fails: bool) -> String {
    format!("{workers} workers{}", if fails { ", failing" } else { "" })
}

/// A way to commit.
pub(super) struct CommitWay {
    /// The name of the strategy.
    pub(super) name: &'static str,
    pub(super) output: OutputForm,
    pub(super) callers: Callers,
    /// The number of segments in each folder.
    pub(super) in_folder: usize,
}

const MANIFEST: CommitWay = CommitWay {
    name: "manifest",
    output: OutputForm::Segments,
    callers: ONE_PROCESS,
    in_folder: usize::MAX,
};
const TEN: Callers = Callers { processes: 10, ..ONE_PROCESS };

pub(super) const COMMITS: [CommitWay; 6] = [
    MANIFEST,
    CommitWay {
        name: "manifest, one call after the other",
        callers: Callers { threads: 1, ..ONE_PROCESS },
        ..MANIFEST
    },
    CommitWay {
        name: "manifests of 1,000, ten processes",
        callers: TEN,
        in_folder: 1_000,
        ..MANIFEST
    },
    CommitWay { name: "file, blocks shared", output: OutputForm::Shared, ..MANIFEST },
    CommitWay { name: "file, copied", output: OutputForm::Copied, ..MANIFEST },
    CommitWay {
        name: "file, copied by ten processes",
        output: OutputForm::Copied,
        callers: TEN,
        ..MANIFEST
    },
];
/// The name of the series of a client that lists the folder and looks at each segment.
pub(super) const RESTARTED: &str = "a client that starts again";

/// The predicted verbs of one process.
pub(super) const VERBS: [&str; 5] = ["read", "scan", "records", "ingest", "append"];

/// Returns the name of the series of a verb on this machine.
pub(super) fn measured_series(verb: &str) -> String {
    format!("{verb}, measured")
}

/// Returns the name of the series of a verb on more cores, with the memory of this machine or of a
/// server.
pub(super) fn predicted_series(verb: &str, on_server: bool) -> String {
    format!("{verb}, {}", if on_server { "memory of 200 GB/s" } else { "memory as here" })
}

/// Returns the metric of the use of a shared resource.
pub(super) fn busy(what: &str) -> String {
    format!("{what}_busy")
}
