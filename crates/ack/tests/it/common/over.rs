//! A connection over TCP or TLS, so that a test can cover both.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::ops::Deref;

use purlin_ack::handler::Count;
use purlin_ack::server::Builder;
use purlin_ack::strategy::Strategy;

#[cfg(feature = "tls")]
use super::certificates::known;
use super::{connect, untimed_server};

/// A strategy and the transport to its server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) strategy: Strategy,
    pub(crate) tls: bool,
}

/// Returns all strategies over all transports.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    let over: &[bool] = if cfg!(feature = "tls") { &[false, true] } else { &[false] };
    let of = |tls| Strategy::ALL.into_iter().map(move |strategy| Case { strategy, tls });
    over.iter().copied().flat_map(of)
}

impl Case {
    /// Returns a builder of the server on a free port.
    pub(crate) fn builder(self) -> Builder<fn(SocketAddr) -> Count> {
        let builder = untimed_server().strategy(self.strategy);
        #[cfg(feature = "tls")]
        if self.tls {
            return builder.tls(known().server.clone());
        }
        builder
    }
}

impl From<Strategy> for Case {
    fn from(strategy: Strategy) -> Self {
        Self { strategy, tls: false }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} over {}", self.strategy, if self.tls { "TLS" } else { "TCP" })
    }
}

/// A client's connection. Dereferences to the underlying `TcpStream`, also for TLS.
pub(crate) enum Wire {
    Tcp(TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<rustls::StreamOwned<rustls::ClientConnection, TcpStream>>),
}

impl Wire {
    pub(crate) fn connect(to: SocketAddr, tls: bool) -> Self {
        #[cfg(feature = "tls")]
        if tls {
            return Self::secure(to, known().client.clone());
        }
        assert!(!tls, "it is built without TLS");
        Self::Tcp(connect(to))
    }

    /// Opens a TLS connection with this configuration. The handshake has not started.
    #[cfg(feature = "tls")]
    pub(crate) fn secure(to: SocketAddr, config: std::sync::Arc<rustls::ClientConfig>) -> Self {
        let client = rustls::ClientConnection::new(config, to.ip().into()).expect("an address");
        Self::Tls(Box::new(rustls::StreamOwned::new(client, connect(to))))
    }

    /// Shuts down the writing half.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        #[cfg(feature = "tls")]
        if let Self::Tls(stream) = self {
            // Also completes the handshake if there was none.
            stream.flush()?;
            stream.conn.send_close_notify();
            stream.flush()?;
        }
        self.shutdown(Shutdown::Write)
    }
}

impl From<TcpStream> for Wire {
    fn from(stream: TcpStream) -> Self {
        Self::Tcp(stream)
    }
}

impl Deref for Wire {
    type Target = TcpStream;

    fn deref(&self) -> &TcpStream {
        match self {
            Self::Tcp(stream) => stream,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => &stream.sock,
        }
    }
}

impl Read for Wire {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| match self {
            Self::Tcp(stream) => stream.read(room),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.read(room),
        })
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        uninterrupted(|| match self {
            Self::Tcp(stream) => stream.write(bytes),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.write(bytes),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        uninterrupted(|| match self {
            Self::Tcp(stream) => stream.flush(),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.flush(),
        })
    }
}

/// Retries a system call while signals interrupt it.
///
/// WHY: a read with a timeout returns `EINTR` when the program is stopped and continued, or traced,
/// even if no signal handler runs.
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
