//! Groups shared with other nodes: what `pg` of the BEAM says to `pg`.
//!
//! Each node keeps its own members and tells the others. Here a *sharer*, a process, stands between them and a scope
//! of [`purlin::pg`] (`sharer.rs`). To the other nodes it is the scope: what they say to its name comes to the
//! sharer, whom [`Sharers`] finds.

mod sharer;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin::foreign::LocalProcess;
use purlin::{ExitReason, LookupError, Process};
use purlin_term::Atom;
use serde::Serialize;

use self::sharer::{Sharer, StandIn, Told};
use super::core::Core;
use super::{Cluster, written};
use crate::control::Named;

/// The sharers of a node, by the names of their scopes.
#[derive(Debug, Default)]
pub(super) struct Sharers {
    all: Mutex<HashMap<Box<str>, LocalProcess>>,
    /// There has been one: whoever sends to a name need not look at the others.
    some: AtomicBool,
}

impl Sharers {
    fn all(&self) -> MutexGuard<'_, HashMap<Box<str>, LocalProcess>> {
        // Nobody panics under the lock.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who is told what is said to a scope.
    pub(super) fn find(&self, scope: &str) -> Option<LocalProcess> {
        // ORDER: acquire, partner of the release below; what is sent before is not for the sharer yet.
        if !self.some.load(Ordering::Acquire) {
            return None;
        }
        self.all().get(scope).filter(|sharer| !sharer.has_ended()).cloned()
    }

    /// Whether there was none for that scope.
    fn add(&self, scope: &str, sharer: LocalProcess) -> bool {
        let mut all = self.all();
        let is_new = all.get(scope).is_none_or(LocalProcess::has_ended);
        if is_new {
            all.insert(scope.into(), sharer);
            self.some.store(true, Ordering::Release);
        }
        is_new
    }

    /// The node leaves.
    pub(super) fn end(&self, core: &Core) {
        for (_, sharer) in self.all().drain() {
            core.ids.node.exit(sharer.id(), ExitReason::Kill);
        }
    }
}

/// Why the groups of a scope are not shared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotShared {
    /// The node has no scope of that name.
    NoScope(LookupError),
    /// They are shared already.
    Shared,
    /// The scope has ended, its name is longer than an atom can be, or there is no room for one more process.
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
    /// Shares the groups of a scope of this node, [`purlin::pg`], with the scopes of that name on all nodes that it is
    /// connected to, or will be: those of `pg` on the BEAM, and of nodes of ours that share theirs. From then on
    /// the members on other nodes are members here, as processes that receive messages of type `M`, and those of
    /// this node, whatever they receive, are members there. The BEAM's own scope is `pg`.
    ///
    /// A group has an atom for a name there, of the text that it has here; unless that text is another term in
    /// Erlang's syntax, like `{shop,7}`, which then is its name.
    ///
    /// A hidden node finds the scopes that are there when it connects; a published one also those that
    /// are started later.
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
    /// *Cancellation*: the groups are shared all the same.
    ///
    /// # Errors
    /// [`NotShared`] says why they are not.
    ///
    /// COST: for each member elsewhere a stand-in and a monitor; for each join or leave of ours a message to each node.
    pub async fn share_groups<M>(&self, scope: &str) -> Result<(), NotShared>
    where
        M: Serialize + Send + 'static,
    {
        let scope = Atom::new(scope).map_err(|_| NotShared::NotMade)?;
        let core = Arc::clone(self.core());
        core.decodes(|term| Ok(Told::Term(term)));
        let stand_in: StandIn = |core, of| {
            let node = of.node.as_str().parse().ok()?;
            let encode = || Arc::new(written::<M>) as _;
            let pid = core.stand_in_for::<M>(node, Named::Pid(of.clone()), encode)?;
            Some(LocalProcess::from(&pid))
        };
        let (told, result) = tokio::sync::oneshot::channel();
        let inside = Arc::clone(&core);
        let shares = async move |me: Process<Told>| {
            let sharer = Sharer::new(me, inside, scope, stand_in).await;
            // Whoever asked may have given up.
            let _ = told.send(sharer.as_ref().map(drop).map_err(Clone::clone));
            if let Ok(sharer) = sharer {
                sharer.run().await;
            }
        };
        core.ids.node.try_spawn(shares).map_err(|_| NotShared::NotMade)?;
        result.await.unwrap_or(Err(NotShared::NotMade))
    }
}
