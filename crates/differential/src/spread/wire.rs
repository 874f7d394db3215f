//! A wire that can be cut: a relay for all bytes between the two nodes, whichever of them connects.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream as Blocking};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// Size of the buffer of each direction of a connection, in bytes.
const BUFFER: usize = 4096;

/// Sockets of the connections through the wire, and the number of cuts.
#[derive(Clone)]
pub(super) struct Wire(Arc<Mutex<(Vec<Weak<Blocking>>, u64)>>, Duration);

impl Wire {
    /// Creates a wire that delays all bytes by `latency`.
    pub(super) fn new(latency: Duration) -> Self {
        Self(Arc::default(), latency)
    }

    /// Breaks all connections. Bytes in flight are lost; new connections can be made.
    pub(super) fn cut(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 += 1;
        for end in state.0.drain(..).filter_map(|end| end.upgrade()) {
            // The socket may be closed already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Returns the number of cuts.
    pub(super) fn cuts(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Opens a port that forwards to the address. Must be called within a tokio runtime.
    pub(super) async fn to(&self, address: SocketAddr) -> io::Result<u16> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = socket.local_addr()?.port();
        let wire = self.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = socket.accept().await {
                let wire = wire.clone();
                // A failure is seen by the connecting node as a closed connection.
                tokio::spawn(async move { wire.carry(near, address).await });
            }
        });
        Ok(port)
    }

    async fn carry(self, near: TcpStream, address: SocketAddr) -> io::Result<()> {
        let far = TcpStream::connect(address).await?;
        let ((mut near, own), (mut far, other)) = (self.register(near)?, self.register(far)?);
        let ((from_near, to_near), (from_far, to_far)) = (near.split(), far.split());
        let carried =
            tokio::try_join!(pass(from_near, to_far, self.1), pass(from_far, to_near, self.1));
        // WHY: the kept handle would hold open a connection that one side has closed.
        for end in [own, other] {
            let _ = end.shutdown(Shutdown::Both);
        }
        carried.map(drop)
    }

    /// Stores a handle to a socket, so that the wire can break it.
    fn register(&self, end: TcpStream) -> io::Result<(TcpStream, Arc<Blocking>)> {
        end.set_nodelay(true)?;
        let end = end.into_std()?;
        let kept = Arc::new(end.try_clone()?);
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0.retain(|end| end.strong_count() > 0);
        state.0.push(Arc::downgrade(&kept));
        drop(state);
        Ok((TcpStream::from_std(end)?, kept))
    }
}

/// Passes on bytes until the end of `from`, and then ends `to`.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    latency: Duration,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        // CLOCK: real nodes are connected, whose latency this is.
        if !latency.is_zero() {
            sleep(latency).await;
        }
        to.write_all(&buffer[..count]).await?;
    }
}
