//! Parses the part of a file before its entries.

use crate::error::FormatReason;
use crate::foreign;
use crate::matrix::kinds::{Field, Layout, Symmetry};
use crate::matrix::line::LineCursor;
use crate::matrix::options::{MatrixFormat, MatrixOptions, Strictness};
use crate::matrix::shape::CommentShape;
use crate::text::{Hinted, TextFault};

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatrixHeader {
    /// The arrangement of entries.
    pub layout: Layout,
    /// The type of the values.
    pub field: Field,
    /// The entries that are left out.
    pub symmetry: Symmetry,
    /// Number of rows; `None` for edges, where only the ids show it.
    pub row_count: Option<u64>,
    /// Number of columns; `None` as for rows.
    pub column_count: Option<u64>,
    /// Number of entries in the file; `None` for edges.
    pub entry_count: Option<u64>,
    /// The id of the first row and column, unless the options set it: 1 in Matrix Market; 0 in
    /// edges, unless a comment gives another.
    pub first_id: u64,
    /// Offset of the first line after the header, in bytes.
    pub body_offset: u64,
}

/// The reason why no header was parsed.
#[derive(Debug)]
pub(super) enum Stop {
    /// The header does not end within these bytes.
    More,
    Fault(Hinted),
}

impl From<TextFault> for Stop {
    fn from(fault: TextFault) -> Self {
        Self::Fault(fault.into())
    }
}

/// The first lines of a file.
struct MatrixHead<'b> {
    cursor: LineCursor<'b>,
    /// Whether the file ends with these bytes.
    is_whole: bool,
}

impl<'b> MatrixHead<'b> {
    /// Returns the next line, without its newline, and its offset; `None` after the last one.
    fn line(&mut self) -> Result<Option<(u64, &'b [u8])>, Stop> {
        let start = self.cursor.at;
        self.cursor.skip_line();
        let line = &self.cursor.bytes[start..self.cursor.at];
        match line.strip_suffix(b"\n") {
            Some(line) => Ok(Some((start as u64, line))),
            None if !self.is_whole => Err(Stop::More),
            None => Ok((!line.is_empty()).then_some((start as u64, line))),
        }
    }
}

/// Whether the first bytes of a file are a Matrix Market banner, in any case, possibly after a byte
/// order mark.
///
/// ```
/// assert!(swath_formats::matrix::has_banner(b"\xef\xbb\xbf%%matrixmarket matrix array real general"));
/// assert!(!swath_formats::matrix::has_banner(b"% 1 2"));
/// ```
pub fn has_banner(head: &[u8]) -> bool {
    foreign::is_market(head)
}

/// Parses the header from the first bytes of a file.
pub(super) fn parse(
    bytes: &[u8],
    is_whole: bool,
    format: MatrixFormat,
    options: &MatrixOptions,
) -> Result<MatrixHeader, Stop> {
    if bytes.is_empty() && is_whole {
        return Err(TextFault::malformed(0, "the file is empty").into());
    }
    let is_market = match format {
        MatrixFormat::MatrixMarket => true,
        // Its lines would pass for edges, even the line of sizes.
        MatrixFormat::Edges if has_banner(bytes) => {
            let what = "this is a Matrix Market file, not a list of edges";
            let hint = "leave the format to the file, or set it to `mtx`";
            return Err(Stop::Fault(Hinted { fault: TextFault::malformed(0, what), hint }));
        }
        MatrixFormat::Edges => false,
        MatrixFormat::Auto => has_banner(bytes),
    };
    let head = MatrixHead { cursor: LineCursor { bytes, at: 0 }, is_whole };
    if is_market { market(head, options.strictness) } else { edges(head, options) }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

fn market(mut head: MatrixHead<'_>, strictness: Strictness) -> Result<MatrixHeader, Stop> {
    let is_permissive = strictness == Strictness::Permissive;
    let end = |head: &MatrixHead<'_>, what: &str| TextFault {
        offset: head.cursor.at as u64,
        reason: FormatReason::Truncated,
        detail: format!("the file ends before {what}"),
    };
    let (at, banner) = loop {
        match head.line()? {
            Some((_, line)) if is_permissive && is_blank(line) => {}
            Some(line) => break line,
            None => return Err(end(&head, "its banner").into()),
        }
    };
    let (layout, field, symmetry) = banner_of(at, banner, is_permissive)?;
    let (at, sizes) = loop {
        match head.line()? {
            Some((_, line)) if line.starts_with(b"%") || is_blank(line) => {}
            Some((_, line)) if is_permissive && line.trim_ascii_start().starts_with(b"%") => {}
            Some(line) => break line,
            None => return Err(end(&head, "the line with its sizes").into()),
        }
    };
    let body_offset = head.cursor.at as u64;
    let header = MatrixHeader {
        layout,
        field,
        symmetry,
        row_count: None,
        column_count: None,
        entry_count: None,
        first_id: 1,
        body_offset,
    };
    Ok(with_sizes(header, at, sizes)?)
}

