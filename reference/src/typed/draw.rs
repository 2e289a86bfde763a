//! Draws tables that are hard for readers, with options; equal for equal seeds.
//!
//! ```
//! use swath_reference::typed::draw::draw;
//!
//! let table = draw(1);
//! assert_eq!(table.bytes, draw(1).bytes);
//! ```

mod dice;
mod fields;
mod nested;
mod objects;
mod settings;
mod widths;

use super::decode::decode;
use super::options::{Between, Encoding, Header, Options};
pub use objects::draw_objects;
pub use widths::draw_fixed;

use dice::Dice;
use fields::Recipe;

/// A table as bytes, and its options.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The options to read it with.
    pub options: Options,
}

/// The style of a table.
struct Style {
    between: Between,
    quote: Option<u8>,
    escape: Option<u8>,
    comment: Option<u8>,
    /// One in this many fields is quoted without need; 0 for none.
    quotes: u64,
    /// One in this many fields that need quotes gets none; 0 for none.
    careless: u64,
    /// One in this many records has a different number of fields; 0 for none.
    ragged: u64,
    /// One in this many lines is followed by one that is not a record; 0 for none.
    noise: u64,
    returns: Returns,
}

/// The lines that end with a carriage return and a newline.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Returns {
    Never,
    Always,
    Sometimes,
}

/// Draws a table.
#[must_use]
pub fn draw(seed: u64) -> Drawn {
    let mut dice = Dice::new(seed);
    let style = style(&mut dice);
    let columns = if dice.one_in(12) { 1 + dice.below(40) } else { 1 + dice.below(5) };
    let recipes: Vec<Recipe> = (0..columns).map(|_| Recipe::draw(&mut dice)).collect();
    let mut options = settings::draw(&mut dice, &style, &recipes);
    let mut text = Vec::new();
    top(&mut dice, &mut options, &mut text);
    header(&mut dice, &style, &mut options, columns, &mut text);
    for _ in 0..rows(&mut dice, columns) {
        record(&mut dice, &style, &recipes, &options, &mut text);
    }
    footer(&mut dice, &options, &mut text);
    if dice.one_in(4) {
        trim_end(&mut text);
    }
    if dice.one_in(5) {
        damage(&mut dice, &style, &mut text);
    }
    let bytes = encode(&mut dice, &mut options, text);
    settings::choose_extent(&mut dice, &mut options, bytes.len());
    Drawn { bytes, options }
}

fn style(dice: &mut Dice) -> Style {
    let bytes = [b',', b',', b',', b';', b'\t', b'|', b' ', b'~'];
    let drawn = dice.index(64);
    let mut between = match Between::LONG.get(drawn / 8) {
        Some(long) if drawn % 8 == 7 => Between::Text(long),
        _ => Between::Byte(bytes[drawn % 8]),
    };
    if dice.one_in(10) {
        between = *dice.pick(&[Between::Blanks, Between::Nothing]);
    }
    Style {
        between,
        quote: *dice.pick(&[Some(b'"'), Some(b'"'), Some(b'"'), Some(b'"'), Some(b'\''), None]),
        escape: dice.one_in(6).then_some(b'\\'),
        comment: dice.one_in(4).then_some(b'#'),
        quotes: *dice.pick(&[0, 0, 1, 3, 8]),
        careless: *dice.pick(&[0, 0, 0, 0, 0, 40, 5]),
        ragged: *dice.pick(&[0, 0, 0, 0, 0, 30, 4]),
        noise: *dice.pick(&[0, 0, 0, 12, 3]),
        returns: *dice.pick(&[
            Returns::Never,
            Returns::Never,
            Returns::Always,
            Returns::Sometimes,
        ]),
    }
}

/// Draws the number of records: mostly few, sometimes more than a sample has.
fn rows(dice: &mut Dice, columns: u64) -> u64 {
    match dice.below(100) {
        0 if columns < 5 => dice.below(2500),
        1..=6 => dice.below(300),
        _ => dice.below(14),
    }
}

