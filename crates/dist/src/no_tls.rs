//! What stands for TLS where the feature `tls` is off: a type without values, so that an `Option` of one is always
//! `None`.

use std::io;

use tokio::net::TcpStream;

use crate::stream::Stream;

/// There is none.
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
