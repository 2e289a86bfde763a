//! Setters of options, written as a table.

/// Defines a setter `fn with_name(field: Type)` for each line. It stores its argument in the field,
/// which may be an `Option` of the type, and returns the options. With `in part`, the field belongs
/// to that part.
///
/// ```
/// #[derive(Default)]
/// pub struct Options {
///     workers: usize,
///     limit: Option<u64>,
/// }
/// impl Options {
///     swath_plan::setters! {
///         /// Threads.
///         fn with_workers(workers: usize);
///
///         /// Bytes at most.
///         fn with_limit(limit: u64);
///     }
/// }
/// let options = Options::default().with_workers(2).with_limit(9);
/// assert_eq!((options.workers, options.limit), (2, Some(9)));
/// ```
#[macro_export]
macro_rules! setters {
    ($($(#[$said:meta])+ fn $setter:ident($field:ident: $type:ty) $(in $part:ident)?;)+) => {$(
        $(#[$said])+
        #[must_use]
        pub fn $setter(mut self, $field: $type) -> Self {
            self.$($part.)?$field = $field.into();
            self
        }
    )+};
}