/// Sometimes replaces the last records by lines after the table.
fn footer(dice: &mut Dice, options: &Options, text: &mut Vec<u8>) {
    let lines = [
        "Total\n",
        "sum,1,2,3\n",
        "\"note\nof two\" x\n",
        "\n",
        "# c\n",
        " \t\n",
        "a;b\r\n",
        "x\ry\n",
    ];
    if options.skip_footer == 0 || dice.one_in(2) {
        return;
    }
    for _ in 0..options.skip_footer {
        text.extend(dice.pick(&lines).as_bytes());
    }
}

/// Draws lines before the table: those to skip, and Excel's.
fn top(dice: &mut Dice, options: &mut Options, text: &mut Vec<u8>) {
    if dice.one_in(12) {
        options.skip_rows = dice.index(4);
        for _ in 0..options.skip_rows {
            let lines = ["title\n", "\n", "a,b,c\r\n", "# \"open\n", "x\ry\n"];
            text.extend(dice.pick(&lines).as_bytes());
        }
    }
    if dice.one_in(25) {
        text.extend(dice.pick(&["sep=;\n", "sep=,\r\n", "sep=|\n", "sep=;;\n"]).as_bytes());
    }
}

fn header(
    dice: &mut Dice,
    style: &Style,
    options: &mut Options,
    columns: u64,
    text: &mut Vec<u8>,
) {
    let lines = match options.header {
        Header::Lines(lines) => lines,
        Header::Auto => usize::from(!dice.one_in(3)),
    };
    for _ in 0..lines {
        let fields: Vec<Vec<u8>> = (0..columns).map(|_| name(dice, style)).collect();
        line(dice, style, &fields, text);
    }
}

fn name(dice: &mut Dice, style: &Style) -> Vec<u8> {
    let names = [
        "a",
        "b",
        "c",
        "id",
        "name",
        "x",
        "y",
        "Köln",
        " b ",
        "a_2",
        "column_1",
        "two words",
        "it's",
        "\"q\"",
        "a,b",
        "a\nb",
        "",
        "NA",
        "1",
        "2020",
        "2020-01-01",
        "true",
        "long_name_of_a_column",
    ];
    // Mostly the first ones: the last ones make a header look like data.
    let most = if dice.one_in(3) { names.len() } else { 12 };
    let name = dice.index(most);
    written(dice, style, names[name])
}

fn record(
    dice: &mut Dice,
    style: &Style,
    recipes: &[Recipe],
    options: &Options,
    text: &mut Vec<u8>,
) {
    let mut fields: Vec<Vec<u8>> = Vec::new();
    for (index, recipe) in recipes.iter().enumerate() {
        let field = recipe.field(dice, &options.of_index(index));
        fields.push(written(dice, style, &field));
    }
    if style.ragged > 0 && dice.one_in(style.ragged) {
        if dice.one_in(2) {
            fields.pop();
        } else {
            fields.push(b"more".to_vec());
        }
    }
    line(dice, style, &fields, text);
    while style.noise > 0 && dice.one_in(style.noise) {
        let lines = ["\n", "\r\n", "\n", "#\n", "# c, \"d\n", "#,\r\n", "  \n"];
        // The others are records, mostly ragged ones, unless the style allows them.
        let most = match style.comment {
            _ if dice.one_in(30) || style.between == Between::Blanks => 7,
            Some(_) => 6,
            None => 3,
        };
        text.extend(lines[dice.index(most)].as_bytes());
    }
}

/// Writes fields and the end of the line.
fn line(dice: &mut Dice, style: &Style, fields: &[Vec<u8>], text: &mut Vec<u8>) {
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            match style.between {
                Between::Byte(byte) => text.push(byte),
                Between::Text(long) => text.extend(long.as_bytes()),
                Between::Blanks => {
                    text.extend(dice.pick(&[" ", "  ", "\t", " \t "]).as_bytes())
                }
                Between::Nothing => text.extend(b" "),
            }
        }
        text.extend(field);
    }
    let has_return = match style.returns {
        Returns::Never => false,
        Returns::Always => true,
        Returns::Sometimes => dice.one_in(2),
    };
    text.extend(if has_return { &b"\r\n"[..] } else { b"\n" });
}

