//! Two nodes of one program, each with stand-ins for the processes of the other: what crosses is
//! what would cross a connection, and nothing else joins them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::common::{HANG, outside};
use proptest::prelude::*;
use purlin::foreign::{Carrier, ForeignSignal, LocalProcess};
use purlin::trace::{FollowError, Options, Trace};
use purlin::{
    Down, Exit, ExitReason, MonitorRef, Node, Pid, Process, ProcessId, Reply, SpawnError,
};
use purlin_testkit::Simulation;

fn node() -> Node {
    Node::builder().workers(2).build().unwrap()
}

/// Both nodes, and the stand-ins there are.
struct Bridge {
    nodes: [Node; 2],
    /// By the node they are on, and whom they stand for.
    stand_ins: Mutex<HashMap<(usize, ProcessId), LocalProcess>>,
}

impl Bridge {
    fn new() -> Arc<Self> {
        Self::between(node(), node())
    }

    fn between(first: Node, second: Node) -> Arc<Self> {
        Arc::new(Self { nodes: [first, second], stand_ins: Mutex::default() })
    }

    /// On the first node, a stand-in for a process of the second.
    fn stand_in<M: Send + 'static>(self: &Arc<Self>, real: &Pid<M>, gate: &Gate) -> Pid<M> {
        let stand_in = self.make(0, real.id(), gate);
        self.stand_ins.lock().unwrap().insert((0, real.id()), LocalProcess::from(&stand_in));
        stand_in
    }

    fn make<M: Send + 'static>(
        self: &Arc<Self>,
        on: usize,
        real: ProcessId,
        gate: &Gate,
    ) -> Pid<M> {
        let carrier = Line { bridge: Arc::clone(self), to: 1 - on, real, gate: gate.clone() };
        self.nodes[on].stand_in(4, carrier).unwrap()
    }

    /// Delivers on node `on`, in the name of a process of the other.
    fn deliver(self: &Arc<Self>, on: usize, from: ProcessId, to: ProcessId, signal: ForeignSignal) {
        let make = || LocalProcess::from(&self.make::<()>(on, from, &Gate::open()));
        let from = self.stand_ins.lock().unwrap().entry((on, from)).or_insert_with(make).clone();
        self.nodes[on].deliver(&from, to, signal);
    }
}

/// Whether a carrier has room.
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

    /// The process is no more.
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

/// The way to one process of one of the nodes.
struct Line {
    bridge: Arc<Bridge>,
    to: usize,
    real: ProcessId,
    gate: Gate,
}

impl<M: Send + 'static> Carrier<M> for Line {
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

    fn signal(&mut self, from: Option<ProcessId>, signal: ForeignSignal) {
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

/// Runs `here` as a process of the first node, with a stand-in for one of the second, which runs
/// `there`.
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
    let stand_in = bridge.stand_in(&real, &Gate::open());
    bridge.nodes[0].block_on(move |me| here(me, stand_in));
}

/// Ends when it is told how.
async fn obedient(mut me: Process<ExitReason>) -> ExitReason {
    me.receive().await
}

fn because(why: &str) -> ExitReason {
    ExitReason::error(why.to_owned())
}

// L1, L2: a link across holds in both directions.
#[test]
fn the_end_of_a_process_elsewhere_reaches_whom_it_is_linked_to() {
    across(obedient, |mut me, there| async move {
        me.trap_exit(true);
        me.link(&there);
        there.send(because("rust"));
        assert_eq!(me.receive().await, Msg::Exit(because("rust")));
    });
}

#[test]
fn the_end_of_a_process_here_reaches_whom_it_is_linked_to_elsewhere() {
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
        // M3: nothing is promised between the child here and the process elsewhere.
        seen.sort_by_key(|msg| matches!(msg, Msg::Down(..)));
        assert_eq!(seen, [Msg::Exit(because("done")), Msg::Down(monitor, because("done"))]);
        assert_eq!(child.ended().await, because("done"));
    });
}

// A trace is of a program's processes; what stands for one elsewhere goes on as it was.
#[test]
fn what_stands_for_a_process_elsewhere_is_not_followed() {
    across(obedient, |mut me, there| async move {
        let node = Node::current().expect("a process has a node");
        let trace = Trace::start(&node, Options::default());
        assert_eq!(trace.follow(there.id()), Err(FollowError::Serves(there.id())));
        me.trap_exit(true);
        me.link(&there);
        trace.unfollow(there.id());
        there.send(because("rust"));
        assert_eq!(me.receive().await, Msg::Exit(because("rust")));
    });
}

