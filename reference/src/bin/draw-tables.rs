//! Writes drawn tables and the vectors into a folder, with the options and the oracle's answer for
//! each, for tests in other languages: `draw-tables FOLDER FIRST COUNT`; prints one line per table.
//!
//! ```text
//! ["7.csv", [["delimiter", null, ["||"]], ["types", 0, ["i64"]]], "delimiter \"||\" header 1 …"]
//! ```
//!
//! An option is a word of the library, the index of its column and its texts; a null answer means
//! an error.

use std::path::{Path, PathBuf};
use std::{env, fs};

use swath_reference::typed::draw::draw;
use swath_reference::typed::{
    Comment, Fixed, Form, Header, Key, Meaning, Options, Ragged, answer, options_of, quoted,
    read,
};
use swath_reference::vectors::{Verdict, vectors};

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let [folder, first, count] = &words[..] else {
        panic!("FOLDER FIRST COUNT, not {words:?}")
    };
    let folder = PathBuf::from(folder);
    let [first, count] = [first, count].map(|word| word.parse::<u64>().expect("a number"));
    for seed in (first..).take(usize::try_from(count).expect("a count")) {
        let drawn = draw(seed);
        put(&folder, &format!("{seed}.csv"), &drawn.bytes, drawn.options);
    }
    for vector in Verdict::ALL.into_iter().flat_map(|verdict| vectors("typed", verdict)) {
        let options = vector
            .options
            .as_ref()
            .map_or_else(Options::default, |json| options_of(json).expect("options"));
        put(&folder, &format!("{}.csv", vector.name), &vector.input, options);
    }
}

/// Writes a table and its line, if every language supports its options.
fn put(folder: &Path, name: &str, bytes: &[u8], mut options: Options) {
    // Each language has its own notation for an extent.
    options.starting_in = None;
    // Python accepts one type for all columns, or types for some.
    let plain = Options::default();
    if !options.types.is_empty() {
        options.all_types = None;
    }
    for (_, meaning, _) in &options.words_of {
        match meaning {
            Meaning::Missing => options.nulls.clone_from(&plain.nulls),
            Meaning::True => options.trues.clone_from(&plain.trues),
            Meaning::False => options.falses.clone_from(&plain.falses),
        }
    }
    // If there are words for missing values, an empty field must be one of them.
    let lists =
        options.words_of.iter_mut().filter(|(_, meaning, _)| *meaning == Meaning::Missing);
    for words in lists.map(|(.., words)| words).chain([&mut options.nulls]) {
        if !words.is_empty() && !words.contains(&String::new()) {
            words.push(String::new());
        }
    }
    if options.form != Form::Separated || options.fixed != Fixed::Found {
        return;
    }
    fs::write(folder.join(name), bytes).expect("room");
    let text = read(bytes, &options).ok().map(|table| answer(&table));
    let text = text.map_or_else(|| "null".to_owned(), |text| quoted(&text));
    println!("[{}, [{}], {text}]", quoted(name), settings(&options).join(", "));
}

/// Options in the words of the library.
#[derive(Default)]
struct Settings(Vec<String>);

impl Settings {
    /// Adds an option of the table or of a column.
    fn add(&mut self, word: &str, column: Option<&Key>, texts: &[String]) {
        let column = match column {
            None => "null".to_owned(),
            Some(Key::Index(index)) => index.to_string(),
            Some(Key::Name(name)) => quoted(name),
        };
        let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
        self.0.push(format!("[{word:?}, {column}, [{}]]", texts.join(", ")));
    }

    /// Adds an option of the table with one text, if it is not the default.
    fn set<T: ToString>(&mut self, word: &str, value: Option<T>) {
        if let Some(value) = value {
            self.add(word, None, &[value.to_string()]);
        }
    }
}

/// Returns the options that differ from the default.
fn settings(options: &Options) -> Vec<String> {
    let plain = Options::default();
    let mut all = Settings::default();
    let mark = |byte: Option<u8>| {
        byte.map_or_else(|| "none".to_owned(), |byte| char::from(byte).to_string())
    };
    all.set("delimiter", options.delimiter.map(|it| it.word()));
    all.set(
        "header",
        match options.header {
            Header::Auto => None,
            Header::Lines(lines) => Some(lines),
        },
    );
    all.set(
        "comment",
        match options.comment {
            Comment::Auto => None,
            Comment::None => Some(mark(None)),
            Comment::Byte(byte) => Some(mark(Some(byte))),
        },
    );
    all.set("quote", (options.quote != plain.quote).then(|| mark(options.quote)));
    all.set("escape", options.escape.map(|byte| mark(Some(byte))));
    all.set("thousands", options.thousands.map(|byte| mark(Some(byte))));
    all.set("decimal", Some(mark(Some(options.decimal))));
    all.set("skip_rows", Some(options.skip_rows));
    all.set("skip_footer", Some(options.skip_footer));
    all.set("rows", options.rows);
    all.set("fields", options.fields);
    all.set("types", options.all_types.map(|kind| kind.word()));
    all.set("encoding_errors", options.replaces.then_some("replace"));
    all.set("encoding", Some(options.encoding.word()));
    all.set(
        "ragged",
        Some(match options.ragged {
            Ragged::Error => "error",
            Ragged::Pad => "pad",
            Ragged::SetAside => "set-aside",
            Ragged::Drop => "drop",
        }),
    );
    add_words(&mut all, options, &plain);
    for (key, kind) in &options.types {
        all.add("types", Some(key), &[kind.word()]);
    }
    for (word, pairs) in [("formats", &options.formats), ("rename", &options.rename)] {
        pairs
            .iter()
            .for_each(|(key, text)| all.add(word, Some(key), std::slice::from_ref(text)));
    }
    for key in options.columns.iter().flatten() {
        all.add("columns", Some(key), &["yes".to_owned()]);
    }
    all.0
}

fn add_words(all: &mut Settings, options: &Options, plain: &Options) {
    for (word, words, usual) in [
        ("null_values", &options.nulls, &plain.nulls),
        ("true_values", &options.trues, &plain.trues),
        ("false_values", &options.falses, &plain.falses),
    ] {
        if words != usual {
            all.add(word, None, words);
        }
    }
    for (key, meaning, words) in &options.words_of {
        let word = match meaning {
            Meaning::Missing => "null_values",
            Meaning::True => "true_values",
            Meaning::False => "false_values",
        };
        all.add(word, Some(key), words);
    }
}
