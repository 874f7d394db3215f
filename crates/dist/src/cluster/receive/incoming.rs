//! Incoming control messages of a connection: delivers messages and signals to local processes, and answers requests.
//!
//! *Link* has two meanings here. `connection.link()` is the transport ([`Link`]); `link`, `unlink` and `links` are about
//! Erlang's links between processes. In arguments, `ours` is a local process and `theirs` a remote one. A remote process
//! is represented towards local ones by its *proxy*, a local process, which is called `name`.
//!
//! The transport's reader task calls [`Receive`] for one control message at a time, in the order received, and reads
//! nothing meanwhile. It waits for the connection's transport to be set, and while held signals take too much memory
//! (`receive/requests.rs`). Another task handles the held signals.

use std::sync::Arc;

use purlin::ProcessId;
use purlin::remote::{LocalProcess, RemoteSignal};
use purlin_dist_protocol::Stream;
use purlin_dist_protocol::control::{Control, Named, To};
use purlin_dist_protocol::frame::{InvalidMessage, Recipient, StoredPayload, Unread};
use purlin_dist_protocol::handshake::Established;
use purlin_dist_protocol::link::{Link, Receive};
use purlin_term::{Atom, Pid, Reference, Term};
use tracing::{debug, warn};

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::links::monitor_table::{LocalMonitor, RemoteMonitor};
use crate::cluster::links::remote_link::Deliveries;
use crate::cluster::pid;
use crate::cluster::reason;
use crate::cluster::receive::classify::{need, recipients};
use crate::cluster::receive::decoders::{ByAlias, LastUsed, Target};
use crate::cluster::receive::requests::{Held, Turn};
use crate::cluster::rpc::gen_call::GenCall;
use crate::cluster::rpc::rex;
use crate::cluster::spawn::request::answered;
use crate::cluster::spawn::serve::spawn_for;

/// Receiver of one connection's control messages.
struct Incoming {
    handler: Handler,
    /// Recipient of the last message, for [`Recipient::Same`].
    last_to: LastTo,
}

/// Handler of one connection's signals, of the reader task or of the one that handles held signals.
struct Handler {
    core: Arc<Core>,
    connection: Arc<Connection>,
    /// Decoder of the last message.
    last: LastUsed,
}

impl Handler {
    fn new(core: &Arc<Core>, connection: &Arc<Connection>) -> Self {
        let (core, connection) = (Arc::clone(core), Arc::clone(connection));
        Self { core, connection, last: LastUsed::default() }
    }
}

/// Starts the link of a connection, with an [`Incoming`] as its receiver.
pub(crate) fn start_link(
    core: &Arc<Core>,
    connection: &Arc<Connection>,
    stream: Stream,
    established: Established,
) -> Link {
    let incoming = Incoming { handler: Handler::new(core, connection), last_to: LastTo::default() };
    let halves = stream.halves().unwrap_or_else(|error| {
        warn!(peer = %connection.node, "the connection cannot be used: {error}");
        // The link ends at once.
        (Box::new(tokio::io::empty()), Box::new(tokio::io::sink()))
    });
    let _entered = core.runtime.enter();
    // WHY on the node's workers: a message is received where it was read and a frame is written where it was sent,
    // without waking another thread.
    let serve = |task| {
        // The node is stopping, which closes the link.
        let _ = core.ids.node.spawn_system(task);
    };
    Link::start_on(halves, established, core.settings, incoming, serve)
}

/// Recipient of the last message to a pid or a name.
#[derive(Default)]
enum LastTo {
    /// No message yet, or a pid of no live local process.
    #[default]
    Other,
    /// A local process. COST: its memory is retained, even after it has ended, until the next message to another one.
    Process(LocalProcess),
    /// A registered name, looked up for each message.
    Name(String),
}

impl Receive for Incoming {
    async fn signal(
        &mut self,
        control: Control,
        payload: Option<Unread<'_>>,
    ) -> Result<(), InvalidMessage> {
        // The transport starts its reader task shortly before `Connection::linked` sets it. Answers need it.
        let connection = Arc::clone(&self.handler.connection);
        let link = loop {
            match connection.link() {
                Some(link) => break link,
                None => tokio::task::yield_now().await,
            }
        };
        let (requests, need) = (&connection.requests, need(&control, payload));
        match requests.admit(link, need, || recipients(&self.handler.core, &control)) {
            Ok(turn) => {
                let handler = &mut self.handler;
                return connection.in_order(|| handler.handle(control, payload, turn));
            }
            Err(recipients) => {
                let payload = payload.map(Unread::store);
                if requests.hold(link, Held::new(control, payload, recipients, need)) {
                    let handler = Handler::new(&self.handler.core, &connection);
                    self.handler.core.runtime.spawn(handler.handle_held());
                }
            }
        }
        requests.wait_for_memory().await;
        Ok(())
    }