// L6, D2: as of a process of this node.
#[test]
fn of_a_process_that_was_gone_already_there_is_noproc() {
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

// L5: the unlink is acknowledged across, and nothing of the link is seen after it.
#[test]
fn after_an_unlink_the_end_of_the_other_is_not_seen() {
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

// D3
#[test]
fn a_monitor_that_was_taken_back_does_not_fire() {
    across(obedient, |mut me, there| async move {
        let first = me.monitor(&there);
        let second = me.monitor(&there);
        assert!(me.demonitor(first));
        there.send(ExitReason::Normal);
        assert_eq!(me.receive().await, Msg::Down(second, ExitReason::Normal));
        assert_eq!(me.try_receive(), None);
    });
}

// L4: `kill` is seen as `killed`, wherever the process is.
#[test]
fn a_process_elsewhere_can_be_killed() {
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

    // M2: whatever the kinds, and more of them than the mailbox of a stand-in holds.
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

// B1: while the carrier has no room, senders wait; then all of it arrives.
#[test]
fn whoever_sends_too_much_waits_until_the_carrier_has_room() {
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
            there.send_wait((number, None)).await.expect("it gets room");
        }
        assert_eq!(there.call(|reply| (100, Some(reply))).await, Ok(101));
        next
    });
    assert!((4..=5).contains(&held), "four wait, and one that the carrier does not take: {held}");
}

// The carrier says that the process is no more: for everybody here it has ended.
#[test]
fn a_stand_in_ends_with_the_reason_of_its_carrier_and_what_waits_is_counted() {
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
fn a_carrier_that_panics_ends_its_stand_in_alone() {
    struct Careless;
    impl Carrier<()> for Careless {
        fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<ExitReason> {
            Poll::Pending
        }
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
            Poll::Ready(())
        }
        fn message(&mut self, (): ()) {
            panic!("slipped")
        }
        fn signal(&mut self, _: Option<ProcessId>, _: ForeignSignal) {}
    }
    let node = Node::builder().workers(1).build().unwrap();
    let there = node.stand_in(1, Careless).unwrap();
    there.send(());
    let reason = node.block_on(move |_: Process<()>| async move { there.ended().await });
    assert!(matches!(reason, ExitReason::Panic(panic) if panic.message == "slipped"));
    assert!(matches!(node.stand_in(0, Careless), Err(SpawnError::BadBound(Careless))));
}

