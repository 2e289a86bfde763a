//! The opened files of a table, and the decisions about them.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use swath::{Extent, ReadOptions, Source};

use super::collect::{self, KeyRecords, TableKeys};
use super::file::TableFile;
use super::file_names::FileNames;
use super::fit;
use super::guesses::Guesses;
use super::head::{Decided, Opening, TableHead};
use super::plan::{TablePlan, bytes_of};
use super::report::{LISTED, RecordLine, SetAside, TableReport};
use super::rules;
use super::union;
use crate::error::{Error, FormatReason, Result};
use crate::table::options::BatchOptions;
use crate::table::text::faults::{self, Problem};
use crate::table::text::footer;
use crate::table::text::limit;
use crate::table::text::pass::RecordPass;
use crate::table::types::ColumnType;
use crate::table::write::BatchForm;

/// The opened files of a table, and the decisions about them.
pub(in crate::table) struct Table {
    pub(in crate::table) options: BatchOptions,
    pub(in crate::table) files: Vec<TableFile>,
    /// The head of each file.
    pub(in crate::table) heads: Vec<TableHead>,
    pub(in crate::table) plan: TablePlan,
    pub(in crate::table) guesses: Guesses,
    /// The records of each file to read.
    pub(in crate::table) wanted: Vec<Extent>,
    /// The end of the table's records in each file, or a later offset if that makes no difference.
    pub(in crate::table) ends: Vec<u64>,
    /// Whether the keys of all objects are columns; otherwise only those of the first objects are.
    pub(in crate::table) has_all_keys: bool,
    /// Bytes of values of the objects whose keys were collected, if they lack most keys; otherwise
    /// 0.
    values: u64,
    names: FileNames,
}

impl Table {
    pub(in crate::table) fn open(sources: Vec<Source>, options: &BatchOptions) -> Result<Self> {
        Self::of(sources.into_iter().map(|source| TableFile::open(source, options)), options)
    }

    /// Returns the table in files; opens each file after checking the ones before.
    pub(in crate::table) fn of(
        opened: impl Iterator<Item = Result<TableFile>>,
        options: &BatchOptions,
    ) -> Result<Self> {
        let (mut files, mut heads) = (Vec::new(), Vec::<TableHead>::new());
        for file in opened {
            let file = file?;
            rules::check(file.path(), options)?;
            let decided = heads.first().map(|_| Decided::by(&heads, options));
            let opening = Opening {
                input: &file.text,
                options,
                begin: file.begin,
                origin: file.origin(),
                decided,
            };
            let head = opening.head()?;
            if let Some(first) = heads.first()
                && options.form != BatchForm::JsonLines
                && !options.union_by_name
            {
                alike(&file, &head, &files[0], first)?;
            }
            files.push(file);
            heads.push(head);
        }
        let Some(file) = files.first() else {
            let detail = "no file is given";
            return Err(Error::reading("".as_ref(), FormatReason::Invalid, detail));
        };
        let plan = match options.form {
            BatchForm::JsonLines => TablePlan::without_keys(options),
            _ if options.union_by_name => union::plan(&files, &mut heads, options)?,
            _ => TablePlan::new(file.path(), options, &heads[0])?,
        };
        let guesses = Guesses::new(&plan);
        let read = fit::fitted(options, longest(&files));
        let options = BatchOptions { read, ..options.clone() };
        let (wanted, ends, has_all_keys) = (Vec::new(), Vec::new(), true);
        let names = FileNames::of(&files);
        let mut table = Self {
            options,
            files,
            heads,
            plan,
            guesses,
            wanted,
            ends,
            has_all_keys,
            values: 0,
            names,
        };
        if table.options.union_by_name {
            // Each record also has a place for the columns that its file lacks.
            table.shorten_blocks(fit::short_block(1, table.plan.most_values()));
        }
        table.check_names()?;
        table.choose()?;
        if table.options.form == BatchForm::JsonLines {
            table.guess_keys()?;
        }
        Ok(table)
    }

    /// Refuses names that Arrow's C interface cannot pass.
    fn check_names(&self) -> Result<()> {
        let found = self.plan.columns.iter().find(|column| column.shown().contains('\0'));
        let Some(column) = found else { return Ok(()) };
        let has_it = |&file: &usize| self.plan.shape(file).field(column.index).is_some();
        let file = (0..self.files.len()).find(has_it).unwrap_or(0);
        let (head, file) = (&self.heads[file], &self.files[file]);
        let problem = faults::nul(head.named, column.index, column.shown());
        match head.lines {
            // The name is a key, or set by the options.
            0 => Err(problem.without_place(file.path())),
            _ => Err(problem.into_error(&file.text, file.origin())),
        }
    }

