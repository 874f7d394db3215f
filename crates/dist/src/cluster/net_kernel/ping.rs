//! Round-trip time to a node.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Process, SpawnOptions, receive};
use purlin_dist_protocol::NodeName;
use purlin_dist_protocol::control::Control;
use purlin_term::{Atom, Term};
use tokio::sync::oneshot;

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::rpc::gen_call::GenCall;

/// The reason why a ping returned no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PingError {
    /// The node is not connected.
    #[error("the node is not connected")]
    NotConnected,
    /// The connection ended before the answer.
    #[error("the connection ended before the node answered")]
    Lost,
    /// No answer arrived within the timeout.
    #[error("timeout: no answer within {0:?}")]
    Timeout(Duration),
    /// The waiting process could not be spawned, or the node is stopping.
    #[error("no process of ours could wait for the answer")]
    NotMade,
}

impl Cluster {
    /// Sends a connected node the request of `net_adm:ping` and returns the time until the answer was received: the
    /// network round trip, bytes queued before the request, and the scheduling of both processes. Unlike
    /// `net_adm:ping` it never connects.
    ///
    /// ```
    /// use std::time::Duration;
    /// use purlin::Node;
    /// use purlin_dist::cluster::{Cluster, PingError};
    /// use purlin_dist::epmd;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let names = epmd::Server::start(("127.0.0.1", 0)).await?;
    /// let node = || Node::builder().workers(1).build();
    /// let shop = Cluster::builder("shop@127.0.0.1".parse()?).cookie("secret").epmd(names.address());
    /// let shop = shop.start(&node()?).await?;
    /// let bank = Cluster::builder("bank@127.0.0.1".parse()?).cookie("secret").epmd(names.address());
    /// let bank = bank.start(&node()?).await?;
    ///
    /// let timeout = Duration::from_secs(20);
    /// assert_eq!(shop.ping(bank.name(), timeout).await, Err(PingError::NotConnected));
    /// shop.connect(bank.name()).await?;
    /// assert!(shop.ping(bank.name(), timeout).await? < timeout);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// COST: one process during the wait, and one message in each direction, some hundred bytes in all.
    ///
    /// *Cancellation*: dropping the future abandons the ping; a late answer is dropped. The future does not keep the
    /// node in the cluster.
    ///
    /// # Errors
    /// [`PingError`]: the reason why there is no answer.
    pub fn ping(
        &self,
        node: &NodeName,
        timeout: Duration,
    ) -> impl Future<Output = Result<Duration, PingError>> + Send + use<> {
        let (core, connection) = (Arc::clone(self.core()), self.core().connection(node));
        async move {
            let connection = connection.ok_or(PingError::NotConnected)?;
            let (sender, answer) = oneshot::channel();
            let on = core.ids.node.clone();
            let asks = move |me| ask(me, core, connection, timeout, sender);
            SpawnOptions::new().spawn_on(&on, asks).map_err(|_| PingError::NotMade)?;
            answer.await.unwrap_or(Err(PingError::NotMade))
        }
    }
}

async fn ask(
    mut me: Process<Term>,
    core: Arc<Core>,
    connection: Arc<Connection>,
    timeout: Duration,
    mut sender: oneshot::Sender<Result<Duration, PingError>>,
) {
    let from = core.ids.pid(me.id());
    // WHY no monitor: the end of the connection is seen below, and every node has a `net_kernel`.
    let tag = Term::from(core.ids.reference(core.ids.monitor()));
    let request = tagged!("is_auth", core.ids.atom.clone());
    let call = GenCall { from: from.clone(), tag: tag.clone(), request };
    let to = Atom::from_static("net_kernel");
    let control = Control::RegSend { from: from.clone(), to, token: None };
    let asked = core.ids.node.uptime();
    connection.send_control(Some(from), control, Some(call.into_term()));
    let answered = async {
        receive!(me, {
            Term::Tuple(parts) if parts.len() == 2 && parts[0] == tag => {
                Ok(core.ids.node.uptime().saturating_sub(asked))
            },
            after timeout => Err(PingError::Timeout(timeout)),
        })
    };
    let lost = async {
        if let Some(link) = connection.link() {
            link.ended().await;
        }
    };
    let result = tokio::select! {
        biased;
        result = answered => result,
        () = lost => Err(PingError::Lost),
        () = sender.closed() => return,
    };
    // The caller may have been cancelled.
    let _ = sender.send(result);
}
