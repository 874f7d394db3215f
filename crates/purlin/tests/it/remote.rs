//! Two nodes in one program, each with proxies for the processes of the other. The nodes are joined only by the signals
//! that would cross a connection.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::common::{HANG, outside, until};
use proptest::prelude::*;
use purlin::remote::{LocalProcess, RemoteSignal, Transport};
use purlin::server::ServerRef;
use purlin::trace::{FollowError, Options, Trace};
use purlin::{
    Down, Exit, ExitReason, MonitorRef, Node, Pid, Process, ProcessId, Reply, SpawnError,
};
use purlin_testkit::Simulation;

fn node() -> Node {
    Node::builder().workers(2).build().unwrap()
}

/// Both nodes and their proxies.
struct Bridge {
    nodes: [Node; 2],
    /// Proxies by node index and remote process.
    stand_ins: Mutex<HashMap<(usize, ProcessId), LocalProcess>>,
}

impl Bridge {
    fn new() -> Arc<Self> {
        Self::between(node(), node())
    }

    fn between(first: Node, second: Node) -> Arc<Self> {
        Arc::new(Self { nodes: [first, second], stand_ins: Mutex::default() })
    }

    /// Creates a proxy on the first node for a process of the second.
    fn stand_in<M: Send + 'static>(self: &Arc<Self>, real: &Pid<M>, gate: &Gate) -> Pid<M> {
        let proxy = self.make(0, real.id(), gate);
        self.stand_ins.lock().unwrap().insert((0, real.id()), LocalProcess::from(&proxy));
        proxy
    }

    fn make<M: Send + 'static>(
        self: &Arc<Self>,
        on: usize,
        real: ProcessId,
        gate: &Gate,
    ) -> Pid<M> {
        let transport = Line { bridge: Arc::clone(self), to: 1 - on, real, gate: gate.clone() };
        self.nodes[on].spawn_proxy(4, transport).unwrap()
    }

    /// Delivers a signal on node `on`, sent by a process of the other node.
    fn deliver(self: &Arc<Self>, on: usize, from: ProcessId, to: ProcessId, signal: RemoteSignal) {
        let make = || LocalProcess::from(&self.make::<()>(on, from, &Gate::open()));
        let from = self.stand_ins.lock().unwrap().entry((on, from)).or_insert_with(make).clone();
        self.nodes[on].deliver(&from, to, signal);
    }
}

/// Whether a transport is ready to accept messages.
#[derive(Clone)]
struct Gate(Arc<State>);

#[derive(Default)]
struct State {
    open: AtomicBool,
    lost: Mutex<Option<ExitReason>>,
    waker: Mutex<Option<Waker>>,
}

impl Gate {
    fn open() -> Self {
        let gate = Self::shut();
        gate.let_through();
        gate
    }

    fn shut() -> Self {
        Self(Arc::default())
    }

    fn let_through(&self) {
        self.0.open.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Reports that the process has ended.
    fn lose(&self, reason: ExitReason) {
        *self.0.lost.lock().unwrap() = Some(reason);
        self.wake();
    }

    fn wake(&self) {
        let waker = self.0.waker.lock().unwrap().take();
        waker.inspect(Waker::wake_by_ref);
    }

    fn poll_end(&self, cx: &Context<'_>) -> Poll<ExitReason> {
        *self.0.waker.lock().unwrap() = Some(cx.waker().clone());
        self.0.lost.lock().unwrap().clone().map_or(Poll::Pending, Poll::Ready)
    }

    fn poll_ready(&self) -> Poll<()> {
        if self.0.open.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Transport to one process of one of the nodes.
struct Line {
    bridge: Arc<Bridge>,
    to: usize,
    real: ProcessId,
    gate: Gate,
}

impl<M: Send + 'static> Transport<M> for Line {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<ExitReason> {
        self.gate.poll_end(cx)
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        self.gate.poll_ready()
    }

    fn message(&mut self, message: M) {
        let there = self.bridge.nodes[self.to].local_process(self.real);
        if let Some(there) = there {
            there.pid::<M>().expect("it receives that").send(message);
        }
    }

    fn signal(&mut self, from: Option<ProcessId>, signal: RemoteSignal) {
        self.bridge.deliver(self.to, from.unwrap_or(self.real), self.real, signal);
    }
}

#[derive(Debug, PartialEq)]
enum Msg {
    Number(u32),
    Exit(ExitReason),
    Down(MonitorRef, ExitReason),
}

impl From<Exit> for Msg {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit.reason)
    }
}

