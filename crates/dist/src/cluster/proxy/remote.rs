//! Transport of a proxy: encodes signals and messages for a remote process and writes them to the link.
//!
//! A signal without a connection establishes one, as in Erlang. Acknowledgements, and the ends of links and
//! monitors, do not: no remote process waits for them without the connection they were set up on. If connecting
//! fails, messages are dropped, and links and monitors are answered with `noconnection`. A link to a name, which the
//! protocol does not have, is answered with `badarg`.

use std::future::Future;
use std::marker::PhantomData;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use purlin::remote::{LocalProcess, RemoteSignal, Transport, with_sender};
use purlin::{ExitReason, MonitorRef, ProcessId};
use purlin_dist_protocol::control::{Control, Named};
use purlin_dist_protocol::frame::{ControlTemplate, FRAGMENT_SIZE, Payload};
use purlin_dist_protocol::link::Origin;
use purlin_dist_protocol::{Flags, NodeName};
use purlin_term::Term;
use serde::Serialize;
use tracing::warn;

use crate::cluster::connection::{Connection, sender_number};
use crate::cluster::core::Core;
use crate::cluster::links::monitor_table::LocalMonitor;
use crate::cluster::links::remote_links::Linked;
use crate::cluster::reason;
use crate::cluster::rpc::into_term::into_term;

/// Maximum capacity retained by the message buffer. Larger messages are sent in fragments.
const KEPT: usize = FRAGMENT_SIZE;

/// Capacity of a proxy's mailbox, used while its connection has no capacity.
pub(crate) const PROXY_MAILBOX: usize = 1024;

/// Waits for a connection, or for capacity on it.
type Wait = Pin<Box<dyn Future<Output = Option<Arc<Connection>>> + Send>>;

/// Transport of a proxy for messages of type `M`.
pub(crate) struct Remote<M> {
    core: Arc<Core>,
    node: NodeName,
    /// Number of the node as a sender to local processes.
    sender: u32,
    to: Named,
    /// Encoding of the current message.
    bytes: Vec<u8>,
    /// Control message of all messages, for connections with these flags.
    template: Option<(Flags, ControlTemplate)>,
    /// The proxy itself; set when it starts. WHY shared: the registry counts the references to a proxy, and this is one
    /// of them.
    own: Arc<OnceLock<LocalProcess>>,
    /// The request to end by [`Core::end`], once it has arrived.
    ending: Option<MonitorRef>,
    /// The request to end has arrived for the second time: everything before it was passed on.
    over: bool,
    /// External pid of the proxy, the sender of its messages.
    from: Option<purlin_term::Pid>,
    /// Ordering key: everything sent to one process is in order, whichever local process sends it.
    ordering_key: Option<purlin_term::Pid>,
    /// Connection for the next message.
    connection: Option<Arc<Connection>>,
    wait: Option<Wait>,
    messages: PhantomData<fn(M)>,
}

impl<M> Remote<M> {
    pub(crate) fn new(
        core: Arc<Core>,
        node: NodeName,
        to: Named,
        own: Arc<OnceLock<LocalProcess>>,
    ) -> Self {
        Self {
            core,
            sender: sender_number(&node),
            node,
            to,
            bytes: Vec::new(),
            template: None,
            own,
            ending: None,
            over: false,
            from: None,
            ordering_key: None,
            connection: None,
            wait: None,
            messages: PhantomData,
        }
    }

    /// The connection, if it has capacity now.
    fn open(&self) -> Option<&Arc<Connection>> {
        let connection = self.connection.as_ref()?;
        connection.link()?.has_capacity(self.ordering_key.as_ref()).then_some(connection)
    }

    fn begin_to_wait(&self) -> Wait {
        let (core, node, ordering_key) =
            (Arc::clone(&self.core), self.node.clone(), self.ordering_key.clone());
        let connected = self.connection.clone();
        Box::pin(async move {
            let connection = match connected {
                Some(connection) if !connection.is_closed() => connection,
                // Links and monitors are answered with `noconnection`, which needs no further detail.
                _ => core.connect(&node).await.ok()?,
            };
            connection.link()?.wait_for_capacity(ordering_key.as_ref()).await;
            Some(connection)
        })
    }