    /// Takes the keys of the first records as those of all, unless the options depend on all keys.
    fn guess_keys(&mut self) -> Result<()> {
        const FIRST: u64 = 1 << 20;
        if self.options.starting_in.is_some() || self.options.rows.is_some() {
            return self.find_keys();
        }
        let pass = self.pass(0);
        let size = if pass.block_size == 0 { FIRST } else { pass.block_size };
        let (from, end) = (pass.wanted.offset(), pass.wanted.end());
        let read = self.options.read.clone().without_progress();
        let wanted = Extent::between(from, end.min(from.saturating_add(size)));
        let pass = RecordPass { read: &read, wanted, ..pass };
        let found = collect::keys(&[KeyRecords { pass, read: wanted }], self.plan.shape(0))?;
        if found.error.is_some() || !found.has_records {
            return self.find_keys();
        }
        self.heads[0].names = found.names;
        match TablePlan::new(self.files[0].path(), &self.options, &self.heads[0]) {
            Ok(plan) => self.plan = plan,
            Err(_) => return self.find_keys(),
        }
        self.guesses = Guesses::new(&self.plan);
        self.has_all_keys = false;
        if self.fit_blocks(found.records, wanted.len()).is_err() {
            return self.find_keys();
        }
        self.check_names()
    }

    /// Shortens blocks if objects have few of very many keys, since each has a place for all of
    /// them. Refuses a table with hardly any values.
    fn fit_blocks(&mut self, records: u64, len: u64) -> Result<()> {
        let values = self.plan.values_of(records);
        if values > fit::MOST_MISSING && values / fit::TIMES_MISSING > len {
            let keys = self.plan.columns.len();
            let detail = format!(
                "its {records} objects have {keys} keys: a table of as many columns takes {values} bytes for {len} \
                 bytes of text, since nearly all of its values are missing"
            );
            let path = self.files[0].path();
            let error = Error::reading(path, FormatReason::TooLarge, detail);
            return Err(error.hint("select columns with `columns`"));
        }
        let short = fit::short_block(len, values);
        // If objects have most keys, values of a narrow type may take far less.
        self.values = if short > 0 { values } else { 0 };
        self.shorten_blocks(short);
        Ok(())
    }

    /// Limits blocks to this many bytes; 0 for no limit.
    fn shorten_blocks(&mut self, short: u64) {
        if short > 0 && (self.options.block_size == 0 || self.options.block_size > short) {
            self.options.block_size = short;
        }
    }

    /// Refuses a table with more values than memory can hold.
    pub(in crate::table) fn check_room(&self) -> Result<()> {
        let keys = self.plan.columns.len();
        let what = format!("its objects have {keys} keys, and a table of as many columns");
        self.check_bytes(self.values, &what, "select columns with `columns`")
    }

    /// Refuses nested columns with more values, in this many rows, than memory can hold.
    pub(in crate::table) fn check_nested_room(&self, rows: u64) -> Result<()> {
        let what = "a table of structs and lists with a place for each of their fields";
        let hint = "leave out `json_nested`, or select columns with `columns`";
        self.check_bytes(bytes_of(self.guesses.nested_values(rows)), what, hint)
    }

    fn check_bytes(&self, bytes: u64, what: &str, hint: &'static str) -> Result<()> {
        if bytes < fit::LITTLE {
            return Ok(());
        }
        let left = swath::machine::memory_at_hand().unwrap_or(u64::MAX);
        if bytes <= left {
            return Ok(());
        }
        let detail = format!("{what} takes {bytes} bytes: {left} are available");
        let error = Error::reading(self.files[0].path(), FormatReason::OutOfMemory, detail);
        Err(error.hint(hint))
    }

    /// Shortens blocks if nested columns have most of the values, in this many rows.
    pub(in crate::table) fn fit_nested(&mut self, rows: u64) {
        let len = self.files.iter().map(|file| file.text.len()).sum();
        let values = bytes_of(self.guesses.nested_values(rows));
        self.shorten_blocks(fit::short_block(len, values));
    }

    /// Calls `each`; if it fails on new keys of objects, finds all keys and calls it again.
    pub(in crate::table) fn with_all_keys<T>(
        &mut self,
        each: impl Fn(&Self) -> Result<T>,
    ) -> Result<T> {
        match each(self) {
            Err(_) if !self.has_all_keys && self.plan.lacks_keys() => {
                self.find_keys()?;
                each(self)
            }
            done => done,
        }
    }