    /// Delivers a message to a pid or name, without decoding the control message. Returns `None` to leave the message
    /// to `signal`.
    fn message(
        &mut self,
        to: Recipient<'_>,
        message: Unread<'_>,
    ) -> Option<Result<(), InvalidMessage>> {
        let Handler { core, connection, .. } = &self.handler;
        let ids = &core.ids;
        match to {
            Recipient::Pid(to) => {
                let ours = ids.ours_of(&to).and_then(|ours| ids.node.local_process(ours));
                self.last_to = ours.map_or(LastTo::Other, LastTo::Process);
            }
            Recipient::Name(name) => self.last_to = LastTo::Name(name.into_owned()),
            Recipient::Same => {}
        }
        let process = match &self.last_to {
            LastTo::Process(process) => process.clone(),
            // For a name without a process: `signal` handles `net_kernel` and `rex`.
            LastTo::Name(name) => core.local_name(name)?,
            LastTo::Other => return None,
        };
        // The recipient may answer immediately, which needs the transport; `signal` waits until it is set, and decides
        // whether the message is held.
        if connection.link()?.owes_too_much() || connection.requests.holds() {
            return None;
        }
        let connection = Arc::clone(connection);
        Some(connection.in_order(|| self.handler.receive(process, message)))
    }
}

impl Handler {
    /// Handles held signals until none is left.
    async fn handle_held(mut self) {
        let connection = Arc::clone(&self.connection);
        let Some(link) = connection.link() else { return };
        while let Some((held, turn)) = connection.requests.next(link).await {
            let Held { control, payload, recipients, need, .. } = held;
            let payload = payload.as_ref().map(StoredPayload::unread);
            connection.requests.handle(|| {
                let core = Arc::clone(&self.core);
                let handle = || self.handle(control, payload, Some(turn));
                let handled = connection.in_order(|| pid::within(&core, handle));
                if let Err(invalid) = handled {
                    link.count_dropped();
                    debug!(peer = %connection.node, "dropped an incoming message: {invalid}");
                }
            });
            connection.requests.handled(need, &recipients);
        }
    }

    /// Handles a signal. `turn` is set if it needs one.
    fn handle(
        &mut self,
        control: Control,
        payload: Option<Unread<'_>>,
        turn: Option<Turn>,
    ) -> Result<(), InvalidMessage> {
        match (&control, payload) {
            (Control::Send { to, .. } | Control::SendSender { to, .. }, Some(message)) => {
                self.message_to(to, message)
            }
            (Control::RegSend { from, to, .. }, Some(message)) => {
                self.message_by_name(from, to, message, turn)
            }
            // M6: a message to a pid or a name is ordinary, whatever its priority.
            (Control::Altact { exit: false, priority, from, to, .. }, Some(message)) => match to {
                To::Pid(to) => self.message_to(to, message),
                To::Name(to) => self.message_by_name(from, to, message, turn),
                To::Alias(to) => self.message_by_alias(to, *priority, message),
            },
            (Control::AliasSend { to, .. }, Some(message)) => {
                self.message_by_alias(to, false, message)
            }
            (Control::Spawn(spawn), Some(arguments)) => match turn {
                Some(turn) => spawn_for(&self.core, &self.connection, spawn, arguments, turn),
                None => Ok(()),
            },
            (_, payload) => {
                let (payload, result) = match payload.map(Unread::term).transpose() {
                    Ok(payload) => (payload, Ok(())),
                    // L2, D1: an exit is delivered even if its reason cannot be decoded.
                    Err(invalid) => {
                        let reason = reason::bad_reason(&invalid);
                        (Some(reason), Err(InvalidMessage::Reason(invalid.into())))
                    }
                };
                self.take(control, payload);
                result
            }
        }
    }

