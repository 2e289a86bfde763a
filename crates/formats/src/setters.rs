//! Setters of options, written as a table.

/// Defines a setter for each line, `with_name(field: Type)`. It stores its argument in the field,
/// which may be an `Option` of the type, and returns the options.
macro_rules! setters {
    ($($(#[$said:meta])+ $setter:ident($field:ident: $type:ty);)+) => {$(
        $(#[$said])+
        #[must_use]
        pub fn $setter(mut self, $field: $type) -> Self {
            self.$field = $field.into();
            self
        }
    )+};
}
pub(crate) use setters;
