//! `swath head`: shows the first rows of a table, and reads no more than they need.

use std::path::PathBuf;

use anyhow::Result;
use arrow_array::RecordBatch;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::Source;
use swath_formats::table::{ColumnType, arrow};

use super::convert::several;
use super::tabular::{
    HEAD, ShownRows, columns, facts_json, lost_texts, refuse_binary, usual_form,
};
use super::{Command, Outcome};
use crate::args::{TableArgs, input};
use crate::failure::Refused;
use crate::grid::terminal_width;
use crate::input::{Input, Peeked};
use crate::output::{complain, print, print_json};
use crate::report::{PathJson, object};

/// Rows that are shown.
const ROWS: u64 = 10;

/// `swath head`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath head table.csv
  swath head -n 3 --columns name,born people.csv.gz
  swath head --delimiter ';' --decimal , --encoding latin-1 export.csv
  swath head --json table.arrow
  swath head --columns at,level log.jsonl.zst
  swath head --widths 10,5,8 stations.txt
  curl -s https://example.org/table.csv | swath head

The types are those of these rows; `swath info` reads the whole table. A missing value is shown as –.")]
pub struct Head {
    /// The table: text or JSON Lines, which may be compressed, or Arrow; a folder or a pattern for several files that are
    /// one table; `-` is standard input
    #[arg(value_name = "PATH", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub path: Input,

    /// How it is written.
    #[command(flatten)]
    pub table: TableArgs,

    /// Print JSON, with the rows as lists of values
    #[arg(long)]
    pub json: bool,
}

impl Command for Head {
    fn run(&self) -> Result<Outcome> {
        let files = several::of(&self.path)?.unwrap_or_default();
        let first = files.first().cloned().map_or_else(|| self.path.clone(), Input::Path);
        let peeked = match files.is_empty() {
            true => first.peeked(HEAD)?,
            false => Input::peeked_of(&first.regular()?, HEAD)?,
        };
        let rows = self.table.rows.unwrap_or(ROWS);
        if peeked.head.starts_with(b"ARROW1") || peeked.head.starts_with(&[0xff; 4]) {
            self.arrow(&first, peeked, files.into_iter().skip(1).map(Input::Path), rows)?;
        } else {
            self.text(&first, peeked, &files, rows)?;
        }
        Ok(Outcome::Done)
    }

    fn writes(&self) -> bool {
        false
    }
}

/// Takes at most `left` rows of an Arrow file, and counts them.
fn first_rows(batches: arrow::ArrowBatches, left: &mut usize) -> Result<Vec<RecordBatch>> {
    let mut begin = Vec::new();
    for batch in batches {
        if *left == 0 {
            break;
        }
        let batch: RecordBatch = batch?;
        let batch = batch.slice(0, batch.num_rows().min(*left));
        *left -= batch.num_rows();
        begin.push(batch);
    }
    Ok(begin)
}

impl Head {
    fn text(&self, first: &Input, peeked: Peeked, files: &[PathBuf], rows: u64) -> Result<()> {
        let Peeked { head, source } = peeked;
        let name = first.name();
        refuse_binary(&head, name, &self.table)?;
        let form = usual_form(name, &head, &self.table);
        let read = swath::ReadOptions::new();
        let options = self.table.batch_options(form, read).with_rows(rows);
        let more = files.iter().skip(1);
        let more: Vec<swath::Input> =
            more.map(|path| Input::Path(path.clone()).regular()).collect::<Result<_>>()?;
        let more = more.iter().map(Source::from);
        let table = options.read_batches_of(std::iter::once(source).chain(more))?;
        let report = table.report();
        for text in lost_texts(report, files) {
            complain(format!("note: {}: {text}", self.path));
        }
        let batches = table.batches();
        let shown = ShownRows { columns: columns(report, batches), batches };
        self.show(&shown, Some(facts_json(report, files)))
    }

    fn arrow(
        &self,
        first: &Input,
        peeked: Peeked,
        more: impl Iterator<Item = Input>,
        rows: u64,
    ) -> Result<()> {
        let given = TableArgs { rows: None, ..self.table.clone() };
        if let Some(flag) = given.flag() {
            let what = format!("cannot read {first} with {flag}: it is an Arrow file");
            return Err(
                Refused::new(what, "leave it out: it is for tables that are text").into()
            );
        }
        let batches = arrow::batches(peeked.source)?;
        let schema = batches.schema().clone();
        let mut left = usize::try_from(rows).unwrap_or(usize::MAX);
        let mut begin = first_rows(batches, &mut left)?;
        for file in more {
            if left == 0 {
                break;
            }
            let batches = arrow::batches(Source::from(&file.regular()?))?;
            if *batches.schema() != schema {
                let what = format!("cannot read {file} with {first}: its columns are others");
                let hint = "show files with different columns one by one";
                return Err(Refused::new(what, hint).into());
            }
            begin.extend(first_rows(batches, &mut left)?);
        }
        let fields = schema.fields().iter();
        let columns =
            fields.map(|it| (it.name().as_str(), ColumnType::word_of(it.data_type())));
        self.show(&ShownRows { columns: columns.collect(), batches: &begin }, None::<()>)
    }

    fn show(&self, rows: &ShownRows<'_>, facts: Option<impl Serialize>) -> Result<()> {
        if !self.json {
            return Ok(print(rows.text(terminal_width(), 0))?);
        }
        let field = |(name, kind): &(&str, String)| {
            object! { name: (*name).to_owned(), r#type: kind.clone() }
        };
        let count: usize = rows.batches.iter().map(RecordBatch::num_rows).sum();
        print_json(&object! {
            #[serde(flatten)]
            path: PathJson::from(self.path.label()),
            rows: count,
            columns: rows.columns.len(),
            #[serde(flatten)]
            facts,
            fields: rows.columns.iter().map(field).collect::<Vec<_>>(),
            first_rows: rows.json(),
        })
    }
}
