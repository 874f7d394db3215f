//! Handshakes over a stream.
//!
//! Handshake frames have a two-byte length over TCP. Inside TLS, as with `inet_tls_dist`, they have
//! a four-byte length, like all frames after the handshake. The caller that provides the stream
//! states which ([`Lengths`]).
//!
//! [`HANDSHAKE_TIMEOUT`] limits the whole handshake on either side. No byte after the handshake is
//! read, so the stream can be passed to a [`Link`](crate::Link) unchanged.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::cookie::Cookie;
use crate::epmd::{Epmd, Failed};
use crate::frame::FRAGMENT_SIZE;
use crate::handshake::{
    Acceptor, Caller, Established, Initiator, LocalNode, MOST_BYTES, Refused, Step, Verdict,
    take_frame,
};
use crate::name::NodeName;

/// Handshake timeout, equal to the default of `net_setuptime`.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(7);

/// Width of the length field of a handshake frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Two bytes, over TCP.
    Two,
    /// Four bytes, inside TLS.
    Four,
}

/// The reason why a connection attempt failed.
#[derive(Debug, thiserror::Error)]
pub enum NoConnection {
    /// The query to epmd failed.
    #[error(transparent)]
    Epmd(Failed),
    /// The host name cannot be resolved.
    #[error("the host {0} is not known: {1}")]
    Host(String, #[source] io::Error),
    /// No node of that name that speaks our protocol version is registered with epmd.
    #[error("epmd knows no node {0} that speaks version 6")]
    Unknown(NodeName),
    /// The peer has a long name and this node a short one, or vice versa ([`NodeName::is_long`]).
    #[error(
        "{name} is a {theirs} name and that of this node a {ours} one: \
         only nodes of one form, erl -name or -sname, reach each other",
        name = .0, theirs = form(.0.is_long()), ours = form(!.0.is_long())
    )]
    OtherForm(NodeName),
    /// The connection could not be opened, or broke.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The timeout expired.
    #[error("no handshake within {} s", HANDSHAKE_TIMEOUT.as_secs())]
    Slow,
    /// The peer closed the connection after our proof of the cookie and before its own. WHY a guess: a node does not
    /// inform an unauthenticated peer that its cookie is wrong.
    #[error("it hung up when we had shown that we know the cookie: most likely it has another one")]
    HungUp,
    /// The node is this one; a node has no connection to itself.
    #[error("{0} is this node, which has no connection to itself")]
    Own(NodeName),
    /// This node has left the cluster.
    #[error("this node has left the cluster")]
    Left,
    /// The handshake was refused, or the peer violated the protocol.
    #[error(transparent)]
    Refused(#[from] Refused),
}

fn form(is_long: bool) -> &'static str {
    if is_long { "long" } else { "short" }
}

/// Connects to the port at which the node is registered. `epmd` is the epmd of the node's host
/// ([`Epmd::of_host`]). The IP address is the host part of the node's name if that is an address, and that of epmd
/// otherwise.
///
/// # Errors
/// epmd is unreachable, does not answer or does not know the node, or the connection fails.
///
/// *Cancellation*: nothing remains.
pub async fn dial(epmd: &Epmd, peer: &NodeName) -> Result<TcpStream, NoConnection> {
    let found = epmd.find(peer.alive()).await.map_err(NoConnection::Epmd)?;
    let found = found.filter(|found| found.speaks_ours());
    let port = found.ok_or_else(|| NoConnection::Unknown(peer.clone()))?.port;
    let host = peer.host().parse().unwrap_or_else(|_| epmd.address().ip());
    open(SocketAddr::from((host, port))).await
}

/// Connects to a node at a known address.
///
/// # Errors
/// The connection fails.
///
/// *Cancellation*: nothing remains.
pub async fn open(address: SocketAddr) -> Result<TcpStream, NoConnection> {
    let stream = timeout(HANDSHAKE_TIMEOUT, TcpStream::connect(address)).await;
    let stream = stream.map_err(|_| NoConnection::Slow)??;
    prepare(&stream)?;
    Ok(stream)
}

/// Sets the socket options of a connection between nodes.
pub(crate) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // WHY: bytes in the kernel's send buffer cannot be overtaken. With a low limit for unsent bytes, a small
    // message queued after a large one waits in our queue, where it goes between the fragments. On other systems it
    // also waits for the send buffer.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    socket2::SockRef::from(stream).set_tcp_notsent_lowat(2 * FRAGMENT_SIZE as u32)?;
    Ok(())
}

