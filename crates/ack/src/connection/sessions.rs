//! Sessions of a server: the connections of each client, and what has been answered.
//!
//! A server has one value, used by its connection processes. A client has one active connection: a
//! connection that opens a session first [takes over](Sessions::enter) from the earlier connections
//! of the client, which end after answering what they have read. So no message is handled on two
//! connections.
//!
//! INVARIANT: every connection that may still run a handler is in `connected`; it leaves only after
//! its handler is done or dropped.
//!
//! COST: a lock per batch of a session, held for a lookup.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin::{Exit, Pid};

use super::limits::Limits;
use crate::connection::session_table::SessionTable;

/// Client identifier.
pub(crate) type Client = [u8; 16];

/// Clients of a server.
#[derive(Debug)]
pub(crate) struct Sessions {
    table: Mutex<SessionTable>,
    connected: Mutex<HashMap<Client, Vec<Pid<Exit>>>>,
}

impl Sessions {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            table: Mutex::new(SessionTable::new(limits.clients, limits.window())),
            connected: Mutex::default(),
        }
    }

    /// Locks the session table.
    pub(crate) fn table(&self) -> MutexGuard<'_, SessionTable> {
        // WHY: no code panics while the lock is held.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a connection of a client. Returns the earlier connections of the client, which
    /// must end first.
    ///
    /// WHY all of them: the last one may itself be waiting for its predecessor.
    pub(crate) fn enter(
        self: &Arc<Self>,
        client: Client,
        connection: Pid<Exit>,
    ) -> (Presence, Vec<Pid<Exit>>) {
        let mut connected = self.connected();
        let here = connected.entry(client).or_default();
        let before = here.clone();
        here.push(connection.clone());
        (Presence { sessions: Arc::clone(self), client, connection }, before)
    }

    fn connected(&self) -> MutexGuard<'_, HashMap<Client, Vec<Pid<Exit>>>> {
        // WHY: as above.
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registration of a connection, removed on drop.
#[derive(Debug)]
pub(crate) struct Presence {
    sessions: Arc<Sessions>,
    client: Client,
    connection: Pid<Exit>,
}

impl Drop for Presence {
    fn drop(&mut self) {
        let mut connected = self.sessions.connected();
        if let Some(here) = connected.get_mut(&self.client) {
            here.retain(|other| *other != self.connection);
            if here.is_empty() {
                connected.remove(&self.client);
            }
        }
    }
}
