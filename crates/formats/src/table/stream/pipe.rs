//! Pipes, which can be read only once: their text, part by part.
//!
//! ```text
//! pipe      a¶b¶"c¶ | d"¶e¶f | ¶g¶
//! parts     a¶b¶      "c¶d"¶e¶   f¶g¶     whole records; the rest goes to the next part
//! ```

use std::io::Read;

use swath::{Extent, Input, Reader, Source};

use crate::compressed::Format;
use crate::error::{Error, FormatReason, Result};
use crate::input;
use crate::table::open::file;
use crate::table::open::table::Table;
use crate::table::options::BatchOptions;
use crate::table::text::faults::Origin;
use crate::table::text::state::{LineState, Lines};

/// Bytes of the first part, whose values decide the types.
const FIRST: u64 = if cfg!(test) { 1000 } else { 64 << 20 };
/// Bytes of each later part.
const PART: u64 = if cfg!(test) { 300 } else { 16 << 20 };
/// Bytes searched at a time for the end of the last whole record.
const LOOK: u64 = 1 << 20;

/// The rest of a pipe after the part that has been read.
pub(in crate::table) struct Pipe {
    reader: Reader,
    /// The end of the whole records in the part.
    end: u64,
    is_over: bool,
}

impl Pipe {
    /// Returns the first part of a pipe as a source, and the rest, if the pipe is the only source
    /// and has more text than decides the types.
    pub(in crate::table) fn among(
        sources: Vec<Source>,
        options: &BatchOptions,
    ) -> Result<(Vec<Source>, Option<Self>)> {
        if sources.len() != 1 || options.starting_in.is_some() || !options.read.is_whole() {
            return Ok((sources, None));
        }
        let mut found = (Vec::new(), None);
        for source in sources {
            let input = Input::open(source)?;
            if input.len().is_some() || input.is_device() {
                found.0.push(Source::from(&input));
                continue;
            }
            let (source, pipe) = Self::start(&input, options)?;
            found = (vec![source], pipe);
        }
        Ok(found)
    }

    fn start(input: &Input, options: &BatchOptions) -> Result<(Source, Option<Self>)> {
        let mut pipe = Self { reader: options.read.reader(input)?, end: 0, is_over: false };
        let mut bytes = Vec::new();
        pipe.fill(&mut bytes, FIRST)?;
        if !file::is_plain(&bytes, options) || Format::is_certain(&bytes) {
            pipe.fill(&mut bytes, u64::MAX)?;
        }
        let source = input::memory(bytes, input.name())?;
        Ok((source, (!pipe.is_over).then_some(pipe)))
    }

    /// Reads at most `most` more bytes.
    fn fill(&mut self, bytes: &mut Vec<u8>, most: u64) -> Result<()> {
        let before = bytes.len() as u64;
        let name = self.reader.path().to_owned();
        let read = self.reader.by_ref().take(most).read_to_end(bytes);
        read.map_err(|error| Error::from_io(error, &name))?;
        self.is_over = bytes.len() as u64 - before < most;
        Ok(())
    }

    /// Finds the records of the first part, which decide the types.
    pub(in crate::table) fn cut_first(&mut self, table: &mut Table) -> Result<()> {
        self.cut(table)?;
        if self.is_over || self.end > table.heads[0].data || table.options.skip_footer == 0 {
            return Ok(());
        }
        let detail = format!(
            "the records that are skipped at its end may be all of its first {FIRST} bytes"
        );
        let error = Error::reading(table.files[0].path(), FormatReason::TooLarge, detail);
        Err(error
            .hint("copy the pipe to a file first, or pass a smaller number as `skip_footer`"))
    }

    /// Leaves the last record of the part, which may be incomplete, to the next part.
    pub(in crate::table) fn cut(&mut self, table: &mut Table) -> Result<()> {
        let (data, len) = (table.heads[0].data, table.files[0].text.len());
        self.end = if self.is_over { len } else { whole(table, data, len)? };
        if table.options.skip_footer > 0 {
            // More records follow: those that may be the last ones are left to the next part too.
            (table.ends[0], table.wanted[0]) =
                (self.end, Extent::between(data, self.end.max(data)));
            self.end = table.end_before_footer(0)?;
            table.ends[0] = self.end;
        }
        table.wanted[0] = Extent::between(data, self.end.max(data));
        table.limit(0, table.options.rows)?;
        Ok(())
    }

