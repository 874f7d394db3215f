//! A wire that can be cut: all bytes between the two nodes go through it, whoever of them calls.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream as Blocking};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// The ends of what goes through it.
#[derive(Clone, Default)]
pub(super) struct Wire(Arc<Mutex<Vec<Weak<Blocking>>>>);

impl Wire {
    /// Breaks all connections. What was under way is lost, and new ones can be made.
    pub(super) fn cut(&self) {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for end in ends.drain(..).filter_map(|end| end.upgrade()) {
            // It may be gone already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// A port behind which that address is. Must be called within a tokio runtime.
    pub(super) async fn to(&self, address: SocketAddr) -> io::Result<u16> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = socket.local_addr()?.port();
        let wire = self.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = socket.accept().await {
                let wire = wire.clone();
                // Who calls sees that it was in vain.
                tokio::spawn(async move { wire.carry(near, address).await });
            }
        });
        Ok(port)
    }

    async fn carry(self, near: TcpStream, address: SocketAddr) -> io::Result<()> {
        let far = TcpStream::connect(address).await?;
        let ((mut near, own), (mut far, other)) = (self.keep(near)?, self.keep(far)?);
        let carried = copy_bidirectional(&mut near, &mut far).await;
        // WHY: what is kept would hold a connection that one side has broken.
        for end in [own, other] {
            let _ = end.shutdown(Shutdown::Both);
        }
        carried.map(drop)
    }

    /// Keeps an end, to break it.
    fn keep(&self, end: TcpStream) -> io::Result<(TcpStream, Arc<Blocking>)> {
        end.set_nodelay(true)?;
        let end = end.into_std()?;
        let kept = Arc::new(end.try_clone()?);
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ends.retain(|end| end.strong_count() > 0);
        ends.push(Arc::downgrade(&kept));
        drop(ends);
        Ok((TcpStream::from_std(end)?, kept))
    }
}
