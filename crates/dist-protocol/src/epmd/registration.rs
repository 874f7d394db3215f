//! Registration of this node with epmd, for as long as the [`Registration`] is held.
//!
//! epmd forgets a node when its connection ends, and all nodes when epmd itself ends. So a task
//! holds the connection. When the connection ends, the task registers again, retrying first after
//! [`SOONEST`], then after twice the previous delay, up to [`LATEST`]. The creation of the first
//! registration remains in use, because pids contain it and the node is the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::epmd::client::{Epmd, Failed};
use crate::epmd::codec::{Alive, Request, read_alive};

const SOONEST: Duration = Duration::from_millis(100);
const LATEST: Duration = Duration::from_secs(10);

/// Keeps this node registered until dropped.
#[derive(Debug)]
pub struct Registration {
    creation: u32,
    is_registered: Arc<AtomicBool>,
    task: AbortHandle,
}

impl Registration {
    /// Registers a node. Must be called within a tokio runtime, in which a task then keeps the
    /// registration.
    ///
    /// # Errors
    /// See [`Failed`]: most often epmd is not running, or another node has the name.
    pub async fn new(epmd: Epmd, alive: Alive) -> Result<Self, Failed> {
        let (socket, creation) = register(&epmd, &alive).await?;
        let is_registered = Arc::new(AtomicBool::new(true));
        let holding = hold(epmd, alive, socket, Arc::clone(&is_registered));
        let task = tokio::spawn(holding).abort_handle();
        Ok(Self { creation, is_registered, task })
    }

    /// The creation assigned by epmd, which distinguishes this node from earlier ones of the same
    /// name.
    #[must_use]
    pub fn creation(&self) -> u32 {
        self.creation
    }

    /// Whether epmd has the registration. It does not while it is restarted.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        // ORDER: relaxed, as in `hold`: a report that may be stale.
        self.is_registered.load(Ordering::Relaxed)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn register(epmd: &Epmd, alive: &Alive) -> Result<(TcpStream, u32), Failed> {
    let request = Request::Alive(alive.clone());
    let (socket, creation) = epmd.ask(&request, 6, |bytes, _| read_alive(bytes)).await?;
    let creation = creation.ok_or_else(|| Failed::Taken(alive.alive.clone()))?;
    Ok((socket, creation))
}

async fn hold(epmd: Epmd, alive: Alive, mut socket: TcpStream, is_registered: Arc<AtomicBool>) {
    let name = alive.alive.clone();
    loop {
        // epmd sends nothing more, so this ends with the connection.
        let mut byte = [0];
        while socket.read(&mut byte).await.is_ok_and(|count| count > 0) {}
        is_registered.store(false, Ordering::Relaxed);
        warn!(name, "epmd is gone; registering again when it is back");
        let mut pause = SOONEST;
        socket = loop {
            match register(&epmd, &alive).await {
                Ok((socket, _)) => break socket,
                Err(_) => {
                    sleep(pause).await;
                    pause = (pause * 2).min(LATEST);
                }
            }
        };
        is_registered.store(true, Ordering::Relaxed);
        info!(name, "registered with epmd again");
    }
}
