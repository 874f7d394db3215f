//! A node's name, `name@host`, as it is told to epmd and in handshakes. Pure.
//!
//! A [`NodeName`] is always one that a node may have, so whatever holds one need not look again.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The most characters of a node's name, as of any atom.
pub(crate) const MOST_CHARACTERS: usize = 255;

/// A node's name: something before one `@` and something behind it, at most 255 characters.
///
/// Names are ordered by their text; of two nodes that call each other at once the greater one's call counts.
///
/// ```
/// use purlin_dist::NodeName;
///
/// let name: NodeName = "shop@127.0.0.1".parse()?;
/// assert_eq!((name.alive(), name.host()), ("shop", "127.0.0.1"));
/// assert!("shop".parse::<NodeName>().is_err());
/// # Ok::<(), purlin_dist::BadName>(())
/// ```
///
/// COST: a clone counts a reference.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeName {
    text: Arc<str>,
    /// Where the `@` is.
    at: usize,
}

impl NodeName {
    /// The part before the `@`: what epmd knows the node by.
    #[must_use]
    pub fn alive(&self) -> &str {
        &self.text[..self.at]
    }

    /// The part behind the `@`.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.text[self.at + 1..]
    }

    /// Whether it is a long name, as `erl -name` gives it: the host is an address, or has a dot in it. A short one,
    /// of `erl -sname`, has neither. Nodes of one form do not call those of the other.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.host().contains(['.', ':'])
    }

    /// All of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for NodeName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let whole = match text.split_once('@') {
            Some((alive, host)) => is_part(alive) && is_part(host),
            None => false,
        };
        if !whole || text.chars().count() > MOST_CHARACTERS {
            return Err(BadName);
        }
        Ok(Self { at: text.find('@').ok_or(BadName)?, text: text.into() })
    }
}

/// Whether it may stand on one side of the `@`.
pub(crate) fn is_part(text: &str) -> bool {
    let fits = |one: char| one != '@' && !one.is_control() && !one.is_whitespace();
    !text.is_empty() && text.chars().all(fits)
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.text)
    }
}

/// What is no node's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadName;

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "not a node's name: it has the form name@host, at most {MOST_CHARACTERS} characters, no blanks"
        )
    }
}

impl std::error::Error for BadName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_at_sign_with_something_on_both_sides() {
        for good in ["a@b", "shop@127.0.0.1", "x@host.example", "ångström@värd"] {
            assert_eq!(good.parse::<NodeName>().map(|name| name.to_string()), Ok(good.to_owned()));
        }
        for bad in ["", "@", "a@", "@b", "a@b@c", "a b@c", "a\n@c", "nonode"] {
            assert_eq!(bad.parse::<NodeName>(), Err(BadName), "{bad:?}");
        }
    }

    #[test]
    fn a_name_is_long_if_its_host_has_a_dot_or_is_an_address() {
        for (name, long) in
            [("a@h.example", true), ("a@::1", true), ("a@10.0.0.5", true), ("a@h", false)]
        {
            assert_eq!(name.parse::<NodeName>().map(|name| name.is_long()), Ok(long), "{name}");
        }
    }

    #[test]
    fn a_name_is_at_most_as_long_as_an_atom() {
        let long = format!("{}@h", "é".repeat(253));
        assert!(long.parse::<NodeName>().is_ok());
        assert_eq!(format!("x{long}").parse::<NodeName>(), Err(BadName));
    }
}
