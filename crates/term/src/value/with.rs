//! Modules for `#[serde(with = "purlin_term::with::…")]`, which select the form of one field and
//! its contents independently of the surrounding options. Reading accepts every form.

/// Name of the newtype by which an encoded term passes through `serde`.
pub(super) const RAW: &str = "$purlin_term::Term";

macro_rules! ways {
    ($($(#[$about:meta])* $way:ident = $name:literal;)*) => {
        /// Names of the newtypes that select a form.
        pub(super) mod names {
            $(#[allow(non_upper_case_globals, reason = "they are named as their modules")]
            pub(in crate::value) const $way: &str = $name;)*
        }
        $($(#[$about])* pub mod $way {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            /// Serializes the field in this form.
            ///
            /// # Errors
            ///
            /// Returns the errors of the field.
            pub fn serialize<T: Serialize, S: Serializer>(
                field: &T,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.serialize_newtype_struct(super::names::$way, field)
            }

            /// Deserializes the field.
            ///
            /// # Errors
            ///
            /// Returns the errors of the field.
            pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<T, D::Error> {
                T::deserialize(deserializer)
            }
        })*
    };
}

ways! {
    /// Structs as `#{field => Value}`.
    map = "$purlin_term::map";
    /// Structs as `#{<<"field">> => Value}`.
    map_of_binaries = "$purlin_term::map_of_binaries";
    /// Structs as `{Value, ...}`.
    tuple = "$purlin_term::tuple";
    /// Structs as `{name, Value, ...}`.
    record = "$purlin_term::record";
    /// Structs as `[{field, Value}]`.
    keyword = "$purlin_term::keyword";
    /// Structs as Elixir structs.
    elixir = "$purlin_term::elixir";
    /// `None` as `undefined`.
    undefined = "$purlin_term::undefined";
    /// `None` as `nil`.
    nil = "$purlin_term::nil";
    /// Strings as binaries.
    binary = "$purlin_term::binary";
    /// Strings as lists of characters.
    list = "$purlin_term::list";
    /// Strings as atoms.
    atom = "$purlin_term::atom";
}
