//! Texts whose columns are united by name.

use super::column::Reading;
use super::decode::{Decoded, decode};
use super::fault::Fault;
use super::names::{self, Renamed};
use super::options::{Between, Comment, Encoding, Options};
use super::records::{Dialect, Record, TextPlace};
use super::rows::{self, SetAside};
use super::{Table, count_columns, fixed, open, readings, take_header};

/// A text whose names have been read.
pub(super) struct Opened<'t> {
    place: TextPlace<'t>,
    dialect: Dialect,
    header: Vec<Record>,
    pub names: Vec<String>,
    pub renamed: Vec<Renamed>,
}

impl<'t> Opened<'t> {
    /// Reads the names.
    ///
    /// # Errors
    ///
    /// A fault before the first record.
    pub(super) fn new(text: &'t [u8], options: &Options) -> Result<Self, Fault> {
        let (mut place, dialect) = open(text, options)?;
        let header = take_header(&mut place, &dialect, options)?;
        let columns = count_columns(&header, place.clone(), &dialect, options)?;
        let (names, renamed) = names::distinct(&names::in_header(&header, columns));
        let renamed = if header.is_empty() { Vec::new() } else { renamed };
        Ok(Self { place, dialect, header, names, renamed })
    }
}

/// The columns of some texts.
pub(super) struct United {
    pub names: Vec<String>,
    pub renamed: Vec<Renamed>,
    /// For each text, the field index of each column, if the text has it.
    pub fields: Vec<Vec<Option<usize>>>,
}

impl United {
    fn of(texts: &[Opened<'_>]) -> Self {
        let (mut names, mut renamed) = (Vec::<String>::new(), Vec::new());
        for text in texts {
            for (index, name) in text.names.iter().enumerate() {
                if names.contains(name) {
                    continue;
                }
                let its = text.renamed.iter().filter(|one| one.column == index);
                renamed.extend(its.map(|one| Renamed { column: names.len(), ..one.clone() }));
                names.push(name.clone());
            }
        }
        let field =
            |text: &Opened<'_>, name: &String| text.names.iter().position(|own| own == name);
        let fields = |text| names.iter().map(|name| field(text, name)).collect();
        let fields = texts.iter().map(fields).collect();
        Self { names, renamed, fields }
    }

    /// Reads all records, one text after the other.
    ///
    /// # Errors
    ///
    /// The first fault, and the index of its text.
    pub(super) fn read(
        self,
        texts: Vec<Opened<'_>>,
        options: &Options,
    ) -> Result<Table, (usize, Fault)> {
        let of_first = |fault| (0, fault);
        let shown = names::rename(options, &self.names).map_err(of_first)?;
        let mut readings = readings(options, &self.names).map_err(of_first)?;
        let mut in_file: Vec<usize> = (0..readings.len()).collect();
        in_file.sort_by_key(|&index| readings[index].at);
        self.check(&texts, &shown, in_file.iter().map(|&index| readings[index].at))?;
        let found = texts.iter().map(|text| text.dialect.between);
        let delimiter = found.into_iter().find(|one| *one != Between::Nothing);
        let spans = texts[0].dialect.fixed.as_ref().map(|columns| columns.spans.clone());
        let (header, mut rows) = (texts[0].header.len(), 0);
        let (mut set_aside, mut dropped) = (SetAside::default(), 0);
        for (at, text) in texts.into_iter().enumerate() {
            let left = options.rows.map(|most| most - rows);
            let options = Options { rows: left, ..options.clone() };
            let columns = text.names.len();
            let take = |record: &Record| {
                rows += 1;
                // The leftmost fault of a record is the first one.
                let mut in_text = in_file.clone();
                in_text.sort_by_key(|&index| self.fields[at][readings[index].at]);
                in_text.iter().try_for_each(|&index| {
                    let field = self.fields[at][readings[index].at];
                    readings[index].add(record, field)
                })
            };
            let odd = rows::each(text.place, &text.dialect, columns, &options, take);
            let odd = odd.map_err(|fault| (at, fault))?;
            set_aside.join(odd.set_aside);
            dropped += odd.dropped;
        }
        let finish = |reading: Reading| {
            let name = shown[reading.at].clone();
            reading.finish(name)
        };
        Ok(Table {
            delimiter: delimiter.unwrap_or(Between::Nothing),
            fixed: spans.unwrap_or_default(),
            header,
            encoding: Encoding::Utf8,
            rows,
            columns: readings.into_iter().map(finish).collect(),
            renamed: self.renamed,
            set_aside,
            dropped,
            replaced: 0,
        })
    }

    /// Checks the names of the result.
    fn check(
        &self,
        texts: &[Opened<'_>],
        shown: &[String],
        wanted: impl Iterator<Item = usize>,
    ) -> Result<(), (usize, Fault)> {
        let wanted: Vec<usize> = wanted.collect();
        let shown: Vec<&str> = wanted.iter().map(|&at| shown[at].as_str()).collect();
        let nul = shown.iter().position(|name| name.contains('\0'));
        let of_nul = |at: usize| {
            self.fields.iter().position(|fields| fields[wanted[at]].is_some()).unwrap_or(0)
        };
        let text = nul.map_or(0, of_nul);
        let first = texts[text].header.first();
        let (line, byte) = first.map_or((0, 0), |first| (first.line, first.at));
        names::check(&shown, line, byte).map_err(|fault| (text, fault))
    }
}

/// Reads texts as one table of all their columns, in the order of first appearance.
///
/// # Errors
///
/// The first fault, and the index of its text.
pub fn read_united(texts: &[&[u8]], options: &Options) -> Result<Table, (usize, Fault)> {
    let mut options = fixed::meant(options);
    let decoded: Vec<Decoded> = texts.iter().map(|text| decode(text, &options)).collect();
    let first = |at: usize| decoded[at].first;
    let moved = |(at, fault): (usize, Fault)| match fault.line {
        0 => (at, fault),
        _ => (at, Fault { byte: fault.byte + first(at), ..fault }),
    };
    let all = options.clone();
    let mut opened: Vec<Opened<'_>> = Vec::new();
    for (at, Decoded { text, .. }) in decoded.iter().enumerate() {
        let one = Opened::new(text, &options).map_err(|fault| moved((at, fault)))?;
        options.comment = one.dialect.comment.map_or(Comment::None, Comment::Byte);
        // A text with a single column does not determine the delimiter of the others.
        options.delimiter = options.delimiter.or(Some(one.dialect.between));
        options.delimiter = options.delimiter.filter(|&one| one != Between::Nothing);
        opened.push(one);
    }
    if let Some(at) = opened.iter().position(|one| one.header.is_empty()) {
        return Err((at, Fault::of_options()));
    }
    let mut table = United::of(&opened).read(opened, &all).map_err(moved)?;
    table.encoding = decoded[0].encoding;
    table.replaced = decoded.iter().map(|one| one.replaced).sum();
    Ok(table)
}
