//! Where `purlin observe` connects: the address of a node's observer page, and its token.
//!
//! A node with an observer serves its dashboard, the *page*, over HTTP, and prints the URL at start:
//! `http://127.0.0.1:4480/#token=…`. Its API answers only requests with the token.

use std::env;

use purlin_lab::error::Problem;

/// Environment variable with the token, which keeps it out of the process list.
const VARIABLE: &str = "PURLIN_OBSERVER_TOKEN";

/// Address of a node's observer page, and its token.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// Host name or address, and port.
    pub(super) host: String,
    /// Secret that each request carries: letters, digits, `-` and `_`.
    pub(super) token: String,
}

impl Page {
    /// Parses an address or the whole URL that the node printed. A token in the URL takes precedence over `given`, and
    /// that over the environment.
    pub(super) fn read(text: &str, given: Option<String>) -> Result<Self, Problem> {
        let (host, own) = split(text)?;
        let of_environment = || env::var(VARIABLE).ok();
        let token = own.map(str::to_owned).or(given).or_else(of_environment).ok_or_else(|| {
            Problem::new(format!(
                "no token: give the whole URL that the node printed, in quotes, or --token, or set {VARIABLE}"
            ))
        })?;
        let is_token = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if token.is_empty() || !token.chars().all(is_token) {
            return Err(Problem::new("invalid token: it consists of letters, digits, - and _"));
        }
        Ok(Self { host: host.to_owned(), token })
    }
}

/// Splits a URL or an address into host with port, and the token if it has one.
fn split(text: &str) -> Result<(&str, Option<&str>), Problem> {
    let not_an_address = || {
        Problem::new(format!(
            "\"{text}\" is not the address of a page: give the URL that the node printed, or an address such as 127.0.0.1:4480"
        ))
    };
    let rest = match text.split_once("://") {
        Some(("http", rest)) => rest,
        Some(("https", _)) => {
            return Err(Problem::new(
                "purlin observe does not support TLS: connect on the node's machine or through a tunnel",
            ));
        }
        Some(_) => return Err(not_an_address()),
        None => text,
    };
    let (rest, token) = match rest.split_once("#token=") {
        Some((rest, token)) => (rest, Some(token)),
        None => (rest.strip_suffix('#').unwrap_or(rest), None),
    };
    let host = rest.strip_suffix('/').unwrap_or(rest);
    let (name, port) = host.rsplit_once(':').ok_or_else(not_an_address)?;
    let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_host = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !name.is_empty() && name.chars().all(is_name),
    };
    if !is_host || !port.parse::<u16>().is_ok_and(|port| port > 0) {
        return Err(not_an_address());
    }
    Ok((host, token))
}

#[cfg(test)]
mod tests {
    use super::{Page, split};
    use proptest::prelude::*;

    #[test]
    fn an_address_is_parsed_in_each_form() {
        for text in
            ["127.0.0.1:80", "http://127.0.0.1:80", "http://127.0.0.1:80/", "127.0.0.1:80/#"]
        {
            assert_eq!(split(text).unwrap(), ("127.0.0.1:80", None), "{text}");
        }
        let whole = "http://[::1]:4480/#token=a-b_c";
        assert_eq!(split(whole).unwrap(), ("[::1]:4480", Some("a-b_c")));
        assert_eq!(split("shop.example:1").unwrap(), ("shop.example:1", None));
    }

    #[test]
    fn an_invalid_address_is_rejected() {
        for text in [
            "",
            "localhost",
            "a:b",
            "a:0",
            "a:99999",
            ":80",
            "[::1:80",
            "a b:80",
            "ftp://a:1",
            "a@b:80",
            "a:80/path",
            "https://a:1",
            "[a]:80",
            "a\r\nx:80",
        ] {
            assert!(split(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_token_in_the_address_takes_precedence_and_an_invalid_one_is_rejected() {
        let given = Some("given".to_owned());
        let read = |text: &str| Page::read(text, given.clone()).map(|page| page.token);
        assert_eq!(read("a:1/#token=own").unwrap(), "own");
        assert_eq!(read("a:1").unwrap(), "given");
        for text in ["a:1/#token=", "a:1/#token=x y", "a:1/#token=x\r\nHost: b"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_parsed_host_is_valid_in_a_request(text in ".{0,40}|[a-z:/#=.\\[\\]0-9]{0,30}") {
            if let Ok((host, _)) = split(&text) {
                prop_assert!(!host.contains(|c: char| c.is_whitespace() || c.is_control() || "/@#?".contains(c)));
            }
        }
    }
}
