//! Options for cluster an Erlang cluster: the cookie, TLS and the local epmd.

use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use purlin_dist::cluster::Builder;
use purlin_dist::{Cookie, Tls, epmd};
use purlin_lab::error::Problem;

use crate::output::problem;

/// Environment variable with the epmd port, also used by `erl`.
pub(super) const EPMD_PORT: &str = "ERL_EPMD_PORT";

/// Option with the cookie.
#[derive(Debug, Args)]
pub(crate) struct CookieOption {
    /// Set the secret shared by all nodes of the cluster [default: the contents of
    /// ~/.erlang.cookie]
    #[arg(long, value_name = "COOKIE")]
    cookie: Option<String>,
}

/// Options of a node: its cookie and TLS.
#[derive(Debug, Args)]
pub(super) struct ClusterOptions {
    #[command(flatten)]
    pub(super) secret: CookieOption,

    /// Use TLS only, with this certificate chain, a PEM file
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires_all = ["tls_key", "tls_ca"])]
    pub(super) tls_cert: Option<PathBuf>,

    /// Use this PEM private key for the certificate
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Trust the CA certificates in this PEM file for other nodes
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "tls_cert")]
    tls_ca: Option<PathBuf>,
}

impl CookieOption {
    /// Returns whether the cookie was given on the command line.
    pub(crate) fn is_given(&self) -> bool {
        self.cookie.is_some()
    }

    pub(crate) fn cookie(&self) -> Result<Cookie, Problem> {
        let cookie = match &self.cookie {
            // Erlang encodes characters beyond ASCII as Latin-1.
            Some(text) => text.chars().map(u8::try_from).collect::<Result<Vec<_>, _>>(),
            None => {
                let cookie = Cookie::from_home();
                return cookie
                    .map_err(|error| Problem::new(format!("{error}; give one with --cookie")));
            }
        };
        match cookie.map(Cookie::new) {
            Ok(cookie) if !cookie.is_empty() && !cookie.is_too_long() => Ok(cookie),
            _ => Err(Problem::new("--cookie must be 1 to 255 characters of Latin-1")),
        }
    }
}

impl ClusterOptions {
    /// Applies the options shared by all commands that join a cluster.
    pub(super) fn prepare(&self, mut builder: Builder) -> Result<Builder, Problem> {
        builder = builder.cookie(self.secret.cookie()?);
        if let (Some(certificates), Some(key), Some(authorities)) =
            (&self.tls_cert, &self.tls_key, &self.tls_ca)
        {
            builder = builder.tls(Tls::from_pem(certificates, key, authorities).map_err(problem)?);
        }
        Ok(builder)
    }
}

/// Returns the address of this machine's epmd, at the port that other nodes use.
pub(crate) fn own_epmd() -> Result<SocketAddr, Problem> {
    let port = match env::var_os(EPMD_PORT) {
        None => Some(epmd::PORT),
        Some(text) => text.to_str().and_then(|text| text.parse().ok()).filter(|port| *port != 0),
    };
    let port = port.ok_or_else(|| {
        Problem::new(format!("{EPMD_PORT} is not a port: give a number from 1 to 65535"))
    })?;
    Ok((Ipv4Addr::LOCALHOST, port).into())
}
