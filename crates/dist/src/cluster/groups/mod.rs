//! Process groups shared with other nodes by the protocol of `pg`.
//!
//! Each node stores its own members and announces them to the others. A *sharer* process connects the other nodes with
//! a local scope of [`purlin::pg`] (`sharer.rs`). To the other nodes it is the scope: messages to the scope's name go
//! to the sharer, which is in a table of the node (`sharers.rs`).

mod sharer;
pub(super) mod sharers;

use std::sync::Arc;

use purlin::remote::LocalProcess;
use purlin::{Process, SpawnOptions};
use purlin_term::Atom;
use serde::Serialize;

use self::sharer::{Mail, MakeProxy, Sharer};
use crate::cluster::handle::Cluster;

pub use self::sharer::NotShared;

impl Cluster {
    /// Shares the groups of a local scope of [`purlin::pg`] with the scopes of the same name on all nodes that are
    /// connected now or later: those of `pg` on BEAM nodes, and those of purlin nodes that share theirs. From then on
    /// the members on other nodes are members here, as processes that receive messages of type `M`. The members on this
    /// node, whatever their message type, are members there. The default scope of the BEAM is `pg`.
    ///
    /// On other nodes a group's name is an atom with the same text. Exception: if the text is another term in Erlang
    /// syntax, such as `{shop,7}`, the name is that term. An atom whose text is another term is quoted: the group `'7'`
    /// is the atom, `7` the integer.
    ///
    /// A hidden node finds the scopes that exist when it connects; a published one also finds those started later.
    ///
    /// ```
    /// # use purlin::pg::Groups;
    /// # use purlin::{Node, Process};
    /// # use purlin_dist::cluster::Cluster;
    /// # use purlin_dist::epmd::Server;
    /// # use purlin_term::Term;
    /// # #[purlin::main] async fn main(me: Process<()>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    /// # let epmd = Server::start("127.0.0.1:0").await?;
    /// # let node = Node::current().expect("this is a process");
    /// # let shop = Cluster::builder("shop@127.0.0.1".parse()?).cookie("secret").epmd(epmd.address()).start(&node).await?;
    /// let groups = Groups::start("pg").await?;
    /// shop.share_groups::<Term>("pg").await?;
    /// let clerks = groups.members::<Term>("clerks");
    /// assert!(clerks.is_empty(), "no process has joined, on any node");
    /// # Ok(()) }
    /// ```
    ///
    /// *Cancellation*: the groups are still shared.
    ///
    /// # Errors
    /// [`NotShared`]: the reason.
    ///
    /// COST: one proxy and one monitor for each remote member; one message to each node for each local join or leave.
    pub async fn share_groups<M>(&self, scope: &str) -> Result<(), NotShared>
    where
        M: Serialize + Send + 'static,
    {
        let scope = Atom::new(scope).map_err(|_| NotShared::NotMade)?;
        let core = Arc::clone(self.core());
        core.decodes(|term| Ok(Mail::Term(term)));
        let proxy: MakeProxy =
            |core, of| core.typed_proxy::<M>(of).map(|pid| LocalProcess::from(&pid));
        let (sender, result) = tokio::sync::oneshot::channel();
        let inside = Arc::clone(&core);
        let shares = async move |me: Process<Mail>| {
            let sharer = Sharer::new(me, inside, scope, proxy).await;
            // The caller may have been cancelled.
            let _ = sender.send(sharer.as_ref().map(drop).map_err(Clone::clone));
            if let Ok(sharer) = sharer {
                sharer.run().await;
            }
        };
        let spawned = SpawnOptions::new().spawn_on(&core.ids.node, shares);
        spawned.map_err(|_| NotShared::NotMade)?;
        result.await.unwrap_or(Err(NotShared::NotMade))
    }
}
