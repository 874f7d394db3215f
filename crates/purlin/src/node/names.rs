//! Table of the registered names of a node (N1).
//!
//! The node keeps the maps of both directions under one lock, which is held for a look-up and never
//! while user code runs. A signal informs the process that it has a name, so that its end frees the
//! name before it sends any signal. Until the name is freed, a look-up finds that the process has
//! ended.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use purlin_raw::Slot;

use crate::node::erlang_types::Peer;
use crate::node::name::LONGEST;
use crate::{Name, ProcessId, RegisterError};

/// Table of the registered names of a node.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<Tables>);

/// Processes by name, and names by process.
#[derive(Debug, Default)]
struct Tables {
    processes: HashMap<Name, Peer>,
    names: HashMap<Slot, Name>,
}

/// Reservation of a free name, which no other process can take meanwhile.
pub(crate) struct Claim<'a> {
    tables: MutexGuard<'a, Tables>,
    name: Name,
    /// Previous holder, which has ended. WHY: dropped after the lock, because dropping it may drop
    /// an exit reason, which is user code.
    before: Option<Peer>,
}

impl Claim<'_> {
    /// Returns the name of a process.
    pub(super) fn name_of(&self, slot: Slot) -> Option<Name> {
        self.tables.names.get(&slot).cloned()
    }

    /// Gives the name to a process that has none.
    pub(crate) fn give_to(&mut self, peer: Peer) {
        self.tables.names.insert(peer.slot(), self.name.clone());
        self.before = self.tables.processes.insert(self.name.clone(), peer);
    }
}

impl Names {
    fn lock(&self) -> MutexGuard<'_, Tables> {
        // WHY: no code panics under the lock, so it is never poisoned.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the live process with this name.
    pub(crate) fn find(&self, name: &str) -> Option<Peer> {
        self.lock().processes.get(name).filter(|peer| !peer.has_ended()).cloned()
    }

    /// Returns the name of a process.
    pub(crate) fn of(&self, slot: Slot) -> Option<Name> {
        self.lock().names.get(&slot).cloned()
    }

    /// Calls `take` with the position and the name of each slot that has a name.
    pub(crate) fn of_each(
        &self,
        slots: impl Iterator<Item = Option<Slot>>,
        mut take: impl FnMut(usize, &Name),
    ) {
        let mut found = Vec::new();
        let tables = self.lock();
        for (at, slot) in slots.enumerate() {
            found.extend(
                slot.and_then(|slot| tables.names.get(&slot)).map(|name| (at, name.clone())),
            );
        }
        drop(tables);
        found.iter().for_each(|(at, name)| take(*at, name));
    }

    pub(super) fn all(&self) -> Vec<Name> {
        let tables = self.lock();
        let live = tables.processes.iter().filter(|(_, peer)| !peer.has_ended());
        let mut names: Vec<_> = live.map(|(name, _)| name.clone()).collect();
        drop(tables);
        names.sort_unstable();
        names
    }

    /// Frees the name of a process that has ended.
    pub(crate) fn release(&self, slot: Slot) {
        let mut tables = self.lock();
        let Some(name) = tables.names.remove(&slot) else { return };
        // WHY: another process may have taken the name since this one ended.
        let gone = match tables.processes.get(&name) {
            Some(peer) if peer.slot() == slot => tables.processes.remove(&name),
            _ => None,
        };
        drop(tables);
        drop(gone);
    }

    pub(super) fn unregister(&self, name: &str) -> bool {
        let mut tables = self.lock();
        let Some(peer) = tables.processes.remove(name) else { return false };
        tables.names.remove(&peer.slot());
        drop(tables);
        !peer.has_ended()
    }

    /// Reserves a name for a process about to be spawned. Look-ups wait until the claim is dropped.
    pub(crate) fn claim(&self, name: Name) -> Result<Claim<'_>, RegisterError> {
        if !(1..=LONGEST).contains(&name.chars().count()) || &*name == "undefined" {
            return Err(RegisterError::BadName(name.chars().take(LONGEST).collect()));
        }
        let tables = self.lock();
        let holder = tables.processes.get(&name).filter(|holder| !holder.has_ended());
        match holder.map(ProcessId::of) {
            Some(by) => Err(RegisterError::Taken { name, by }),
            None => Ok(Claim { tables, name, before: None }),
        }
    }
}
