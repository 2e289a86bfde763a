//! Tables of fixed width that are hard for readers.

use super::super::options::{Between, Fixed, Form, Header, Options};
use super::super::widths::Span;
use super::dice::Dice;
use super::fields::Recipe;
use super::{Drawn, Returns, Style, damage, encode, footer, rows, settings, top, trim_end};

/// Draws a table with columns of fixed width.
#[must_use]
pub fn draw_fixed(seed: u64) -> Drawn {
    let mut dice = Dice::new(seed ^ 0x6677_6600);
    let style = Style {
        between: Between::Nothing,
        quote: None,
        escape: None,
        comment: dice.one_in(4).then_some(b'#'),
        quotes: 0,
        careless: *dice.pick(&[0, 0, 0, 200, 20]),
        ragged: *dice.pick(&[0, 0, 0, 30, 4]),
        noise: *dice.pick(&[0, 0, 12, 3]),
        returns: *dice.pick(&[Returns::Never, Returns::Always, Returns::Sometimes]),
    };
    let columns = if dice.one_in(12) { 1 + dice.below(40) } else { 1 + dice.below(5) };
    let recipes: Vec<Recipe> = (0..columns).map(|_| Recipe::draw(&mut dice)).collect();
    let mut options = settings::draw(&mut dice, &style, &recipes);
    let spans = choose(&mut dice, &mut options, recipes.len());
    let mut text = Vec::new();
    top(&mut dice, &mut options, &mut text);
    let lines = match options.header {
        Header::Lines(lines) => lines,
        Header::Auto => usize::from(!dice.one_in(3)),
    };
    for _ in 0..lines {
        let names = ["a", "b", "c", "id", "K\u{f6}ln", "two words", "", "NA", "1", "name"];
        let fields = spans.iter().map(|_| (*dice.pick(&names)).to_owned()).collect();
        line(&mut dice, &style, &spans, fields, &mut text);
    }
    for _ in 0..rows(&mut dice, columns) {
        let field = |(index, recipe): (usize, &Recipe)| {
            recipe.field(&mut dice, &options.of_index(index))
        };
        let fields = recipes.iter().enumerate().map(field).collect();
        line(&mut dice, &style, &spans, fields, &mut text);
    }
    footer(&mut dice, &options, &mut text);
    if dice.one_in(4) {
        trim_end(&mut text);
    }
    if dice.one_in(6) {
        damage(&mut dice, &style, &mut text);
    }
    let bytes = encode(&mut dice, &mut options, text);
    settings::choose_extent(&mut dice, &mut options, bytes.len());
    Drawn { bytes, options }
}

/// Draws the places of columns, and the options about them.
fn choose(dice: &mut Dice, options: &mut Options, columns: usize) -> Vec<Span> {
    options.form = Form::Fixed;
    let kind = dice.below(3);
    let mut spans: Vec<Span> = Vec::new();
    let mut at = if kind == 1 { 0 } else { dice.index(2) };
    for _ in 0..columns {
        let end = at + 1 + dice.index(12);
        spans.push((at, Some(end)));
        at = end;
        if kind != 1 {
            at += dice.index(3);
        }
    }
    match kind {
        0 => {}
        1 => {
            let width = |&(start, end): &Span| end.unwrap_or(start) - start;
            options.fixed = Fixed::Widths(spans.iter().map(width).collect());
        }
        _ => {
            let mut told = spans.clone();
            if let Some(last) = told.last_mut().filter(|_| dice.one_in(3)) {
                last.1 = None;
            }
            if dice.one_in(40) {
                told.rotate_left(1);
            }
            options.fixed = Fixed::Positions(told);
        }
    }
    spans
}

/// Writes fields at their places, mostly cut to their widths.
fn line(
    dice: &mut Dice,
    style: &Style,
    spans: &[Span],
    fields: Vec<String>,
    text: &mut Vec<u8>,
) {
    let blank = if dice.one_in(30) { '\t' } else { ' ' };
    let mut characters: Vec<char> = Vec::new();
    for (&(start, end), field) in spans.iter().zip(fields) {
        let width = end.unwrap_or(start) - start;
        let is_careless = style.careless > 0 && dice.one_in(style.careless);
        let most = if is_careless { usize::MAX } else { width };
        let field: Vec<char> =
            field.chars().filter(|it| !"\r\n".contains(*it)).take(most).collect();
        let before = if dice.one_in(2) { width.saturating_sub(field.len()) } else { 0 };
        characters.resize(characters.len().max(start + before), blank);
        characters.truncate(start + before);
        characters.extend(field);
    }
    if style.ragged > 0 && dice.one_in(style.ragged) {
        match dice.below(3) {
            0 => characters.truncate(dice.index(characters.len() + 1)),
            1 => characters.extend(dice.pick(&["  more", "x", " \u{e9}"]).chars()),
            _ => {
                if let Some(any) =
                    (!characters.is_empty()).then(|| dice.index(characters.len()))
                {
                    characters[any] = *dice.pick(&['x', '\u{65e5}', '\u{301}']);
                }
            }
        }
    }
    if dice.one_in(3) {
        characters.extend([blank; 2]);
    }
    text.extend(characters.into_iter().collect::<String>().into_bytes());
    let has_return = match style.returns {
        Returns::Never => false,
        Returns::Always => true,
        Returns::Sometimes => dice.one_in(2),
    };
    text.extend(if has_return { &b"\r\n"[..] } else { b"\n" });
    while style.noise > 0 && dice.one_in(style.noise) {
        text.extend(dice.pick(&["\n", "\r\n", " \t \n", "#\n", "# c, \u{e9}\n"]).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::read;
    use std::collections::BTreeSet;

    #[test]
    fn drawn_tables_have_columns_of_every_kind_and_every_fault() {
        let (mut tables, mut aside) = ([0; 3], 0);
        let mut faults = BTreeSet::new();
        for seed in 0..4000 {
            let Drawn { bytes, options } = draw_fixed(seed);
            match read(&bytes, &options) {
                Ok(table) => {
                    let kind = match options.fixed {
                        Fixed::Found => 0,
                        Fixed::Widths(_) => 1,
                        Fixed::Positions(_) => 2,
                    };
                    tables[kind] += 1;
                    aside += table.set_aside.count;
                }
                Err(fault) => drop(faults.insert(fault.wrong.word())),
            }
        }
        println!("{tables:?}, {aside} set aside, {faults:?}");
        assert!(tables.iter().all(|&count| count > 600) && aside > 100, "{tables:?} {aside}");
        for word in ["outside", "encoding", "return", "misfit", "empty", "column"] {
            assert!(faults.contains(word), "{word} in {faults:?}");
        }
    }
}
