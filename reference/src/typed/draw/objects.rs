//! JSON Lines that are hard for readers.

use super::super::options::{Key, Options, Ragged};
use super::super::types::Type;
use super::dice::Dice;
use super::nested::{KEYS, Shape, shape, value};
use super::{Drawn, settings};

const WRONG: [&str; 18] = [
    "x",
    "{\"new\":1,\"a\":NaNs}",
    "{\"a\":-Infinite}",
    "{\"newer\":1,\"b\":\"c}",
    "[1]",
    "{\"a\":1",
    "{\"a\":1}}",
    "{\"a\":01}",
    "{\"a\":1,\"a\":2}",
    "{\"b\":1,\"\\u0062\":2}",
    "{\"a\":\"\\ud83d\"}",
    "{\"a\":\"\\q\"}",
    "{\"a\":\"b\tc\"}",
    "{\"a\":nul}",
    "{\"a\":[1,2}",
    "{a:1}",
    "{\"a\" 1}",
    "{\"a\":\"b}",
];

/// Draws a table of objects, one per line.
#[must_use]
pub fn draw_objects(seed: u64) -> Drawn {
    let mut dice = Dice::new(seed ^ 0x6a73_6f6e);
    let mut options = Options::json_lines();
    options.json_nested = dice.one_in(2);
    let columns: Vec<(&str, Shape)> = (0..1 + dice.index(6))
        .map(|at| (KEYS[(at + dice.index(2)) % KEYS.len()], shape(&mut dice, 0)))
        .collect();
    let mut text = Vec::new();
    if dice.one_in(12) {
        options.skip_rows = 1;
        text.extend_from_slice(b"title {\n");
    }
    let lines = if dice.one_in(10) { dice.index(300) } else { dice.index(14) };
    let lacks = *dice.pick(&[0, 0, 3, 2]);
    for _ in 0..lines {
        line(&mut dice, &columns, lacks, &mut text);
    }
    if dice.one_in(4) && text.ends_with(b"\n") {
        text.pop();
    }
    wishes(&mut dice, &columns, &mut options);
    if dice.one_in(8) && !text.is_empty() {
        let at = dice.index(text.len());
        text[at] = *dice.pick(b"\"\\{}[]:,1 n\xff\n\r\0");
    }
    if dice.one_in(15) {
        text.splice(0..0, *b"\xef\xbb\xbf");
    }
    settings::choose_extent(&mut dice, &mut options, text.len());
    Drawn { bytes: text, options }
}

fn line(dice: &mut Dice, columns: &[(&str, Shape)], lacks: u64, text: &mut Vec<u8>) {
    if dice.one_in(40) {
        text.extend_from_slice(dice.pick(&WRONG).as_bytes());
    } else if dice.one_in(12) {
        text.extend_from_slice(dice.pick(&["", " ", "\t\r"]).as_bytes());
    } else {
        let mut order: Vec<usize> = (0..columns.len()).collect();
        if dice.one_in(4) {
            order.rotate_left(dice.index(columns.len()));
        }
        object(dice, columns, &order, lacks, text);
    }
    text.extend_from_slice(if dice.one_in(6) { b"\r\n" } else { b"\n" });
}

fn object(
    dice: &mut Dice,
    columns: &[(&str, Shape)],
    order: &[usize],
    lacks: u64,
    text: &mut Vec<u8>,
) {
    let mut written: Vec<&str> = Vec::new();
    let blank = *dice.pick(&["", "", " ", "\t"]);
    text.push(b'{');
    for &at in order {
        let (key, ref shape) = columns[at];
        if written.contains(&key) || (lacks > 0 && dice.one_in(lacks)) {
            continue;
        }
        let value = value(dice, shape);
        let comma = if written.is_empty() { "" } else { "," };
        let member = format!("{comma}{blank}\"{key}\"{blank}:{blank}{value}");
        text.extend_from_slice(member.as_bytes());
        written.push(key);
    }
    text.extend_from_slice(b"}");
}

fn wishes(dice: &mut Dice, columns: &[(&str, Shape)], options: &mut Options) {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    if dice.one_in(8) {
        let lists: [&[&str]; 3] = [&["NA", ""], &["1"], &["x", "\u{e9}\u{1f600}"]];
        let nulls: &&[&str] = dice.pick(&lists);
        options.nulls = words(nulls);
    }
    if dice.one_in(8) {
        let lists: [(&[&str], &[&str]); 3] =
            [(&["yes"], &["no"]), (&["1"], &["0"]), (&["true"], &["odd"])];
        let (trues, falses) = dice.pick(&lists);
        (options.trues, options.falses) = (words(trues), words(falses));
    }
    if dice.one_in(10) {
        options.rows = Some(dice.index(10));
    }
    if dice.one_in(6) {
        let index = Key::Index(dice.index(columns.len() + 1));
        let name = Key::Name((*dice.pick(&["a", "b", "abc", "x"])).to_owned());
        options.columns = Some(vec![dice.pick(&[index, name]).clone()]);
    }
    if dice.one_in(5) {
        let types = Type::all();
        let type_is = *dice.pick(&types);
        options.types.push((Key::Index(dice.index(columns.len())), type_is));
    }
    if dice.one_in(4) {
        options.ragged = Ragged::SetAside;
    }
    options.json_nan = dice.one_in(3);
    settings::choose_words_of_columns(dice, columns.len(), options);
    settings::choose_more(dice, options);
    if dice.one_in(20) {
        options.rename.push((Key::Index(dice.index(columns.len())), "new name".to_owned()));
    }
}
