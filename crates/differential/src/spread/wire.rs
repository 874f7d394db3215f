//! A wire that can be cut: all bytes between the two nodes go through it, whoever of them calls.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream as Blocking};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// The ends of what goes through it, and how often it was cut.
#[derive(Clone, Default)]
pub(super) struct Wire(Arc<Mutex<(Vec<Weak<Blocking>>, u64)>>);

impl Wire {
    /// Breaks all connections. What was under way is lost, and new ones can be made.
    pub(super) fn cut(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 += 1;
        for end in state.0.drain(..).filter_map(|end| end.upgrade()) {
            // It may be gone already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// How often it was cut.
    pub(super) fn cuts(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
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
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0.retain(|end| end.strong_count() > 0);
        state.0.push(Arc::downgrade(&kept));
        drop(state);
        Ok((TcpStream::from_std(end)?, kept))
    }
}