    /// Handles a control message that is not a message to a process.
    fn take(&self, control: Control, payload: Option<Term>) {
        match control {
            Control::Altact { exit: true, priority, from, to, .. } => match to {
                To::Pid(to) => self.exit2(&from, &to, payload),
                To::Alias(to) => self.exit_by_alias(&from, &to, priority, payload),
                // No function of Erlang's sends an exit signal to a name.
                To::Name(_) => {}
            },
            Control::Spawned { request, linked, monitored, result, .. } => {
                let (core, connection) = (&self.core, &self.connection);
                answered(core, connection, &request, linked, monitored, result);
            }
            Control::Link { from, to } => self.link(&from, &to),
            Control::Unlink { from, to } => self.unlink(&from, &to, 0),
            Control::UnlinkId { id, from, to } => self.unlink(&from, &to, id),
            Control::UnlinkIdAck { id, from, to } => self.acknowledged(&from, &to, id),
            Control::Exit { from, to, .. } => self.exit(&from, &to, payload),
            Control::Exit2 { from, to, .. } => self.exit2(&from, &to, payload),
            Control::Monitor { from, to, reference } => {
                self.watched(RemoteMonitor { watcher: from, reference, watched: to });
            }
            Control::Demonitor { from, reference, .. } => {
                let unwatched = self.connection.monitor_table().unwatched(&from, &reference);
                if let Some((monitor, ours, _)) = unwatched {
                    let signal = RemoteSignal::Demonitor(monitor);
                    self.connection.deliver(&self.core.ids.node, ours, signal);
                }
            }
            Control::Down { reference, .. } => {
                let Some(monitor) = self.core.ids.monitor_of(&reference) else { return };
                let watching = self.connection.monitor_table().unwatch(monitor);
                if let Some(LocalMonitor { watcher, proxy, .. }) = watching {
                    let why = reason::from_term(payload.unwrap_or(Term::NIL));
                    let signal = RemoteSignal::Down(monitor, why);
                    self.core.ids.node.deliver(&proxy, watcher, signal);
                }
            }
            // Messages and spawn requests, which `signal` has handled, and changes of the group leader, which local
            // processes do not have.
            _ => {}
        }
    }

    fn message_to(&mut self, to: &Pid, message: Unread<'_>) -> Result<(), InvalidMessage> {
        let ours = self.core.ids.ours(to);
        // M4: a message without a recipient is dropped without being decoded.
        let process = ours.and_then(|ours| self.core.ids.node.local_process(ours));
        process.map_or(Ok(()), |process| self.receive(process, message))
    }

    /// Delivers a message to a registered name. Without such a process, this node answers for `net_kernel` and `rex`.
    fn message_by_name(
        &mut self,
        from: &Pid,
        to: &Atom,
        message: Unread<'_>,
        turn: Option<Turn>,
    ) -> Result<(), InvalidMessage> {
        if let Some(process) = self.core.local_name(to.as_str()) {
            return self.receive(process, message);
        }
        if *to == "net_kernel" {
            self.ask_net_kernel(from, message.term()?);
        } else if *to == "rex"
            && let Some(turn) = turn
        {
            return rex::receive(&self.core, &self.connection, message, turn);
        }
        Ok(())
    }

    /// L9: delivers a message to an alias. The process that owns it drops the message if the alias is revoked.
    fn message_by_alias(
        &mut self,
        to: &Reference,
        priority: bool,
        message: Unread<'_>,
    ) -> Result<(), InvalidMessage> {
        let found = self.core.ids.alias_of(to).and_then(|(ours, number)| {
            let process = self.core.ids.node.local_process(ours)?;
            let alias = Some(ByAlias { number, priority });
            Some(Target { process, alias, over: Some(&self.connection) })
        });
        match found {
            Some(to) => self.core.receive(to, message, &mut self.last),
            None => {
                debug!(?to, "nothing of ours has that alias");
                Ok(())
            }
        }
    }

    fn receive(
        &mut self,
        process: LocalProcess,
        message: Unread<'_>,
    ) -> Result<(), InvalidMessage> {
        let to = Target { process, alias: None, over: Some(&self.connection) };
        self.core.receive(to, message, &mut self.last)
    }

    /// Answers a `gen_server` call `{is_auth, Node}`, as `net_adm:ping` makes, with `yes`, and `longnames`. Ignores any
    /// other request, and a call whose answer would go to another node than the sender's.
    fn ask_net_kernel(&self, from: &Pid, message: Term) {
        let Ok(call) = GenCall::try_from(message) else { return };
        let is_auth = |request: &Term| {
            request
                .as_tuple()
                .is_some_and(|parts| parts.first().is_some_and(|tag| tag.is_atom("is_auth")))
        };
        let answer = match &call.request {
            request if is_auth(request) => Term::atom("yes"),
            request if request.is_atom("longnames") => Term::from(self.core.ids.name.is_long()),
            _ => return,
        };
        if call.from.node == from.node {
            call.answer(&self.core, &self.connection, answer);
        }
    }

