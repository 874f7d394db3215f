//! Membership table of a scope: read by every client, changed only by the scope.
//!
//! The lock is held for a look-up or a change, and never while user code runs: values removed from
//! the table are dropped after the lock is released.

use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustc_hash::FxHashMap;

use crate::node::erlang_types::Peer;
use crate::{Name, ProcessId};

/// Members of all groups of a scope. INVARIANT: no group is empty.
#[derive(Debug, Default)]
pub(super) struct Shared(RwLock<Groups>);

type Groups = BTreeMap<Name, FxHashMap<ProcessId, Member>>;

/// A process and the number of times it has joined.
#[derive(Debug)]
struct Member {
    peer: Peer,
    times: usize,
}

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, Groups> {
        // WHY: no code panics while it holds the lock.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Groups> {
        // WHY: as in `read`.
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the live members, once per join.
    pub(super) fn members(&self, group: &str) -> Vec<Peer> {
        let groups = self.read();
        let members = groups.get(group).into_iter().flat_map(|members| members.values());
        let living = members.filter(|member| !member.peer.has_ended());
        living.flat_map(|member| repeat_n(member.peer.clone(), member.times)).collect()
    }

    /// Returns the groups with live members, sorted.
    pub(super) fn groups(&self) -> Vec<Name> {
        let groups = self.read();
        let living = groups
            .iter()
            .filter(|(_, members)| members.values().any(|member| !member.peer.has_ended()));
        living.map(|(name, _)| name.clone()).collect()
    }

    /// Returns every member of a group, or of all groups, as known to the scope.
    pub(super) fn known(&self, group: Option<&Name>) -> BTreeMap<Name, Vec<ProcessId>> {
        let groups = self.read();
        let wanted = |name: &&Name| group.is_none_or(|group| group == *name);
        let known = groups.iter().filter(|(name, _)| wanted(name));
        let ids = |members: &FxHashMap<ProcessId, Member>| {
            members.iter().flat_map(|(id, member)| repeat_n(*id, member.times)).collect()
        };
        known.map(|(name, members)| (name.clone(), ids(members))).collect()
    }

    /// Removes all groups.
    pub(super) fn clear(&self) {
        let groups = std::mem::take(&mut *self.write());
        drop(groups);
    }

    pub(super) fn join(&self, group: &Name, id: ProcessId, peer: Peer) {
        let mut groups = self.write();
        let members = groups.entry(group.clone()).or_default();
        members.entry(id).or_insert(Member { peer, times: 0 }).times += 1;
    }

    /// Removes one membership of a process from a group; returns whether it was a member.
    pub(super) fn leave(&self, group: &Name, id: ProcessId) -> bool {
        let mut groups = self.write();
        let Some(members) = groups.get_mut(group) else { return false };
        let Some(member) = members.get_mut(&id) else { return false };
        member.times -= 1;
        let left = if member.times == 0 { members.remove(&id) } else { None };
        let empty = if members.is_empty() { groups.remove(group) } else { None };
        drop(groups);
        drop((left, empty));
        true
    }
}
