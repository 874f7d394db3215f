//! Answers to `gen_server:call`, and to other requests, whose callers may be processes of nodes without a connection.

use std::sync::{Arc, Weak};

use purlin::ExitReason;
use purlin::remote::{LocalProcess, RemoteSignal};
use purlin_dist_protocol::NodeName;
use purlin_dist_protocol::control::{Control, Named};
use purlin_dist_protocol::frame::{Encoded, FRAGMENT_SIZE, Payload};
use purlin_dist_protocol::link::Origin;
use purlin_term::{Pid, Reference, Term};
use tracing::{debug, warn};

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::links::monitor_table::{MonitorTable, RemoteMonitor};
use crate::cluster::rpc::encodable::bad_reply;
use crate::cluster::rpc::gen_call::GenCall;
use crate::cluster::rpc::unsent::Answer;

impl GenCall {
    /// The alias in the tag, `[alias|Alias]` or, of `gen_server:multi_call`, `[[alias|Alias]|Monitor]`. An answer sent
    /// to it is dropped if it comes too late.
    pub(in crate::cluster) fn alias(&self) -> Option<&Reference> {
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

    /// Sends the payload `{Tag, Reply}`, which can be encoded.
    pub(in crate::cluster) fn send(
        &self,
        core: &Core,
        connection: &Arc<Connection>,
        answer: Payload<'static>,
    ) {
        core.send_answer(connection, &self.from, self.alias(), answer);
    }
}

impl Core {
    /// Sends an answer, after everything that the local process has sent to the recipient.
    pub(in crate::cluster) fn send_answer(
        &self,
        connection: &Arc<Connection>,
        to: &Pid,
        alias: Option<&Reference>,
        answer: Payload<'static>,
    ) {
        self.send_unsent(connection);
        let control = self.answer_control(connection, to, alias);
        self.put_after_pending(connection, to, None, (control, Some(answer)));
    }

    fn answer_control(
        &self,
        connection: &Connection,
        to: &Pid,
        alias: Option<&Reference>,
    ) -> Control {
        // The answer does not identify the sender: any local pid will do.
        let (flags, from) = (connection.flags(), self.ids.pid_of_node());
        let by_alias =
            alias.and_then(|alias| Control::to_alias(flags, from.clone(), alias.clone(), false));
        by_alias.unwrap_or_else(|| Control::to_pid(flags, from, to.clone()))
    }

    /// The connection to the node of a process.
    pub(in crate::cluster) fn connection_of(&self, pid: &Pid) -> Option<Arc<Connection>> {
        self.connection(&pid.node.as_str().parse().ok()?)
    }

    /// Answers a call from a process of any node. If its node is not connected, it is connected for the answer.
    pub(crate) fn reply(self: &Arc<Self>, call: GenCall, answer: Term) {
        match self.connection_of(&call.from) {
            Some(connection) => {
                call.answer(self, &connection, answer);
                connection.suspend_sender(&self.runtime);
            }
            None => {
                let alias = call.alias().cloned();
                self.answer_to(call.from, alias, Term::tuple([call.tag, answer]));
            }
        }
    }

    /// Sends an answer, which can be encoded, to a process of any node, as [`Core::reply`] does.
    pub(crate) fn answer_to(self: &Arc<Self>, to: Pid, alias: Option<Reference>, message: Term) {
        if let Some(ours) = self.ids.ours(&to) {
            if let Some(ours) = self.ids.node.local_process(ours) {
                self.send_term(ours, message);
            }
        } else if let Some(connection) = self.connection_of(&to) {
            self.send_answer(&connection, &to, alias.as_ref(), Payload::Term(message));
        } else if let Ok(node) = to.node.as_str().parse() {
            self.connect_and_send(node, to, alias, &message);
        }
    }

    /// Sends an answer to a process of a node without a connection, when the node is connected. Answers beyond
    /// [`Settings::answer_limit`](purlin_dist_protocol::link::Settings::answer_limit) are dropped.
    fn connect_and_send(
        self: &Arc<Self>,
        node: NodeName,
        to: Pid,
        alias: Option<Reference>,
        message: &Term,
    ) {
        let message = match Encoded::term(message) {
            Ok(message) => message,
            Err(why) => {
                return warn!(to = %Term::from(to), "an answer cannot be sent: {why}");
            }
        };
        let proxies = if self.proxy_counts.may_have(&to) {
            self.state().proxies.of(&(node.clone(), Named::Pid(to.clone())))
        } else {
            Vec::new()
        };
        let Some(answer) = self.unsent.count(to, alias, message, self.settings.answer_limit) else {
            return debug!(peer = %node, "an answer was dropped: too many wait");
        };
        if proxies.is_empty() {
            return self.send_when_connected(node, answer);
        }
        let behind = Behind { core: Arc::downgrade(self), node, answer: Some(answer) };
        let all_before = ExitReason::error(behind);
        for proxy in proxies {
            let signal = RemoteSignal::Down(self.ids.monitor(), all_before.clone());
            self.ids.node.deliver(&proxy, proxy.id(), signal);
        }
    }

