//! Erlang atoms.
//!
//! There is no atom table. An atom carries its text, up to 23 bytes of it inline and a longer one
//! behind a reference count. So atoms received from peers cannot fill a table, and an atom that is
//! no longer used is freed. Atoms are compared by their text, which is Erlang's order.
//!
//! COST: 24 bytes; a text of more than 23 bytes is allocated once and shared by clones.

use std::borrow::Borrow;
use std::fmt;

use smol_str::SmolStr;

/// An Erlang atom. `Display` prints it as Erlang does, in quotes where it needs them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(SmolStr);

impl Atom {
    /// Maximum number of characters of an atom.
    pub const MAX_CHARS: usize = 255;

    /// `true`
    pub const TRUE: Self = Self::from_static("true");
    /// `false`
    pub const FALSE: Self = Self::from_static("false");
    /// `undefined`, Erlang's absent value.
    pub const UNDEFINED: Self = Self::from_static("undefined");
    /// `nil`, Elixir's absent value.
    pub const NIL: Self = Self::from_static("nil");
    /// `ok`
    pub const OK: Self = Self::from_static("ok");
    /// `error`
    pub const ERROR: Self = Self::from_static("error");
    /// The empty atom. Distribution control messages contain it in the place of a cookie.
    // WHY inline: `""` has a dangling pointer, and comparing zero bytes there takes some processors
    // 100 ns.
    pub const EMPTY: Self = Self(SmolStr::new_inline(""));

    /// Creates an atom.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has more than 255 characters.
    pub fn new(text: &str) -> Result<Self, AtomTooLong> {
        if text.len() > Self::MAX_CHARS && text.chars().count() > Self::MAX_CHARS {
            return Err(AtomTooLong);
        }
        Ok(Self(SmolStr::new(text)))
    }

    /// Creates an atom from a static text, without allocating.
    ///
    /// # Panics
    ///
    /// Panics if the text has more than 255 bytes. In a constant this is a compile-time error.
    pub const fn from_static(text: &'static str) -> Self {
        assert!(text.len() <= Self::MAX_CHARS, "an atom has at most 255 characters");
        Self(SmolStr::new_static(text))
    }

    /// Returns the text, without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Borrow<str> for Atom {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Atom {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Atom {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Atom {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl From<bool> for Atom {
    fn from(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }
}

impl TryFrom<&str> for Atom {
    type Error = AtomTooLong;

    fn try_from(text: &str) -> Result<Self, AtomTooLong> {
        Self::new(text)
    }
}

impl TryFrom<String> for Atom {
    type Error = AtomTooLong;

    fn try_from(text: String) -> Result<Self, AtomTooLong> {
        Self::new(&text)
    }
}

/// Error: a text has more than the 255 characters of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an atom has at most {} characters", Atom::MAX_CHARS)]
pub struct AtomTooLong;

#[cfg(test)]
mod tests {
    use super::{Atom, AtomTooLong};

    #[test]
    fn an_atom_has_at_most_255_characters_however_many_bytes_they_take() {
        let longest = "ö".repeat(255);
        assert_eq!(Atom::new(&longest).map(|atom| atom.as_str().len()), Ok(510));
        assert_eq!(Atom::new(&"a".repeat(256)), Err(AtomTooLong));
        assert_eq!(Atom::new(&"ö".repeat(256)), Err(AtomTooLong));
    }

    #[test]
    fn inline_and_shared_atoms_are_equal_by_their_text() {
        const LONG: &str = "an atom of more than twenty-three bytes";
        assert_eq!(Atom::from_static("ok"), Atom::new("ok").unwrap());
        assert_eq!(Atom::from_static(LONG), Atom::new(LONG).unwrap());
        assert!(Atom::from_static("a") < Atom::from_static("b"));
        assert!(Atom::from_static("z") < Atom::from_static("å"));
    }
}
