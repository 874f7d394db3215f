//! Options for writing values.

use crate::Atom;

/// Options for writing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Form of structs.
    pub structs: Structs,
    /// Form of `None`.
    pub absent: Absent,
    /// Form of strings.
    pub strings: Strings,
}

/// Form of structs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structs {
    /// `#{field => Value}`
    #[default]
    Map,
    /// `#{<<"field">> => Value}`
    MapOfBinaries,
    /// `{Value, ...}`, in the order of the fields.
    Tuple,
    /// `{name, Value, ...}`, in the order of the fields.
    Record,
    /// `[{field, Value}]`
    Keyword,
    /// `#{'__struct__' => 'Elixir.Name', field => Value}`, an Elixir struct.
    Elixir,
}

/// Form of `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absent {
    /// `undefined`, as in Erlang.
    #[default]
    Undefined,
    /// `nil`, as in Elixir.
    Nil,
}

/// Form of strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strings {
    /// A binary in UTF-8.
    #[default]
    Binary,
    /// A list of characters.
    List,
    /// An atom.
    Atom,
}

impl Absent {
    pub(super) fn atom(self) -> Atom {
        match self {
            Self::Undefined => Atom::UNDEFINED,
            Self::Nil => Atom::NIL,
        }
    }
}