    /// Finds the keys of all records: the columns.
    pub(in crate::table) fn find_keys(&mut self) -> Result<()> {
        let mut found = self.collected(self.options.rows)?;
        let path = self.files[0].path();
        if found.is_elsewhere
            && let Some(error) = found.error
        {
            return Err(error);
        }
        if !found.has_records && self.options.rows != Some(0) {
            self.files.iter().for_each(|file| file.text.reached_end());
            let error = Error::reading(path, FormatReason::Malformed, "it has no records");
            let error = error.at(self.files[0].origin().bytes + self.files[0].text.len());
            return Err(found.error.unwrap_or(error.hint(faults::WITHOUT_RECORDS)));
        }
        self.heads[0].names = found.names;
        let mut plan = TablePlan::new(path, &self.options, &self.heads[0]);
        if plan.is_err() && found.error.is_none() && self.options.rows.is_some() {
            // A named column may be a key of records that are not read.
            self.files.iter().for_each(|file| file.text.reached_end());
            for file in 0..self.files.len() {
                self.ends[file] = self.end_before_footer(file)?;
            }
            found = self.collected(None)?;
            self.heads[0].names = found.names;
            plan = TablePlan::new(path, &self.options, &self.heads[0]);
        }
        self.plan = match (plan, found.error) {
            (Ok(plan), _) => plan,
            // The rest of an incomplete line may still follow.
            (Err(_), Some(error)) if found.is_whole => return Err(error),
            (Err(error), _) => return Err(error),
        };
        self.guesses = Guesses::new(&self.plan);
        self.has_all_keys = true;
        self.fit_blocks(found.records, self.files.iter().map(|file| file.text.len()).sum())?;
        self.check_names()
    }

    /// Collects the keys of the records to read if there is a limit; otherwise of all records.
    fn collected(&self, rows: Option<u64>) -> Result<TableKeys> {
        let read = self.options.read.clone().without_progress();
        let records = |file: usize| {
            let pass = RecordPass { read: &read, ..self.pass(file) };
            let all = Extent::between(pass.data, self.ends[file]);
            let is_limited = rows.is_some() && self.options.starting_in.is_none();
            let wanted = if is_limited { pass.wanted } else { all };
            KeyRecords { pass: RecordPass { wanted, ..pass }, read: self.wanted[file] }
        };
        let files: Vec<_> = (0..self.files.len()).map(records).collect();
        collect::keys(&files, &TablePlan::without_keys(&self.options).shapes[0])
    }

    /// Finds the records to read.
    fn choose(&mut self) -> Result<()> {
        let mut left = self.options.rows;
        for index in 0..self.files.len() {
            let data = self.heads[index].data;
            self.ends.push(self.files[index].text.len().max(data));
            self.wanted.push(self.part(index));
            let rows = self.limit(index, left)?;
            left = match self.needs_footer(index)? {
                true => {
                    self.ends[index] = self.end_before_footer(index)?;
                    self.wanted[index] = self.part(index);
                    self.limit(index, left)?
                }
                false => rows,
            };
        }
        Ok(())
    }

    /// Returns the extent in which the records to read begin, without a limit on rows.
    fn part(&self, file: usize) -> Extent {
        let (data, end) = (self.heads[file].data, self.ends[file]);
        let part = self.options.starting_in.unwrap_or(Extent::between(data, end));
        let from = part.offset().clamp(data, end);
        Extent::between(from, part.end().clamp(from, end))
    }

    /// Whether some records to read may be among those skipped at the end of the file.
    fn needs_footer(&self, file: usize) -> Result<bool> {
        let count = self.options.skip_footer;
        let is_json_part =
            self.options.form == BatchForm::JsonLines && self.options.starting_in.is_some();
        if count == 0 || is_json_part {
            return Ok(count > 0);
        }
        let after = Extent::between(self.wanted[file].end(), self.ends[file]);
        let pass = RecordPass { wanted: after, ..self.pass(file) };
        match footer::has_as_many(pass, count) {
            Err(error) if !footer::is_open(&error) => Err(error),
            found => Ok(!found.is_ok_and(|it| it)),
        }
    }

    /// Returns the end of the records that are not skipped at the end of the file.
    pub(in crate::table) fn end_before_footer(&self, file: usize) -> Result<u64> {
        let (end, pass) = (self.ends[file], self.pass(file));
        if self.options.skip_footer == 0 {
            return Ok(end);
        }
        let found = footer::begin(pass, end, self.options.skip_footer);
        let is_open = found.as_ref().is_err_and(footer::is_open);
        let after = RecordPass { wanted: Extent::between(pass.wanted.end(), end), ..pass };
        match is_open && footer::has_as_many(after, 1).is_ok_and(|it| !it) {
            // All records are read, so the first fault of the file is reported.
            true => Ok(end),
            false => found,
        }
    }

    /// Limits a file to this many rows; returns how many may follow in other files.
    pub(in crate::table) fn limit(
        &mut self,
        file: usize,
        rows: Option<u64>,
    ) -> Result<Option<u64>> {
        let Some(rows) = rows else { return Ok(None) };
        let (end, found) = limit::end(self.pass(file), self.plan.shape(file), rows)?;
        let from = self.wanted[file].offset();
        self.wanted[file] = Extent::between(from, end.max(from));
        Ok(Some(rows - found))
    }