    /// Sends a signal of a local process that is not about a link. Returns `None` if the remote side will not answer it.
    fn send_signal(&mut self, from: Option<ProcessId>, signal: RemoteSignal) -> Option<()> {
        let connection = Arc::clone(self.connection.as_ref()?);
        let (ids, own) = (Arc::clone(&self.core.ids), self.own.get()?.clone());
        let sender = ids.pid(from.unwrap_or(own.id()));
        let flags = connection.flags();
        let (control, payload) = match signal {
            RemoteSignal::Monitor(monitor) => {
                let (watcher, proxy, watched) = (from?, own, self.to.clone());
                let ours = LocalMonitor { watcher, proxy, watched };
                connection.monitor_table().watch(monitor, ours)?;
                let (to, reference) = (self.to.clone(), ids.reference(monitor));
                (Control::Monitor { from: sender, to, reference }, None)
            }
            RemoteSignal::Demonitor(monitor) => {
                let Some(ours) = connection.monitor_table().unwatch(monitor) else {
                    return Some(());
                };
                let (from, to) = (ids.pid(ours.watcher), ours.watched);
                (Control::Demonitor { from, to, reference: ids.reference(monitor) }, None)
            }
            RemoteSignal::Exit(why) => {
                let to = self.pid()?.clone();
                Control::exit2(flags, sender, to, reason::to_term(&why))
            }
            _ => return Some(()),
        };
        let is_monitor = matches!(control, Control::Monitor { .. } | Control::Demonitor { .. });
        // WHY: a monitor of a process on a node of `ei` or jinterface fires only when the connection is lost, as on a BEAM.
        if !is_monitor || flags.contains(Flags::MONITORS) {
            connection.send_control(self.ordering_key.clone(), control, payload);
        }
        Some(())
    }

    /// The remote process; `None` for a name, which receives messages and monitors only.
    fn pid(&self) -> Option<&purlin_term::Pid> {
        match &self.to {
            Named::Pid(pid) => Some(pid),
            Named::Name(_) => None,
        }
    }

    /// Handles a signal of a local process about a link, over the connection of the table of links. WHY not the one of
    /// this proxy: it may be lost, and the remote process may have linked over the next one.
    fn link_signal(&self, from: ProcessId, to: purlin_term::Pid, signal: RemoteSignal) {
        let Some(own) = self.own.get() else { return };
        let (node, sender) = (&self.core.ids.node, self.core.ids.pid(from));
        let mut links = self.core.links();
        match signal {
            RemoteSignal::Link => match links.link(from, &to, own.clone()) {
                Linked::Send(connection) => {
                    self.send_link(&connection, Control::Link { from: sender, to });
                }
                Linked::Lost(number) => node.deliver_link_loss(own, from, number),
                Linked::Nothing => {}
            },
            RemoteSignal::Unlink(id) => {
                let (connection, deliveries) = links.unlink(from, &to, id, own.clone());
                if let Some(connection) = connection {
                    self.send_link(&connection, Control::UnlinkId { id, from: sender, to });
                }
                for (proxy, signal) in deliveries {
                    node.deliver(&proxy, from, signal);
                }
            }
            RemoteSignal::UnlinkAck(id) => links.local_acknowledged(from, &to, id, own.id()),
            RemoteSignal::LinkExit(why) => {
                let connection = links.local_ended(from, &to, own.id());
                // WHY: this needs the cluster's state. The local process has ended, and sends nothing about a link.
                drop(links);
                if let Some(connection) = connection {
                    let (flags, why) = (connection.flags(), reason::to_term(&why));
                    let exit = Control::exit(flags, sender, to.clone(), why);
                    // WHY: after the messages of the process that has ended (M2).
                    with_sender(from.id(), || {
                        self.core.send_after_pending(&connection, &to, Some(own.id()), exit);
                    });
                }
            }
            _ => {}
        }
    }

    /// Sends a control message about a link. The caller holds the lock of the table of links, so that the peer receives
    /// such messages in the order in which the table changed.
    fn send_link(&self, connection: &Connection, control: Control) {
        connection.send_control(self.ordering_key.clone(), control, None);
    }

    /// Handles a request to end. WHY sent again: if the inbox has shards, earlier messages of other senders may be behind
    /// the request. What arrived with it precedes the second one.
    fn end(&mut self, request: MonitorRef) {
        match (self.ending, self.own.get()) {
            (None, Some(own)) => {
                self.ending = Some(request);
                let again = RemoteSignal::Down(request, ExitReason::Normal);
                self.core.ids.node.deliver(own, own.id(), again);
            }
            (ending, _) => self.over |= ending == Some(request),
        }
    }

    /// Answers a signal that the remote side will not answer.
    fn answer_for_lost(&self, from: Option<ProcessId>, signal: RemoteSignal) {
        let (Some(own), Some(from)) = (self.own.get(), from) else { return };
        let answer = match signal {
            RemoteSignal::Monitor(monitor) => RemoteSignal::Down(monitor, ExitReason::NoConnection),
            RemoteSignal::Link => match &self.to {
                Named::Name(name) => RemoteSignal::LinkExit(reason::link_to_name(name, &self.node)),
                Named::Pid(_) => return,
            },
            RemoteSignal::Unlink(id) => RemoteSignal::UnlinkAck(id),
            _ => return,
        };
        with_sender(self.sender, || self.core.ids.node.deliver(own, from, answer));
    }
}

