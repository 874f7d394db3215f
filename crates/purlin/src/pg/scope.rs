//! Process group scope: the server that owns a set of groups.
//!
//! Only the scope changes the table. It monitors every member, once regardless of how often the
//! member has joined, and every monitoring process. It sends each change to the monitors of the
//! group and to those of the whole scope.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::event::{Change, Event, GroupMonitor};
use super::table::Shared;
use crate::node::erlang_types::Peer;
use crate::server::{self, Init, Mail, Next, Server};
use crate::signals::reference::Reference;
use crate::signals::signal::{Signal, send_signal};
use crate::{Down, MonitorRef, Name, Process, ProcessId, Reply};

/// Server of a process group scope. Started by `server::start_link::<Scope>(&me, ()).name("shop")`
/// or as the child of a supervisor. Clients use [`super::Groups`].
#[derive(Debug)]
pub struct Scope {
    shared: Arc<Shared>,
    /// Groups of each member, one entry per join, in join order.
    joined: FxHashMap<ProcessId, Joined>,
    /// Monitoring processes by group; `None` is the whole scope. INVARIANT: no inner map is empty.
    watchers: FxHashMap<Option<Name>, FxHashMap<Reference, Watcher>>,
    /// Group of each group monitor.
    watched: FxHashMap<Reference, Option<Name>>,
    /// Member or monitoring process behind each process monitor.
    monitors: FxHashMap<MonitorRef, Gone>,
}

/// A process with the groups that it has joined.
#[derive(Debug)]
struct Joined {
    monitor: MonitorRef,
    groups: Vec<Name>,
}

/// A process that monitors the scope.
#[derive(Debug)]
struct Watcher {
    peer: Peer,
    monitor: MonitorRef,
}

/// Process whose monitor has fired.
#[derive(Clone, Debug)]
enum Gone {
    Member(ProcessId),
    Watcher(Reference),
}

/// Request to a scope.
#[derive(Debug)]
pub struct Request(pub(super) Ask);

/// Contents of a [`Request`].
#[derive(Debug)]
pub(super) enum Ask {
    Share(Reply<Arc<Shared>>),
    Join { group: Name, id: ProcessId, found: Option<Peer>, reply: Reply<()> },
    Leave { group: Name, id: ProcessId, reply: Reply<bool> },
    Watch { group: Option<Name>, reference: Reference, watcher: Peer, reply: Reply<Known> },
}

/// Groups and their members.
type Known = BTreeMap<Name, Vec<ProcessId>>;

impl Server for Scope {
    type Args = ();
    type Call = Request;
    /// Cancels a group monitor.
    type Cast = GroupMonitor;
    type Info = Down;
    type Continue = ();

    async fn init((): (), _me: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        Ok(Init::Ready(Self {
            shared: Arc::default(),
            joined: FxHashMap::default(),
            watchers: FxHashMap::default(),
            watched: FxHashMap::default(),
            monitors: FxHashMap::default(),
        }))
    }

    async fn handle_call(
        &mut self,
        Request(ask): Request,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        match ask {
            Ask::Share(reply) => reply.send(Arc::clone(&self.shared)),
            Ask::Join { group, id, found, reply } => {
                self.join(group, id, found, me);
                reply.send(());
            }
            Ask::Leave { group, id, reply } => reply.send(self.leave(&group, id, me)),
            Ask::Watch { group, reference, watcher, reply } => {
                reply.send(self.watch(group, reference, watcher, me));
            }
        }
        Ok(Next::Wait)
    }

    async fn handle_cast(
        &mut self,
        GroupMonitor(reference): GroupMonitor,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        self.unwatch(reference, me);
        Ok(Next::Wait)
    }

    async fn handle_info(
        &mut self,
        down: Down,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        match self.monitors.remove(&down.monitor) {
            Some(Gone::Member(id)) => {
                let groups = self.joined.remove(&id).map(|joined| joined.groups);
                for group in groups.into_iter().flatten().rev() {
                    self.left(&group, id);
                }
            }
            Some(Gone::Watcher(reference)) => self.unwatch(reference, me),
            // The monitor was cancelled while it fired.
            None => {}
        }
        Ok(Next::Wait)
    }
}

/// Clears the groups when the scope ends, also for clients that still hold the table.
impl Drop for Scope {
    fn drop(&mut self) {
        self.shared.clear();
    }
}

impl Scope {
    fn join(&mut self, group: Name, id: ProcessId, found: Option<Peer>, me: &Process<Mail<Self>>) {
        let Some(peer) = found else {
            // The process had ended when it was looked up, so there is nothing to store.
            self.notify(&group, Change::Joined, id);
            self.notify(&group, Change::Left, id);
            return;
        };
        let monitors = &mut self.monitors;
        let joined = self.joined.entry(id).or_insert_with(|| {
            let monitor = me.monitor(id);
            monitors.insert(monitor, Gone::Member(id));
            Joined { monitor, groups: Vec::new() }
        });
        joined.groups.push(group.clone());
        self.shared.join(&group, id, peer);
        self.notify(&group, Change::Joined, id);
    }

    fn leave(&mut self, group: &Name, id: ProcessId, me: &Process<Mail<Self>>) -> bool {
        let Some(joined) = self.joined.get_mut(&id) else { return false };
        let Some(index) = joined.groups.iter().rposition(|joined| joined == group) else {
            return false;
        };
        joined.groups.remove(index);
        if joined.groups.is_empty() {
            me.demonitor(joined.monitor);
            self.monitors.remove(&joined.monitor);
            self.joined.remove(&id);
        }
        self.left(group, id);
        true
    }

    /// Removes one membership from the table and notifies the monitors.
    fn left(&self, group: &Name, id: ProcessId) {
        let was_in_it = self.shared.leave(group, id);
        debug_assert!(was_in_it, "what has joined is in the table");
        self.notify(group, Change::Left, id);
    }

    fn watch(
        &mut self,
        group: Option<Name>,
        reference: Reference,
        peer: Peer,
        me: &Process<Mail<Self>>,
    ) -> Known {
        let monitor = me.monitor(ProcessId::of(&peer));
        self.monitors.insert(monitor, Gone::Watcher(reference));
        let known = self.shared.known(group.as_ref());
        self.watched.insert(reference, group.clone());
        self.watchers.entry(group).or_default().insert(reference, Watcher { peer, monitor });
        known
    }

    fn unwatch(&mut self, reference: Reference, me: &Process<Mail<Self>>) {
        let Some(group) = self.watched.remove(&reference) else { return };
        let Some(watchers) = self.watchers.get_mut(&group) else { return };
        if let Some(watcher) = watchers.remove(&reference)
            && self.monitors.remove(&watcher.monitor).is_some()
        {
            me.demonitor(watcher.monitor);
        }
        if watchers.is_empty() {
            self.watchers.remove(&group);
        }
    }

    /// Sends a change to the monitors of the group and to those of the whole scope.
    fn notify(&self, group: &Name, change: Change, id: ProcessId) {
        for watched in [Some(group.clone()), None] {
            for (reference, watcher) in self.watchers.get(&watched).into_iter().flatten() {
                let event = Event::new(*reference, group, change, id);
                send_signal(&watcher.peer, Signal::Group(*reference, Box::new(event)));
            }
        }
    }
}