// E1, L4: a node that stops ends its own processes, and none elsewhere.
#[test]
fn the_stop_of_a_node_ends_its_stand_ins_and_reaches_nobody_elsewhere() {
    // In virtual time the grace period that the stuck stand-in uses up takes no time.
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

// E1, M2: what a process says while its node stops, as long as it may, reaches processes elsewhere.
#[test]
fn a_stop_leaves_stand_ins_until_processes_have_ended() {
    let bridge = Bridge::new();
    let (tell, told) = std::sync::mpsc::channel();
    let real = bridge.nodes[1].spawn(async move |mut me: Process<u32>| {
        let _ = tell.send(me.receive().await);
    });
    let there = bridge.stand_in(&real, &Gate::open());
    let (ready, is_ready) = std::sync::mpsc::channel();
    bridge.nodes[0].spawn(async move |mut me: Process<Exit>| {
        me.trap_exit(true);
        let _ = ready.send(());
        let exit = me.receive().await;
        assert_eq!(exit.reason, ExitReason::Shutdown);
        // Others that were told to end have had their turns.
        for _ in 0..100 {
            purlin::yield_now().await;
        }
        there.send(7);
    });
    is_ready.recv().unwrap();
    bridge.nodes[0].stop_blocking();
    assert_eq!(told.recv(), Ok(7));
}

/// Says when it has gone.
struct Gone(&'static str, Arc<Mutex<Vec<&'static str>>>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

impl<M> Carrier<M> for Gone {
    fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<ExitReason> {
        Poll::Pending
    }
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
    fn message(&mut self, _: M) {}
    fn signal(&mut self, _: Option<ProcessId>, _: ForeignSignal) {}
}

// E1: what stands for a connection is there as long as a stand-in may have something to say over it.
#[test]
fn when_a_node_stops_an_agent_ends_after_all_stand_ins() {
    for _ in 0..50 {
        let node = Node::builder().workers(2).build().unwrap();
        let gone = Arc::new(Mutex::default());
        node.agent(Gone("agent", Arc::clone(&gone))).unwrap();
        for _ in 0..4 {
            node.stand_in::<(), _>(1, Gone("stand-in", Arc::clone(&gone))).unwrap();
        }
        node.stop_blocking();
        let due = ["stand-in", "stand-in", "stand-in", "stand-in", "agent"];
        assert_eq!(*gone.lock().unwrap(), due);
    }
}

// E1: what serves processes goes on until they have ended, hears nothing of the stop, and holds it up no longer
// than the grace period.
#[test]
fn a_service_ends_with_its_future_or_is_killed_when_the_node_has_stopped() {
    let node = Node::builder().workers(1).build().unwrap();
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    let ended = Arc::new(AtomicBool::new(false));
    let has_ended = Arc::clone(&ended);
    let served = node.serve(async move {
        let _ = told.await;
        has_ended.store(true, Ordering::SeqCst);
    });
    let serves = |id| node.process_info(id).map(|info| info.serves);
    assert_eq!(served.and_then(serves), Some(true));
    let (ready, is_ready) = std::sync::mpsc::channel();
    let ended_before = Arc::clone(&ended);
    let own = node.spawn(async move |mut me: Process<Exit>| {
        me.trap_exit(true);
        let _ = ready.send(());
        me.receive().await;
        assert!(!ended_before.load(Ordering::SeqCst));
        let _ = tell.send(());
    });
    is_ready.recv().unwrap();
    assert_eq!(serves(own.id()), Some(false));
    node.stop_blocking();
    assert!(ended.load(Ordering::SeqCst));
    assert_eq!(node.serve(async {}), None, "it has stopped");
}

// D1: of monitors that processes elsewhere have of ours, no two have the same reference.
#[test]
fn references_for_others_are_new_ones() {
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

// C1: who answers does not know that it is for a process elsewhere
#[purlin::test]
async fn an_answer_for_a_process_elsewhere_comes_to_whoever_carries_it() {
    let (reply, answer) = purlin::foreign::reply();
    purlin::spawn(async |_: Process<()>| reply.send(7));
    assert_eq!(answer.await, Some(7));
    let (reply, answer) = purlin::foreign::reply::<u32>();
    drop(reply);
    assert_eq!(answer.await, None);
    let (reply, answer) = purlin::foreign::reply::<u32>();
    drop(answer);
    assert!(!reply.is_wanted());
}

/// A carrier that never has room, and tells which signals it is given.
struct NoRoom(std::sync::mpsc::Sender<ForeignSignal>);

impl Carrier<()> for NoRoom {
    fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<ExitReason> {
        Poll::Pending
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    fn message(&mut self, (): ()) {
        unreachable!("there is no room for it");
    }

    fn signal(&mut self, _: Option<ProcessId>, signal: ForeignSignal) {
        self.0.send(signal).expect("the test listens");
    }
}

// An answer waits for nothing: whoever asked may have to be told before there is room for more.
#[test]
fn answers_and_ends_of_links_and_monitors_need_no_room() {
    let node = Node::builder().workers(1).build().unwrap();
    let (told, signals) = std::sync::mpsc::channel();
    let stand_in = node.stand_in::<(), _>(1, NoRoom(told)).unwrap();
    let ours = node.spawn(async |mut me: Process<()>| me.receive().await);
    let theirs = LocalProcess::from(&stand_in);
    let monitor = node.monitor_refs().next(&node);
    for signal in [ForeignSignal::Link, ForeignSignal::Unlink(7), ForeignSignal::Monitor(monitor)] {
        node.deliver(&theirs, ours.id(), signal);
    }
    ours.send(());
    let next = || signals.recv_timeout(HANG).expect("an answer");
    assert_eq!(next(), ForeignSignal::UnlinkAck(7));
    assert_eq!(next(), ForeignSignal::Down(monitor, ExitReason::Normal));
}
