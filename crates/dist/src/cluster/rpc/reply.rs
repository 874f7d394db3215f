//! Answers to `gen_server:call`.

use std::sync::Arc;

use purlin::remote::RemoteSignal;
use purlin_dist_protocol::control::Control;
use purlin_dist_protocol::frame::Payload;
use purlin_term::{Reference, Term};

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::links::link_table::RemoteMonitor;
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

    /// Makes the caller's monitor fire with `why`, whether the server is alive or not: the call will not be answered.
    pub(in crate::cluster) fn refuse(self, core: &Core, connection: &Arc<Connection>, why: Term) {
        let reference = match &self.tag {
            // The monitor of `gen_server:multi_call`, whose alias is another reference.
            Term::ImproperList(list) => list.tail().as_reference(),
            tag => tag.as_reference(),
        };
        let Some(reference) = reference else { return };
        let mut link_table = connection.link_table();
        let Some((monitor, ours, theirs)) = link_table.unwatched(&self.from, reference) else {
            return;
        };
        connection.deliver(&core.ids.node, ours, RemoteSignal::Demonitor(monitor));
        drop(link_table);
        let RemoteMonitor { watcher, reference, watched } = theirs;
        let down = Control::down(connection.flags(), watched, watcher, reference, why);
        core.send_after_pending(connection, &self.from, None, down);
    }

    /// Sends the answer.
    pub(in crate::cluster) fn answer(self, core: &Core, connection: &Arc<Connection>, reply: Term) {
        let answer = Term::tuple([self.tag.clone(), reply]);
        self.send(core, connection, Payload::Term(answer));
    }

    /// Sends the payload `{Tag, Reply}`.
    pub(in crate::cluster) fn send(
        &self,
        core: &Core,
        connection: &Arc<Connection>,
        answer: Payload<'static>,
    ) {
        // The answer does not identify the sender: any local pid will do.
        let (flags, from) = (connection.flags(), core.ids.pid_of_node());
        let by_alias =
            self.alias().and_then(|alias| Control::to_alias(flags, from.clone(), alias.clone()));
        let control = by_alias.unwrap_or_else(|| Control::to_pid(flags, from, self.from.clone()));
        core.put_after_pending(connection, &self.from, None, control, Some(answer));
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
        }
    }
}

impl Cluster {
    /// Answers a call from a remote process. Drops the answer if the caller's node is disconnected.
    pub fn reply(&self, call: GenCall, reply: Term) {
        self.core().reply(call, reply);
    }
}