impl From<Down> for Msg {
    fn from(down: Down) -> Self {
        Self::Down(down.monitor, down.reason)
    }
}

/// Runs `here` as a process of the first node, with a proxy for a process of the second node that runs `there`.
fn across<M, F, G>(
    there: impl FnOnce(Process<M>) -> F + Send + 'static,
    here: impl FnOnce(Process<Msg>, Pid<M>) -> G + Send + 'static,
) where
    M: Send + 'static,
    F: Future<Output = ExitReason> + Send + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    let bridge = Bridge::new();
    let real = bridge.nodes[1].spawn(there);
    let proxy = bridge.stand_in(&real, &Gate::open());
    bridge.nodes[0].block_on(move |me| here(me, proxy));
}

/// Ends with the reason that it receives.
async fn obedient(mut me: Process<ExitReason>) -> ExitReason {
    me.receive().await
}

fn because(why: &str) -> ExitReason {
    ExitReason::error(why.to_owned())
}

// L1, L2: a link between nodes works in both directions.
#[test]
fn the_exit_of_a_remote_process_reaches_a_linked_local_process() {
    across(obedient, |mut me, there| async move {
        me.trap_exit(true);
        me.link(&there);
        there.send(because("rust"));
        assert_eq!(me.receive().await, Msg::Exit(because("rust")));
    });
}

#[test]
fn the_exit_of_a_local_process_reaches_a_linked_remote_process() {
    async fn trapping(mut me: Process<Msg>) -> ExitReason {
        me.trap_exit(true);
        let Msg::Exit(reason) = me.receive().await else { return because("no exit") };
        reason
    }
    across(trapping, |mut me, there| async move {
        let linked = there.clone();
        let child = me.spawn_link(async move |me: Process<()>| {
            me.link(&linked);
            purlin::exit(because("done"))
        });
        me.trap_exit(true);
        let monitor = me.monitor(&there);
        let mut seen = [me.receive().await, me.receive().await];
        // M3: there is no order between the local child and the remote process.
        seen.sort_by_key(|msg| matches!(msg, Msg::Down(..)));
        assert_eq!(seen, [Msg::Exit(because("done")), Msg::Down(monitor, because("done"))]);
        assert_eq!(child.ended().await, because("done"));
    });
}

// A proxy cannot be traced: `follow` returns an error, and the proxy keeps working.
#[test]
fn a_proxy_cannot_be_traced() {
    across(obedient, |mut me, there| async move {
        let node = Node::current().expect("a process has a node");
        let trace = Trace::start(&node, Options::default());
        assert_eq!(trace.follow(there.id()), Err(FollowError::SystemProcess(there.id())));
        me.trap_exit(true);
        me.link(&there);
        trace.unfollow(there.id());
        there.send(because("rust"));
        assert_eq!(me.receive().await, Msg::Exit(because("rust")));
    });
}

