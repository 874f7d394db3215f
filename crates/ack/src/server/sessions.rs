//! Which clients have a session, where, and what they have been answered.
//!
//! One for a server, used by the processes of its connections. A client has one
//! connection at a time: who opens a session first [takes over](Sessions::enter)
//! from the connections that the client had, which end when what they have read is
//! answered. So nothing is handled on two.
//!
//! INVARIANT: who is in `connected` may still handle something; nobody leaves before its
//! handler is done with, or dropped.
//!
//! COST: a lock for each batch of a session, held for a look-up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin::{Exit, Pid};

use super::limits::Limits;
use crate::remembered::Remembered;

/// A client's name.
pub(crate) type Client = [u8; 16];

/// The clients of a server.
#[derive(Debug)]
pub(crate) struct Sessions {
    remembered: Mutex<Remembered>,
    connected: Mutex<HashMap<Client, Vec<Pid<Exit>>>>,
}

impl Sessions {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            remembered: Mutex::new(Remembered::new(limits.clients, limits.window())),
            connected: Mutex::default(),
        }
    }

    /// What has been answered to whom.
    pub(crate) fn remembered(&self) -> MutexGuard<'_, Remembered> {
        // WHY: what is done while it is locked does not panic.
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection wants to speak for a client; those that did before, which have to end first.
    ///
    /// WHY all of them, and not the last: that may itself still wait for the one before it.
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

/// The connection of a client, for as long as it lives.
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
