//! Value parsers of command-line options that the lab does not have. An error states what to give instead.

use std::net::SocketAddr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use purlin_ack::session::Level;
use purlin_lab::values::within;

pub(crate) use purlin_lab::values::{count, positive};

/// Names of the ack levels.
pub(crate) const LEVELS: [(&str, Level); 3] =
    [("received", Level::Received), ("handled", Level::Handled), ("durable", Level::Durable)];

/// Parses one of these names; the help lists them.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    names: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names.map(|(name, _)| name)).try_map(move |given| {
        let known = names.iter().find(|(name, _)| given == *name);
        known.map(|(_, value)| *value).ok_or("unknown name")
    })
}

/// Parses a count without an upper limit.
pub(crate) fn large_count(text: &str) -> Result<u64, String> {
    within(text, 1.., "give a whole number from 1")
}

/// Parses the address of an epmd, which has a port.
pub(crate) fn epmd_address(text: &str) -> Result<SocketAddr, String> {
    match socket_address(text)? {
        address if address.port() == 0 => Err("give a port from 1 to 65535".into()),
        address => Ok(address),
    }
}

/// Parses an address and a port.
pub(crate) fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "give an address and a port, such as 127.0.0.1:4369".into())
}
