//! Matrices from text, word by word.
//!
//! ```
//! let matrix = swath_reference::matrix::market("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 5\n");
//! let matrix = matrix.expect("a matrix");
//! assert_eq!(matrix.entries(), [(1, 0, [5.0, 0.0]), (0, 1, [5.0, 0.0])]);
//! ```

/// A value: its real and its imaginary part.
pub type MatrixValue = [f64; 2];

/// A matrix in the form of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The number of rows.
    pub rows: u64,
    /// The number of columns.
    pub columns: u64,
    /// `real`, `integer`, `unsigned-integer`, `complex` or `pattern`.
    pub field: String,
    /// `general`, `symmetric`, `skew-symmetric` or `hermitian`.
    pub symmetry: String,
    /// The stored entries, in the order of the file: row and column, counted from 0, and the words
    /// of the value.
    pub stored: Vec<(u64, u64, Vec<String>)>,
}

impl Matrix {
    /// Returns all entries, each followed by its mirror image, if it has one.
    #[must_use]
    pub fn entries(&self) -> Vec<(u64, u64, MatrixValue)> {
        let mut entries = Vec::new();
        for (row, column, words) in &self.stored {
            let part = |at: usize| words.get(at).map(|word| word.parse().expect("a number"));
            let real = part(0).unwrap_or(1.0);
            let imaginary = part(1).unwrap_or(0.0);
            entries.push((*row, *column, [real, imaginary]));
            if row == column {
                continue;
            }
            match self.symmetry.as_str() {
                "symmetric" => entries.push((*column, *row, [real, imaginary])),
                // There is no integer -0.
                "skew-symmetric" if self.field == "integer" => {
                    entries.push((*column, *row, [0.0 - real, 0.0]));
                }
                "skew-symmetric" if self.field == "complex" => {
                    entries.push((*column, *row, [-real, -imaginary]));
                }
                "skew-symmetric" => entries.push((*column, *row, [-real, 0.0])),
                "hermitian" => entries.push((*column, *row, [real, -imaginary])),
                _ => {}
            }
        }
        entries
    }
}

/// Returns the starts of the rows, and the entries, sorted by row and otherwise in their order.
#[must_use]
pub fn by_row(
    rows: u64,
    entries: &[(u64, u64, MatrixValue)],
) -> (Vec<u64>, Vec<(u64, MatrixValue)>) {
    let mut entries = entries.to_vec();
    // Stable: equal rows keep their order.
    entries.sort_by_key(|entry| entry.0);
    let mut offsets = vec![0; usize::try_from(rows).expect("memory") + 1];
    for entry in &entries {
        offsets[usize::try_from(entry.0).expect("memory") + 1] += 1;
    }
    for row in 1..offsets.len() {
        offsets[row] += offsets[row - 1];
    }
    (offsets, entries.into_iter().map(|(_, column, value)| (column, value)).collect())
}

/// Reads Matrix Market, including comments between entries.
///
/// # Errors
///
/// A description, if the text is not Matrix Market.
pub fn market(text: &str) -> Result<Matrix, String> {
    let mut lines = text.split('\n').filter(|line| !line.trim().is_empty());
    let banner = lines.next().ok_or("empty")?.to_lowercase();
    let words: Vec<&str> = banner.split_whitespace().collect();
    let [name, "matrix", layout, field, symmetry] = words[..] else {
        return Err("banner".to_owned());
    };
    // Each number is its own conjugate.
    let is_real_hermitian = symmetry == "hermitian" && field != "complex";
    let symmetry = if is_real_hermitian { "symmetric" } else { symmetry };
    if !name.starts_with('%') || name.trim_start_matches('%') != "matrixmarket" {
        return Err("banner".to_owned());
    }
    let mut lines = lines.filter(|line| !line.trim_start().starts_with('%'));
    let sizes = lines.next().ok_or("no sizes")?;
    let sizes: Result<Vec<u64>, _> = sizes.split_whitespace().map(str::parse).collect();
    let sizes = sizes.map_err(|error| error.to_string())?;
    let mut matrix = Matrix {
        rows: sizes[0],
        columns: sizes[1],
        field: field.to_owned(),
        symmetry: symmetry.to_owned(),
        stored: Vec::new(),
    };
    let words_of_value = words_of(field);
    let mut place = (u64::from(symmetry == "skew-symmetric"), 0);
    for line in lines {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let (row, column) = if layout == "array" {
            let here = place;
            place.0 += 1;
            if place.0 == matrix.rows {
                place.1 += 1;
                place.0 = match symmetry {
                    "general" => 0,
                    "skew-symmetric" => place.1 + 1,
                    _ => place.1,
                };
            }
            here
        } else {
            let id = |at: usize| words.get(at)?.parse::<u64>().ok()?.checked_sub(1);
            let ids = (id(0), id(1));
            let (Some(row), Some(column)) = ids else { return Err(format!("ids {line}")) };
            words.drain(..2);
            (row, column)
        };
        if row >= matrix.rows || column >= matrix.columns || words.len() != words_of_value {
            return Err(format!("line {line}"));
        }
        if !words.iter().all(|word| is_value(word, field)) {
            return Err(format!("value {line}"));
        }
        if symmetry == "hermitian" && row == column && words[1].parse() != Ok(0.0) {
            return Err(format!("diagonal {line}"));
        }
        let is_zero = |word: &&str| word.parse() == Ok(0.0);
        if symmetry == "skew-symmetric" && row == column && !words.iter().all(is_zero) {
            return Err(format!("diagonal {line}"));
        }
        matrix.stored.push((row, column, words.into_iter().map(str::to_owned).collect()));
    }
    if field == "integer" && !have_one_type(&matrix) {
        return Err("negative values, and values beyond 63 bits".to_owned());
    }
    let is_complete = layout == "array" || sizes[2] == matrix.stored.len() as u64;
    if is_complete { Ok(matrix) } else { Err("the number of entries".to_owned()) }
}

