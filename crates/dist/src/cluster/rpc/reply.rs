//! Answers to `gen_server:call`.

use std::sync::Arc;

use purlin::remote::{LocalProcess, RemoteSignal};
use purlin_dist_protocol::control::Control;
use purlin_dist_protocol::frame::{Encoded, FRAGMENT_SIZE, Payload};
use purlin_term::{Reference, Term};
use tracing::warn;

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::links::monitor_table::{MonitorTable, RemoteMonitor};
use crate::cluster::rpc::encodable::bad_reply;
use crate::cluster::rpc::gen_call::GenCall;

impl GenCall {
    /// The alias in the tag, `[alias|Alias]` or, of `gen_server:multi_call`, `[[alias|Alias]|Monitor]`. An answer sent
    /// to it is dropped if it comes too late.
    fn alias(&self) -> Option<&Reference> {
        let Term::ImproperList(list) = &self.tag else { return None };
        let list = match list.elements() {
            [Term::ImproperList(inner)] => inner,
            _ => list,
        };
        match (list.elements(), list.tail()) {
            ([mark], Term::Reference(alias)) if mark.is_atom("alias") => Some(alias),
            _ => None,
        }
    }

    /// The monitor of the call. In `gen_server:multi_call` it is another reference than the alias.
    fn monitor(&self, monitor_table: &MonitorTable) -> Option<Reference> {
        match &self.tag {
            Term::ImproperList(list) => list.tail().as_reference().cloned(),
            // The tag of `multi_call` in OTP 25, `{Reference, Node}`, does not contain the monitor. It is by name, and the
            // caller makes no other one while it waits.
            Term::Tuple(parts) if matches!(parts[..], [Term::Reference(_), Term::Atom(_)]) => {
                monitor_table.newest_by_name(&self.from)
            }
            tag => tag.as_reference().cloned(),
        }
    }

    /// The local process that the caller has called, while it is monitored by the call.
    pub(in crate::cluster) fn server(
        &self,
        core: &Core,
        connection: &Connection,
    ) -> Option<LocalProcess> {
        let monitor_table = connection.monitor_table();
        let server = monitor_table.monitored(&self.from, &self.monitor(&monitor_table)?)?;
        core.ids.node.local_process(server)
    }

    /// Makes the caller's monitor fire with `why`, whether the server is alive or not: the call will not be answered.
    /// Returns whether the caller has a monitor.
    pub(in crate::cluster) fn refuse(
        self,
        core: &Core,
        connection: &Arc<Connection>,
        why: Term,
    ) -> bool {
        let mut monitor_table = connection.monitor_table();
        let reference = self.monitor(&monitor_table);
        let fired = reference.and_then(|monitor| monitor_table.unwatched(&self.from, &monitor));
        let Some((monitor, ours, theirs)) = fired else { return false };
        connection.deliver(&core.ids.node, ours, RemoteSignal::Demonitor(monitor));
        drop(monitor_table);
        let RemoteMonitor { watcher, reference, watched } = theirs;
        let down = Control::down(connection.flags(), watched, watcher, reference, why);
        core.send_after_pending(connection, &self.from, None, down);
        true
    }

    /// Sends the answer. If the reply cannot be encoded, the call exits with `{bad_reply, Why}`.
    pub(in crate::cluster) fn answer(self, core: &Core, connection: &Arc<Connection>, reply: Term) {
        let answer = Term::tuple([self.tag.clone(), reply]);
        match Encoded::term(&answer) {
            // Encoded again, with the atom cache.
            Ok(encoded) if encoded.len() <= FRAGMENT_SIZE => {
                self.send(core, connection, Payload::Term(answer));
            }
            Ok(encoded) => self.send(core, connection, Payload::Encoded(encoded)),
            Err(why) => {
                warn!(to = %Term::from(self.from.clone()), "an answer cannot be sent: {why}");
                self.refuse(core, connection, bad_reply(&why.to_string()));
            }
        }
    }

    /// Like [`GenCall::answer`], with a reply that can be encoded.
    pub(in crate::cluster) fn answer_encodable(
        self,
        core: &Core,
        connection: &Arc<Connection>,
        reply: Term,
    ) {
        let answer = Term::tuple([self.tag.clone(), reply]);
        self.send(core, connection, Payload::Term(answer));
    }

    /// Sends the payload `{Tag, Reply}`, which can be encoded.
    pub(in crate::cluster) fn send(
        &self,
        core: &Core,
        connection: &Arc<Connection>,
        answer: Payload<'static>,
    ) {
        // The answer does not identify the sender: any local pid will do.
        let (flags, from) = (connection.flags(), core.ids.pid_of_node());
        let by_alias = self
            .alias()
            .and_then(|alias| Control::to_alias(flags, from.clone(), alias.clone(), false));
        let control = by_alias.unwrap_or_else(|| Control::to_pid(flags, from, self.from.clone()));
        let message = (control, Some(answer));
        core.put_after_pending(connection, &self.from, None, message);
    }
}

impl Core {
    /// Answers a call from a local process, or from a remote one whose node is connected.
    pub(crate) fn reply(&self, call: GenCall, answer: Term) {
        if let Some(ours) = self.ids.ours(&call.from) {
            if let Some(ours) = self.ids.node.local_process(ours) {
                self.send_term(ours, Term::tuple([call.tag, answer]));
            }
        } else if let Ok(node) = call.from.node.as_str().parse()
            && let Some(connection) = self.connection(&node)
        {
            call.answer(self, &connection, answer);
            connection.suspend_sender(&self.runtime);
        }
    }
}

impl Cluster {
    /// Answers a call from a remote process. Drops the answer if the caller's node is disconnected. If the reply cannot be
    /// encoded, the call exits with `{bad_reply, Why}`.
    pub fn reply(&self, call: GenCall, reply: Term) {
        self.core().reply(call, reply);
    }
}
