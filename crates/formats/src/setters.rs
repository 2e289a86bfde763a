//! Options that are set one by one, said as a table.

/// A setter for each line, `with_name(field: Type)`: it puts its value into the field, which may be an
/// `Option` of it, and returns the options.
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
