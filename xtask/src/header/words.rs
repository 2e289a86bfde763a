//! The options by word as a comment of the header, from their rows in the crate.

use anyhow::{Context, Result, ensure};

/// Columns of a line of the comment.
const WIDTH: usize = 96;

/// Returns the comment: for each `rows! { VERB: … }` its words, each with its default and its sentences.
pub(super) fn comment(rows: &str) -> Result<String> {
    let mut lines =
        vec!["/*".to_owned(), " * The words of options, with their defaults:".to_owned()];
    for part in rows.split("\nrows! { ").skip(1) {
        let (verb, rest) = part.split_once(":\n").context("rows without a verb")?;
        let block = rest.split_once("\n}\n").context("rows without an end")?.0;
        lines.push(" *".to_owned());
        lines.push(format!(" * SWATH_VERB_{verb}"));
        lines.extend(block.split("\";\n").map(entry).collect::<Result<Vec<_>>>()?.concat());
    }
    ensure!(lines.len() > 2, "no rows");
    lines.push(" */".to_owned());
    Ok(lines.join("\n"))
}

/// Returns the lines of one word: `/// sentences`, then `word = setter, "default`.
fn entry(row: &str) -> Result<Vec<String>> {
    let sentence: Vec<_> =
        row.lines().filter_map(|line| line.trim_start().strip_prefix("/// ")).collect();
    let code = row.lines().find(|line| line.contains(" = ")).context("a row without a word")?;
    let word = code.trim_start().split_once(" = ").context("a row without a word")?.0;
    let default =
        row.trim_end_matches("\";").rsplit_once('"').context("a row without a default")?.1;
    let default = if default.is_empty() { "none" } else { default };
    let others: Vec<_> = row
        .split("\" =>")
        .filter_map(|part| part.rsplit_once('"'))
        .map(|(_, choice)| choice)
        .filter(|choice| row.contains(&format!("\"{choice}\" =>")) && *choice != default)
        .collect();
    let others = match others.join(", ") {
        none if none.is_empty() => none,
        some => format!("; or {some}"),
    };
    let text = format!("{word} ({default}{others}): {}", sentence.join(" "));
    let mut lines = vec![" *".to_owned()];
    for next in text.split(' ') {
        let last = lines.len() - 1;
        if lines[last].len() + 1 + next.len() > WIDTH {
            lines.push(format!(" *     {next}"));
        } else {
            let gap = if lines[last] == " *" { "   " } else { " " };
            lines[last] += &format!("{gap}{next}");
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_its_default_and_its_sentences() {
        let rows = "\nrows! { READ:\n    /// How many threads,\n    /// in all.\n    workers = number!(a), \"0\";\n    \
                    /// The end.\n    end = choice!(b, [\"cr\" => 1, \"lf\" => 2]), \"lf\";\n    \
                    /// Copies.\n    mirrors = RowSetter {\n        set: b }, \"\";\n}\n\nfn end() {}\n";
        let wanted = "/*\n * The words of options, with their defaults:\n *\n * SWATH_VERB_READ\n \
                      *   workers (0): How many threads, in all.\n *   end (lf; or cr): The end.\n *   mirrors (none): Copies.\n */";
        assert_eq!(comment(rows).expect("rows"), wanted);
        assert!(comment("nothing").is_err());
    }
}
