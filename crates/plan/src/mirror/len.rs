//! The length of the file if its copies differ.

/// The rule for the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// A manifest states it.
    Known(u64),
    /// This many copies must have it.
    Quorum(usize),
    /// Most copies have it; of equally frequent lengths, the longest.
    Most,
}

/// Returns the length of a file whose copies have these lengths (`None`: unreadable), or `None` if
/// the rule does not determine it.
///
/// ```
/// use swath_plan::mirror::{Agreed, agree};
///
/// let lens = [Some(100), Some(90), None, Some(100)];
/// assert_eq!(agree(&lens, Agreed::Most), Some(100));
/// assert_eq!(agree(&lens, Agreed::Quorum(3)), None);
/// assert_eq!(agree(&lens, Agreed::Known(95)), Some(95));
/// // A copy that was cut off is more likely than one that grew.
/// assert_eq!(agree(&[Some(90), Some(100)], Agreed::Most), Some(100));
/// ```
pub fn agree(lens: &[Option<u64>], by: Agreed) -> Option<u64> {
    let votes = |len: u64| lens.iter().filter(|&&it| it == Some(len)).count();
    let best = lens.iter().flatten().copied().max_by_key(|&len| (votes(len), len));
    match by {
        Agreed::Known(len) => Some(len),
        Agreed::Quorum(quorum) => best.filter(|&len| votes(len) >= quorum),
        Agreed::Most => best,
    }
}
