//! Placeholder for TLS without the feature `tls`: an uninhabited type, so that an `Option` of it is always `None`.

use std::io;

use tokio::net::TcpStream;

use crate::protocol::stream::Stream;

/// Uninhabited placeholder for TLS.
#[derive(Clone, Debug)]
pub(crate) enum Tls {}

impl Tls {
    pub(crate) async fn call(&self, _: &str, _: TcpStream) -> io::Result<Stream> {
        match *self {}
    }

    pub(crate) async fn answer(&self, _: TcpStream) -> io::Result<Stream> {
        match *self {}
    }
}