/// Returns a field in the style: in quotes if it needs them, or by chance.
fn written(dice: &mut Dice, style: &Style, field: &str) -> Vec<u8> {
    let is_special = |byte: u8| {
        let blank = style.between == Between::Blanks && (byte == b' ' || byte == b'\t');
        let delimiter = style.between == Between::Byte(byte);
        blank || delimiter || byte == b'\n' || byte == b'\r' || Some(byte) == style.quote
    };
    let begins_comment = style.comment.is_some() && field.as_bytes().first() == Some(&b'#');
    let empty_word = field.is_empty() && style.between == Between::Blanks;
    let is_cut = matches!(style.between, Between::Text(long) if field.contains(long));
    let needs = field.bytes().any(is_special) || begins_comment || empty_word || is_cut;
    let careless = style.careless > 0 && dice.one_in(style.careless);
    let wants = style.quotes > 0 && dice.one_in(style.quotes);
    match style.quote {
        Some(quote) if (needs && !careless) || wants => in_quotes(dice, style, field, quote),
        _ if needs && !careless => {
            escaped(style, field, |byte| is_special(byte) || is_cut && style.between.has(byte))
        }
        _ if style.escape.is_some() => escaped(style, field, |byte| byte == b'\\'),
        _ => field.as_bytes().to_vec(),
    }
}

fn in_quotes(dice: &mut Dice, style: &Style, field: &str, quote: u8) -> Vec<u8> {
    let mut text = vec![quote];
    for byte in field.bytes() {
        if byte == quote {
            text.push(style.escape.filter(|_| dice.one_in(2)).unwrap_or(quote));
        } else if Some(byte) == style.escape {
            text.push(byte);
        }
        text.push(byte);
    }
    text.push(quote);
    if dice.one_in(30) {
        text.extend(dice.pick(&[" ", "\t ", "  "]).as_bytes());
    }
    text
}

/// Puts an escape before special bytes; without an escape, leaves them out.
fn escaped(style: &Style, field: &str, is_special: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut text = Vec::new();
    for byte in field.bytes() {
        if is_special(byte) || Some(byte) == style.escape {
            let Some(escape) = style.escape else { continue };
            text.push(escape);
        }
        text.push(byte);
    }
    text
}

fn trim_end(text: &mut Vec<u8>) {
    while text.last().is_some_and(|byte| b"\r\n".contains(byte)) {
        text.pop();
    }
}

/// Changes a few bytes.
fn damage(dice: &mut Dice, style: &Style, text: &mut Vec<u8>) {
    for _ in 0..=dice.below(2) {
        if text.is_empty() {
            return;
        }
        let at = dice.index(text.len());
        let mut bytes = vec![b'"', b'\r', b'\n', b'\\', b'#', b' ', b'0', b'-', 0xff, 0];
        bytes.extend(style.quote);
        match style.between {
            Between::Byte(byte) => bytes.push(byte),
            Between::Text(long) => bytes.extend(long.as_bytes()),
            Between::Blanks | Between::Nothing => {}
        }
        match dice.below(3) {
            0 => text[at] = *dice.pick(&bytes),
            1 => text.insert(at, *dice.pick(&bytes)),
            _ => {
                text.remove(at);
            }
        }
    }
}

/// Encodes a text as UTF-8, with or without a mark, or in another encoding that the options then
/// name.
fn encode(dice: &mut Dice, options: &mut Options, text: Vec<u8>) -> Vec<u8> {
    let kind = dice.below(30);
    let Ok(letters) = String::from_utf8(text.clone()) else { return text };
    match kind {
        0 => [&b"\xef\xbb\xbf"[..], &text].concat(),
        1 => {
            options.encoding = Encoding::Latin1;
            letters.chars().map(latin1).collect()
        }
        2 | 3 => {
            let is_marked = dice.one_in(2);
            let mark = if is_marked { "\u{feff}" } else { "" };
            let is_big = kind == 3;
            if !is_marked {
                options.encoding = if is_big { Encoding::Utf16Be } else { Encoding::Utf16Le };
            }
            let units = mark.encode_utf16().chain(letters.encode_utf16());
            let pair = |unit: u16| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            let mut bytes: Vec<u8> = units.flat_map(pair).collect();
            if dice.one_in(10) {
                bytes.pop();
            }
            bytes
        }
        4 => {
            options.encoding = Encoding::Utf8;
            text
        }
        5 | 6 => {
            options.encoding = if kind == 5 { Encoding::Greek } else { Encoding::ShiftJis };
            let high: [&[u8]; 3] = match kind {
                5 => [b"\xc1", b"\xfe", b"\xb1"],
                // Their second bytes have a meaning of their own.
                _ => [b"\x83\x5c", b"\x83\x7c", b"\xb1"],
            };
            let mut bytes: Vec<u8> = Vec::new();
            for letter in letters.chars() {
                match u8::try_from(letter) {
                    Ok(byte) if byte.is_ascii() => bytes.push(byte),
                    _ => bytes.extend(high[letter as usize % 3]),
                }
            }
            if dice.one_in(3) {
                let at = dice.index(bytes.len() + 1);
                bytes.insert(at, *dice.pick(b"\xff\xaa\xd2\x85"));
            }
            bytes
        }
        _ => text,
    }
}

