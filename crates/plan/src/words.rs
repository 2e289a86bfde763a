//! The words for the variants of an enum: one table each, for the command, Python and display.

/// Gives an enum its words: the table `WORDS`, `word` and `Display`.
///
/// ```
/// #[derive(Clone, Copy)]
/// pub enum Side {
///     Left,
///     Right,
/// }
/// swath_plan::words!(Side { Left = "left", Right = "right" });
/// assert_eq!((Side::WORDS.len(), Side::Right.word()), (2, "right"));
/// assert_eq!(Side::Left.to_string(), "left");
/// ```
#[macro_export]
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// All variants, with the words that users write.
            pub const WORDS: &'static [(&'static str, Self)] =
                &[$(($word, Self::$variant)),+];

            /// Returns the word.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl ::core::fmt::Display for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}
