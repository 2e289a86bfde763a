//! Objects and arrays inside objects.

use super::dice::Dice;

pub(super) const KEYS: [&str; 8] =
    ["a", "b", "c", "", "\u{e9}", "a\\u0062c", "long key", "\\n\\\"x"];

const VALUES: [&[&str]; 9] = [
    &["NaN", "-Infinity", "Infinity", "1", "0.5", "[NaN]", "null"],
    &["1", "-2", "0", "77", "null"],
    &["1", "9223372036854775808", "-1", "99999999999999999999", "0.5", "-0", "1e400"],
    &["0.5", "1e5", "-0.0", "3", "null", "1E-7"],
    &[
        "\"x\"",
        "\"\"",
        "\"null\"",
        "\"NA\"",
        "\"1\"",
        "\"true\"",
        "null",
        "\"\u{e9}\u{1f600}\"",
    ],
    &["\"2020-02-29\"", "\"2020-01-01\"", "null", "\"1999-12-31\""],
    &["\"2020-02-29T01:02:03\"", "\"2020-02-29 01:02:03.1234567\"", "\"2020-01-01\""],
    &["true", "false", "null", "true", "\"yes\"", "\"no\""],
    &[
        "{}",
        "[]",
        "[1, {\"a\":\"}\"}]",
        "{\"x\":[[[]]]}",
        "\"\\u00e9\\ud83d\\ude00\\n\\/\"",
        "1",
    ],
];

/// The shape of a key's values in most records.
pub(super) enum Shape {
    /// One of the plain shapes, by index.
    Plain(usize),
    Object(Vec<(String, Shape)>),
    Array(Box<Shape>),
    /// This many nested arrays.
    Deep(usize),
}

/// Draws a shape at level `depth`.
pub(super) fn shape(dice: &mut Dice, depth: usize) -> Shape {
    match dice.index(8) {
        0 | 1 if depth < 4 => {
            let keys = if depth == 0 && dice.one_in(40) { 990 + dice.index(20) } else { 0 };
            let wide = (0..keys).map(|at| (format!("k{at}"), Shape::Plain(1)));
            let few = (0..dice.index(5)).map(|_| {
                let key = (*dice.pick(&KEYS)).to_owned();
                (key, shape(dice, depth + 1))
            });
            let few: Vec<_> = few.collect();
            Shape::Object(few.into_iter().chain(wide).collect())
        }
        2 if depth < 4 => Shape::Array(Box::new(shape(dice, depth + 1))),
        3 if depth == 0 && dice.one_in(5) => Shape::Deep(30 + dice.index(5)),
        _ => Shape::Plain(dice.index(VALUES.len())),
    }
}

/// Draws a value of a shape.
pub(super) fn value(dice: &mut Dice, shape: &Shape) -> String {
    let blank = if dice.one_in(6) { *dice.pick(&[" ", "\t"]) } else { "" };
    if dice.one_in(60) {
        return (*dice.pick(&["\"odd\"", "null", "{}", "[]", "7", "{\"a\":[0.5]}"])).to_owned();
    }
    match shape {
        Shape::Plain(kind) => (*dice.pick(VALUES[*kind])).to_owned(),
        Shape::Object(fields) => {
            let (mut written, mut members) = (Vec::new(), Vec::new());
            let lacks = *dice.pick(&[0, 2, 3]);
            for (key, shape) in fields {
                let is_twice = written.contains(key) && !dice.one_in(50);
                if is_twice || (lacks > 0 && dice.one_in(lacks)) {
                    continue;
                }
                written.push(key.clone());
                members.push(format!("{blank}\"{key}\"{blank}:{}{blank}", value(dice, shape)));
            }
            if dice.one_in(4) {
                members.reverse();
            }
            format!("{{{blank}{}}}", members.join(","))
        }
        Shape::Array(item) => {
            let count = if dice.one_in(3) { 0 } else { dice.index(4) };
            let items: Vec<String> = (0..count).map(|_| value(dice, item)).collect();
            format!("[{blank}{}]", items.join(&format!("{blank},")))
        }
        Shape::Deep(levels) => {
            format!("{}1{}", "[".repeat(*levels), "]".repeat(*levels))
        }
    }
}
