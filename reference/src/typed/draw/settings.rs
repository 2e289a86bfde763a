//! The options of a drawn table: those that the style needs, and others by chance.

use super::super::options::{Comment, Header, Key, Meaning, Options, Ragged};
use super::super::types::Type;
use super::dice::Dice;
use super::fields::{Family, Recipe};
use super::{Between, Style};

/// Draws options that fit the style and the columns.
pub(super) fn draw(dice: &mut Dice, style: &Style, recipes: &[Recipe]) -> Options {
    let mut options = Options {
        quote: style.quote,
        escape: style.escape,
        comment: match style.comment {
            Some(byte) if dice.one_in(2) => Comment::Byte(byte),
            None if dice.one_in(4) => Comment::None,
            _ => Comment::Auto,
        },
        ..Options::default()
    };
    choose_delimiter(dice, style, &mut options);
    if dice.one_in(2) {
        let lines = *dice.pick(&[0, 1, 1, 1, 2, 3]);
        options.header = Header::Lines(lines);
    }
    if style.ragged > 0 {
        let kinds = [Ragged::Error, Ragged::Pad, Ragged::SetAside, Ragged::Drop];
        options.ragged = *dice.pick(&kinds);
    }
    if dice.one_in(12) && style.between != Between::Nothing {
        options.fields = Some(dice.index(recipes.len() + 2));
        options.ragged =
            *dice.pick(&[Ragged::Pad, Ragged::SetAside, Ragged::Drop, Ragged::Drop]);
    }
    if dice.one_in(10) {
        options.rows = Some(dice.index(20));
    }
    choose_words(dice, &mut options);
    choose_numbers(dice, style, &mut options);
    choose_columns(dice, recipes.len(), &mut options);
    choose_types(dice, recipes, &mut options);
    choose_words_of_columns(dice, recipes.len(), &mut options);
    choose_more(dice, &mut options);
    options
}

/// Sometimes draws a type for all columns, and records to skip at the end.
pub(super) fn choose_more(dice: &mut Dice, options: &mut Options) {
    if dice.one_in(8) {
        options.skip_footer = *dice.pick(&[1, 1, 2, 3, 20]);
    }
    if dice.one_in(15) {
        let kinds = [Type::Text, Type::Text, Type::Dictionary, Type::F64];
        options.all_types = Some(*dice.pick(&kinds));
    }
}

fn choose_delimiter(dice: &mut Dice, style: &Style, options: &mut Options) {
    let is_found = match style.between {
        Between::Byte(byte) => b",;\t|".contains(&byte),
        Between::Text(_) => false,
        Between::Blanks | Between::Nothing => true,
    };
    let is_given = !is_found || dice.one_in(3);
    // A line is a field only if no delimiter is found, so it is never given.
    options.delimiter =
        Some(style.between).filter(|&between| is_given && between != Between::Nothing);
}

fn choose_words(dice: &mut Dice, options: &mut Options) {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    if dice.one_in(8) {
        let all: [&[&str]; 5] =
            [&["", "-"], &["-", "-999"], &["", "\\N"], &["n/a", "", "nan"], &[]];
        let chosen: &&[&str] = dice.pick(&all);
        options.nulls = words(chosen);
    }
    if dice.one_in(10) {
        let (trues, falses) =
            *dice.pick(&[("yes", "no"), ("1", "0"), ("T", "F"), ("ja", "nein")]);
        options.trues = words(&[trues]);
        options.falses = words(&[falses]);
    }
}

/// Sometimes draws words for some columns.
pub(super) fn choose_words_of_columns(dice: &mut Dice, count: usize, options: &mut Options) {
    const NULLS: [&[&str]; 5] = [&["-"], &["", "1"], &["\\N", "nan"], &["true", "x"], &[]];
    const FLAGS: [(&str, &str); 4] = [("yes", "no"), ("1", "0"), ("T", "F"), ("true", "odd")];
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    if !dice.one_in(6) {
        return;
    }
    for index in (0..count).filter(|_| dice.one_in(2)).collect::<Vec<_>>() {
        let mut add = |meaning, list| options.words_of.push((Key::Index(index), meaning, list));
        if dice.one_in(2) {
            let chosen: &&[&str] = dice.pick(&NULLS);
            add(Meaning::Missing, words(chosen));
        }
        let (yes, no) = *dice.pick(&FLAGS);
        if dice.one_in(3) {
            add(Meaning::True, words(&[yes]));
        }
        if dice.one_in(3) {
            add(Meaning::False, words(&[no]));
        }
    }
}

fn choose_numbers(dice: &mut Dice, style: &Style, options: &mut Options) {
    if !style.between.has(b',') && dice.one_in(6) {
        options.decimal = b',';
    }
    if dice.one_in(8) {
        let thousands = *dice.pick(b".,' _");
        // It may equal the delimiter: such numbers are in quotes.
        if thousands != options.decimal && options.quote != Some(thousands) {
            options.thousands = Some(thousands);
        }
    }
}

fn choose_columns(dice: &mut Dice, count: usize, options: &mut Options) {
    if !dice.one_in(5) {
        return;
    }
    let mut indices: Vec<usize> = (0..count).filter(|_| dice.one_in(2)).collect();
    if indices.is_empty() {
        indices.push(dice.index(count));
    }
    if dice.one_in(2) {
        indices.reverse();
    }
    if dice.one_in(30) {
        // A column that exists only if a delimiter occurs twice.
        indices.push(count);
    }
    options.columns = Some(indices.into_iter().map(Key::Index).collect());
    if dice.one_in(3) {
        options.rename.push((Key::Index(dice.index(count)), "new name".to_owned()));
    }
}

fn choose_types(dice: &mut Dice, recipes: &[Recipe], options: &mut Options) {
    if !dice.one_in(4) {
        return;
    }
    for (index, recipe) in recipes.iter().enumerate() {
        if dice.one_in(2) {
            continue;
        }
        let type_is = recipe.type_to_give(dice);
        options.types.push((Key::Index(index), type_is));
        let has_numbers = matches!(
            recipe.family,
            Family::Small | Family::Edges | Family::Zeros | Family::Plain | Family::Long
        );
        if has_numbers && matches!(type_is, Type::Timestamp { .. }) {
            let epochs = ["epoch_s", "epoch_ms", "epoch_us", "epoch_ns"];
            options.formats.push((Key::Index(index), epochs[index % 4].to_owned()));
        }
        if recipe.family == Family::German && type_is == Type::Date {
            options.formats.push((Key::Index(index), "%d.%m.%Y".to_owned()));
        }
    }
}

/// Sometimes selects the records that begin in some bytes of the file; also draws whether bytes are
/// replaced.
pub(super) fn choose_extent(dice: &mut Dice, options: &mut Options, len: usize) {
    options.replaces = dice.one_in(12);
    if dice.one_in(25) {
        let (one, other) = (dice.index(len + 2), dice.index(len + 2));
        options.starting_in = Some((one.min(other), one.max(other)));
    }
}
