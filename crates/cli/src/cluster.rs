//! `purlin node` and `purlin call`: what both, and a gateway, need to be in an Erlang cluster.

mod call;
mod node;
mod offer;

use std::env;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::Args;
use purlin_dist::cluster::Builder;
use purlin_dist::{Tls, epmd};
use purlin_lab::error::Problem;

pub(crate) use call::{Call, call};
pub(crate) use node::{Node, node};

/// The file in which a user's nodes find their cookie.
const COOKIE_FILE: &str = ".erlang.cookie";
/// Says another port of epmd, to `erl` and to us.
const EPMD_PORT: &str = "ERL_EPMD_PORT";

#[derive(Debug, Args)]
pub(crate) struct Secret {
    /// The secret that all nodes of the cluster share [default: what ~/.erlang.cookie holds]
    #[arg(long, value_name = "COOKIE")]
    cookie: Option<String>,
}

#[derive(Debug, Args)]
struct Joining {
    #[command(flatten)]
    secret: Secret,

    /// Its certificate, and those that vouch for it: a PEM file. Then it talks over TLS only
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires_all = ["tls_key", "tls_ca"])]
    tls_cert: Option<PathBuf>,

    /// The key of the certificate: a PEM file
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// The authorities that have to vouch for other nodes: a PEM file
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "tls_cert")]
    tls_ca: Option<PathBuf>,
}

impl Secret {
    /// Whether it was said on the command line.
    pub(crate) fn is_given(&self) -> bool {
        self.cookie.is_some()
    }

    pub(crate) fn cookie(&self) -> Result<Vec<u8>, Problem> {
        let cookie = match &self.cookie {
            // Erlang takes the characters beyond ASCII as Latin-1.
            Some(text) => text.chars().map(u8::try_from).collect::<Result<Vec<_>, _>>(),
            None => return of_home(),
        };
        match cookie {
            Ok(cookie) if !cookie.is_empty() => Ok(cookie),
            _ => Err(Problem::new("--cookie must be some characters of Latin-1")),
        }
    }
}

impl Joining {
    /// What is the same for all that join.
    fn prepare(&self, mut builder: Builder) -> Result<Builder, Problem> {
        builder = builder.cookie(self.secret.cookie()?);
        if let (Some(certificates), Some(key), Some(authorities)) =
            (&self.tls_cert, &self.tls_key, &self.tls_ca)
        {
            builder = builder.tls(Tls::from_pem(certificates, key, authorities).map_err(problem)?);
        }
        Ok(builder)
    }
}

/// The epmd of this machine, on whose port others have theirs.
pub(crate) fn own_epmd() -> Result<SocketAddr, Problem> {
    let port = match env::var_os(EPMD_PORT) {
        None => Some(epmd::PORT),
        Some(text) => text.to_str().and_then(|text| text.parse().ok()),
    };
    let port = port.ok_or_else(|| Problem::new(format!("{EPMD_PORT} is not a port")))?;
    Ok((Ipv4Addr::LOCALHOST, port).into())
}

/// The cookie in the user's home, where `erl` has it.
fn of_home() -> Result<Vec<u8>, Problem> {
    let none = |why: String| Problem::new(format!("no cookie: {why}; give one with --cookie"));
    let home = env::home_dir().ok_or_else(|| none("there is no home to look in".into()))?;
    let path = home.join(COOKIE_FILE);
    let mut cookie =
        fs::read(&path).map_err(|error| none(format!("{}: {error}", path.display())))?;
    if !is_private(&path) {
        return Err(none(format!("others may read {}; chmod 400 it", path.display())));
    }
    while cookie.last().is_some_and(u8::is_ascii_whitespace) {
        cookie.pop();
    }
    match cookie.is_empty() {
        true => Err(none(format!("{} is empty", path.display()))),
        false => Ok(cookie),
    }
}

/// Whether nobody but its owner may read or write a file. As `erl`, we take no other for a secret.
fn is_private(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 == 0)
    }
    #[cfg(not(unix))]
    {
        path.is_file()
    }
}

/// An address and a port.
pub(crate) fn place(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "give an address and a port, such as 127.0.0.1:4369".into())
}

fn problem(error: impl ToString) -> Problem {
    Problem::new(error.to_string())
}