    /// Sends an answer when the node is connected; no proxy has earlier messages to its recipient.
    fn send_when_connected(self: &Arc<Self>, node: NodeName, answer: Answer) {
        if let Some(connection) = self.connection(&node) {
            self.send_unsent(&connection);
            return self.put_answer(&connection, answer);
        }
        let is_first = {
            let mut unsent = self.unsent.lock();
            let answers = unsent.entry(node.clone()).or_default();
            answers.push(answer);
            answers.len() == 1
        };
        if is_first {
            let core = Arc::clone(self);
            self.runtime.spawn(async move {
                let why = match core.connect(&node).await {
                    // Their sending may have found the connection lost or closed.
                    Ok(connection) if connection.is_closed() => {
                        "the connection was lost".to_owned()
                    }
                    Ok(_) => return,
                    Err(error) => error.to_string(),
                };
                let dropped = core.unsent.lock().remove(&node).map_or(0, |all| all.len());
                debug!(peer = %node, dropped, "answers were dropped: {why}");
            });
        }
    }

    /// Sends the answers that wait for this connection.
    pub(in crate::cluster) fn send_unsent(&self, connection: &Arc<Connection>) {
        // COST: without such answers, no lock.
        if self.unsent.is_empty() || connection.is_closed() {
            return;
        }
        let mut unsent = self.unsent.lock();
        for answer in unsent.remove(&connection.node).into_iter().flatten() {
            self.put_answer(connection, answer);
        }
    }

    fn put_answer(&self, connection: &Connection, answer: Answer) {
        let Answer { to, alias, message, counted } = answer;
        let control = self.answer_control(connection, &to, alias.as_ref());
        connection.put(Origin::Peer, Some(&to), &control, Some(Payload::Encoded(message)));
        drop(counted);
    }
}

/// An answer behind messages that wait for a connection, too. Each proxy with such messages to its recipient drops a
/// clone of its reference after them, and the answer is sent with the last one (M2).
#[derive(Debug, thiserror::Error)]
#[error("an answer for a process of {node}")]
struct Behind {
    core: Weak<Core>,
    node: NodeName,
    answer: Option<Answer>,
}

impl Drop for Behind {
    fn drop(&mut self) {
        if let (Some(core), Some(answer)) = (self.core.upgrade(), self.answer.take()) {
            core.send_when_connected(self.node.clone(), answer);
        }
    }
}

impl Cluster {
    /// Answers a call from a remote process. If the caller's node is not connected, connects to it as Erlang does, and
    /// drops the answer if that fails or if more than [`Settings::answer_limit`](crate::link::Settings::answer_limit)
    /// bytes of answers already wait for connections. If the reply cannot be encoded, the call exits with
    /// `{bad_reply, Why}`.
    pub fn reply(&self, call: GenCall, reply: Term) {
        self.core().reply(call, reply);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use purlin::{Node, Process};
    use purlin_term::Atom;
    use tokio::runtime::Builder;
    use tokio::time::sleep;

    use super::*;

    #[test]
    fn answers_that_wait_for_a_connection_are_bounded_and_dropped_when_it_fails() {
        const BYTES: usize = 1 << 20;
        let mut tokio = Builder::new_current_thread();
        let tokio = tokio.enable_all().start_paused(true);
        let mut simulated = Node::builder().simulated(1, tokio).expect("a node");
        let node = simulated.node().clone();
        let done = simulated.run(async move |_: Process<()>| {
            let there: NodeName = "there@127.0.0.1".parse().expect("a name");
            let builder = Cluster::builder("here@127.0.0.1".parse().expect("a name"));
            // No node listens there.
            let builder = builder.node_at(there.clone(), ([127, 0, 0, 1], 1).into());
            let builder = builder.cookie("secret").only_calls();
            let cluster = builder.start(&node).await.expect("it starts");
            let core = cluster.core();
            let most = core.settings.answer_limit / BYTES + 1;
            let from =
                Pid { node: Atom::from_static("there@127.0.0.1"), id: 1, serial: 0, creation: 1 };
            for _ in 0..2 * most {
                let (tag, request) = (Term::atom("tag"), Term::NIL);
                let call = GenCall { from: from.clone(), tag, request };
                cluster.reply(call, Term::from(vec![7; BYTES].as_slice()));
            }
            let waiting = core.unsent.lock().get(&there).map_or(0, Vec::len);
            assert!((most / 2..=most).contains(&waiting), "{waiting}");
            // CLOCK: virtual time.
            while !core.unsent.is_empty() {
                sleep(Duration::from_millis(1)).await;
            }
        });
        done.expect("it ends");
    }
}
