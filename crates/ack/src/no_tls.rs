//! Module `crate::tls` of builds without the feature `tls`: uninhabited types, so that an `Option` of
//! one is always `None` and costs nothing to check.

use std::io::{self, Read, Write};

use tokio::io::Interest;

use crate::connection::session_table::Fingerprint;

/// Uninhabited placeholder for the TLS channel.
#[derive(Debug)]
pub(crate) enum Channel {}

impl Channel {
    pub(crate) fn read<S: Read + Write>(
        &mut self,
        _: &mut S,
        _: &mut [u8],
    ) -> io::Result<Option<usize>> {
        match *self {}
    }

    pub(crate) fn write<S: Write>(&mut self, _: &mut S, _: &[u8]) -> io::Result<Option<usize>> {
        match *self {}
    }

    pub(crate) fn flush<S: Write>(&mut self, _: &mut S) -> io::Result<bool> {
        match *self {}
    }

    pub(crate) fn finish<S: Write>(&mut self, _: &mut S) -> io::Result<bool> {
        match *self {}
    }

    pub(crate) fn awaits(&self, _: Interest) -> Interest {
        match *self {}
    }

    pub(crate) fn rest(&mut self) {
        match *self {}
    }

    pub(crate) fn certificate(&self) -> Option<Fingerprint> {
        match *self {}
    }
}

pub(crate) mod server {
    use std::io;

    use super::Channel;

    /// Uninhabited placeholder for the server configuration.
    #[derive(Clone, Debug)]
    pub(crate) enum Tls {}

    impl Tls {
        pub(crate) fn accept(&self) -> io::Result<Channel> {
            match *self {}
        }
    }
}

pub(crate) mod client {
    use std::io;

    use tokio::net::TcpStream;

    use super::Channel;

    /// Uninhabited placeholder for the client configuration. Public because the load plan has a
    /// field of this type with and without the feature.
    #[derive(Clone, Debug)]
    pub enum Tls {}

    impl Tls {
        pub(crate) async fn secure(&self, _: &str, _: TcpStream) -> io::Result<TcpStream> {
            match *self {}
        }

        pub(crate) fn apart(&self, _: TcpStream) -> (TcpStream, Channel) {
            match *self {}
        }
    }
}
