//! TLS for both sides, with rustls. Requires the feature `tls`.
//!
//! | module | role | used by |
//! |---|---|---|
//! | `channel` | one side of a TLS connection, without its socket | server connections, load connections |
//! | `server` | server certificate and client verification | server builder, server connections |
//! | `client` | trusted authorities and client certificate | client builder, connection task, load plan |
//!
//! `purlin-tls` reads certificates and keys from files.
//!
//! Configurations created from files use TLS 1.3 only, with the algorithms of `ring`; a custom
//! rustls configuration may differ. Without the feature, `no_tls.rs` replaces this module with
//! uninhabited types of the same names.

mod channel;
pub(crate) mod client;
pub(crate) mod server;

use rustls::SupportedProtocolVersion;

pub(crate) use self::channel::Channel;
pub use purlin_tls::PemError;

/// Protocol versions, unless a custom configuration sets others.
const VERSIONS: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13];

/// Returns the TLS configuration of a server with a self-signed certificate.
#[cfg(test)]
pub(crate) fn server_for_tests() -> server::Tls {
    server::Tls::new(channel::tests::configs().0)
}
