//! What lies below a connection: a socket, or TLS over one.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Bytes both ways.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {
    /// One half to read and one to write, each for a task of its own.
    fn halves(self: Box<Self>) -> Halves;
}

/// A connection to another node, whatever lies below it. COST: a call through a table for each read and write.
pub type Stream = Box<dyn Duplex>;

/// What a connection reads from, and what it writes to.
pub type Halves = (Box<dyn AsyncRead + Unpin + Send>, Box<dyn AsyncWrite + Unpin + Send>);

impl Duplex for TcpStream {
    fn halves(self: Box<Self>) -> Halves {
        // WHY: those of any stream would wait for each other.
        let (read, write) = self.into_split();
        (Box::new(read), Box::new(write))
    }
}
