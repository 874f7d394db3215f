//! TLS for both sides, with rustls. Optional: the feature `tls`.
//!
//! | module | role | used by |
//! |---|---|---|
//! | `channel` | one end of a connection, without its socket | the connections of a server, those of a load |
//! | `server` | with which certificate a server answers, and which it demands | the builder of a server, its connections |
//! | `client` | whom a client trusts, and who it says that it is | the builder of a client, its keeper, the plan of a load |
//!
//! Certificates and keys are read from files by `purlin-tls`.
//!
//! What is made from files speaks TLS 1.3 and nothing older, with the algorithms of
//! `ring`; a configuration of one's own may say otherwise. Without the feature
//! `no_tls.rs` stands here: the same names, of which there are no values.

mod channel;
pub(crate) mod client;
pub(crate) mod server;

use rustls::SupportedProtocolVersion;

pub(crate) use self::channel::Channel;
pub use purlin_tls::PemError;

/// What is spoken unless a configuration of one's own says otherwise.
const VERSIONS: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13];
