//! Outgoing spawn requests: the request, its answer, and the proxy that exists before the process does.
//!
//! A process spawned with a link or a monitor is linked or monitored by the remote node from its start. The reader
//! task therefore records both when it reads the answer, before it reads any signal of the new process, including its
//! exit. The requesting process must know the monitor by then. So the proxy is created and monitored before the
//! process exists, and does not send this one monitor on the wire: its reference is that of the request.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use purlin::remote::{LocalProcess, RemoteSignal, Transport};
use purlin::{Down, ExitReason, MonitorRef, Pid, Process, ProcessId, Relation, SpawnOptions};
use purlin_dist_protocol::control::{Control, Named, Spawn};
use purlin_dist_protocol::{Flags, NodeName};
use purlin_term::{Atom, Reference, Term};
use tokio::sync::oneshot;

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::links::monitor_table::LocalMonitor;
use crate::cluster::proxy::remote::{PROXY_MAILBOX, Remote};
use crate::cluster::rpc::encodable::encodable;
use crate::cluster::rpc::export::Job;
use crate::cluster::spawn::pending::{NotSpawned, PendingRequest};

/// Timeout for the lookup of `user` on the remote node.
const USER_TIMEOUT: Duration = Duration::from_secs(5);

/// Handles the answer to a spawn request.
pub(crate) fn answered(
    core: &Core,
    connection: &Connection,
    request: &Reference,
    linked: bool,
    monitored: bool,
    result: Result<purlin_term::Pid, Atom>,
) {
    let Some(request) = core.ids.monitor_of(request) else { return };
    let mut monitor_table = connection.monitor_table();
    let Some(PendingRequest { by, proxy, born, answer: sender }) = monitor_table.answered(request)
    else {
        return;
    };
    let answer = match result {
        Ok(pid) => {
            if let (true, Some(by)) = (monitored, by) {
                let (proxy, watched) = (proxy.clone(), Named::Pid(pid.clone()));
                monitor_table.watch(request, LocalMonitor { watcher: by, proxy, watched });
            }
            drop(monitor_table);
            if let (true, Some(by)) = (linked, by) {
                core.linked(by, &pid, &proxy);
            }
            core.list(core.state(), (connection.node.clone(), Named::Pid(pid.clone())), proxy);
            // The proxy ends before this only if the node leaves.
            let _ = born.send(pid);
            Ok(())
        }
        Err(why) => Err(match why.as_str() {
            "notsup" => NotSpawned::NotSupported,
            "badarg" => NotSpawned::BadArgument,
            "system_limit" => NotSpawned::SystemLimit,
            _ => NotSpawned::Refused(why),
        }),
    };
    // The requester may have been cancelled.
    let _ = sender.send(answer);
}

/// Transport of a proxy whose process does not exist yet.
struct PendingSpawn {
    core: Arc<Core>,
    node: NodeName,
    born: oneshot::Receiver<purlin_term::Pid>,
    own: Arc<OnceLock<LocalProcess>>,
    remote: Option<Remote<Term>>,
    /// The first monitor is that of the request, which the remote node knows.
    monitored: bool,
    /// Signals that have arrived before the pid, for the remote process: of a requester that has ended, for example.
    early: Vec<(Option<ProcessId>, RemoteSignal)>,
}

impl PendingSpawn {
    fn new(
        core: Arc<Core>,
        node: NodeName,
        born: oneshot::Receiver<purlin_term::Pid>,
        monitored: bool,
    ) -> Self {
        Self { core, node, born, own: Arc::default(), remote: None, monitored, early: Vec::new() }
    }

    fn poll_remote(&mut self, cx: &mut Context<'_>) -> Poll<Option<&mut Remote<Term>>> {
        // After a failed spawn this is polled again until the proxy ends.
        if self.remote.is_none() && !self.born.is_terminated() {
            let born = ready!(Pin::new(&mut self.born).poll(cx));
            let (Ok(pid), Some(own)) = (born, self.own.get()) else { return Poll::Ready(None) };
            let (core, node, to) = (Arc::clone(&self.core), self.node.clone(), Named::Pid(pid));
            let mut remote = Remote::new(core, node, to, Arc::clone(&self.own));
            remote.begin(own);
            for (from, signal) in self.early.drain(..) {
                remote.signal(from, signal);
            }
            self.remote = Some(remote);
        }
        Poll::Ready(self.remote.as_mut())
    }
}

