//! Locks of `global` held on this node. Pure.
//!
//! A lock is for a resource and belongs to a requester, which may consist of several processes: two lockers that merge
//! two partitions hold their locks under one requester id. The lock is free again when each of its processes has
//! released it or ended.

use std::collections::HashMap;

use purlin::MonitorRef;
use purlin_term::{Pid, Term};

/// Held locks by resource.
#[derive(Debug, Default)]
pub(super) struct Locks(HashMap<Term, Lock>);

/// A lock: its requester, and the processes that hold it.
#[derive(Debug)]
struct Lock {
    requester: Term,
    /// INVARIANT: not empty.
    holders: Vec<(Pid, MonitorRef)>,
}

/// `{ResourceId, LockRequesterId}`.
fn parts(id: &Term) -> Option<(&Term, &Term)> {
    match id.as_tuple() {
        Some([resource, requester]) => Some((resource, requester)),
        _ => None,
    }
}

impl Locks {
    /// Acquires a lock for a process, which is then monitored. Returns whether the process has the lock.
    pub(super) fn set(
        &mut self,
        id: &Term,
        holder: &Pid,
        monitor: impl FnOnce() -> Option<MonitorRef>,
    ) -> bool {
        let Some((resource, requester)) = parts(id) else { return false };
        let lock = self.0.get(resource);
        if lock.is_some_and(|lock| lock.requester != *requester) {
            return false;
        }
        if lock.is_some_and(|lock| lock.holders.iter().any(|(known, _)| known == holder)) {
            return true;
        }
        let Some(monitor) = monitor() else { return false };
        let new = || Lock { requester: requester.clone(), holders: Vec::new() };
        let lock = self.0.entry(resource.clone()).or_insert_with(new);
        lock.holders.push((holder.clone(), monitor));
        true
    }

    /// Releases a lock of a process. Returns the monitor of the process if it had the lock.
    pub(super) fn delete(&mut self, id: &Term, holder: &Pid) -> Option<MonitorRef> {
        let (resource, requester) = parts(id)?;
        let lock = self.0.get_mut(resource).filter(|lock| lock.requester == *requester)?;
        let index = lock.holders.iter().position(|(known, _)| known == holder)?;
        let (_, monitor) = lock.holders.swap_remove(index);
        if lock.holders.is_empty() {
            self.0.remove(resource);
        }
        Some(monitor)
    }

    /// Releases the locks of a process that has ended.
    pub(super) fn ended(&mut self, monitor: MonitorRef) {
        self.0.retain(|_, lock| {
            lock.holders.retain(|(_, known)| *known != monitor);
            !lock.holders.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use purlin_term::Atom;

    use super::*;

    fn pid(id: u32) -> Pid {
        Pid { node: Atom::from_static("a@h"), id, serial: 0, creation: 1 }
    }

    #[test]
    fn lock_is_free_when_every_holder_has_released_it_or_ended() {
        let mut locks = Locks::default();
        let [ours, theirs]: [Term; 2] =
            ["{global, [a, b]}", "{global, c}"].map(|id| id.parse().expect("a term"));
        let set = |locks: &mut Locks, id, holder| {
            locks.set(id, &pid(holder), || Some(MonitorRef::from_number(holder.into())))
        };
        assert!(set(&mut locks, &ours, 1) && set(&mut locks, &ours, 2));
        assert!(set(&mut locks, &ours, 1), "it has it");
        assert!(!set(&mut locks, &theirs, 3));
        assert_eq!(locks.delete(&theirs, &pid(1)), None);
        assert_eq!(locks.delete(&ours, &pid(1)), Some(MonitorRef::from_number(1)));
        assert_eq!(locks.delete(&ours, &pid(1)), None);
        assert!(!set(&mut locks, &theirs, 3));
        locks.ended(MonitorRef::from_number(2));
        assert!(set(&mut locks, &theirs, 3));
        assert!(!locks.set(&Term::NIL, &pid(1), || None));
    }
}