const NO_BANNER: &str =
    "the banner is missing: a Matrix Market file begins with `%%MatrixMarket matrix …`";

/// Parses the words of a banner.
fn banner_of(
    at: u64,
    line: &[u8],
    is_permissive: bool,
) -> Result<(Layout, Field, Symmetry), TextFault> {
    let wrong = |detail: &str| TextFault::malformed(at, detail);
    let text = std::str::from_utf8(line).map_err(|_| wrong(NO_BANNER))?;
    let words: Vec<String> = if is_permissive {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let name = text.trim_start_matches('%');
        if name.len() == text.len() {
            return Err(wrong(NO_BANNER));
        }
        name.split_ascii_whitespace().map(str::to_ascii_lowercase).collect()
    } else {
        let name = text.strip_prefix("%%MatrixMarket").ok_or_else(|| wrong(NO_BANNER))?;
        std::iter::once("matrixmarket")
            .filter(|_| name.starts_with([' ', '\t']))
            .chain(name.split_ascii_whitespace())
            .map(str::to_ascii_lowercase)
            .collect()
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let &[name, object, layout, field, symmetry] = &words[..] else {
        let detail = if words.first() == Some(&"matrixmarket") {
            "the banner needs four words after `%%MatrixMarket`"
        } else {
            NO_BANNER
        };
        return Err(wrong(detail));
    };
    match (name, object) {
        ("matrixmarket", "matrix") => {}
        ("matrixmarket", _) => return Err(wrong("the banner's object is not `matrix`")),
        _ => return Err(wrong(NO_BANNER)),
    }
    let layout = match layout {
        "coordinate" => Layout::Coordinate,
        "array" => Layout::Array,
        _ => return Err(wrong("the banner's layout is neither `coordinate` nor `array`")),
    };
    let field = match field {
        "real" => Field::Real,
        "double" if is_permissive => Field::Real,
        "integer" => Field::Integer,
        "unsigned-integer" if is_permissive => Field::Unsigned,
        "complex" => Field::Complex,
        "pattern" => Field::Pattern,
        _ => return Err(wrong("the banner's field is unknown")),
    };
    let known = Symmetry::WORDS.iter().find(|(word, _)| *word == symmetry);
    let &(_, symmetry) = known.ok_or_else(|| wrong("the banner's symmetry is unknown"))?;
    match (layout, field, symmetry) {
        (Layout::Array, Field::Pattern, _) => Err(wrong("an array must have values")),
        (_, Field::Pattern, Symmetry::SkewSymmetric) => {
            Err(wrong("a skew-symmetric matrix must have values"))
        }
        (_, Field::Complex, Symmetry::Hermitian) => Ok((layout, field, symmetry)),
        // A real Hermitian matrix is symmetric.
        (_, _, Symmetry::Hermitian) if is_permissive => {
            Ok((layout, field, Symmetry::Symmetric))
        }
        (_, _, Symmetry::Hermitian) => {
            Err(wrong("a Hermitian matrix must have complex values"))
        }
        banner => Ok(banner),
    }
}

/// Parses the line with the rows, the columns and, unless it is an array, the entries.
fn with_sizes(
    mut header: MatrixHeader,
    at: u64,
    line: &[u8],
) -> Result<MatrixHeader, TextFault> {
    let mut cursor = LineCursor { bytes: line, at: 0 };
    let expected = if header.layout == Layout::Array { 2 } else { 3 };
    let mut sizes = [0; 3];
    for size in &mut sizes[..expected] {
        cursor.skip_blanks();
        let start = cursor.at;
        let number = cursor.unsigned();
        let ends = matches!(cursor.peek(), None | Some(b' ' | b'\t' | b'\r'));
        let Some(number) = number.filter(|_| ends) else {
            return Err(wrong_number(line, start, at, "a size"));
        };
        *size = number;
    }
    cursor.skip_blanks();
    if !cursor.is_line_end() {
        let detail = format!("more than the expected {expected} sizes");
        return Err(TextFault::malformed(at + cursor.at as u64, detail));
    }
    let [rows, columns, entries] = sizes;
    if header.symmetry != Symmetry::General && rows != columns {
        return Err(TextFault::malformed(at, "a symmetric matrix must be square"));
    }
    (header.row_count, header.column_count) = (Some(rows), Some(columns));
    header.entry_count = Some(if header.layout == Layout::Array {
        stored(rows, columns, header.symmetry)
            .ok_or_else(|| TextFault::too_large(at, "the number of values exceeds 64 bits"))?
    } else {
        entries
    });
    Ok(header)
}

/// Returns the number of values that an array of this size stores in its file.
fn stored(rows: u64, columns: u64, symmetry: Symmetry) -> Option<u64> {
    let [n, m] = [rows, columns].map(u128::from);
    let count = match symmetry {
        Symmetry::General => n * m,
        Symmetry::Symmetric | Symmetry::Hermitian => n * (n + 1) / 2,
        Symmetry::SkewSymmetric => n * n.saturating_sub(1) / 2,
    };
    u64::try_from(count).ok()
}

/// Returns the fault of the word at `start` in `bytes`, which begin at offset `at` of the file.
pub(super) fn wrong_number(bytes: &[u8], start: usize, at: u64, what: &str) -> TextFault {
    let word = LineCursor { bytes, at: start }.word();
    let offset = at + start as u64;
    if word.contains(&0) {
        TextFault::malformed(offset, format!("{what} contains a NUL byte"))
    } else if word.is_empty() {
        TextFault::malformed(offset, format!("{what} is missing"))
    } else if word.iter().all(u8::is_ascii_digit) {
        TextFault::too_large(offset, format!("{what} needs more than 64 bits"))
    } else {
        TextFault::malformed(offset, format!("{what} is not a number"))
    }
}

/// Parses the comments before the first edge, and finds whether edges have weights.
fn edges(mut head: MatrixHead<'_>, options: &MatrixOptions) -> Result<MatrixHeader, Stop> {
    let is_permissive = options.strictness == Strictness::Permissive;
    if is_permissive && head.cursor.bytes.starts_with(b"\xef\xbb\xbf") {
        head.cursor.at = 3;
    }
    let mut body_offset = head.cursor.at as u64;
    let mut shape = None;
    let field = loop {
        let line = match head.line() {
            // An edge longer than this has too many words.
            Err(Stop::More) if head.cursor.at as u64 - body_offset > 1 << 16 => {
                let start = usize::try_from(body_offset).unwrap_or(usize::MAX);
                &head.cursor.bytes[start..]
            }
            line => match line? {
                Some((_, line)) => line,
                None if shape.is_some() || options.shape.is_some() => break Field::Pattern,
                None => {
                    let offset = head.cursor.at as u64;
                    return Err(
                        TextFault::malformed(offset, "the file contains no edges").into()
                    );
                }
            },
        };
        let start = line.trim_ascii_start();
        if start.is_empty() || start.starts_with(b"#") || start.starts_with(b"%") {
            shape = shape.or_else(|| CommentShape::parse(start));
            body_offset = head.cursor.at as u64;
            continue;
        }
        let words = line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        let words = words.filter(|word| !word.is_empty()).count();
        break if words < 3 { Field::Pattern } else { Field::Real };
    };
    let told = shape.map(|shape: CommentShape| (shape.rows, shape.columns));
    let size = options.shape.or(told).unzip();
    Ok(MatrixHeader {
        layout: Layout::Edges,
        field: shape.map_or(field, |shape| shape.field),
        symmetry: Symmetry::General,
        row_count: size.0,
        column_count: size.1,
        entry_count: None,
        first_id: shape.map_or(0, |shape| shape.first),
        body_offset,
    })
}