impl Transport<Term> for PendingSpawn {
    fn begin(&mut self, proxy: &LocalProcess) {
        // The creator may have set it already.
        let _ = self.own.set(proxy.clone());
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<ExitReason> {
        match ready!(self.poll_remote(cx)) {
            Some(remote) => remote.poll_end(cx),
            None => Poll::Ready(ExitReason::NoProcess),
        }
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.poll_remote(cx)) {
            Some(remote) => remote.poll_ready(cx),
            // The proxy is about to end.
            None => Poll::Ready(()),
        }
    }

    fn message(&mut self, message: Term) {
        if let Some(remote) = &mut self.remote {
            remote.message(message);
        }
    }

    fn signal(&mut self, from: Option<ProcessId>, signal: RemoteSignal) {
        if let (true, RemoteSignal::Monitor(monitor)) = (self.monitored, &signal) {
            self.monitored = false;
            // The spawn has failed since the beginning of the turn.
            if let (None, Some(from), Some(own)) = (&self.remote, from, self.own.get()) {
                let noproc = RemoteSignal::Down(*monitor, ExitReason::NoProcess);
                self.core.ids.node.deliver(own, from, noproc);
            }
        } else if let Some(remote) = &mut self.remote {
            remote.signal(from, signal);
        } else {
            self.early.push((from, signal));
        }
    }
}

/// The proxy of the process, and the channel that sends it the pid.
struct PendingProxy {
    pid: Pid<Term>,
    born: oneshot::Sender<purlin_term::Pid>,
}

impl PendingProxy {
    fn new(core: &Arc<Core>, node: &NodeName, monitored: bool) -> Result<Self, NotSpawned> {
        let (sender, born) = oneshot::channel();
        let proxy = PendingSpawn::new(Arc::clone(core), node.clone(), born, monitored);
        let (node, own) = (&core.ids.node, Arc::clone(&proxy.own));
        let pid = node.spawn_proxy(PROXY_MAILBOX, proxy).map_err(|_| NotSpawned::SystemLimit)?;
        // The proxy may have started already.
        let _ = own.set(LocalProcess::from(&pid));
        Ok(Self { pid, born: sender })
    }