    /// Moves to the next part; returns whether there is one. `rows` have been read before.
    pub(in crate::table) fn next(&mut self, table: &mut Table, rows: u64) -> Result<bool> {
        let left = table.options.rows.map(|most| most.saturating_sub(rows));
        let mut bytes = Vec::new();
        loop {
            let (from, len) = (self.end, table.files[0].text.len());
            if left == Some(0) || self.is_over {
                return Ok(false);
            }
            bytes.clear();
            let pass = table.pass(0);
            bytes.extend_from_slice(&pass.text(from, len)?);
            let before = swath::ReadOptions::new().with_len(from);
            let lines = before.count(table.files[0].text.source(), b'\n')?.value;
            if !self.is_over {
                self.fill(&mut bytes, PART)?;
            }
            let file = &mut table.files[0];
            let before = file.before;
            let Origin { bytes: skipped, lines: passed, .. } = before;
            file.before = Origin { bytes: skipped + from, lines: passed + lines, ..before };
            file.text = file.text.replaced(std::mem::take(&mut bytes))?;
            table.heads[0].data = 0;
            self.cut(table)?;
            if self.end > 0 {
                table.limit(0, left)?;
                return Ok(true);
            }
        }
    }
}

/// Returns the start of the last record, if it may continue after the text; otherwise its end.
fn whole(table: &Table, data: u64, len: u64) -> Result<u64> {
    let (pass, dialect) = (table.pass(0), table.heads[0].dialect);
    let (mut at, mut state, mut record) = (data, LineState::Start, data);
    let mut look = LOOK;
    while at < len {
        let some = pass.text(at, len.min(at + look))?;
        let Some(newline) = some.iter().rposition(|&byte| byte == b'\n') else {
            if at + look >= len {
                break;
            }
            look *= 2;
            continue;
        };
        let text = &some[..=newline];
        let lines = Lines { text, dialect, state };
        let end = lines.end();
        if end == LineState::Start {
            record = at + text.len() as u64;
        } else if let Some(last) = lines.last_record() {
            record = at + last as u64;
        }
        (at, state, look) = (at + text.len() as u64, end, LOOK);
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::os::fd::OwnedFd;
    use std::sync::{Arc, mpsc};
    use std::time::Duration;
    use swath::machine::{Condvar, Mutex};

    use swath::{ReadAt, SourceFacts};

    use super::*;
    use crate::table::stream::BatchStream;

    fn stream(text: String, options: &BatchOptions) -> Result<BatchStream> {
        let (from, mut to) = std::io::pipe().expect("a pipe");
        let writer = std::thread::spawn(move || drop(to.write_all(text.as_bytes())));
        let source = Source::file(std::fs::File::from(OwnedFd::from(from)), "pipe");
        let stream = BatchStream::open(vec![source], options);
        // All of it fits in the pipe.
        writer.join().expect("it ends");
        stream
    }

    #[test]
    fn parts_of_a_pipe_are_whole_records_and_lines_count_from_its_start() {
        let row = |at: usize| format!("{at},\"{}\n\"\n", "x".repeat(at % 70));
        let text = |last: &str| {
            let rows: String = (0..300).map(row).collect();
            format!("n,t\n{rows}{last}\n")
        };
        let options = BatchOptions::new();
        let mut found = stream(text("300,y"), &options).expect("a table");
        let rows: usize = found.by_ref().map(|batch| batch.expect("a batch").num_rows()).sum();
        assert_eq!((rows, found.report().rows), (301, 301));
        let limited = stream(text("300,y"), &options.clone().with_rows(123)).expect("a table");
        assert_eq!(limited.map(|batch| batch.expect("a batch").num_rows()).sum::<usize>(), 123);
        let wrong = stream(text("x,y"), &options).expect("a table");
        let error = wrong.filter_map(std::result::Result::err).next().expect("not a number");
        assert_eq!(error.line(), Some(602));
        assert_eq!(error.offset(), Some(text("x,y").len() as u64 - 4));
        assert!(error.to_string().contains("in column `n`: `x`"), "{error}");
        let fixed = BatchOptions::new().with_form(crate::table::BatchForm::Fixed);
        let wide: String = (0..300).map(|at| format!("{at:03} {:05}\n", at * 7)).collect();
        let table = stream(wide.clone(), &fixed).expect("a table");
        assert_eq!(table.map(|batch| batch.expect("a batch").num_rows()).sum::<usize>(), 300);
        let table = stream(wide.clone() + "12345\n", &fixed).expect("a table");
        let error = table.filter_map(std::result::Result::err).next().expect("too wide");
        assert_eq!(error.line(), Some(301));
        assert!(error.to_string().contains("at position 3: `45`"), "{error}");
        let footer = options.clone().with_skip_footer(3);
        let table =
            stream(text("300,y\nTotal,\"a\nb\",5\n\nx") + "# y", &footer).expect("a table");
        assert_eq!(table.map(|batch| batch.expect("a batch").num_rows()).sum::<usize>(), 301);
        let error = stream(text("300,y"), &options.clone().with_skip_footer(200))
            .expect_err("none left");
        assert!(error.to_string().contains("may be all of its first 1000 bytes"), "{error}");
        let nested = options.clone().with_form(crate::table::BatchForm::JsonLines);
        let objects = "{\"a\":{\"n\":[1]}}\n".repeat(300) + "{\"a\":{\"n\":[\"x\"]}}\n";
        let table = stream(objects, &nested.with_json_nested(true)).expect("a table");
        let error = table.filter_map(std::result::Result::err).next().expect("not a number");
        assert_eq!((error.line(), error.offset()), (Some(301), Some(300 * 16 + 5)));
        assert!(
            error.to_string().contains("not a value of type struct in column `a`"),
            "{error}"
        );
        let open = stream(text("300,\"y"), &options).expect("a table");
        let error = open.filter_map(std::result::Result::err).next().expect("not closed");
        assert_eq!(error.line(), Some(602));
    }

    /// A pipe that stays open after its text.
    #[derive(Default)]
    struct Open {
        text: Vec<u8>,
        /// Whether a read is waiting, and whether the text has ended.
        state: Mutex<(bool, bool)>,
        changed: Condvar,
    }

    impl ReadAt for Open {
        fn facts(&self) -> io::Result<SourceFacts> {
            Ok(SourceFacts::new(None))
        }

        fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
            let rest = &self.text[usize::try_from(offset).expect("small")..];
            if rest.is_empty() {
                let mut state = self.state.lock();
                state.0 = true;
                self.changed.notify_all();
                drop(self.changed.wait_while(state, |state| !state.1));
            }
            let len = rest.len().min(target.len());
            target[..len].copy_from_slice(&rest[..len]);
            Ok(len)
        }
    }

    #[test]
    fn a_stream_that_waits_for_a_pipe_can_be_dropped() {
        let text: String = (1000..1220).map(|row| format!("{row}\n")).collect();
        assert!(text.len() as u64 > FIRST && (text.len() as u64) < FIRST + PART);
        let pipe = Arc::new(Open { text: text.into(), ..Open::default() });
        let source = Source::custom(Arc::clone(&pipe) as Arc<dyn ReadAt>);
        let mut stream =
            BatchStream::open(vec![source], &BatchOptions::new()).expect("a table");
        assert!(stream.next().expect("a batch").expect("rows").num_rows() > 0);
        let state = pipe.state.lock();
        drop(pipe.changed.wait_while(state, |state| !state.0));
        let (over, dropped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            drop(stream);
            over.send(()).expect("it is awaited");
        });
        let ended = dropped.recv_timeout(Duration::from_secs(30));
        pipe.state.lock().1 = true;
        pipe.changed.notify_all();
        thread.join().expect("no panic");
        ended.expect("it did not wait for the pipe");
    }
}