/// Performs the handshake as the initiator. If the peer answers `alive`, that is, it still has a connection to a node
/// of our name, `is_dead` decides whether that connection is dead and this one replaces it.
///
/// # Errors
/// See [`NoConnection`]. After an error or a cancellation the stream must be discarded.
pub async fn call<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    lengths: Lengths,
    local: &LocalNode,
    peer: NodeName,
    cookie: Cookie,
    is_dead: impl FnOnce() -> bool,
) -> Result<Established, NoConnection> {
    let mut out = Vec::new();
    let mut initiator = Initiator::new(local, peer, cookie, challenge()?, &mut out);
    let mut is_dead = Some(is_dead);
    let handshake = async {
        loop {
            write(stream, lengths, &mut out).await?;
            let frame = read(stream, lengths).await.map_err(|error| match error {
                NoConnection::Io(error) if initiator.awaits_proof() && is_end(&error) => {
                    NoConnection::HungUp
                }
                error => error,
            })?;
            match initiator.take(&frame, &mut out)? {
                Step::Done(established) => return Ok(established),
                Step::Alive => {
                    let dead = is_dead.take().is_some_and(|is_dead| is_dead());
                    let result = initiator.go_on(dead, &mut out);
                    write(stream, lengths, &mut out).await?;
                    result?;
                }
                Step::More | Step::Called(_) => {}
            }
        }
    };
    timeout(HANDSHAKE_TIMEOUT, handshake).await.unwrap_or(Err(NoConnection::Slow))
}

/// Performs the handshake as the acceptor. `decide` receives the caller and returns the status to send and the cookie
/// that the caller has to prove.
///
/// # Errors
/// See [`NoConnection`]. After an error or a cancellation the stream must be discarded.
pub async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    lengths: Lengths,
    local: LocalNode,
    decide: impl FnOnce(&Caller) -> (Verdict, Cookie),
) -> Result<Established, NoConnection> {
    let mut out = Vec::new();
    let mut acceptor = Acceptor::new(local, challenge()?);
    let mut decide = Some(decide);
    let handshake = async {
        loop {
            let frame = read(stream, lengths).await?;
            let mut step = acceptor.take(&frame, &mut out);
            if let Ok(Step::Called(caller)) = &step
                && let Some(decide) = decide.take()
            {
                let (verdict, cookie) = decide(caller);
                step = acceptor.decide(verdict, cookie, &mut out).map(|()| Step::More);
            }
            write(stream, lengths, &mut out).await?;
            if let Step::Done(established) = step? {
                return Ok(established);
            }
        }
    };
    timeout(HANDSHAKE_TIMEOUT, handshake).await.unwrap_or(Err(NoConnection::Slow))
}

/// Whether the peer has closed the connection.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

/// An unpredictable challenge.
fn challenge() -> io::Result<u32> {
    getrandom::u32().map_err(|error| io::Error::other(error.to_string()))
}

/// Writes the frames in `out` and clears it.
async fn write<S: AsyncWrite + Unpin>(
    stream: &mut S,
    lengths: Lengths,
    out: &mut Vec<u8>,
) -> Result<(), NoConnection> {
    let mut bytes = Vec::with_capacity(out.len());
    let mut rest = &out[..];
    while let Some((frame, used)) = take_frame(rest)? {
        if lengths == Lengths::Four {
            // The upper half of the length, before its two lower bytes.
            bytes.extend_from_slice(&[0, 0]);
        }
        bytes.extend_from_slice(&rest[..2]);
        bytes.extend_from_slice(frame);
        rest = &rest[used..];
    }
    out.clear();
    stream.write_all(&bytes).await?;
    Ok(stream.flush().await?)
}

async fn read<S: AsyncRead + Unpin>(
    stream: &mut S,
    lengths: Lengths,
) -> Result<Vec<u8>, NoConnection> {
    let length = match lengths {
        Lengths::Two => stream.read_u16().await?.into(),
        Lengths::Four => stream.read_u32().await? as usize,
    };
    if length > MOST_BYTES {
        return Err(Refused::TooLong(length).into());
    }
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame).await?;
    Ok(frame)
}