    /// Sends the spawn request with the given reference, and waits for the answer.
    async fn ask(
        self,
        cluster: &Cluster,
        on: &NodeName,
        (module, function, arguments): (&str, &str, Vec<Term>),
        request: MonitorRef,
        by: Option<(ProcessId, &'static str)>,
    ) -> Result<Pid<Term>, NotSpawned> {
        let (module, function, arity) = checked((module, function, &arguments))?;
        let arguments = Term::List(arguments);
        // WHY: a request that is not sent is never answered.
        encodable(&arguments).map_err(|_| NotSpawned::BadArgument)?;
        let core = cluster.core();
        let connection = core.connect(on).await.map_err(NotSpawned::NoConnection)?;
        if !connection.flags().contains(Flags::SPAWN) {
            return Err(NotSpawned::NotSupported);
        }
        let ids = &core.ids;
        let (by, option) = by.unzip();
        let from = by.map_or_else(|| ids.pid_of_node(), |by| ids.pid(by));
        let group_leader = user(cluster, &connection).await;
        let spawn = Spawn {
            request: ids.reference(request),
            from: from.clone(),
            group_leader,
            module,
            function,
            arity,
            options: option.map(Term::atom).into_iter().collect(),
            token: None,
        };
        let (sender, answer) = oneshot::channel();
        let proxy = LocalProcess::from(&self.pid);
        let asked = PendingRequest { by, proxy, born: self.born, answer: sender };
        connection.link().ok_or(NotSpawned::Lost)?.wait_for_capacity(Some(&from)).await;
        connection.monitor_table().asks(request, asked).ok_or(NotSpawned::Lost)?;
        let control = Control::Spawn(Box::new(spawn));
        connection.send_control(Some(from), control, Some(arguments));
        answer.await.unwrap_or(Err(NotSpawned::Lost))?;
        Ok(self.pid)
    }
}

/// Module, name and arity of a function.
fn checked(
    (module, function, arguments): (&str, &str, &[Term]),
) -> Result<(Atom, Atom, u8), NotSpawned> {
    let atom = |text| Atom::new(text).map_err(|_| NotSpawned::BadArgument);
    let arity = u8::try_from(arguments.len()).map_err(|_| NotSpawned::BadArgument)?;
    Ok((atom(module)?, atom(function)?, arity))
}

/// Spawns a process that runs an exported function of this node.
fn spawn_own<L: Relation, W: Relation>(
    core: &Core,
    options: SpawnOptions<L, W>,
    (module, function, arguments): (&str, &str, Vec<Term>),
) -> Result<W::Spawned<Pid<Term>>, NotSpawned> {
    let (module, function, _) = checked((module, function, &arguments))?;
    let job = Job::of(&core.exports, (&module, &function), arguments);
    let runs = async move |me: Process<Term>| job.run(me, &Weak::new()).await;
    options.spawn_on(&core.ids.node, runs).map_err(|_| NotSpawned::SystemLimit)
}

/// The remote `user` process, which becomes the group leader. A local group leader would have to print for the process.
async fn user(cluster: &Cluster, connection: &Connection) -> purlin_term::Pid {
    if let Some(known) = connection.user.get() {
        return known.clone();
    }
    let name = vec![Term::atom("user")];
    let user = match cluster.rpc(&connection.node, "erlang", "whereis", name, USER_TIMEOUT).await {
        Ok(Term::Pid(user)) => *user,
        // A purlin node has no `user`; processes there do not print.
        _ => cluster.core().ids.pid_of_node(),
    };
    connection.user.get_or_init(|| user).clone()
}

impl Cluster {
    /// Spawns a process on another node, as Erlang's `spawn(Node, Module, Function, Arguments)` does. Its output goes
    /// to `user` of that node. If the function does not exist, the process exits there with `undef`. On this node, it
    /// runs an exported function.
    ///
    /// ```no_run
    /// # use purlin_dist::cluster::{Cluster, NotSpawned};
    /// # use purlin_dist::NodeName;
    /// # use purlin_term::Term;
    /// # async fn example(cluster: &Cluster, beam: &NodeName) -> Result<(), NotSpawned> {
    /// let pattern = Term::list("hello~n".chars().map(|c| Term::from(c as u32)));
    /// let printer = cluster.spawn(beam, "io", "format", vec![pattern]).await?;
    /// println!("{} prints", printer.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// *Cancellation*: dropping the future does not withdraw a request that has been sent.
    ///
    /// # Errors
    /// [`NotSpawned`]: the reason.
    ///
    /// COST: one round trip, and two encodings of the arguments. The first spawn on a connection takes one more round
    /// trip, to look up `user`.
    pub async fn spawn(
        &self,
        on: &NodeName,
        module: &str,
        function: &str,
        arguments: Vec<Term>,
    ) -> Result<Pid<Term>, NotSpawned> {
        let function = (module, function, arguments);
        if *on == self.core().ids.name {
            return spawn_own(self.core(), SpawnOptions::new(), function);
        }
        self.spawn_by(None, on, function).await
    }

    /// Spawns a process on another node, linked to the caller from its start, as `spawn_link` does. Cancellation and
    /// cost are those of [`Cluster::spawn`].
    ///
    /// # Errors
    /// [`NotSpawned`]; then there is no link.
    ///
    /// # Panics
    /// Panics if `on` is this node and the future is polled outside the turn of the calling process.
    pub async fn spawn_link<M: Send + 'static>(
        &self,
        me: &Process<M>,
        on: &NodeName,
        module: &str,
        function: &str,
        arguments: Vec<Term>,
    ) -> Result<Pid<Term>, NotSpawned> {
        let function = (module, function, arguments);
        if *on == self.core().ids.name {
            return spawn_own(self.core(), SpawnOptions::new().link(me), function);
        }
        self.spawn_by(Some((me.id(), "link")), on, function).await
    }

