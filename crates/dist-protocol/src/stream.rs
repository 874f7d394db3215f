//! Byte stream below a connection: a socket, or TLS over one.

use std::{fmt, io};

use purlin_socket::Socket;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::connect::Lengths;
use crate::halves::halves;

/// How connections between nodes are made.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Transport {
    /// TCP.
    #[default]
    Tcp,
    /// TLS over TCP, Erlang's `-proto_dist inet_tls`.
    #[cfg(feature = "tls")]
    Tls(crate::tls::Tls),
}

impl Transport {
    /// Makes a stream of the socket of an outgoing connection to a node on `host`. Returns it with the width of the
    /// length field of its handshake frames.
    ///
    /// # Errors
    /// The TLS handshake failed.
    ///
    /// *Cancellation*: dropping the future closes the connection, here and below.
    pub async fn call(&self, host: &str, socket: TcpStream) -> io::Result<(Stream, Lengths)> {
        // Only TLS needs the name of the host.
        let _ = host;
        match self {
            Self::Tcp => Ok((Box::new(socket), Lengths::Two)),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => Ok((tls.call(host, socket).await?, Lengths::Four)),
        }
    }

    /// Like [`Transport::call`], for an incoming connection.
    ///
    /// # Errors
    /// The TLS handshake failed.
    pub async fn answer(&self, socket: TcpStream) -> io::Result<(Stream, Lengths)> {
        match self {
            Self::Tcp => Ok((Box::new(socket), Lengths::Two)),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => Ok((tls.answer(socket).await?, Lengths::Four)),
        }
    }
}

/// A bidirectional byte stream.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {
    /// Splits the stream into a read half and a write half, each for a separate task, which runs within a tokio runtime.
    ///
    /// # Errors
    /// The stream cannot be taken from the tokio runtime that drives it, or no descriptor is left.
    fn halves(self: Box<Self>) -> io::Result<Halves>;
}

/// The byte stream of a connection. COST: a virtual call for each read and write.
pub type Stream = Box<dyn Duplex>;

/// Read half and write half of a stream.
pub type Halves = (Box<dyn AsyncRead + Unpin + Send>, Box<dyn AsyncWrite + Unpin + Send>);

impl Duplex for TcpStream {
    fn halves(self: Box<Self>) -> io::Result<Halves> {
        let (read, write) = halves(Socket::new(self.into_std()?)?)?;
        Ok((Box::new(read), Box::new(write)))
    }
}