    /// A remote process links to a local one. If no proxy can be created for it, as the process limit is reached, the
    /// request is dropped.
    fn link(&self, theirs: &Pid, to: &Pid) {
        let ids = &self.core.ids;
        // WHY first: a link to a process that does not exist creates no proxy.
        let ours = ids.ours(to).filter(|ours| ids.node.local_process(*ours).is_some());
        let Some(ours) = ours else {
            // Also for a process of an earlier incarnation of this node. After the messages of one that has ended (M2).
            let (flags, why) = (self.connection.flags(), Term::atom("noproc"));
            let exit = Control::exit(flags, to.clone(), theirs.clone(), why);
            return self.core.send_after_pending(&self.connection, theirs, None, exit);
        };
        let Some(name) = self.core.proxy(theirs).map(|pid| LocalProcess::from(&pid)) else {
            return;
        };
        self.core.linked(ours, theirs, &name);
    }

    /// A remote process unlinks.
    fn unlink(&self, theirs: &Pid, to: &Pid, id: u64) {
        let mut links = self.core.links();
        if let Some(ours) = self.core.ids.ours(to) {
            self.deliver_all(ours, links.unlinked(ours, theirs));
        }
        // An unlink of the old protocol, with id zero, is not acknowledged.
        if id != 0 {
            let acknowledgement = Control::UnlinkIdAck { id, from: to.clone(), to: theirs.clone() };
            // With the lock held, so that the peer receives it before a later link.
            self.connection.answer(Some(theirs.clone()), acknowledgement, None);
        }
    }

    /// A remote process has acknowledged an unlink of a local one.
    fn acknowledged(&self, theirs: &Pid, to: &Pid, id: u64) {
        if let Some(ours) = self.core.ids.ours(to) {
            self.core.links().remote_acknowledged(ours, theirs, id);
        }
    }

    /// A remote process that is linked to a local one has ended.
    fn exit(&self, theirs: &Pid, to: &Pid, why: Option<Term>) {
        let (Some(ours), Some(why)) = (self.core.ids.ours(to), why) else { return };
        let why = reason::from_term(why);
        let mut links = self.core.links();
        // If the local process has unlinked and the unlink is in transit, the table has no link: nothing is delivered.
        let proxies = links.remote_ended(ours, theirs).into_iter();
        let signals = proxies.map(|proxy| (proxy, RemoteSignal::LinkExit(why.clone()))).collect();
        self.deliver_all(ours, signals);
    }

    /// Delivers signals to a local process, each from its proxy. The caller holds the lock of the table of
    /// links (INVARIANT of [`Core::links`]).
    fn deliver_all(&self, ours: ProcessId, signals: Deliveries) {
        for (name, signal) in signals {
            self.core.ids.node.deliver(&name, ours, signal);
        }
    }

    /// A remote process sends an exit signal, by `exit/2`.
    fn exit2(&self, theirs: &Pid, to: &Pid, why: Option<Term>) {
        let (Some(ours), Some(why)) = (self.core.ids.ours(to), why) else { return };
        if let Some(proxy) = self.core.proxy(theirs) {
            let signal = RemoteSignal::Exit(reason::from_term(why));
            self.core.ids.node.deliver(&LocalProcess::from(&proxy), ours, signal);
        }
    }

    /// L9, M6: a remote process sends an exit signal to an alias, by `exit/2` or `exit/3` of OTP 28 and later.
    fn exit_by_alias(&self, theirs: &Pid, to: &Reference, priority: bool, why: Option<Term>) {
        let (Some((ours, number)), Some(why)) = (self.core.ids.alias_of(to), why) else { return };
        if let Some(proxy) = self.core.proxy(theirs) {
            let (from, why) = (Some(proxy.id()), reason::from_term(why));
            self.core.ids.node.deliver_alias_exit(from, ours, number, priority, why);
        }
    }

    /// A remote process monitors a local process or name. Answers `noproc` if it does not exist.
    fn watched(&self, theirs: RemoteMonitor) {
        let ours: Option<ProcessId> = match &theirs.watched {
            Named::Pid(pid) => self.core.ids.ours(pid),
            Named::Name(name) => match self.core.ids.node.local_name(name.as_str()) {
                Some(process) => Some(process.id()),
                // This node answers for these names without a process. Such a monitor fires only when the connection is
                // lost, which the peer notices itself.
                None if *name == "net_kernel" || *name == "rex" => return,
                None => None,
            },
        };
        match ours {
            Some(ours) => self.connection.watched(&self.core.ids, ours, theirs),
            None => {
                let RemoteMonitor { watcher, reference, watched } = theirs;
                let (flags, why) = (self.connection.flags(), Term::atom("noproc"));
                let (control, payload) = Control::down(flags, watched, watcher, reference, why);
                self.connection.answer(None, control, payload);
            }
        }
    }
}
