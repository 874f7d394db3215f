//! Sessions of a server: the connections of each client, and what has been answered.
//!
//! A server has one [`Sessions`], shared by its connection processes. Each client has one *holder*, the
//! connection with the session, and at most one *waiter*, a newer connection that the holder must
//! make way for: it answers what it has read and ends, or is killed after a timeout. A still newer
//! connection displaces the waiter. So no message is handled on two connections, and any number of
//! sessions that one client opens occupy at most two connections.
//!
//! INVARIANT: a connection that may still run a handler in a session is the holder; it leaves only
//! after its handler is done or dropped.
//!
//! COST: a lock per batch of a session, held for a lookup.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use purlin::{Exit, ExitReason, Pid};
use tokio::sync::oneshot;

use super::close_reason::CloseReason;
use super::counters::Counters;
use super::limits::Limits;
use crate::connection::session_table::SessionTable;

/// Client identifier.
pub(crate) type Client = [u8; 16];

/// Sessions of a server.
#[derive(Debug)]
pub(crate) struct Sessions {
    state: Mutex<State>,
    counters: Arc<Counters>,
}

/// Contents of [`Sessions`], under its lock.
#[derive(Debug)]
struct State {
    table: SessionTable,
    clients: HashMap<Client, Connections>,
    /// Number of the next connection.
    next: u64,
}

/// Connections of a client.
#[derive(Debug)]
struct Connections {
    holder: Holder,
    waiter: Option<Waiter>,
}

#[derive(Debug)]
struct Holder {
    number: u64,
    process: Pid<Exit>,
    /// When it was asked to end, on the node's clock.
    asked_at: Option<Duration>,
    killed: bool,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    process: Pid<Exit>,
    /// Completed when the waiter becomes the holder; dropped when it is displaced.
    turn: oneshot::Sender<()>,
}

/// Wait of a newer connection for the holder.
#[derive(Debug)]
pub(crate) struct Wait {
    /// Completes with an error if a still newer connection displaces this one.
    pub(crate) turn: oneshot::Receiver<()>,
    /// When the holder was asked to end, on the node's clock.
    pub(crate) asked_at: Duration,
}

impl Sessions {
    pub(crate) fn new(limits: &Limits, counters: Arc<Counters>) -> Self {
        let table = SessionTable::new(limits.session_bytes, limits.window());
        Self { state: Mutex::new(State { table, clients: HashMap::new(), next: 0 }), counters }
    }

    /// Uses the session table, under its lock.
    pub(crate) fn table<T>(&self, use_table: impl FnOnce(&mut SessionTable) -> T) -> T {
        self.counted(&mut self.lock().table, use_table)
    }

    /// Uses the table and counts the clients that were evicted.
    fn counted<T>(
        &self,
        table: &mut SessionTable,
        use_table: impl FnOnce(&mut SessionTable) -> T,
    ) -> T {
        let before = table.evicted();
        let result = use_table(table);
        if table.evicted() > before {
            self.counters.sessions_evicted.add(table.evicted() - before);
        }
        result
    }

    /// Registers a connection of a client. If the client has a holder already, the connection has to
    /// wait: it becomes the waiter in place of an earlier one, and the holder is asked to end.
    pub(crate) fn enter(
        self: &Arc<Self>,
        client: Client,
        process: Pid<Exit>,
        now: Duration,
    ) -> (Presence, Option<Wait>) {
        let mut state = self.lock();
        state.next += 1;
        let number = state.next;
        let presence = Presence { sessions: Arc::clone(self), client, number };
        let connections = match state.clients.entry(client) {
            Entry::Vacant(vacant) => {
                let holder = Holder { number, process, asked_at: None, killed: false };
                vacant.insert(Connections { holder, waiter: None });
                return (presence, None);
            }
            Entry::Occupied(occupied) => occupied.into_mut(),
        };
        let (turn, has_turn) = oneshot::channel();
        connections.waiter = Some(Waiter { number, process, turn });
        let holder = &mut connections.holder;
        let asked_at = *holder.asked_at.get_or_insert_with(|| {
            holder.process.exit(ExitReason::shutdown_with(CloseReason::Replaced));
            now
        });
        (presence, Some(Wait { turn: has_turn, asked_at }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // WHY: no code panics while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registration of a connection, removed on drop.
#[derive(Debug)]
pub(crate) struct Presence {
    sessions: Arc<Sessions>,
    client: Client,
    number: u64,
}

impl Presence {
    /// Kills the holder for which this connection waits. Returns `false` if it was killed before.
    pub(crate) fn kill_holder(&self) -> bool {
        if let Some(connections) = self.sessions.lock().clients.get_mut(&self.client)
            && connections.holder.number != self.number
            && !std::mem::replace(&mut connections.holder.killed, true)
        {
            connections.holder.process.exit(ExitReason::Kill);
            return true;
        }
        false
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let mut state = self.sessions.lock();
        let State { table, clients, .. } = &mut *state;
        let Entry::Occupied(mut occupied) = clients.entry(self.client) else { return };
        let connections = occupied.get_mut();
        connections.waiter.take_if(|waiter| waiter.number == self.number);
        if connections.holder.number != self.number {
            return;
        }
        self.sessions.counted(table, |table| table.close(self.client));
        if let Some(Waiter { number, process, turn }) = connections.waiter.take()
            && turn.send(()).is_ok()
        {
            connections.holder = Holder { number, process, asked_at: None, killed: false };
        } else {
            occupied.remove();
        }
    }
}
