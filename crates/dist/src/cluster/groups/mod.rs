//! Process groups shared with other nodes by the protocol of `pg`.
//!
//! Each node stores its own members and announces them to the others. A *sharer* process connects the other nodes with
//! a local scope of [`purlin::pg`] (`sharer.rs`). To the other nodes it is the scope: messages to the scope's name go
//! to the sharer, which [`Sharers`] finds.

mod sharer;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin::remote::LocalProcess;
use purlin::{ExitReason, LookupError, Process};
use purlin_term::Atom;
use serde::Serialize;

use self::sharer::{Mail, MakeProxy, Sharer};
use super::core::Core;
use super::{Cluster, written};
use crate::control::Named;

/// The sharers of a node, by the names of their scopes.
#[derive(Debug, Default)]
pub(super) struct Sharers {
    all: Mutex<HashMap<Box<str>, LocalProcess>>,
    /// Set with the first sharer: until then, lookups of a name skip the table.
    some: AtomicBool,
}

impl Sharers {
    fn all(&self) -> MutexGuard<'_, HashMap<Box<str>, LocalProcess>> {
        // No code under the lock panics.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sharer of a scope.
    pub(super) fn find(&self, scope: &str) -> Option<LocalProcess> {
        // ORDER: acquire, partner of the release below; messages sent before the release are not for the sharer.
        if !self.some.load(Ordering::Acquire) {
            return None;
        }
        self.all().get(scope).filter(|sharer| !sharer.has_ended()).cloned()
    }

    /// Adds a sharer. Returns `false` if the scope has one already.
    fn add(&self, scope: &str, sharer: LocalProcess) -> bool {
        let mut all = self.all();
        let is_new = all.get(scope).is_none_or(LocalProcess::has_ended);
        if is_new {
            all.insert(scope.into(), sharer);
            self.some.store(true, Ordering::Release);
        }
        is_new
    }

    /// Ends all sharers when the node leaves.
    pub(super) fn end(&self, core: &Core) {
        for (_, sharer) in self.all().drain() {
            core.ids.node.exit(sharer.id(), ExitReason::Kill);
        }
    }
}

/// The reason why a scope is not shared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotShared {
    /// The node has no scope of that name.
    NoScope(LookupError),
    /// The scope is shared already.
    Shared,
    /// The scope has ended, its name is too long for an atom, or the process limit is reached.
    NotMade,
}

impl fmt::Display for NotShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoScope(error) => error.fmt(f),
            Self::Shared => f.write_str("the groups of that scope are shared already"),
            Self::NotMade => f.write_str("there is no process that would share the groups"),
        }
    }
}

impl std::error::Error for NotShared {}

impl Cluster {
    /// Shares the groups of a local scope of [`purlin::pg`] with the scopes of the same name on all nodes that are
    /// connected now or later: those of `pg` on BEAM nodes, and those of purlin nodes that share theirs. From then on
    /// the members on other nodes are members here, as processes that receive messages of type `M`. The members on this
    /// node, whatever their message type, are members there. The default scope of the BEAM is `pg`.
    ///
    /// On other nodes a group's name is an atom with the same text. Exception: if the text is another term in Erlang
    /// syntax, such as `{shop,7}`, the name is that term.
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
    /// # let shop = Cluster::builder("shop@127.0.0.1".parse()?).epmd(epmd.address()).start(&node).await?;
    /// let groups = Groups::start("pg").await?;
    /// shop.share_groups::<Term>("pg").await?;
    /// let clerks = groups.members::<Term>("clerks");
    /// assert!(clerks.is_empty(), "nobody has joined, on no node");
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
        let proxy: MakeProxy = |core, of| {
            let node = of.node.as_str().parse().ok()?;
            let encode = || Arc::new(written::<M>) as _;
            let pid = core.typed_proxy::<M>(node, Named::Pid(of.clone()), encode)?;
            Some(LocalProcess::from(&pid))
        };
        let (told, result) = tokio::sync::oneshot::channel();
        let inside = Arc::clone(&core);
        let shares = async move |me: Process<Mail>| {
            let sharer = Sharer::new(me, inside, scope, proxy).await;
            // The caller may have been cancelled.
            let _ = told.send(sharer.as_ref().map(drop).map_err(Clone::clone));
            if let Ok(sharer) = sharer {
                sharer.run().await;
            }
        };
        core.ids.node.try_spawn(shares).map_err(|_| NotShared::NotMade)?;
        result.await.unwrap_or(Err(NotShared::NotMade))
    }
}