impl<M: Serialize + Send + 'static> Transport<M> for Remote<M> {
    fn begin(&mut self, proxy: &LocalProcess) {
        let _ = self.own.set(proxy.clone());
        let own = || self.core.ids.pid(proxy.id());
        self.ordering_key = Some(match &self.to {
            Named::Pid(pid) => pid.clone(),
            Named::Name(_) => own(),
        });
        self.from = Some(own());
    }

    fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<ExitReason> {
        // Seen by a holder of the proxy's pid only if the node has left the cluster: other proxies end when they are unused.
        if self.over { Poll::Ready(ExitReason::NoConnection) } else { Poll::Pending }
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(connection) = self.open()
            && !connection.is_closed()
        {
            return Poll::Ready(());
        }
        let wait = match &mut self.wait {
            Some(wait) => wait,
            None => self.wait.insert(self.begin_to_wait()),
        };
        let connection = ready!(wait.as_mut().poll(cx));
        (self.wait, self.connection) = (None, connection);
        Poll::Ready(())
    }

    fn message(&mut self, message: M) {
        let (Some(connection), Some(from)) = (&self.connection, &self.from) else { return };
        let bytes = &mut self.bytes;
        bytes.clear();
        bytes.shrink_to(KEPT);
        // WHY caught: a panic would end the proxy, and linked processes would not be notified.
        let encoded = catch_unwind(AssertUnwindSafe(|| encode(message, bytes)));
        let payload = match encoded.unwrap_or_else(|_| Err("making it one has panicked".to_owned()))
        {
            Ok(Some(term)) => Payload::Term(term),
            // The link stores a large message.
            Ok(None) if bytes.len() > KEPT => Payload::Encoded(take(bytes).into()),
            Ok(None) => Payload::Bytes(bytes),
            Err(error) => {
                let kind = std::any::type_name::<M>();
                return warn!("a message of type {kind} is no term and was dropped: {error}");
            }
        };
        let flags = connection.flags();
        let control = match &mut self.template {
            Some((known, control)) if *known == flags => control,
            template => {
                let from = from.clone();
                let control = match self.to.clone() {
                    Named::Pid(to) => Control::to_pid(flags, from, to),
                    Named::Name(to) => Control::RegSend { from, to, token: None },
                };
                &mut template.insert((flags, ControlTemplate::new(control))).1
            }
        };
        let ordering_key = self.ordering_key.as_ref();
        connection.put(Origin::Process, ordering_key, control, Some(payload));
    }

    fn signal(&mut self, from: Option<ProcessId>, signal: RemoteSignal) {
        if self.connection.as_ref().is_none_or(|connection| connection.is_lost()) {
            self.connection = self.core.connection(&self.node);
        }
        let is_about_link = matches!(
            signal,
            RemoteSignal::Link
                | RemoteSignal::Unlink(_)
                | RemoteSignal::UnlinkAck(_)
                | RemoteSignal::LinkExit(_)
        );
        if let RemoteSignal::Down(request, why) = signal {
            // Sent by the core. Either its reason is dropped after all earlier messages, for `Core::send_after_pending`, or it
            // is a request to end.
            if why == ExitReason::Normal {
                self.end(request);
            }
        } else if is_about_link {
            match (from, self.pid().cloned()) {
                (Some(from), Some(to)) => {
                    with_sender(self.sender, || self.link_signal(from, to, signal));
                }
                _ => self.answer_for_lost(from, signal),
            }
        } else if self.send_signal(from, signal.clone()).is_none() {
            self.answer_for_lost(from, signal);
        }
    }
}

/// Appends the encoding of a message to the buffer; returns a term or a long byte string as a term instead.
fn encode<M: Serialize + 'static>(message: M, bytes: &mut Vec<u8>) -> Result<Option<Term>, String> {
    let message = match into_term(message) {
        Ok(term) => return Ok(Some(term)),
        Err(message) => message,
    };
    purlin_term::Options::default().write(&message, bytes).map_err(|error| error.to_string())?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use purlin::{Node, Process};
    use tokio::runtime::Builder;

    use super::*;
    use crate::cluster::handle::Cluster;

    // M2: the inbox returns them in this order if it has shards and the senders differ.
    #[test]
    fn a_proxy_passes_on_messages_that_are_behind_the_request_to_end() {
        let mut tokio = Builder::new_current_thread();
        let tokio = tokio.enable_all().start_paused(true);
        let mut simulated = Node::builder().simulated(1, tokio).expect("a node");
        let node = simulated.node().clone();
        let ended = simulated.run(async move |_: Process<()>| {
            let there: NodeName = "there@127.0.0.1".parse().expect("a name");
            let builder = Cluster::builder("here@127.0.0.1".parse().expect("a name"));
            // No node listens there.
            let builder = builder.node_at(there.clone(), ([127, 0, 0, 1], 1).into());
            let builder = builder.cookie("secret").only_calls();
            let cluster = builder.start(&node).await.expect("it starts");
            let proxy = cluster.named::<Term>("name", &there).expect("there is room");
            cluster.core().end(vec![LocalProcess::from(&proxy)]);
            proxy.send(Term::NIL);
            (LocalProcess::from(&proxy).ended().await, node.drops().ended)
        });
        assert_eq!(ended.expect("it ends"), (ExitReason::NoConnection, 0));
    }
}