// B2: a message that passes bounds is passed to the transport in its turn, like any other.
#[test]
fn a_request_to_stop_reaches_a_remote_server_after_the_messages_before_it() {
    #[derive(Debug)]
    struct Counter(u32);

    #[purlin::server]
    impl Counter {
        #[cast]
        fn add(&mut self, n: u32) {
            self.0 += n;
        }

        #[terminate]
        fn end(&mut self, _: &ExitReason) {
            purlin::exit(because(&self.0.to_string()));
        }
    }

    let bridge = Bridge::new();
    let real = bridge.nodes[1].block_on(async |_: Process<()>| {
        purlin::server::start::<Counter>(Counter(0)).await.expect("it starts")
    });
    let gate = Gate::shut();
    let proxy = ServerRef::new(bridge.stand_in(real.pid(), &gate));
    (1..=3).for_each(|n| proxy.add(n));
    proxy.request_stop(ExitReason::Normal);
    gate.let_through();
    assert_eq!(outside(real.pid().ended()), because("6"));
}

// L6, D2: the same as for a local process.
#[test]
fn linking_or_monitoring_an_ended_remote_process_gives_noproc() {
    let bridge = Bridge::new();
    let real = bridge.nodes[1].spawn(async |_: Process<()>| ());
    bridge.nodes[0].block_on({
        let there = bridge.stand_in(&real, &Gate::open());
        move |mut me: Process<Msg>| async move {
            real.ended().await;
            me.trap_exit(true);
            me.link(&there);
            assert_eq!(me.receive().await, Msg::Exit(ExitReason::NoProcess));
            let monitor = me.monitor(&there);
            assert_eq!(me.receive().await, Msg::Down(monitor, ExitReason::NoProcess));
        }
    });
}

// D1, D2: also for a future on a thread without a node.
#[test]
fn ended_of_a_remote_process_waits_for_that_process() {
    let bridge = Bridge::new();
    let real = bridge.nodes[1].spawn(obedient);
    let there = bridge.stand_in(&real, &Gate::open());
    let watchers = || outside(real.details()).expect("it is alive").monitored_by.len();
    let mut polled = Context::from_waker(Waker::noop());
    let (mut first, mut dropped) = (Box::pin(there.ended()), Box::pin(there.ended()));
    assert!(first.as_mut().poll(&mut polled).is_pending());
    assert!(dropped.as_mut().poll(&mut polled).is_pending());
    until("both monitor", || watchers() == 2);
    drop(dropped);
    until("one monitors", || watchers() == 1);
    there.send(because("asked"));
    assert_eq!(outside(first), because("asked"));
    assert_eq!(outside(there.ended()), ExitReason::NoProcess);
    assert!(there.is_alive(), "the proxy is");
}

// A future that cannot monitor does not wait for ever.
#[test]
fn ended_of_a_remote_process_on_a_full_node_is_system_limit() {
    let full = Node::builder().workers(1).max_processes(1).build().unwrap();
    let bridge = Bridge::between(full, node());
    let real = bridge.nodes[1].spawn(obedient);
    let there = bridge.stand_in(&real, &Gate::open());
    assert_eq!(outside(there.ended()), ExitReason::SystemLimit);
}

// L5: the remote node acknowledges the unlink, and no exit signal of the link is seen after it.
#[test]
fn no_exit_signal_arrives_after_an_unlink() {
    across(obedient, |mut me, there| async move {
        me.trap_exit(true);
        me.link(&there);
        me.unlink(&there);
        let monitor = me.monitor(&there);
        there.send(because("unseen"));
        assert_eq!(me.receive().await, Msg::Down(monitor, because("unseen")));
        assert_eq!(me.try_receive(), None);
    });
}

// D3: a removed monitor does not fire
#[test]
fn a_removed_monitor_of_a_remote_process_does_not_fire() {
    across(obedient, |mut me, there| async move {
        let first = me.monitor(&there);
        let second = me.monitor(&there);
        assert!(me.demonitor(first));
        there.send(ExitReason::Normal);
        assert_eq!(me.receive().await, Msg::Down(second, ExitReason::Normal));
        assert_eq!(me.try_receive(), None);
    });
}

// L4: the exit reason of a killed process is `killed`, also on another node.
#[test]
fn a_remote_process_can_be_killed() {
    across(obedient, |mut me, there| async move {
        let monitor = me.monitor(&there);
        there.exit(ExitReason::Kill);
        assert_eq!(me.receive().await, Msg::Down(monitor, ExitReason::Killed));
    });
}

