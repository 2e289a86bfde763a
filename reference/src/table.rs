//! Numeric tables, line by line and field by field.

/// How the text is written.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Between fields.
    pub delimiter: char,
    /// Whether the first line of data is a header, whatever it holds.
    pub header: bool,
}

/// A table as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// What the header says.
    pub names: Option<Vec<String>>,
    /// The fields of each line, without blanks and quotes around them.
    pub rows: Vec<Vec<String>>,
}

/// Takes `text` apart: lines that are empty or begin with `#` are left out; a quote around a
/// field is taken off.
///
/// # Errors
///
/// The number of the first line, from 1, that has another number of fields than the first one, or
/// a field for which `is_right` says no.
pub fn cells(
    text: &str,
    rules: Rules,
    is_right: impl Fn(&str) -> bool,
) -> Result<Cells, usize> {
    let mut names = None;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut columns = 0;
    for (number, line) in (1..).zip(text.split('\n')) {
        let blank = |sign: char| " \t\r".contains(sign) && sign != rules.delimiter;
        if line.starts_with('#') || line.chars().all(blank) {
            continue;
        }
        let fields: Vec<String> = line
            .split(rules.delimiter)
            .map(|field| {
                let field = field.trim_matches(blank);
                let inner = field.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
                inner.map_or(field, |inner| inner.trim_matches(blank)).to_owned()
            })
            .collect();
        if rows.is_empty() && names.is_none() {
            columns = fields.len();
            if rules.header {
                names = Some(fields);
                continue;
            }
        }
        if fields.len() != columns || !fields.iter().all(|field| is_right(field)) {
            return Err(number);
        }
        rows.push(fields);
    }
    if columns == 0 { Err(1) } else { Ok(Cells { names, rows }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_taken_apart_as_by_hand() {
        let rules = Rules { delimiter: ',', header: true };
        let text = "# a table\na,\"b\"\n1, 2 \r\n\n\"3\",\n";
        let cells = cells(text, rules, |_| true).expect("a table");
        assert_eq!(cells.names, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(cells.rows, [["1", "2"], ["3", ""]]);
    }

    #[test]
    fn the_first_wrong_line_is_told() {
        let rules = Rules { delimiter: '\t', header: false };
        assert_eq!(cells("1\t2\n3\n", rules, |_| true), Err(2));
        assert_eq!(cells("1\t2\n\n3\tx\n4\n", rules, |field| field != "x"), Err(3));
        assert_eq!(cells("\n# nothing\n", rules, |_| true), Err(1));
    }
}
