//! Monitors of process groups.
//!
//! The monitoring process stores the monitor with the conversion into its own message type. It
//! makes the message at the event's position among its other messages (M2). An event whose monitor
//! has been cancelled is dropped there, so no event is received after `demonitor`.

use std::collections::BTreeMap;

use purlin_raw::{ConvertedMessage, Erased};

use super::event::{Event, GroupMonitor};
use super::groups::Groups;
use super::scope::Ask;
use crate::process::unwind::contain;
use crate::signals::local_state::{LocalState, OfEvent};
use crate::signals::reference::Reference;
use crate::{CallError, Name, Process, ProcessId};

/// Converts an event into the receiver's message type.
fn sealed<M: From<Event>>(reference: Reference, event: Event) -> ConvertedMessage<M> {
    ConvertedMessage::new(M::from(event), reference.number())
}

impl Groups {
    /// Monitors a group. Returns its current members; from then on the caller receives an [`Event`]
    /// for every change, in order, until it cancels the monitor.
    ///
    /// *Cancellation*: dropping the future cancels the monitor; no event of it is received after
    /// that.
    ///
    /// # Errors
    /// Returns an error if the scope has ended. A scope that ends later sends no more events;
    /// monitor [`Groups::server`] to detect that.
    ///
    /// # Panics
    /// Panics outside the caller's own turn, as receiving does.
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

    /// Monitors all groups of the scope; otherwise like [`Groups::monitor`].
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
        me.with_local(|local| local.extended().cold().groups.insert_new(reference, convert));
        let mut begun = Begun { groups: self, me, reference, stays: false };
        let watcher = me.peer();
        let known = self.ask(|reply| Ask::Watch { group, reference, watcher, reply }).await?;
        begun.stays = true;
        Ok((GroupMonitor(reference), known))
    }

    /// Cancels a monitor; returns whether it existed. No event of it is received after that, not
    /// even one that is already in the mailbox.
    ///
    /// # Panics
    /// Panics outside the caller's own turn, as receiving does.
    pub fn demonitor<M: Send + 'static>(&self, me: &Process<M>, monitor: GroupMonitor) -> bool {
        let GroupMonitor(reference) = monitor;
        if me.with_local(|local| local.extended().cold().groups.remove(reference)).is_none() {
            return false;
        }
        while me.in_turn(|me| me.mailbox().withdraw(reference.number())).is_some() {}
        self.server.cast(monitor);
        true
    }
}

/// Guard of a monitor that the scope may already know; cancels it when dropped, unless `stays` is
/// set.
struct Begun<'a, M: Send + 'static> {
    groups: &'a Groups,
    me: &'a Process<M>,
    reference: Reference,
    stays: bool,
}

impl<M: Send + 'static> Drop for Begun<'_, M> {
    fn drop(&mut self) {
        if !self.stays {
            // If the process has ended, or this is not its turn, it receives none of the events.
            let forget =
                |local: &mut LocalState| local.extended().cold().groups.remove(self.reference);
            self.me.owner().in_turn(|me| _ = me.local(forget), || ());
            let number = self.reference.number();
            let withdraw = || self.me.owner().in_turn(|me| me.mailbox().withdraw(number), || None);
            while let Some(message) = withdraw() {
                contain(|| drop(message));
            }
            self.groups.server.cast(GroupMonitor(self.reference));
        }
    }
}