    /// Returns the length of the longest text in bytes.
    pub(in crate::table) fn longest(&self) -> u64 {
        longest(&self.files)
    }

    /// Returns a pass over the wanted records of a file.
    pub(in crate::table) fn pass(&self, file: usize) -> RecordPass<'_> {
        RecordPass {
            input: &self.files[file].text,
            read: &self.options.read,
            block_size: self.options.block_size,
            dialect: self.heads[file].dialect,
            origin: self.files[file].origin(),
            data: self.heads[file].data,
            wanted: self.wanted[file],
        }
    }

    /// Returns the error for a fault in a file.
    pub(in crate::table) fn error(&self, file: usize, problem: Problem) -> Error {
        let file = &self.files[file];
        problem.into_error(&file.text, file.origin())
    }

    /// Returns the schema of batches with columns of these types.
    pub(in crate::table) fn schema(&self, kinds: &[ColumnType]) -> SchemaRef {
        self.plan.schema(&self.guesses.data_types(kinds))
    }

    /// Returns the columns of the plan as a batch.
    pub(in crate::table) fn batch(
        &self,
        schema: &SchemaRef,
        columns: &[ArrayRef],
        file: usize,
        rows: usize,
    ) -> Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> =
            self.plan.order.iter().map(|&at| Arc::clone(&columns[at])).collect();
        if self.plan.file_column.is_some() {
            arrays.push(self.names.column(file, rows));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options).map_err(
            |error| {
                Error::reading(
                    self.files[file].path(),
                    FormatReason::TooLarge,
                    error.to_string(),
                )
            },
        )
    }

    /// Returns the report as known before the first record is read.
    pub(in crate::table) fn report(&self) -> TableReport {
        let layout = self.heads[0].layout.as_deref();
        TableReport {
            delimiter: self.heads.iter().find_map(|head| head.dialect.delimiter()),
            header_lines: self.heads[0].lines,
            header_reason: self.heads[0].reason,
            fixed: layout.map_or_else(Vec::new, |layout| layout.columns().to_vec()),
            comment: self.heads[0].dialect.comment,
            comments: self.heads.iter().map(|head| head.comments).sum(),
            encoding: self.files[0].encoding,
            rows: 0,
            columns: Vec::new(),
            renamed: self.heads[0].renamed.clone(),
            set_aside: SetAside::default(),
            replaced: self.files.iter().map(TableFile::replaced).sum(),
            dropped: 0,
        }
    }

    /// Returns the lines of records set aside, given by file and offset in order.
    pub(in crate::table) fn set_aside(&self, aside: &[(usize, u64)]) -> Result<SetAside> {
        let listed = &aside[..aside.len().min(LISTED)];
        Ok(SetAside { count: aside.len() as u64, lines: self.lines(listed)? })
    }

    /// Returns the lines of records, given by file and offset in order.
    pub(in crate::table) fn lines(&self, records: &[(usize, u64)]) -> Result<Vec<RecordLine>> {
        let mut lines = Vec::with_capacity(records.len());
        let first = |file: usize| self.files[file].before.lines + 1;
        let (mut source, mut from, mut line) = (0, 0, first(0));
        for &(file, offset) in records {
            if file != source {
                (source, from, line) = (file, 0, first(file));
            }
            if offset > from {
                let between = ReadOptions::new().with_offset(from).with_len(offset - from);
                line += between.count(self.files[file].text.source(), b'\n')?.value;
                from = offset;
            }
            lines.push(RecordLine { source, line });
        }
        Ok(lines)
    }
}

fn longest(files: &[TableFile]) -> u64 {
    files.iter().map(|file| file.text.len()).max().unwrap_or(0)
}

/// Refuses a file whose names differ from those of the first.
fn alike(
    file: &TableFile,
    head: &TableHead,
    first: &TableFile,
    names: &TableHead,
) -> Result<()> {
    if head.names == names.names {
        return Ok(());
    }
    let differs = head.names.iter().zip(&names.names).position(|(one, other)| one != other);
    let detail = match differs {
        Some(at) => format!(
            "column index {at} is `{}`, but in {} it is `{}`",
            head.names[at],
            first.path().display(),
            names.names[at]
        ),
        None => format!(
            "it has {} columns, but {} has {}",
            head.names.len(),
            first.path().display(),
            names.names.len()
        ),
    };
    let error = Error::reading(file.path(), FormatReason::Malformed, detail);
    Err(error
        .hint("set `union_by_name` to unite their columns, or read them in separate calls"))
}