fn words_of(field: &str) -> usize {
    match field {
        "pattern" => 0,
        "complex" => 2,
        _ => 1,
    }
}

fn is_value(word: &str, field: &str) -> bool {
    let is_unsigned = |value: i128| u64::try_from(value).is_ok();
    match field {
        "integer" => word.parse::<i64>().is_ok() || word.parse::<u64>().is_ok(),
        "unsigned-integer" => word.parse().is_ok_and(is_unsigned),
        _ => is_real(word),
    }
}

/// Whether a word is a number, except for a whole number that no double equals.
fn is_real(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-']);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let digits = digits.trim_start_matches('0');
    word.parse::<f64>().is_ok_and(|value| {
        !is_whole || format!("{:.0}", value.abs()).trim_start_matches('0') == digits
    })
}

/// Whether one 64-bit type holds all integers.
fn have_one_type(matrix: &Matrix) -> bool {
    let all = || matrix.stored.iter().flat_map(|(_, _, words)| words);
    all().all(|word| word.parse::<i64>().is_ok())
        || all().all(|word| word.parse::<u64>().is_ok())
}

/// Reads edges whose ids begin at `base`; the largest id determines the number of vertices.
///
/// # Errors
///
/// A description, if there are no edges, or a line is not an edge.
pub fn edges(text: &str, base: u64) -> Result<Matrix, String> {
    let mut stored = Vec::new();
    let mut vertices = 0;
    for line in text.split('\n') {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with('%') {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let id = |at: usize| words.get(at)?.parse::<u64>().ok()?.checked_sub(base);
        let (Some(from), Some(to)) = (id(0), id(1)) else { return Err(format!("ids {line}")) };
        vertices = vertices.max(from + 1).max(to + 1);
        let value: Vec<String> = words[2..].iter().map(|&word| word.to_owned()).collect();
        if value.iter().any(|word| !is_real(word)) {
            return Err(format!("value {line}"));
        }
        stored.push((from, to, value));
    }
    let width = stored.first().ok_or("no edges")?.2.len();
    if width > 1 || stored.iter().any(|(_, _, value)| value.len() != width) {
        return Err("columns".to_owned());
    }
    let field = if width == 0 { "pattern" } else { "real" };
    let (field, symmetry) = (field.to_owned(), "general".to_owned());
    Ok(Matrix { rows: vertices, columns: vertices, field, symmetry, stored })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_matrix_is_the_one_done_by_hand() {
        let text = "%MatrixMarket matrix array integer skew-symmetric\n%\n3 3\n1\n2\n\n3";
        let matrix = market(text).expect("a matrix");
        let one = |row, column, real| (row, column, [real, 0.0]);
        let expected = [
            one(1, 0, 1.0),
            one(0, 1, -1.0),
            one(2, 0, 2.0),
            one(0, 2, -2.0),
            one(2, 1, 3.0),
            one(1, 2, -3.0),
        ];
        assert_eq!(matrix.entries(), expected);
        let (offsets, placed) = by_row(3, &matrix.entries());
        assert_eq!(offsets, [0, 2, 4, 6]);
        assert_eq!(placed[..2], [(1, [-1.0, 0.0]), (2, [-2.0, 0.0])]);
    }

    #[test]
    fn edges_say_how_many_vertices_there_are() {
        let graph = edges("# from to\n1 5\n2 2\n", 1).expect("two edges");
        assert_eq!((graph.rows, graph.stored.len()), (5, 2));
        assert!(edges("0 1\n", 1).is_err() && edges("# none\n", 0).is_err());
    }
}
