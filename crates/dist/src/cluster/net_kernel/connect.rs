//! Connections: how they are established, replaced and lost.

use std::sync::Arc;

use purlin_dist_protocol::connect::{HANDSHAKE_TIMEOUT, NoConnection};
use purlin_dist_protocol::handshake::{Caller, Established, Refused};
use purlin_dist_protocol::link::Link;
use purlin_dist_protocol::{Accepted, Flags, Listener, NodeName, Stream};
use purlin_term::Atom;
use tokio::time::{sleep, timeout};

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::net_kernel::monitor::Watch;
use crate::cluster::net_kernel::nodes::NodeChange;

/// A connection without a link.
struct Added {
    connection: Arc<Connection>,
    /// The connection that it replaces, and the watches of that one.
    before: Option<Arc<Connection>>,
    watches: Option<Vec<Watch>>,
}

impl Core {
    /// Returns the connection to a node; connects first if necessary. Answers that waited for it have been sent.
    pub(crate) async fn connect(
        self: &Arc<Self>,
        node: &NodeName,
    ) -> Result<Arc<Connection>, Arc<NoConnection>> {
        let connection = self.connected_to(node).await?;
        self.send_unsent(&connection);
        Ok(connection)
    }

    async fn connected_to(
        self: &Arc<Self>,
        node: &NodeName,
    ) -> Result<Arc<Connection>, Arc<NoConnection>> {
        let mut refused = None;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(connection) = self.connection(node) {
                return Ok(connection);
            }
            if self.state().left {
                return Err(Arc::new(NoConnection::Left));
            }
            // The peer's call won over ours, and has failed.
            if let Some(refused) = refused {
                return Err(refused);
            }
            if *node == self.ids.name {
                return Err(Arc::new(NoConnection::Own(node.clone())));
            }
            if self.state().connection_table.call(node) {
                // WHY a task: this future may be dropped, and the call must still run to its end.
                match self.runtime.spawn(Arc::clone(self).call(node.clone())).await {
                    Ok(Ok(Some(connection))) => return Ok(connection),
                    // The peer's call won.
                    Ok(Ok(None)) => {}
                    Ok(Err(error)) if matches!(*error, NoConnection::Refused(_)) => {
                        refused = Some(error)
                    }
                    Ok(Err(error)) => return Err(error),
                    // The task has panicked, or the runtime is shutting down.
                    Err(_) => {}
                }
                if refused.is_some() && !self.state().connection_table.is_answering(node) {
                    continue;
                }
            }
            changed.await;
        }
    }

    /// Calls a node. Returns `None` if the call was cancelled in favour of the peer's call.
    async fn call(
        self: Arc<Self>,
        node: NodeName,
    ) -> Result<Option<Arc<Connection>>, Arc<NoConnection>> {
        let (core, peer) = (Arc::clone(&self), node.clone());
        let calling = self.runtime.spawn(async move {
            let dial = timeout(HANDSHAKE_TIMEOUT, core.dials.acquire()).await;
            let dial = dial.map_err(|_| NoConnection::Slow)?;
            let is_dead = || core.state().connection_table.is_dead(&peer);
            let called = core.reach.call(&core.local, peer.clone(), is_dead).await;
            drop(dial);
            if matches!(called, Err(NoConnection::Refused(Refused::TheirCall))) {
                // The peer's call, which may not have arrived yet, cancels this task.
                sleep(HANDSHAKE_TIMEOUT).await;
            }
            called
        });
        self.state().calls.insert(node.clone(), calling.abort_handle());
        let called = calling.await;
        self.state().calls.remove(&node);
        let result = match called {
            Ok(Ok((stream, established))) => {
                let added = self.add(&established.peer, true);
                Ok(Some(Arc::clone(&self).up(stream, established, added).await))
            }
            Ok(Err(error)) => Err(Arc::new(error)),
            // The peer's connection is added, and its link may not be set yet.
            Err(error) if error.is_cancelled() => Ok(None),
            Err(_) => Err(Arc::new(NoConnection::Slow)),
        };
        if result.is_err() {
            self.state().connection_table.call_failed(&node);
        }
        self.changed.notify_waiters();
        result
    }

    /// Accepts connections until the future is dropped.
    pub(crate) async fn answer(self: Arc<Self>, socket: tokio::net::TcpListener) {
        let core = Arc::clone(&self);
        let decide = move |caller: &Caller| {
            let verdict = core.state().connection_table.called(&caller.name);
            (verdict, core.reach.cookie_of(&caller.name))
        };
        let listener = Listener::new(socket, self.local.clone(), decide);
        let mut listener = listener.over(self.reach.transport.clone());
        loop {
            match listener.next().await {
                Accepted::Up(stream, established) => {
                    let added = self.add(&established.peer, false);
                    // WHY a task: the end of an earlier connection of this peer delays no other peer. And this future
                    // may be dropped while others wait for the connection.
                    self.runtime.spawn(Arc::clone(&self).up(stream, established, added));
                }
                Accepted::Failed(node) => {
                    self.state().connection_table.answer_failed(&node);
                    self.changed.notify_waiters();
                }
            }
        }
    }

    /// Adds a connection whose handshake is complete.
    fn add(self: &Arc<Self>, node: &NodeName, our_call: bool) -> Added {
        let mut state = self.state();
        let up = state.connection_table.up(node, our_call);
        if up.give_up_call
            && let Some(call) = state.calls.get(node)
        {
            call.abort();
        }
        // WHY under this lock: another connection may be coming up, and must find this one.
        let connection = Connection::new(node.clone(), up.connection);
        connection.start_agent(self);
        let before = state.connections.insert(node.clone(), Arc::clone(&connection));
        let watches = before.as_ref().and_then(|_| state.watches.remove(node));
        Added { connection, before, watches }
    }

    /// Starts the link of an added connection, after the end of the connection that it replaces.
    async fn up(
        self: Arc<Self>,
        stream: Stream,
        established: Established,
        Added { connection, before, watches }: Added,
    ) -> Arc<Connection> {
        let node = established.peer.clone();
        // WHY before the link: signals of the new connection come after the end of the old one.
        if let Some(before) = before {
            before.abort();
            before.over.wait().await;
            fire(watches, &node);
        }
        let link = (self.start_link)(&self, &connection, stream, established);
        // WHY before it is linked: no message of the peer is processed before that.
        let visible = link.flags().contains(Flags::PUBLISHED);
        self.nodes.notify(&node, NodeChange::Up { visible });
        {
            // WHY under this lock: neither end can use the connection before the table has it.
            let mut links = self.links();
            connection.linked(link.clone());
            links.connect(node_atom(&node), Arc::clone(&connection));
        }
        let (left, is_current) = {
            let state = self.state();
            let current = state.connections.get(&node);
            (state.left, current.is_some_and(|current| current.number == connection.number))
        };
        if left {
            connection.close();
        }
        // Another connection replaced this one before it had a link.
        if !is_current {
            connection.abort();
        }
        self.changed.notify_waiters();
        self.runtime.spawn(Arc::clone(&self).watch(link, Arc::clone(&connection)));
        connection
    }

    async fn watch(self: Arc<Self>, link: Link, connection: Arc<Connection>) {
        // The reader has passed on its last signal.
        link.ended().await;
        connection.requests.end();
        // WHY first: signals of the next connection come after the end of this one.
        self.lose(&connection);
        // It is set here only.
        let _ = connection.over.set(());
        let watches = {
            let mut state = self.state();
            let is_gone = state.connection_table.down(&connection.node, connection.number);
            is_gone.then(|| state.connections.remove(&connection.node));
            if is_gone { state.watches.remove(&connection.node) } else { None }
        };
        self.changed.notify_waiters();
        fire(watches, &connection.node);
    }

    /// Notifies links and monitors of a lost connection, and subscribers of node changes.
    fn lose(&self, connection: &Connection) {
        connection.begin_loss();
        connection.in_order(|| {
            let mut links = self.links();
            let lost = links.lose(connection.node.as_str(), |it| it.number == connection.number);
            for (ours, proxy, number) in lost {
                self.ids.node.deliver_link_loss(&proxy, ours, number);
            }
        });
        connection.lose(&self.ids.node);
        let visible = connection.flags().contains(Flags::PUBLISHED);
        self.nodes.notify(&connection.node, NodeChange::Down { visible });
    }
}

/// The name of a node in the pids of its processes.
fn node_atom(node: &NodeName) -> Atom {
    Atom::new(node.as_str()).unwrap_or(Atom::EMPTY)
}

/// Fires the watches of a lost node.
fn fire(watches: Option<Vec<Watch>>, node: &NodeName) {
    for watch in watches.into_iter().flatten() {
        watch.fire(node);
    }
}