/// What one process sends to another.
#[derive(Clone, Debug)]
enum Sent {
    Number(u32),
    Exit(u32),
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    // M2: any mix of messages and signals, and more of them than a proxy's mailbox holds.
    #[test]
    fn messages_and_signals_arrive_in_the_order_sent(
        sent in prop::collection::vec(
            prop_oneof![any::<u32>().prop_map(Sent::Number), any::<u32>().prop_map(Sent::Exit)],
            0..200,
        )
    ) {
        let expected: Vec<_> = sent.iter().map(|sent| match sent {
            Sent::Number(number) => Msg::Number(*number),
            Sent::Exit(number) => Msg::Exit(because(&number.to_string())),
        }).collect();
        let bridge = Bridge::new();
        let (count, all) = (expected.len(), sent);
        let receiver = bridge.nodes[1].spawn(async move |mut me: Process<Received>| {
            me.trap_exit(true);
            let Received::Begin(begun) = me.receive().await else { panic!("begin first") };
            begun.send(());
            let mut seen = Vec::new();
            while seen.len() < count {
                let Received::Msg(msg) = me.receive().await else { panic!("one beginning") };
                seen.push(msg);
            }
            let Received::End(reply) = me.receive().await else { panic!("then the end") };
            reply.send(seen);
        });
        let gate = Gate::shut();
        let there = bridge.stand_in(&receiver, &gate);
        let seen = bridge.nodes[0].block_on(move |_: Process<()>| async move {
            receiver.call(Received::Begin).await.expect("it traps now");
            for sent in all {
                match sent {
                    Sent::Number(number) => there.send(Received::Msg(Msg::Number(number))),
                    Sent::Exit(number) => there.exit(because(&number.to_string())),
                }
            }
            gate.let_through();
            there.call(Received::End).await.expect("it answers")
        });
        prop_assert_eq!(seen, expected);
    }
}

enum Received {
    Begin(Reply<()>),
    Msg(Msg),
    End(Reply<Vec<Msg>>),
}

impl From<Exit> for Received {
    fn from(exit: Exit) -> Self {
        Self::Msg(exit.into())
    }
}

// B1: while the transport is not ready, senders wait; then everything arrives.
#[test]
fn senders_wait_while_the_transport_is_not_ready() {
    let bridge = Bridge::new();
    let real = bridge.nodes[1].spawn(async |mut me: Process<(u32, Option<Reply<u32>>)>| {
        let mut next = 0;
        loop {
            let (number, reply) = me.receive().await;
            assert_eq!(number, next);
            next += 1;
            if let Some(reply) = reply {
                reply.send(next);
            }
        }
    });
    let gate = Gate::shut();
    let there = bridge.stand_in(&real, &gate);
    let held = bridge.nodes[0].block_on(move |_: Process<()>| async move {
        let mut next = 0;
        while there.try_send((next, None)).is_ok() {
            next += 1;
        }
        gate.let_through();
        for number in next..100 {
            there.send_async((number, None)).await.expect("it gets room");
        }
        assert_eq!(there.call(|reply| (100, Some(reply))).await, Ok(101));
        next
    });
    assert!((4..=5).contains(&held), "four wait, and one that the carrier does not take: {held}");
}

// The transport reports the end of the process: the proxy ends with that reason.
#[test]
fn a_proxy_ends_with_the_reason_of_its_transport_and_counts_queued_messages() {
    let bridge = Bridge::new();
    let real = bridge.nodes[1].spawn(async |mut me: Process<u32>| {
        me.receive().await;
    });
    let gate = Gate::shut();
    let there = bridge.stand_in(&real, &gate);
    let node = bridge.nodes[0].clone();
    let before = node.drops().ended;
    bridge.nodes[0].block_on(move |mut me: Process<Msg>| async move {
        for number in 0..3 {
            there.send(number);
        }
        let late = me.monitor(&there);
        there.send(3);
        gate.lose(ExitReason::NoConnection);
        assert_eq!(there.ended().await, ExitReason::NoConnection);
        assert_eq!(me.receive().await, Msg::Down(late, ExitReason::NoProcess));
        assert_eq!(there.try_send(4), Err(purlin::SendError::NoProcess(4)));
    });
    assert_eq!(node.drops().ended - before, 4);
}

