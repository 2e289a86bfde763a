//! Words that read as translated.
//!
//! ```text
//! text → words and sentence ends, without `code` → each phrase of PHRASES → what to write
//! ```

use super::Violation;
use super::tables::{ARTICLES, BE, DATA_UNDER, NOT_OURS, PHRASES, PROSE, THINGS};
use super::taken::{END, FROM};
use super::tree::Tree;

/// Beginnings of a documentation comment that does not name its item.
const UNNAMED: &[(&str, &str)] = &[("///", "What"), ("//!", "What")];

/// A word in lower case, or `.`, `:` or `"` where a phrase ends, on `line`.
struct Word {
    text: String,
    line: usize,
}

/// Finds the phrases of [`PHRASES`] in every text that people of this project write.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_ours(path)) {
        let words = words(text);
        for (phrase, instead) in PHRASES {
            let pattern: Vec<&str> = phrase.split(' ').collect();
            for found in words.windows(pattern.len()).filter(|it| matches(it, &pattern)) {
                let said: Vec<&str> = found.iter().map(|it| it.text.as_str()).collect();
                let text = format!("`{}`: write {instead}", said.join(" "));
                violations.push(Violation::new(path, found[0].line, text));
            }
        }
        let lines = text.lines().enumerate();
        let unnamed = lines.filter(|(_, line)| UNNAMED.contains(&opening(line)));
        violations.extend(unnamed.map(|(index, _)| {
            let text = "begin with the name of the thing, or with what the function does";
            Violation::new(path, index + 1, text.to_owned())
        }));
    }
    violations
}

/// The two words with which a comment begins.
fn opening(line: &str) -> (&str, &str) {
    let mut words = line.split_whitespace();
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

fn is_ours(path: &str) -> bool {
    let is_data = DATA_UNDER.iter().any(|folder| path.starts_with(folder));
    let is_of_others = NOT_OURS.iter().any(|start| path.starts_with(start));
    !is_of_others && (!is_data || path.starts_with("vectors/") && path.ends_with(PROSE))
}

/// The words of `text`, without code between backticks on one line and without what a paper takes from
/// a record.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut is_taken = false;
    for (index, line) in text.lines().enumerate() {
        is_taken = line.starts_with(FROM) || is_taken && line != END;
        if is_taken {
            continue;
        }
        let mut push = |text: String| words.push(Word { text, line: index + 1 });
        if line.trim().is_empty() {
            push(".".to_owned());
        }
        for (part, span) in line.split('`').enumerate() {
            if part % 2 == 1 {
                push(".".to_owned());
                continue;
            }
            let mut word = String::new();
            for sign in span.chars().chain([' ']) {
                if sign.is_alphanumeric() || sign == '_' || sign == '\'' {
                    word.push(sign);
                    continue;
                }
                // Code of Rust and Python has `None`, and prose has it at the start of a sentence only.
                if !word.is_empty() {
                    let word = std::mem::take(&mut word);
                    push(if word == "None" { ".".to_owned() } else { word.to_lowercase() });
                }
                match sign {
                    '.' | ';' | '!' | '?' | '|' | '(' | ')' => push(".".to_owned()),
                    ':' | '"' => push(sign.into()),
                    _ => {}
                }
            }
        }
    }
    words
}

fn matches(words: &[Word], pattern: &[&str]) -> bool {
    words.iter().zip(pattern).all(|(word, part)| match *part {
        "TO_BE" => BE.contains(&word.text.as_str()),
        "ARTICLE" => ARTICLES.contains(&word.text.as_str()),
        "THING" => THINGS.contains(&word.text.as_str()),
        "NOUN" => !["longer", "more", ".", ":", "\""].contains(&word.text.as_str()),
        "SUBJECT" => !["there", ".", ":", "\""].contains(&word.text.as_str()),
        part => word.text == part,
    })
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const PATH: &str = "docs/guide/reading.md";

    /// Returns a phrase as a person writes it.
    fn written(phrase: &str) -> String {
        let words = phrase.split(' ').map(|part| match part {
            "TO_BE" => "are",
            "THING" => "it",
            "ARTICLE" => "an",
            "NOUN" | "SUBJECT" => "file",
            part => part,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_phrase_is_found_across_lines_in_capitals_and_in_comments() {
        for (phrase, instead) in PHRASES {
            let written = written(phrase);
            let wrapped = written.replace(' ', "\n/// ");
            let capital = written.to_uppercase();
            for text in [&written, &wrapped, &capital] {
                let planted = Planted::clean();
                planted.put(PATH, &format!("\nFirst {text}, then\n"));
                planted.finds(check, &format!("{PATH}:2: `{written}`: write {instead}"));
            }
        }
    }

    #[test]
    fn code_names_and_ends_of_sentences_are_no_phrases() {
        let planted = Planted::clean();
        let word = PHRASES[0].0;
        let text = format!(
            "`{word}` a_{word}_b\nIt is no longer so. Many are no. None is so: many.\n\
                 There are none, there is none, and x is None\n"
        );
        planted.put(PATH, &text);
        assert!(planted.found(check).is_empty(), "{:?}", planted.found(check));
        planted.put(PATH, &format!("<!-- from: a, b -->\n{word}\n<!-- /from -->\n{word}\n"));
        planted.finds(check, &format!("{PATH}:4: `{word}`"));
    }

    #[test]
    fn a_comment_that_names_nothing_is_found() {
        let planted = Planted::clean();
        planted.put("crates/plan/src/a.rs", "//! What is here.\n/// Where it is.\nfn a() {}\n");
        planted.finds(check, "crates/plan/src/a.rs:1: begin with the name of the thing");
    }
}
