//! A timeline as a trace in the Chrome format: JSON that Perfetto and chrome://tracing open.
//!
//! ```text
//! spans, lane by lane → X events      one for each span, times in microseconds
//!                     → C events      reads in flight, bytes a second: see `counters`
//! lanes               → M events      their names and their order
//! ```
//!
//! Events are written one after the other, and are never all in memory. The counters are computed from
//! the spans, not while the command runs.

mod counters;

use std::io::{self, Write};
use std::path::PathBuf;

use serde::{Serialize, Serializer};
use swath::Timeline;
use swath::timeline::{Activity, Lane, Span};

use crate::report::object;
use counters::{Rates, in_flight};

/// Spans of one command, and facts about them.
pub(crate) struct Trace<'t> {
    pub(crate) timeline: &'t Timeline,
    pub(crate) spans: &'t [Span],
    /// Spans that were not kept.
    pub(crate) dropped: u64,
    /// The word of the command.
    pub(crate) command: &'t str,
}

/// Number of the first slot for reads in flight: after the workers, so that they are shown below them.
const FIRST_IN_FLIGHT: u32 = 1 << 16;

/// The unit of `ts` and `dur`.
#[derive(Clone, Copy)]
struct Micros(u64);

impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        // Exact for a hundred days. The quotient is the double nearest to the wanted digits, so those
        // digits are written.
        out.serialize_f64(self.0 as f64 / 1000.0)
    }
}

/// One event; fields that it lacks are left out.
#[derive(Serialize)]
struct Event<'e, A> {
    name: &'e str,
    ph: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<Micros>,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u32>,
    args: A,
}

#[derive(Serialize)]
struct SpanArgs<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'e str>,
    offset: u64,
    bytes: u64,
}

/// The first bytes of every trace, by which it is recognised.
pub(crate) const BEGIN: &[u8] =
    b"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"swath ";

impl Trace<'_> {
    /// Writes the whole trace to `out`.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub(crate) fn write(&self, out: impl Write) -> io::Result<()> {
        let mut out = Events { out, is_first: true, pid: std::process::id() };
        let about = object! {
            version: concat!("swath ", env!("CARGO_PKG_VERSION")),
            command: self.command,
            spans: self.spans.len(),
            dropped_spans: self.dropped,
        };
        out.begin(&object! {
            #[serde(rename = "displayTimeUnit")]
            unit: "ns",
            #[serde(rename = "otherData")]
            about,
        })?;
        self.write_names(&mut out)?;
        self.write_spans(&mut out)?;
        self.write_counters(&mut out)?;
        out.end()
    }

    fn write_names(&self, out: &mut Events<impl Write>) -> io::Result<()> {
        let name = format!("swath {}", self.command);
        out.about("process_name", None, object! { name: &name })?;
        let mut last = None;
        for span in self.spans {
            // Spans come lane by lane.
            if last.replace(span.lane) != Some(span.lane) {
                let (tid, name) = (number(span.lane), span.lane.to_string());
                out.about("thread_name", Some(tid), object! { name: &name })?;
                out.about("thread_sort_index", Some(tid), object! { sort_index: tid })?;
            }
        }
        Ok(())
    }

    fn write_spans(&self, out: &mut Events<impl Write>) -> io::Result<()> {
        let mut file: Option<(u32, String)> = None;
        for span in self.spans {
            if file.as_ref().is_none_or(|&(source, _)| source != span.source) {
                let path = self.timeline.path(span.source).unwrap_or_default();
                file = Some((span.source, shown(path)));
            }
            let is_wait = span.activity == Activity::Wait;
            let name = file.as_ref().map(|(_, name)| name.as_str()).filter(|_| !is_wait);
            let (offset, bytes) = (span.offset, span.bytes);
            out.put(&Event {
                name: span.activity.word(),
                ph: "X",
                ts: Some(Micros(span.start_ns)),
                dur: Some(Micros(span.duration_ns)),
                pid: out.pid,
                tid: Some(number(span.lane)),
                args: SpanArgs { file: name, offset, bytes },
            })?;
        }
        Ok(())
    }

    fn write_counters(&self, out: &mut Events<impl Write>) -> io::Result<()> {
        in_flight(self.spans, |at, value| out.count("reads in flight", at, value))?;
        for (name, activity) in
            [("read bytes/s", Activity::Read), ("write bytes/s", Activity::Write)]
        {
            Rates::of(self.spans, activity).each(|at, value| out.count(name, at, value))?;
        }
        Ok(())
    }
}

/// Returns the name of a file for JSON, which has only Unicode.
fn shown(path: PathBuf) -> String {
    match path.into_os_string().into_string() {
        Ok(text) => text,
        Err(odd) => odd.to_string_lossy().into_owned(),
    }
}

/// Returns the number of a lane; workers come first.
fn number(lane: Lane) -> u32 {
    let first = if lane.is_in_flight() { FIRST_IN_FLIGHT } else { 0 };
    first + u32::from(lane.index())
}

/// Events, one on a line.
struct Events<W> {
    out: W,
    is_first: bool,
    pid: u32,
}

impl<W: Write> Events<W> {
    fn begin(&mut self, head: &impl Serialize) -> io::Result<()> {
        let mut head = serde_json::to_vec(head)?;
        // The object continues, so its closing brace is removed.
        head.pop();
        self.out.write_all(&head)?;
        self.out.write_all(b",\"traceEvents\":[\n")
    }

    fn end(mut self) -> io::Result<()> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }

    fn put(&mut self, event: &impl Serialize) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.write_all(b",\n")?;
        }
        Ok(serde_json::to_writer(&mut self.out, event)?)
    }

    fn about(&mut self, name: &str, tid: Option<u32>, args: impl Serialize) -> io::Result<()> {
        let pid = self.pid;
        self.put(&Event { name, ph: "M", ts: None, dur: None, pid, tid, args })
    }

    fn count(&mut self, name: &str, at: u64, value: u64) -> io::Result<()> {
        let (pid, ts) = (self.pid, Some(Micros(at)));
        let args = object! { value };
        self.put(&Event { name, ph: "C", ts, dur: None, pid, tid: None, args })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_digits_behind_the_point_at_any_size() {
        for (nanos, text) in [
            (0, "0.0"),
            (1, "0.001"),
            (1000, "1.0"),
            (1_234_567, "1234.567"),
            (123_456_789_010, "123456789.01"),
        ] {
            assert_eq!(serde_json::to_string(&Micros(nanos)).expect("a number"), text);
        }
        let days = 100 * 24 * 3600 * 1_000_000_000 + 1;
        let text = serde_json::to_string(&Micros(days)).expect("a number");
        assert_eq!(text, "8640000000000.001");
    }

    #[test]
    fn a_timeline_without_spans_is_a_trace_without_them() {
        let timeline = Timeline::new();
        let trace = Trace { timeline: &timeline, spans: &[], dropped: 3, command: "read" };
        let mut bytes = Vec::new();
        trace.write(&mut bytes).expect("there is memory");
        let json: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(json["otherData"]["dropped_spans"], 3);
        assert_eq!(json["traceEvents"].as_array().map(Vec::len), Some(1));
    }
}
