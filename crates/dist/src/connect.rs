//! Handshakes over a stream.
//!
//! Over TCP the frames of a handshake have two bytes of length. Inside of TLS, as
//! `inet_tls_dist` speaks it, they have four, like all frames behind them; so who gives the
//! stream says which ([`Lengths`]).
//!
//! Both sides have [`PATIENCE`] for all of it. No byte behind the handshake is read, so the
//! stream can go to a [`Link`](crate::Link) as it is.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::cookie::Cookie;
use crate::epmd::{Epmd, Failed};
use crate::frame::PORTION;
use crate::handshake::{
    Acceptor, Caller, Established, Initiator, Local, MOST_BYTES, Refused, Step, Verdict, take_frame,
};
use crate::name::NodeName;

/// How long a handshake may take, as `net_setuptime`.
pub const PATIENCE: Duration = Duration::from_secs(7);

/// How many bytes the length of a handshake's frame has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Over TCP.
    Two,
    /// Inside of TLS.
    Four,
}

/// Why there is no connection.
#[derive(Debug)]
pub enum NoConnection {
    /// epmd could not be asked.
    Epmd(Failed),
    /// The host is not known.
    Host(String, io::Error),
    /// epmd does not know the node, or it speaks another version of the protocol.
    Unknown(NodeName),
    /// Its name is long and ours short, or the other way round ([`NodeName::is_long`]).
    OtherForm(NodeName),
    /// The connection could not be made, or broke.
    Io(io::Error),
    /// It took too long.
    Slow,
    /// It has closed the connection when we had proven that we know the cookie, and it had yet to prove it.
    HungUp,
    /// This node has left the cluster.
    Left,
    /// The handshake came to nothing.
    Refused(Refused),
}

impl From<io::Error> for NoConnection {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Refused> for NoConnection {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl fmt::Display for NoConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Epmd(failed) => failed.fmt(f),
            Self::Host(host, error) => write!(f, "the host {host} is not known: {error}"),
            Self::Unknown(name) => write!(f, "epmd knows no node {name} that speaks version 6"),
            Self::OtherForm(name) => {
                let [theirs, ours] =
                    if name.is_long() { ["long", "short"] } else { ["short", "long"] };
                write!(
                    f,
                    "{name} is a {theirs} name and that of this node a {ours} one: \
                     only nodes of one form, erl -name or -sname, reach each other"
                )
            }
            Self::Io(error) => error.fmt(f),
            Self::Slow => write!(f, "no handshake within {} s", PATIENCE.as_secs()),
            // WHY a guess: a node does not tell a stranger that the cookie is wrong.
            Self::HungUp => f.write_str(
                "it hung up when we had shown that we know the cookie: most likely it has another one",
            ),
            Self::Left => f.write_str("this node has left the cluster"),
            Self::Refused(refused) => refused.fmt(f),
        }
    }
}

impl std::error::Error for NoConnection {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Epmd(failed) => Some(failed),
            Self::Io(error) | Self::Host(_, error) => Some(error),
            Self::Refused(refused) => Some(refused),
            Self::Unknown(_) | Self::OtherForm(_) | Self::Slow | Self::HungUp | Self::Left => None,
        }
    }
}

/// Connects to where an epmd says that the node listens: the one of the node's host ([`Epmd::of_host`]). The address
/// is the node's host, if that is one, and that of epmd if it is a name.
///
/// # Errors
/// epmd is not there or does not know it, or it does not answer. Cancelled, nothing remains.
pub async fn dial(epmd: &Epmd, peer: &NodeName) -> Result<TcpStream, NoConnection> {
    let found = epmd.find(peer.alive()).await.map_err(NoConnection::Epmd)?;
    let found = found.filter(|found| found.speaks_ours());
    let port = found.ok_or_else(|| NoConnection::Unknown(peer.clone()))?.port;
    let host = peer.host().parse().unwrap_or_else(|_| epmd.address.ip());
    let address = SocketAddr::from((host, port));
    let stream = timeout(PATIENCE, TcpStream::connect(address)).await;
    let stream = stream.map_err(|_| NoConnection::Slow)??;
    prepare(&stream)?;
    Ok(stream)
}

/// Sets what a connection between nodes needs.
pub(crate) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // WHY: what the kernel holds and has not sent is behind everything before it. What is behind a large message is
    // to wait in our queue, where small ones go between its portions. Elsewhere they wait for the kernel's, too.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    socket2::SockRef::from(stream).set_tcp_notsent_lowat(2 * PORTION as u32)?;
    Ok(())
}

/// The handshake of the side that calls. If the other one has a connection to a node of our name, `is_dead` is
/// asked whether that one is dead and this call meant.
///
/// # Errors
/// See [`NoConnection`]. Then, or if it is cancelled, the stream is of no more use.
pub async fn call<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    lengths: Lengths,
    local: &Local,
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
                    let said = initiator.go_on(dead, &mut out);
                    write(stream, lengths, &mut out).await?;
                    said?;
                }
                Step::More | Step::Called(_) => {}
            }
        }
    };
    timeout(PATIENCE, handshake).await.unwrap_or(Err(NoConnection::Slow))
}

/// The handshake of the side that is called. `decide` is told who calls, and says what becomes of it and which
/// cookie it has to know.
///
/// # Errors
/// See [`NoConnection`]. Then, or if it is cancelled, the stream is of no more use.
pub async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    lengths: Lengths,
    local: Local,
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
    timeout(PATIENCE, handshake).await.unwrap_or(Err(NoConnection::Slow))
}

/// Whether the other side has closed the connection.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

/// A number that nobody can guess.
fn challenge() -> io::Result<u32> {
    getrandom::u32().map_err(|error| io::Error::other(error.to_string()))
}

/// Writes the frames that were put out.
async fn write<S: AsyncWrite + Unpin>(
    stream: &mut S,
    lengths: Lengths,
    out: &mut Vec<u8>,
) -> Result<(), NoConnection> {
    let mut bytes = Vec::with_capacity(out.len());
    let mut rest = &out[..];
    while let Some((frame, used)) = take_frame(rest)? {
        if lengths == Lengths::Four {
            // The upper half, before the two bytes that are there.
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
