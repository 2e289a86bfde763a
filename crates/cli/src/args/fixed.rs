//! Where columns of fixed width are, as flags say it.

use swath_formats::table::FixedColumn;

/// Widths of columns; `None` to find them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widths(pub(super) Option<Vec<usize>>);

/// Positions of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positions(pub(super) Vec<FixedColumn>);

/// Parses widths.
pub(super) fn widths(words: &str) -> Result<Widths, String> {
    if words == "auto" {
        return Ok(Widths(None));
    }
    let widths = words.split(',').map(|word| word.trim().parse().ok());
    let widths = widths.collect::<Option<_>>();
    widths.map(|widths| Widths(Some(widths))).ok_or_else(|| {
        "write widths in characters, as in 10,5,8, or `auto` to find them".to_owned()
    })
}

/// Parses positions.
pub(super) fn positions(words: &str) -> Result<Positions, String> {
    let columns = words.split(',').map(|word| position(word.trim()));
    columns.collect::<Option<_>>().map(Positions).ok_or_else(|| {
        "write positions from 0, without the end, as in 0..10,12..20,25..".to_owned()
    })
}

fn position(word: &str) -> Option<FixedColumn> {
    let (start, end) = word.split_once("..")?;
    let start = start.parse().ok()?;
    Some(match end {
        "" => FixedColumn::from(start..),
        end => FixedColumn::from(start..end.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_and_positions_are_separated_by_commas() {
        assert_eq!(widths("10,5, 8"), Ok(Widths(Some(vec![10, 5, 8]))));
        assert_eq!(widths("auto"), Ok(Widths(None)));
        let columns = vec![(0..10).into(), (12..20).into(), FixedColumn::from(25..)];
        assert_eq!(positions("0..10,12..20, 25.."), Ok(Positions(columns)));
        for wrong in ["", "a", "1,,2", "-1", "1.5"] {
            assert!(widths(wrong).is_err_and(|text| text.contains("as in 10,5,8")), "{wrong}");
        }
        for wrong in ["", "1", "..3", "1...3", "a..b", "1..2,,"] {
            assert!(
                positions(wrong).is_err_and(|text| text.contains("as in 0..10")),
                "{wrong}"
            );
        }
    }
}