#[test]
fn a_panicking_transport_ends_only_its_proxy() {
    struct Careless;
    impl Transport<()> for Careless {
        fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<ExitReason> {
            Poll::Pending
        }
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
            Poll::Ready(())
        }
        fn message(&mut self, (): ()) {
            panic!("slipped")
        }
        fn signal(&mut self, _: Option<ProcessId>, _: RemoteSignal) {}
    }
    let node = Node::builder().workers(1).build().unwrap();
    let there = node.spawn_proxy(1, Careless).unwrap();
    there.send(());
    let reason = node.block_on(move |_: Process<()>| async move { there.ended().await });
    assert!(matches!(reason, ExitReason::Panic(panic) if panic.message == "slipped"));
    assert!(matches!(node.spawn_proxy(0, Careless), Err(SpawnError::BadBound(Careless))));
}

// E1, L4: a node that stops ends its own processes and no remote ones.
#[test]
fn stopping_a_node_ends_its_proxies_and_no_remote_process() {
    // In virtual time the grace period for the blocked proxy costs nothing.
    let simulation = Simulation::new(1);
    let bridge = Bridge::between(simulation.node().clone(), node());
    let real = bridge.nodes[1].spawn(async |mut me: Process<u32>| {
        me.receive().await;
    });
    let there = bridge.stand_in(&real, &Gate::open());
    let stuck = bridge.stand_in(&real, &Gate::shut());
    stuck.send(7);
    simulation.stop();
    assert!(!there.is_alive() && !stuck.is_alive());
    assert_eq!(there.exit_reason(), Some(ExitReason::Shutdown));
    assert_eq!(stuck.exit_reason(), Some(ExitReason::Killed), "it had something to pass on");
    assert!(real.is_alive());
    real.send(1);
    assert_eq!(outside(real.ended()), ExitReason::Normal);
}

// E1, M2: messages that a process sends during the grace period reach remote processes.
#[test]
fn proxies_outlive_the_processes_when_a_node_stops() {
    let bridge = Bridge::new();
    let (tx, rx) = std::sync::mpsc::channel();
    let real = bridge.nodes[1].spawn(async move |mut me: Process<u32>| {
        let _ = tx.send(me.receive().await);
    });
    let there = bridge.stand_in(&real, &Gate::open());
    let (ready, is_ready) = std::sync::mpsc::channel();
    bridge.nodes[0].spawn(async move |mut me: Process<Exit>| {
        me.trap_exit(true);
        let _ = ready.send(());
        let exit = me.receive().await;
        assert_eq!(exit.reason, ExitReason::Shutdown);
        // Other processes that received the exit signal have had their turns.
        for _ in 0..100 {
            purlin::yield_now().await;
        }
        there.send(7);
    });
    is_ready.recv().unwrap();
    bridge.nodes[0].stop_blocking();
    assert_eq!(rx.recv(), Ok(7));
}

