//! A purlin node in an Erlang cluster ([`cluster`]), by the Erlang distribution protocol.
//!
//! The protocol below processes is the crate `purlin_dist_protocol`, re-exported here: its configuration and errors are
//! part of the cluster's interface.

pub mod cluster;

pub use purlin_dist_protocol::{
    Accepted, BadName, ConnectionTable, Cookie, Duplex, Flags, Halves, Link, Listener, NoCookie,
    NodeName, Stream, Transport, Up, connect, control, epmd, frame, handshake, link,
};
#[cfg(feature = "tls")]
pub use purlin_dist_protocol::{PemError, Tls};

/// Targets of macro expansions; not public API.
#[doc(hidden)]
pub mod __private {
    pub use serde;
}

/// Runs the examples of the guide as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/guide/cluster.md")]
    struct Clusters;

    #[cfg(feature = "tls")]
    #[doc = include_str!("../../../docs/guide/cluster-hosts.md")]
    struct Hosts;
}