    async fn spawn_by(
        &self,
        by: Option<(ProcessId, &'static str)>,
        on: &NodeName,
        function: (&str, &str, Vec<Term>),
    ) -> Result<Pid<Term>, NotSpawned> {
        let request = self.core().ids.monitor();
        PendingProxy::new(self.core(), on, false)?.ask(self, on, function, request, by).await
    }

    /// Spawns a process on another node, monitored by the caller from its start, as `spawn_monitor` does. The cost is
    /// that of [`Cluster::spawn`].
    ///
    /// *Cancellation*: dropping the future withdraws neither the request nor the monitor: a [`Down`] will arrive, with
    /// `noproc` if no process was spawned.
    ///
    /// # Errors
    /// [`NotSpawned`]; then no [`Down`] arrives.
    ///
    /// # Panics
    /// Panics if called outside the turn of the calling process, as receiving does.
    pub async fn spawn_monitor<M: From<Down> + Send + 'static>(
        &self,
        me: &Process<M>,
        on: &NodeName,
        module: &str,
        function: &str,
        arguments: Vec<Term>,
    ) -> Result<(Pid<Term>, MonitorRef), NotSpawned> {
        let function = (module, function, arguments);
        if *on == self.core().ids.name {
            return spawn_own(self.core(), SpawnOptions::new().monitor(me), function);
        }
        let unborn = PendingProxy::new(self.core(), on, true)?;
        let monitor = me.monitor(&unborn.pid);
        let by = Some((me.id(), "monitor"));
        let asked = unborn.ask(self, on, function, monitor, by).await;
        if asked.is_err() {
            me.demonitor_flush(monitor);
        }
        Ok((asked?, monitor))
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use purlin::Node;

    use super::*;

    /// A cluster, and the transport of the proxy of a spawned process, whose pid the test sends.
    async fn unborn(monitored: bool) -> (Cluster, PendingSpawn, oneshot::Sender<purlin_term::Pid>) {
        let node: NodeName = "a@h".parse().expect("a name");
        let builder = Cluster::builder(node.clone()).cookie("secret").only_calls();
        let cluster = builder.start(&Node::builder().build().expect("a node")).await;
        let cluster = cluster.expect("it starts");
        let (born, birth) = oneshot::channel();
        let to_be = PendingSpawn::new(Arc::clone(cluster.core()), node, birth, monitored);
        (cluster, to_be, born)
    }

    #[tokio::test]
    async fn proxy_of_a_failed_spawn_may_be_polled_again() {
        let (_cluster, mut to_be, born) = unborn(true).await;
        let mut cx = Context::from_waker(Waker::noop());
        assert!(to_be.poll_end(&mut cx).is_pending() && to_be.poll_ready(&mut cx).is_pending());
        drop(born);
        assert!(to_be.poll_ready(&mut cx).is_ready() && to_be.poll_ready(&mut cx).is_ready());
        assert_eq!(to_be.poll_end(&mut cx), Poll::Ready(ExitReason::NoProcess));
    }

    // D1: the requester was cancelled, and removes no monitor.
    #[tokio::test]
    async fn the_monitor_of_a_request_fires_if_the_spawn_fails_before_the_monitor_is_handled() {
        let (cluster, mut to_be, born) = unborn(true).await;
        let node = cluster.node();
        let watched = node.spawn(async |mut me: Process<Term>| drop(me.receive().await));
        let (sender, ready) = oneshot::channel();
        let (own, of) = (LocalProcess::from(&watched), watched.clone());
        let watcher = node.spawn(async move |mut me: Process<Down>| {
            let _ = sender.send(me.monitor(&of));
            me.receive().await.reason
        });
        let monitor = ready.await.expect("it monitors");
        to_be.begin(&own);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(to_be.poll_end(&mut cx).is_pending());
        drop(born);
        assert!(to_be.poll_ready(&mut cx).is_ready());
        to_be.signal(Some(watcher.id()), RemoteSignal::Monitor(monitor));
        assert_eq!(watcher.ended().await, ExitReason::NoProcess);
    }

    // L2: the requester has ended before the pid arrives, and its exit signal with it.
    #[tokio::test]
    async fn a_signal_that_arrives_before_the_pid_is_passed_on() {
        let (cluster, mut to_be, born) = unborn(false).await;
        let node = cluster.node();
        let [requester, proxy] = [(); 2].map(|()| node.spawn(async |_: Process<Term>| ()));
        to_be.begin(&LocalProcess::from(&proxy));
        to_be.signal(Some(requester.id()), RemoteSignal::LinkExit(ExitReason::Killed));
        // The request to end, which arrives twice, is the only signal whose effect needs no connection.
        let end = RemoteSignal::Down(cluster.core().ids.monitor(), ExitReason::Normal);
        to_be.signal(None, end.clone());
        assert_eq!(to_be.early.len(), 2);
        let pid = cluster.term_of(proxy.id());
        born.send(pid).expect("it is awaited");
        let mut cx = Context::from_waker(Waker::noop());
        assert!(to_be.poll_end(&mut cx).is_pending() && to_be.early.is_empty());
        to_be.signal(None, end);
        assert_eq!(to_be.poll_end(&mut cx), Poll::Ready(ExitReason::NoConnection));
    }
}
