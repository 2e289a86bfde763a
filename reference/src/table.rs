//! Numeric tables, line by line and field by field.

/// The rules of the text.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The byte between fields; `None` for any number of spaces and tabs, which are ignored at both
    /// ends of a line.
    pub delimiter: Option<char>,
    /// Whether the first line of data is a header, whatever it contains.
    pub header: bool,
}

/// A table as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// The column names of the header.
    pub names: Option<Vec<String>>,
    /// The fields of each line, without surrounding blanks and quotes.
    pub rows: Vec<Vec<String>>,
}

/// Splits `text`: lines that are empty or begin with `#` are skipped; quotes around a field are
/// removed, and so is a carriage return at the end of a line.
///
/// # Errors
///
/// The number of the first line, from 1, in which the number of fields differs from the first line,
/// a carriage return is not at the end, or `is_right` rejects a field.
pub fn cells(
    text: &str,
    rules: Rules,
    is_right: impl Fn(&str) -> bool,
) -> Result<Cells, usize> {
    let mut names = None;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut columns = 0;
    for (number, line) in (1..).zip(text.split('\n')) {
        let line = line.trim_end_matches('\r');
        if line.contains('\r') {
            return Err(number);
        }
        let blank = |sign: char| " \t".contains(sign) && Some(sign) != rules.delimiter;
        let line = match rules.delimiter {
            Some(_) => line,
            None => line.trim_matches(blank),
        };
        if line.trim_matches(blank).is_empty() || line.trim_matches(blank).starts_with('#') {
            continue;
        }
        let parts: Vec<&str> = match rules.delimiter {
            Some(delimiter) => line.split(delimiter).collect(),
            None => line.split(blank).filter(|part| !part.is_empty()).collect(),
        };
        let bare = |field: &str| {
            let field = field.trim_matches(blank);
            let inner = field.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            inner.map_or(field, |inner| inner.trim_matches(blank)).to_owned()
        };
        let fields: Vec<String> = parts.into_iter().map(bare).collect();
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
        let rules = Rules { delimiter: Some(','), header: true };
        let text = "# a table\na,\"b\"\n1, 2 \r\n\n\"3\",\n";
        let cells = cells(text, rules, |_| true).expect("a table");
        assert_eq!(cells.names, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(cells.rows, [["1", "2"], ["3", ""]]);
    }

    #[test]
    fn blanks_count_once_and_not_around_lines() {
        let rules = Rules { delimiter: None, header: false };
        let cells = cells("  1  2\n3 \t4 \r\n \n  # 5\n", rules, |_| true).expect("a table");
        assert_eq!(cells.rows, [["1", "2"], ["3", "4"]]);
    }

    #[test]
    fn the_first_wrong_line_is_told() {
        let rules = Rules { delimiter: Some('\t'), header: false };
        assert_eq!(cells("1\t2\n3\n", rules, |_| true), Err(2));
        assert_eq!(cells("1\t2\n\n3\tx\n4\n", rules, |field| field != "x"), Err(3));
        assert_eq!(cells("\n# nothing\n", rules, |_| true), Err(1));
        assert_eq!(cells("1\r\n2\r3\n", rules, |_| true), Err(2));
    }
}
