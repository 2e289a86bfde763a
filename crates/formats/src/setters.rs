//! Setters of options, written as a table.

/// Defines a setter `with_name(field: Type)` for each line. It stores its argument in the field,
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