/// Records its name when dropped.
struct Gone(&'static str, Arc<Mutex<Vec<&'static str>>>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

impl<M> Transport<M> for Gone {
    fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<ExitReason> {
        Poll::Pending
    }
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
    fn message(&mut self, _: M) {}
    fn signal(&mut self, _: Option<ProcessId>, _: RemoteSignal) {}
}

// E1: the agent of a connection exists as long as a proxy may send over it.
#[test]
fn an_agent_ends_after_all_proxies_when_a_node_stops() {
    for _ in 0..50 {
        let node = Node::builder().workers(2).build().unwrap();
        let gone = Arc::new(Mutex::default());
        node.spawn_agent(Gone("agent", Arc::clone(&gone))).unwrap();
        for _ in 0..4 {
            node.spawn_proxy::<(), _>(1, Gone("stand-in", Arc::clone(&gone))).unwrap();
        }
        node.stop_blocking();
        let due = ["stand-in", "stand-in", "stand-in", "stand-in", "agent"];
        assert_eq!(*gone.lock().unwrap(), due);
    }
}

// E1: a system process runs until the ordinary processes have ended, receives no exit signal for the stop, and delays
// it by at most the grace period.
#[test]
fn a_service_ends_with_its_future_or_is_killed_when_the_node_has_stopped() {
    let node = Node::builder().workers(1).build().unwrap();
    let (tx, rx) = tokio::sync::oneshot::channel::<()>();
    let ended = Arc::new(AtomicBool::new(false));
    let has_ended = Arc::clone(&ended);
    let served = node.spawn_system(async move {
        let _ = rx.await;
        has_ended.store(true, Ordering::SeqCst);
    });
    let serves = |id| node.process_info(id).map(|info| info.is_system);
    assert_eq!(served.ok().and_then(serves), Some(true));
    let (ready, is_ready) = std::sync::mpsc::channel();
    let ended_before = Arc::clone(&ended);
    let own = node.spawn(async move |mut me: Process<Exit>| {
        me.trap_exit(true);
        let _ = ready.send(());
        me.receive().await;
        assert!(!ended_before.load(Ordering::SeqCst));
        let _ = tx.send(());
    });
    is_ready.recv().unwrap();
    assert_eq!(serves(own.id()), Some(false));
    node.stop_blocking();
    assert!(ended.load(Ordering::SeqCst));
    let refused = node.spawn_system(async {});
    assert!(matches!(refused, Err(SpawnError::Stopping(_))), "it has stopped: {refused:?}");
}

// D1: references for monitors held by remote processes are unique.
#[test]
fn monitor_references_for_remote_processes_are_unique() {
    let node = Node::builder().workers(1).build().unwrap();
    let mut refs = [node.monitor_refs(), node.monitor_refs()];
    let ours = node.block_on(|me: Process<Msg>| async move {
        let other = purlin::spawn(async |_: Process<()>| ());
        (0..2000).map(|_| me.monitor(&other)).collect::<Vec<_>>()
    });
    let theirs = (0..4000).map(|n| refs[n % 2].next(&node));
    let mut all: Vec<_> = theirs.chain(ours).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
    assert!(all.iter().all(|monitor| MonitorRef::from_number(monitor.number()) == *monitor));
}

// C1: the replying process does not know that the caller is remote
#[purlin::test]
async fn a_reply_to_a_remote_caller_reaches_the_transport() {
    let (sender, mut answers) = tokio::sync::mpsc::unbounded_channel();
    let reply = || {
        let sender = sender.clone();
        purlin::remote::reply(move |answer: Option<u32>| sender.send(answer).expect("it waits"))
    };
    let (first, second) = (reply(), reply());
    assert!(first.is_wanted());
    let answers_both = purlin::spawn(async move |_: Process<()>| {
        first.send(7);
        drop(second);
        purlin::remote::reply(|_: Option<u32>| panic!("on purpose")).send(8);
    });
    assert_eq!(answers.recv().await, Some(Some(7)));
    assert_eq!(answers.recv().await, Some(None));
    assert_eq!(answers_both.ended().await, ExitReason::Normal);
}

/// A transport that is never ready, and reports the signals it is given.
struct NoRoom(std::sync::mpsc::Sender<RemoteSignal>);

impl Transport<()> for NoRoom {
    fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<ExitReason> {
        Poll::Pending
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    fn message(&mut self, (): ()) {
        unreachable!("there is no room for it");
    }

    fn signal(&mut self, _: Option<ProcessId>, signal: RemoteSignal) {
        self.0.send(signal).expect("the test listens");
    }
}

// Acknowledgements do not wait for capacity: the peer may need them before it can accept more.
#[test]
fn acknowledgements_and_exits_are_sent_while_the_transport_is_not_ready() {
    let node = Node::builder().workers(1).build().unwrap();
    let (sent, signals) = std::sync::mpsc::channel();
    let proxy = node.spawn_proxy::<(), _>(1, NoRoom(sent)).unwrap();
    let ours = node.spawn(async |mut me: Process<()>| me.receive().await);
    let theirs = LocalProcess::from(&proxy);
    let monitor = node.monitor_refs().next(&node);
    for signal in [RemoteSignal::Link, RemoteSignal::Unlink(7), RemoteSignal::Monitor(monitor)] {
        node.deliver(&theirs, ours.id(), signal);
    }
    ours.send(());
    let next = || signals.recv_timeout(HANG).expect("an answer");
    assert_eq!(next(), RemoteSignal::UnlinkAck(7));
    assert_eq!(next(), RemoteSignal::Down(monitor, ExitReason::Normal));
}

/// A transport that reports all signals.
struct Reports(std::sync::mpsc::Sender<RemoteSignal>);

impl Transport<()> for Reports {
    fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<ExitReason> {
        Poll::Pending
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn message(&mut self, (): ()) {}

    fn signal(&mut self, _: Option<ProcessId>, signal: RemoteSignal) {
        let _ = self.0.send(signal);
    }
}

// L1, L2, L5
#[test]
fn the_loss_of_a_link_is_acknowledged_and_is_an_exit_signal_unless_the_process_has_unlinked() {
    let node = Node::builder().workers(1).build().unwrap();
    let (sent, signals) = std::sync::mpsc::channel();
    let proxy = node.spawn_proxy::<(), _>(1, Reports(sent)).unwrap();
    let theirs = LocalProcess::from(&proxy);
    let next = || signals.recv_timeout(HANG).expect("a signal");
    let ours = node.spawn(async move |mut me: Process<Msg>| {
        me.trap_exit(true);
        me.link(&proxy);
        assert_eq!(me.receive().await, Msg::Exit(ExitReason::NoConnection));
        me.link(&proxy);
        me.unlink(&proxy);
        assert_eq!(me.receive().await, Msg::Number(1), "no exit signal");
        me.link(&proxy);
        me.receive().await;
    });
    let lost = |id| node.deliver_link_loss(&theirs, ours.id(), id);
    assert_eq!(next(), RemoteSignal::Link);
    lost(1);
    assert_eq!(next(), RemoteSignal::UnlinkAck(1));
    assert_eq!(next(), RemoteSignal::Link);
    let RemoteSignal::Unlink(unlink) = next() else { panic!("no unlink") };
    lost(2);
    assert_eq!(next(), RemoteSignal::UnlinkAck(2));
    ours.send(Msg::Number(1));
    assert_eq!(next(), RemoteSignal::Link, "the link was down until now");
    // The unlink was not acknowledged by the loss, and does not belong to the new link.
    node.deliver(&theirs, ours.id(), RemoteSignal::UnlinkAck(unlink));
    ours.send(Msg::Number(2));
    assert_eq!(next(), RemoteSignal::LinkExit(ExitReason::Normal));
    lost(3);
    assert_eq!(next(), RemoteSignal::UnlinkAck(3), "for an ended process");
}

// WHY as many: the process table holds 65,536 references to a process that lives, counted as one.
#[test]
fn every_reference_to_an_ended_process_is_counted() {
    let node = Node::builder().workers(1).build().unwrap();
    let pid = node.spawn(async |_: Process<()>| {});
    let process = LocalProcess::from(&pid);
    assert_eq!(outside(pid.ended()), ExitReason::Normal);
    let held = vec![process; 100_000];
    assert!(held[0].references() >= 100_000);
}
