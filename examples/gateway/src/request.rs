//! Requests and replies: as lines of a client, and as terms of the store.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::lines::MAX_LINE;

/// Largest number of bytes of a key.
const MAX_KEY: usize = 128;

/// A request. To the store it is `{put, Key, Value}`, `{get, Key}` or `ping`, with binaries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    Put(String, String),
    Get(String),
    Ping,
}

/// Answer of the store to a [`Request::Put`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stored {
    Ok,
}

/// Answer of the store to a [`Request::Ping`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pinged {
    Pong,
}

/// Parses a line.
impl FromStr for Request {
    /// Says what a valid line is.
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        match command {
            "PUT" => {
                let (key, value) = rest.split_once(' ').ok_or("send PUT KEY VALUE")?;
                if value.is_empty() || value.contains(char::is_control) {
                    return Err("a value has at least a byte and no control characters".into());
                }
                Ok(Self::Put(parse_key(key)?, value.to_owned()))
            }
            "GET" => Ok(Self::Get(parse_key(rest)?)),
            "PING" if rest.is_empty() => Ok(Self::Ping),
            _ => Err("send PUT KEY VALUE, GET KEY or PING".into()),
        }
    }
}

fn parse_key(key: &str) -> Result<String, String> {
    let is_out = |one: char| one.is_control() || one.is_whitespace();
    if (1..=MAX_KEY).contains(&key.len()) && !key.contains(is_out) {
        return Ok(key.to_owned());
    }
    Err(format!("a key has 1 to {MAX_KEY} bytes, no blanks and no control characters"))
}

/// Returns the reply to a [`Request::Get`].
///
/// WHY checked: other programs write to the store too, and a value with the end of a line would look like two replies.
pub(crate) fn found(value: Option<String>) -> String {
    match value {
        None => "NONE".into(),
        Some(value) if value.len() <= MAX_LINE && !value.contains(char::is_control) => {
            format!("VALUE {value}")
        }
        Some(_) => "UNKNOWN the value does not fit into a line".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Request, found};

    #[test]
    fn lines_are_parsed() {
        let [key, value] = ["a", "b c  d "].map(str::to_owned);
        assert_eq!("PUT a b c  d ".parse(), Ok(Request::Put(key.clone(), value)));
        assert_eq!("GET a".parse(), Ok(Request::Get(key)));
        assert_eq!("PING".parse(), Ok(Request::Ping));
        let long = format!("GET {}", "k".repeat(129));
        for bad in [
            "",
            " ",
            "ping",
            "PING 1",
            "PUT",
            "PUT a",
            "PUT a ",
            "PUT  b",
            "PUT a \u{7}",
            "GET",
            "GET a b",
            "GET \t",
            "GET a\0",
            "DELETE a",
            &long,
        ] {
            assert!(bad.parse::<Request>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_value_that_is_not_one_line_is_not_sent() {
        assert_eq!(found(Some("1 2".into())), "VALUE 1 2");
        for bad in ["OK\nOK".to_owned(), "x".repeat(1025)] {
            assert!(found(Some(bad)).starts_with("UNKNOWN "));
        }
    }
}
