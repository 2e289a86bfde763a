//! JSON Lines: text → objects → records with a field for each column.

use super::column::{Column, Reading};
use super::fault::{Fault, Wrong};
use super::members::{Line, Object};
use super::names;
use super::options::{Between, Encoding, Options, Ragged};
use super::records::{Field, Record, TextPlace};
use super::rows::SetAside;
use super::{Table, readings};

/// Reads a table of objects, one per line.
///
/// # Errors
///
/// The first fault in the order of the text.
pub(super) fn read(text: &[u8], options: &Options) -> Result<Table, Fault> {
    let mut lines = lines(text, options);
    let is_last_cut = |line: &Line<'_>| !text[line.at + line.bytes.len()..].starts_with(b"\n");
    let cut = lines.last().filter(|line| is_last_cut(line)).map(|line| line.number);
    lines.truncate(lines.len().saturating_sub(options.skip_footer));
    let most = match (options.starting_in, options.rows) {
        (None, Some(rows)) => rows,
        _ => usize::MAX,
    };
    let mut found = keys(&lines, most, options);
    if found.records == 0 && options.rows != Some(0) {
        return Err(found.fault.unwrap_or(Fault::new(Wrong::Empty, 1, text.len())));
    }
    let (start, end) = options.starting_in.unwrap_or((0, usize::MAX));
    let is_read = |line: &&Line<'_>| start <= line.at && line.at < end;
    let mut read = lines.iter().filter(is_read).take(options.rows.unwrap_or(usize::MAX));
    if let Some(fault) = &found.fault
        && options.starting_in.is_some()
        && !read.any(|line| line.number == fault.line)
    {
        return Err(fault.clone());
    }
    let mut described = describe(options, &found.names);
    if described.is_err() && found.fault.is_none() && options.rows.is_some() {
        // The named columns may be keys of records that are not read.
        found = keys(&lines, usize::MAX, options);
        described = describe(options, &found.names);
    }
    let (shown, mut readings) = match (described, found.fault) {
        (Ok(described), _) => described,
        // A truncated line may be the cause.
        (Err(_), Some(fault)) if cut != Some(fault.line) => {
            return Err(fault);
        }
        (Err(fault), _) => return Err(fault),
    };
    let read = lines.iter().filter(is_read);
    let (rows, set_aside) = take(read, &mut readings, options, &found.names)?;
    let finish = |reading: Reading| -> Column {
        let name = shown[reading.at].clone();
        reading.finish(name)
    };
    Ok(Table {
        delimiter: Between::Nothing,
        fixed: Vec::new(),
        header: 0,
        encoding: Encoding::Utf8,
        rows,
        columns: readings.into_iter().map(finish).collect(),
        renamed: Vec::new(),
        set_aside,
        dropped: 0,
        replaced: 0,
    })
}

/// Adds the records of lines to columns, and returns their number.
fn take<'t>(
    lines: impl Iterator<Item = &'t Line<'t>>,
    readings: &mut [Reading],
    options: &Options,
    names: &[String],
) -> Result<(usize, SetAside), Fault> {
    let mut in_file: Vec<usize> = (0..readings.len()).collect();
    in_file.sort_by_key(|&index| readings[index].at);
    let (mut rows, mut set_aside) = (0, SetAside::default());
    for line in lines {
        if options.rows.is_some_and(|most| rows >= most) {
            break;
        }
        let object = line.object();
        if object.fault.is_some() && options.ragged == Ragged::SetAside {
            set_aside.add(line.number);
            continue;
        }
        if let Some(fault) = object.fault {
            return Err(fault);
        }
        let record = record(line, object, names);
        in_file.iter().try_for_each(|&index| {
            let at = readings[index].at;
            readings[index].add(&record, Some(at))
        })?;
        rows += 1;
    }
    Ok((rows, set_aside))
}

/// Returns the names of the result, and the columns to read.
fn describe(options: &Options, names: &[String]) -> Result<(Vec<String>, Vec<Reading>), Fault> {
    let shown = names::rename(options, names)?;
    let readings = readings(options, names)?;
    let wanted: Vec<&str> = readings.iter().map(|one| shown[one.at].as_str()).collect();
    names::check(&wanted, 0, 0)?;
    Ok((shown, readings))
}

/// Returns all lines that are not blank.
fn lines<'t>(text: &'t [u8], options: &Options) -> Vec<Line<'t>> {
    let mut place = TextPlace::start(text);
    for _ in 0..options.skip_rows {
        place.take_line();
    }
    let mut lines = Vec::new();
    loop {
        let (at, number) = (place.at, place.line);
        if place.take_line().is_none() {
            return lines;
        }
        let bytes = &text[at..place.at];
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        if !bytes.iter().all(|byte| b" \t\r".contains(byte)) {
            let (has_nan, has_unique_keys) = (options.json_nan, options.json_nested);
            lines.push(Line { bytes, at, number, has_nan, has_unique_keys });
        }
    }
}

struct ObjectNames {
    names: Vec<String>,
    /// The number of records without a fault.
    records: usize,
    fault: Option<Fault>,
}

/// Returns the keys of all objects up to the first fault.
fn keys(lines: &[Line<'_>], most: usize, options: &Options) -> ObjectNames {
    let mut found = ObjectNames { names: Vec::new(), records: 0, fault: None };
    for line in lines {
        let object = line.object();
        if found.records == most {
            break;
        }
        if object.fault.is_some() && options.ragged == Ragged::SetAside {
            continue;
        }
        for key in object.keys {
            if !found.names.contains(&key) {
                found.names.push(key);
            }
        }
        found.fault = object.fault;
        if found.fault.is_some() {
            return found;
        }
        found.records += 1;
    }
    found
}

/// Returns the values of all columns; a key that the object lacks is null.
fn record(line: &Line<'_>, object: Object, names: &[String]) -> Record {
    let null =
        Field { at: line.at, text: b"null".to_vec(), raw: b"null".to_vec(), is_quoted: false };
    let of_name = |name: &String| {
        let at = object.keys.iter().position(|key| key == name);
        at.map_or(null.clone(), |at| object.values[at].clone())
    };
    Record { line: line.number, at: line.at, fields: names.iter().map(of_name).collect() }
}