/// Returns the byte of a letter, found by trying all.
fn latin1(letter: char) -> u8 {
    let latin = Options { encoding: Encoding::Latin1, ..Options::default() };
    let is_it = |&byte: &u8| decode(&[byte], &latin).text == letter.to_string().into_bytes();
    if letter.is_ascii() {
        return u8::try_from(letter).unwrap_or(b'?');
    }
    (0x80..=0xff).find(is_it).unwrap_or(b'?')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::{Table, Type, Wrong, read};
    use std::collections::BTreeMap;

    /// Returns the first tables, or their faults.
    fn all() -> Vec<Result<Table, Wrong>> {
        let read_one = |seed| {
            let Drawn { bytes, options } = draw(seed);
            read(&bytes, &options).map_err(|fault| fault.wrong)
        };
        (0..6000).map(read_one).collect()
    }

    #[test]
    fn drawn_tables_have_every_type_and_every_fault() {
        let mut types: BTreeMap<String, usize> = BTreeMap::new();
        let mut faults: BTreeMap<String, usize> = BTreeMap::new();
        let (mut tables, mut values) = (0, 0);
        for one in all() {
            match one {
                Ok(table) => {
                    tables += 1;
                    values += table.rows * table.columns.len();
                    for column in &table.columns {
                        *types.entry(column.type_is.word()).or_default() += 1;
                    }
                }
                Err(wrong) => {
                    let word = wrong.word().split(' ').take(2).collect::<Vec<_>>().join(" ");
                    *faults.entry(word).or_default() += 1;
                }
            }
        }
        println!("{tables} tables, {values} values, {types:?}, {faults:?}");
        assert!(tables > 3600 && tables < 4800, "{tables} tables");
        for type_is in Type::all() {
            assert!(types.contains_key(&type_is.word()), "{} in {types:?}", type_is.word());
        }
        for word in ["encoding", "return", "after quote", "open quote", "misfit", "empty"] {
            assert!(faults.contains_key(word), "{word} in {faults:?}");
        }
    }

    #[test]
    fn drawn_objects_have_structs_lists_and_columns_that_are_too_deep_or_wide() {
        let (mut nested, mut inner, mut limits, mut twice) = (0, 0, 0, 0);
        for seed in 0..3000 {
            let Drawn { bytes, options } = draw_objects(seed);
            match read(&bytes, &options) {
                Ok(table) => {
                    let of = |column: &super::super::Column| column.nested.clone();
                    let words: Vec<String> = table.columns.iter().filter_map(of).collect();
                    nested += words.len();
                    let is_deep = |word: &&String| word.matches('<').count() > 2;
                    inner += words.iter().filter(is_deep).count();
                    // Only values of one kind are text without a deciding line.
                    limits += usize::from(options.json_nested)
                        * table
                            .columns
                            .iter()
                            .filter(|it| {
                                it.type_is == Type::Text
                                    && !it.is_told
                                    && it.deciding_line.is_none()
                            })
                            .count();
                }
                Err(fault) => twice += usize::from(fault.wrong == Wrong::Twice),
            }
        }
        println!("{nested} {inner} {limits} {twice}");
        assert!(
            nested > 400 && inner > 50 && limits > 9 && twice > 20,
            "{nested} {inner} {limits} {twice}"
        );
    }
}
