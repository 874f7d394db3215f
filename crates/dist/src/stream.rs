//! What lies below a connection: a socket, or TLS over one.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes both ways.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug> Duplex for S {}

/// A connection to another node, whatever lies below it. COST: a call through a table for each read and write.
pub type Stream = Box<dyn Duplex>;
