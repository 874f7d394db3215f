//! Keeps our name with an epmd, for as long as the [`Registration`] is held.
//!
//! epmd forgets a node whose connection ends, and when epmd itself ends, it has forgotten
//! all. So a task holds the connection, and when that ends it registers again, at first
//! after [`SOONEST`], then after twice as long each time, up to [`LATEST`]. The creation
//! stays the one of the first time: pids carry it, and the node is the same.

use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use crate::epmd::client::{Epmd, Failed, PATIENCE};
use crate::epmd::codec::{Alive, Request, read_alive};

const SOONEST: Duration = Duration::from_millis(100);
const LATEST: Duration = Duration::from_secs(10);

/// Our name, kept by an epmd until this is dropped.
#[derive(Debug)]
pub struct Registration {
    creation: u32,
    keeper: AbortHandle,
}

impl Registration {
    /// Registers; must be called within a tokio runtime, whose task then keeps the name.
    ///
    /// # Errors
    /// See [`Failed`]: above all there is no epmd, or it keeps the name for another node.
    pub async fn new(epmd: Epmd, alive: Alive) -> Result<Self, Failed> {
        let (socket, creation) = register(&epmd, &alive).await?;
        let keeper = tokio::spawn(keep(epmd, alive, socket)).abort_handle();
        Ok(Self { creation, keeper })
    }

    /// Which of the nodes of this name we are, as epmd has counted.
    #[must_use]
    pub fn creation(&self) -> u32 {
        self.creation
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

async fn register(epmd: &Epmd, alive: &Alive) -> Result<(TcpStream, u32), Failed> {
    let registered = async {
        let mut socket = epmd.connect().await?;
        let request = Request::Alive(alive.clone());
        let creation =
            epmd.exchange(&mut socket, &request, 6, |bytes, _| read_alive(bytes)).await?;
        let creation = creation.ok_or_else(|| Failed::Taken(alive.alive.clone()))?;
        Ok((socket, creation))
    };
    timeout(PATIENCE, registered).await.unwrap_or(Err(Failed::Silent(epmd.address)))
}

async fn keep(epmd: Epmd, alive: Alive, mut socket: TcpStream) {
    let name = alive.alive.clone();
    loop {
        // epmd says nothing more; what ends this is the end of the connection.
        let mut byte = [0];
        while socket.read(&mut byte).await.is_ok_and(|count| count > 0) {}
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
        info!(name, "registered with epmd again");
    }
}
