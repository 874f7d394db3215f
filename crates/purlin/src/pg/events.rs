//! Watching groups: who watches, and what it is told.
//!
//! The watching process keeps the monitor with the conversion into its own message, and makes the
//! message itself where the event stands among the others (M2). An event whose monitor it has taken
//! back is dropped there, so none is seen after that.

use std::collections::BTreeMap;
use std::fmt;

use purlin_raw::{Erased, Sealed};

use super::Groups;
use super::scope::Ask;
use crate::local::OfEvent;
use crate::reference::Reference;
use crate::{CallError, Name, Process, ProcessId};

/// A monitor of one group or of a whole scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupMonitor(pub(super) Reference);

impl fmt::Display for GroupMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for GroupMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// What has happened to members of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// They have joined.
    Joined,
    /// They have left, or ended.
    Left,
}

/// Somebody has joined or left a group: what `pg` sends as `{Ref, join | leave, Group, Pids}`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Whose event it is.
    pub monitor: GroupMonitor,
    /// Which group.
    pub group: Name,
    /// What they did.
    pub change: Change,
    /// Who did.
    pub members: Vec<ProcessId>,
}

impl Event {
    pub(super) fn new(monitor: Reference, group: &Name, change: Change, of: ProcessId) -> Self {
        Self { monitor: GroupMonitor(monitor), group: group.clone(), change, members: vec![of] }
    }
}

/// An event in a message.
fn sealed<M: From<Event>>(reference: Reference, event: Event) -> Sealed<M> {
    Sealed::new(M::from(event), reference.number())
}

impl Groups {
    /// Watches a group: gives its members as they are now, and from then on an [`Event`] comes for
    /// every change, in order, until the monitor is taken back.
    ///
    /// *Cancellation*: dropping the future takes the monitor back.
    ///
    /// # Errors
    /// The scope has ended. One that ends later sends nothing more: monitor [`Groups::server`] too.
    ///
    /// # Panics
    /// Outside of the caller's own turn, as receiving does.
    pub async fn monitor<M>(
        &self,
        me: &Process<M>,
        group: &str,
    ) -> Result<(GroupMonitor, Vec<ProcessId>), CallError>
    where
        M: From<Event> + Send + 'static,
    {
        let name = Name::from(group);
        let (monitor, mut groups) = self.begin_monitor(me, Some(name.clone())).await?;
        Ok((monitor, groups.remove(&name).unwrap_or_default()))
    }

    /// Watches all groups of the scope; otherwise as [`Groups::monitor`].
    ///
    /// # Errors
    /// As [`Groups::monitor`].
    ///
    /// # Panics
    /// As [`Groups::monitor`].
    pub async fn monitor_scope<M>(
        &self,
        me: &Process<M>,
    ) -> Result<(GroupMonitor, BTreeMap<Name, Vec<ProcessId>>), CallError>
    where
        M: From<Event> + Send + 'static,
    {
        self.begin_monitor(me, None).await
    }

    async fn begin_monitor<M>(
        &self,
        me: &Process<M>,
        group: Option<Name>,
    ) -> Result<(GroupMonitor, BTreeMap<Name, Vec<ProcessId>>), CallError>
    where
        M: From<Event> + Send + 'static,
    {
        let convert = Erased::new::<OfEvent<M>>(sealed);
        let reference = me.reference();
        me.keep(|local| local.rare().rarer().groups.insert_new(reference, convert));
        let mut begun = Begun { groups: self, me, reference, stays: false };
        let watcher = me.peer();
        let known = self.ask(|reply| Ask::Watch { group, reference, watcher, reply }).await?;
        begun.stays = true;
        Ok((GroupMonitor(reference), known))
    }

    /// Takes a monitor back; says whether it was there. No event of it is seen after that, not even
    /// one that is in the mailbox already.
    ///
    /// # Panics
    /// Outside of the caller's own turn, as receiving does.
    pub fn demonitor<M: Send + 'static>(&self, me: &Process<M>, monitor: GroupMonitor) -> bool {
        let GroupMonitor(reference) = monitor;
        if me.keep(|local| local.rare().rarer().groups.remove(reference)).is_none() {
            return false;
        }
        while let Ok(Some(event)) = me.owner().withdraw(reference.number()) {
            drop(event);
        }
        self.server.cast(monitor);
        true
    }
}

/// A monitor of which the scope may know already; taken back when this is dropped, unless it stays.
struct Begun<'a, M: Send + 'static> {
    groups: &'a Groups,
    me: &'a Process<M>,
    reference: Reference,
    stays: bool,
}

impl<M: Send + 'static> Drop for Begun<'_, M> {
    fn drop(&mut self) {
        if !self.stays {
            // Where the process has ended, or is not in its turn, it sees none of the events.
            let _ =
                self.me.owner().local(|local| local.rare().rarer().groups.remove(self.reference));
            self.groups.server.cast(GroupMonitor(self.reference));
        }
    }
}
