//! Node names, `name@host`, as used by epmd and in handshakes. Pure.
//!
//! A [`NodeName`] is always valid, so its users need not validate it again.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Maximum number of characters of a node name, as of any atom.
pub(crate) const MOST_CHARACTERS: usize = 255;

/// A node name, `name@host`, at most 255 characters. As with `erl -name`, the part before the `@` consists of ASCII
/// letters, digits, `_` and `-`, and the host of characters from `!` to `ÿ`. A BEAM does not connect to a node with
/// another name.
///
/// Names are ordered by their text. If two nodes connect to each other simultaneously, the connection of the node with
/// the greater name wins.
///
/// ```
/// use purlin_dist_protocol::NodeName;
///
/// let name: NodeName = "shop@127.0.0.1".parse()?;
/// assert_eq!((name.alive(), name.host()), ("shop", "127.0.0.1"));
/// assert!("shop".parse::<NodeName>().is_err());
/// # Ok::<(), purlin_dist_protocol::BadName>(())
/// ```
///
/// COST: a clone increments a reference count.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeName {
    text: Arc<str>,
    /// Byte index of the `@`.
    at: usize,
}

impl NodeName {
    /// The part before the `@`, under which epmd knows the node.
    #[must_use]
    pub fn alive(&self) -> &str {
        &self.text[..self.at]
    }

    /// The part after the `@`.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.text[self.at + 1..]
    }

    /// Whether the name is a long one, as with `erl -name`: the host is an address or contains a dot. A short name, as
    /// with `erl -sname`, has neither. Nodes with long names do not connect to nodes with short ones.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.host().contains(['.', ':'])
    }

    /// The whole name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for NodeName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let whole = match text.split_once('@') {
            Some((alive, host)) => is_alive(alive) && is_host(host),
            None => false,
        };
        if !whole || text.chars().count() > MOST_CHARACTERS {
            return Err(BadName);
        }
        Ok(Self { at: text.find('@').ok_or(BadName)?, text: text.into() })
    }
}

/// Whether a node can register under this name with epmd, which also serves nodes that are not BEAMs.
pub(crate) fn is_part(text: &str) -> bool {
    let fits = |one: char| one != '@' && !one.is_control() && !one.is_whitespace();
    !text.is_empty() && text.chars().all(fits)
}

/// Whether `text` is valid before the `@`.
fn is_alive(text: &str) -> bool {
    let fits = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-');
    !text.is_empty() && text.chars().all(fits)
}

/// Whether `text` is valid after the `@`.
fn is_host(text: &str) -> bool {
    is_part(text) && text.chars().all(|one| one <= 'ÿ')
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

/// Error for a text that is not a node name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a node's name: it has the form name@host, with letters a to z, digits, _ and - before the @, no blanks, and at \
     most {MOST_CHARACTERS} characters"
)]
pub struct BadName;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_at_sign_with_something_on_both_sides() {
        for good in ["a@b", "shop@127.0.0.1", "x@host.example", "Shop_1-b@värd", "-@::1"] {
            assert_eq!(good.parse::<NodeName>().map(|name| name.to_string()), Ok(good.to_owned()));
        }
        let before = ["a.b@c", "é@c", "a+b@c", "a$@c", "a b@c", "a\n@c"];
        let after = ["a@b c", "a@b\n", "a@ł"];
        let other = ["", "@", "a@", "@b", "a@b@c", "nonode"];
        for bad in [&before[..], &after, &other].concat() {
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
        let long = format!("h@{}", "é".repeat(253));
        assert!(long.parse::<NodeName>().is_ok());
        assert_eq!(format!("x{long}").parse::<NodeName>(), Err(BadName));
    }
}
