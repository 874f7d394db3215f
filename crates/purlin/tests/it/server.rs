//! Servers: callbacks, client operations, start and stop.

use crate::common;
use std::convert::Infallible;
use std::future::{Future, IntoFuture};
use std::time::Duration;

use crate::common::{DropCounter, HANG, Notice, Token, here};
use crate::waiting::{MS, comes, rest, simulated, uptime};
use futures_util::FutureExt;
use purlin::server::{self, Init, Mail, Next, Server, ServerRef, StartError};
use purlin::{
    CallError, Exit, ExitReason, LookupError, Message, MonitorRef, Name, Node, Pid, Process,
    ProcessId, ProcessInfo, ProcessState, RegisterError, Reply, receive, spawn, yield_now,
};
use purlin_testkit::Simulation;
use tokio::sync::oneshot;

/// A server controlled by its messages, which reports its callbacks to a witness.
#[derive(Debug)]
struct Puppet {
    n: i64,
    witness: Pid<Seen>,
    kept: Vec<Reply<i64>>,
}

/// Reports to the witness.
#[derive(Debug, PartialEq)]
enum Seen {
    Info(&'static str),
    Continue(u32),
    Timeout,
    Terminate(i64, ExitReason),
}

/// Behaviour of a puppet's `init`.
enum Begin {
    Ready,
    Then(Next<Puppet>),
    Ignore,
    Fail(ExitReason),
    Panic,
    Hang(Token),
    After(Duration),
}

#[derive(Debug)]
enum Call {
    Get(Reply<i64>),
    Keep(Reply<i64>),
    Forget(Reply<i64>),
    Panic(Reply<i64>),
    Own(Reply<[Option<CallError>; 3]>),
}

#[derive(Debug)]
enum Cast {
    Add(i64),
    Answer,
    Next(Next<Puppet>),
    Fail(&'static str),
    Exit(ExitReason),
    TakeInfo,
}

impl Server for Puppet {
    type Args = (Begin, Pid<Seen>);
    type Call = Call;
    type Cast = Cast;
    type Info = &'static str;
    type Continue = u32;

    async fn init(
        (begin, witness): Self::Args,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Init<Self>> {
        let puppet = Puppet { n: 1, witness, kept: Vec::new() };
        match begin {
            Begin::Ready => Ok(Init::Ready(puppet)),
            Begin::Then(next) => Ok(Init::Then(puppet, next)),
            Begin::Ignore => Ok(Init::Ignore),
            Begin::Fail(reason) => Err(reason.into()),
            Begin::Panic => panic!("no init"),
            Begin::Hang(_token) => std::future::pending().await,
            Begin::After(time) => {
                receive!(me, { after time => () });
                Ok(Init::Ready(puppet))
            }
        }
    }

    async fn handle_call(
        &mut self,
        call: Call,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        match call {
            Call::Get(reply) => reply.send(self.n),
            Call::Keep(reply) => self.kept.push(reply),
            Call::Forget(reply) => drop(reply),
            Call::Panic(_unanswered) => panic!("on purpose"),
            Call::Own(reply) => {
                let own = ServerRef::new(me.pid());
                reply.send([
                    own.call(Call::Get).await.err(),
                    own.state().await.err(),
                    own.stop().await.err(),
                ]);
            }
        }
        Ok(Next::Wait)
    }

    async fn handle_cast(
        &mut self,
        cast: Cast,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        match cast {
            Cast::Add(n) => self.n += n,
            Cast::Answer => self.kept.drain(..).for_each(|reply| reply.send(self.n)),
            Cast::Next(next) => return Ok(next),
            Cast::Fail(why) => Err(why)?,
            Cast::Exit(reason) => purlin::exit(reason),
            Cast::TakeInfo => {
                let info = receive!(me, { Mail::Info(info) => info });
                self.n = info.len() as i64;
            }
        }
        Ok(Next::Wait)
    }

    async fn handle_info(
        &mut self,
        info: &'static str,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        self.witness.send(Seen::Info(info));
        Ok(Next::Wait)
    }

    async fn handle_continue(
        &mut self,
        left: u32,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        self.witness.send(Seen::Continue(left));
        Ok(if left == 0 { Next::Wait } else { Next::Continue(left - 1) })
    }

    async fn handle_timeout(
        &mut self,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        self.witness.send(Seen::Timeout);
        Ok(Next::Wait)
    }

    async fn terminate(&mut self, reason: &ExitReason, _me: &mut Process<Mail<Self>>) {
        if *reason == ExitReason::Shutdown {
            // A process that is about to end would end here.
            yield_now().await;
        }
        self.witness.send(Seen::Terminate(self.n, reason.clone()));
        assert_ne!(self.n, 666, "no good end");
    }
}

async fn puppet(me: &Process<Seen>) -> ServerRef<Puppet> {
    server::start((Begin::Ready, me.pid())).await.expect("it starts")
}

// G1, C1, C2: calls get a reply and casts do not; both are handled in the order of arrival
#[purlin::test]
async fn a_server_handles_calls_and_casts_in_order(me: Process<Seen>) {
    let puppet = puppet(&me).await;
    assert_eq!(puppet.call(Call::Get).await, Ok(1));
    for n in 0..100 {
        puppet.cast(Cast::Add(n));
    }
    assert_eq!(puppet.call(Call::Get).await, Ok(4951));
    let forgotten = puppet.call(Call::Forget).await;
    assert_eq!(forgotten, Err(CallError::NoReply));
    // WHY real time: no reply is sent, however long the caller waits.
    let kept = puppet.call_timeout(Call::Keep, MS).await;
    assert_eq!(kept, Err(CallError::Timeout(MS)));
}

// G1: the reply may be sent from another callback
#[purlin::test]
async fn a_reply_can_be_kept_and_sent_later(me: Process<Seen>) {
    let puppet = puppet(&me).await;
    let asking = puppet.clone();
    let (asked, answer) = oneshot::channel();
    spawn(async move |_: Process<()>| {
        let _ = asked.send(asking.call(Call::Keep).await);
    });
    comes("it has been asked", || puppet.pid().info().messages_in == 1).await;
    puppet.cast(Cast::Add(41));
    puppet.cast(Cast::Answer);
    assert_eq!(answer.await, Ok(Ok(42)));
}

// G1: messages sent by pid or by a timer are handled as info
#[test]
fn other_messages_are_handled_as_info() {
    simulated(async |mut me: Process<Seen>| {
        let puppet = puppet(&me).await;
        puppet.send("direct");
        puppet.pid().send_after(MS, Mail::Info("later"));
        assert_eq!(me.receive().await, Seen::Info("direct"));
        assert_eq!((me.receive().await, uptime()), (Seen::Info("later"), MS));
    });
}

// G1, R1: a callback may receive a message out of order
#[purlin::test]
async fn a_handler_can_receive_selectively(mut me: Process<Seen>) {
    let puppet = puppet(&me).await;
    puppet.cast(Cast::TakeInfo);
    puppet.cast(Cast::Add(100));
    puppet.send("four");
    puppet.send("rest");
    assert_eq!(puppet.call(Call::Get).await, Ok(104));
    assert_eq!(me.receive().await, Seen::Info("rest"));
}

// G1: `handle_continue` runs before any message
#[purlin::test]
async fn continue_runs_before_queued_messages(mut me: Process<Seen>) {
    let puppet = puppet(&me).await;
    puppet.cast(Cast::Next(Next::Continue(2)));
    puppet.send("after");
    let seen = [me.receive().await, me.receive().await, me.receive().await, me.receive().await];
    let [two, one, zero] = [2, 1, 0].map(Seen::Continue);
    assert_eq!(seen, [two, one, zero, Seen::Info("after")]);
    let begun = server::start::<Puppet>((Begin::Then(Next::Continue(0)), me.pid())).await;
    assert!(begun.is_ok());
    assert_eq!(me.receive().await, Seen::Continue(0));
}

// G1: the timeout ends with the next message; `state` does not end it
#[test]
fn a_timeout_fires_only_if_no_message_arrives() {
    simulated(async |mut me: Process<Seen>| {
        let puppet = puppet(&me).await;
        puppet.cast(Cast::Next(Next::Timeout(200 * MS)));
        let watched = puppet.clone();
        let watcher = spawn(async move |_: Process<()>| {
            while watched.state().await.is_ok() {
                rest().await;
            }
        });
        let seen = (me.receive().await, uptime());
        assert_eq!(seen, (Seen::Timeout, 200 * MS), "the watcher does not put it off");
        watcher.exit(ExitReason::Shutdown);
        puppet.cast(Cast::Next(Next::Timeout(Duration::MAX)));
        puppet.send("in time");
        puppet.cast(Cast::Next(Next::Timeout(Duration::ZERO)));
        assert_eq!(me.receive().await, Seen::Info("in time"));
        assert_eq!((me.receive().await, uptime()), (Seen::Timeout, 200 * MS));
    });
}

// G1, R3, F1: queued messages come before a timeout, even if the budget has just been used up
#[test]
fn a_zero_timeout_handles_queued_messages_first() {
    Simulation::new(1).run(async |mut me: Process<Seen>| {
        let puppet = puppet(&me).await;
        for _ in 0..2000 {
            puppet.cast(Cast::Next(Next::Timeout(Duration::ZERO)));
        }
        puppet.send("last");
        assert_eq!(me.receive().await, Seen::Info("last"));
    });
}

// G1: the state can be queried while the server runs
#[purlin::test]
async fn the_state_can_be_queried_between_two_messages(me: Process<Seen>) {
    let puppet = puppet(&me).await;
    puppet.cast(Cast::Add(6));
    let state = puppet.state().await.expect("it shows its state");
    assert_eq!(state, format!("Puppet {{ n: 7, witness: Pid({}), kept: [] }}", me.id()));
}

// G1: every kind of stop calls `terminate` with the reason
#[purlin::test]
async fn a_server_can_stop_itself_with_a_reason(mut me: Process<Seen>) {
    let error = ExitReason::error("broken");
    for (cast, reason) in [
        (Cast::Next(Next::Stop(ExitReason::Normal)), ExitReason::Normal),
        (Cast::Next(Next::Stop(error.clone())), error.clone()),
        (Cast::Fail("broken"), error.clone()),
        (Cast::Exit(ExitReason::Shutdown), ExitReason::Shutdown),
    ] {
        let puppet = puppet(&me).await;
        puppet.cast(cast);
        assert_eq!(puppet.pid().ended().await, reason);
        assert_eq!(me.flush(), [Seen::Terminate(1, reason)]);
    }
}

// G1: messages sent before the stop are handled first
#[purlin::test]
async fn a_server_can_be_stopped_by_its_client(mut me: Process<Seen>) {
    let reason = ExitReason::shutdown_with("upgrade");
    let one = puppet(&me).await;
    one.send("last words");
    assert_eq!(one.stop().await, Ok(()));
    assert_eq!(me.flush(), [Seen::Info("last words"), Seen::Terminate(1, ExitReason::Normal)]);
    assert_eq!(one.stop().await, Err(CallError::NoProcess));
    let one = puppet(&me).await;
    assert_eq!(one.stop_with(reason.clone(), HANG).await, Ok(()));
    assert_eq!(me.flush(), [Seen::Terminate(1, reason.clone())]);
    let one = puppet(&me).await;
    one.cast(Cast::Next(Next::Stop(reason.clone())));
    assert_eq!(one.stop().await, Err(CallError::Ended(reason)));
}

// G1, P2: a panic ends the server through `terminate`, and its callers get the reason
#[purlin::test]
async fn a_panic_in_a_handler_is_the_exit_reason(mut me: Process<Seen>) {
    let puppet = puppet(&me).await;
    let Err(CallError::Ended(reason)) = puppet.call(Call::Panic).await else {
        panic!("it panicked")
    };
    let ExitReason::Panic(panic) = &reason else { panic!("{reason:?}") };
    assert_eq!(panic.message, "on purpose");
    assert!(panic.place.contains("server.rs"), "{}", panic.place);
    assert_eq!(me.flush(), [Seen::Terminate(1, reason)]);
}

// G1: a panic in `terminate` replaces the exit reason
#[purlin::test]
async fn a_panic_in_terminate_replaces_the_exit_reason(me: Process<Seen>) {
    let puppet = puppet(&me).await;
    puppet.cast(Cast::Add(665));
    let Err(CallError::Ended(ExitReason::Panic(panic))) = puppet.stop().await else {
        panic!("it panicked")
    };
    assert!(panic.message.contains("no good end"), "{}", panic.message);
}

// G1: an exit signal that is not trapped ends the server at its await, without a callback
#[purlin::test]
async fn terminate_is_not_called_for_an_exit_signal_that_is_not_trapped(mut me: Process<Seen>) {
    for (exit, reason) in
        [(ExitReason::Shutdown, ExitReason::Shutdown), (ExitReason::Kill, ExitReason::Killed)]
    {
        let puppet = puppet(&me).await;
        puppet.pid().exit(exit);
        assert_eq!(puppet.pid().ended().await, reason);
        assert_eq!(me.flush(), []);
    }
}

// C3: no operation waits forever
#[purlin::test]
async fn a_server_that_calls_itself_gets_an_error_immediately(me: Process<Seen>) {
    let puppet = puppet(&me).await;
    let own = Some(CallError::OwnProcess);
    let answers = puppet.call(Call::Own).await;
    assert_eq!(answers, Ok([own.clone(), own.clone(), own]));
}

// G1: the result of a start shows whether the server is up
#[purlin::test]
async fn a_failed_start_returns_the_reason(mut me: Process<Seen>) {
    let start = |begin| server::start::<Puppet>((begin, me.pid()));
    assert_eq!(start(Begin::Ignore).await, Err(StartError::Ignored));
    for reason in [ExitReason::Normal, ExitReason::Shutdown, ExitReason::error("no disk")] {
        let failed = start(Begin::Fail(reason.clone())).await;
        assert_eq!(failed, Err(StartError::Failed(reason)));
    }
    let Err(StartError::Failed(ExitReason::Panic(panic))) = start(Begin::Panic).await else {
        panic!("it panicked")
    };
    assert_eq!(panic.message, "no init");
    assert_eq!(me.flush(), [], "what has not begun does not terminate");
}

// G1: a start that timed out or was cancelled leaves no process
#[test]
fn a_start_that_takes_too_long_times_out() {
    simulated(async |me: Process<Seen>| {
        let (drop_counter, began) = (DropCounter::default(), uptime());
        let hang = || server::start::<Puppet>((Begin::Hang(drop_counter.token()), me.pid()));
        assert_eq!(hang().timeout(20 * MS).await, Err(StartError::Timeout(20 * MS)));
        assert_eq!(uptime() - began, 20 * MS);
        assert!(tokio::time::timeout(20 * MS, hang()).await.is_err());
        rest().await;
        let node = Node::current().expect("a test runs in a process");
        assert_eq!(node.processes().len(), 1, "both are gone");
        assert_eq!((drop_counter.born(), drop_counter.dropped()), (2, 2));
    });
}

// G1, N1: after a failed start the name is free, so that the start can be retried
#[test]
fn a_start_that_timed_out_has_freed_its_name() {
    simulated(async |me: Process<Seen>| {
        let drop_counter = DropCounter::default();
        for _ in 0..20 {
            let hang = server::start::<Puppet>((Begin::Hang(drop_counter.token()), me.pid()));
            let error = hang.name("hung").timeout(MS).await.unwrap_err();
            assert_eq!(error, StartError::Timeout(MS));
        }
    });
}

// G1, N1: the same if `init` returns at the moment of the timeout, in either order
#[test]
fn a_server_that_is_up_when_its_start_times_out_is_stopped() {
    let stopped = (0..32).filter(|seed| {
        Simulation::new(*seed).run(async |mut me: Process<Seen>| {
            let slow = server::start::<Puppet>((Begin::After(20 * MS), me.pid()));
            let started = slow.name("slow").timeout(20 * MS).await;
            if started.is_ok() {
                return false;
            }
            assert_eq!(started, Err(StartError::Timeout(20 * MS)));
            let slow = ServerRef::<Puppet>::whereis("slow");
            assert_eq!(slow, Err(LookupError::NoName(Name::from("slow"))));
            me.flush() == [Seen::Terminate(1, ExitReason::Normal)]
        })
    });
    assert_ne!(stopped.count(), 0, "both were due at the same time");
}

// G1: the same if the server is up and its starter has not polled yet
#[purlin::test]
async fn a_server_whose_start_is_cancelled_is_stopped(mut me: Process<Seen>) {
    let starting = server::start::<Puppet>((Begin::Ready, me.pid())).into_future();
    let node = Node::current().expect("a test runs in a process");
    let waits = |process: &ProcessInfo| process.state == ProcessState::Receiving;
    comes("it is up", || node.processes().iter().any(waits)).await;
    drop(starting);
    assert_eq!(me.receive().await, Seen::Terminate(1, ExitReason::Normal));
}

// C2: a cast never fails
#[purlin::test]
async fn a_cast_to_an_ended_server_is_dropped_and_counted(me: Process<Seen>) {
    let puppet = puppet(&me).await;
    assert_eq!(puppet.stop().await, Ok(()));
    let node = Node::current().expect("a test runs in a process");
    let before = node.dropped_messages();
    puppet.cast(Cast::Add(1));
    assert_eq!(node.dropped_messages(), before + 1);
    assert_eq!(puppet.call(Call::Get).await, Err(CallError::NoProcess));
    assert_eq!(puppet.state().await, Err(CallError::NoProcess));
}

// P5: lists and reports show the type of a server, and not the closure that starts it
#[purlin::test]
async fn a_server_is_listed_with_its_type(me: Process<Seen>) {
    let single = server::start::<Puppet>((Begin::Ready, me.pid())).await.expect("it starts");
    let linked = server::start_link::<Puppet>(&me, (Begin::Ready, me.pid()));
    let linked = linked.await.expect("it starts");
    let node = here();
    let outer = node.start::<Puppet>((Begin::Ready, me.pid())).await.expect("it starts");
    for server in [&single, &linked, &outer] {
        assert_eq!(server.pid().info().function, std::any::type_name::<Puppet>());
    }
}

// G1, N1: the name is registered before `init`; the error for a taken name has its owner
#[purlin::test]
async fn a_server_can_be_started_with_a_name(mut me: Process<Seen>) {
    let start = || server::start::<Puppet>((Begin::Ready, me.pid())).name("puppet");
    let one = start().await.expect("it starts");
    assert_eq!(ServerRef::whereis("puppet"), Ok(one.clone()));
    let name = Name::from("puppet");
    let taken = RegisterError::Taken { name: name.clone(), by: one.id() };
    assert_eq!(start().await, Err(StartError::Name(taken)));
    assert!(ServerRef::<Plain>::whereis("puppet").is_err(), "it is no such server");
    assert_eq!(one.stop().await, Ok(()));
    assert_eq!(ServerRef::<Puppet>::whereis("puppet"), Err(LookupError::NoName(name)));
    assert!(start().await.is_ok());
    assert_eq!(me.flush().len(), 1, "the one that got no name has not begun");
}

/// A server that traps exits, monitors other processes and has a parent.
#[derive(Debug)]
struct Guard {
    witness: Pid<Witnessed>,
}

#[derive(Debug, Message)]
enum Witnessed {
    #[from]
    Exit(Exit),
    Notice(Notice),
    Terminate(ExitReason),
}

impl Server for Guard {
    type Args = (Pid<Witnessed>, ExitReason);
    type Call = (ProcessId, Reply<MonitorRef>);
    type Cast = ProcessId;
    type Info = Notice;
    type Continue = Infallible;

    async fn init(
        (witness, begin): Self::Args,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Init<Self>> {
        me.trap_exit(true);
        if begin == ExitReason::Normal { Ok(Init::Ready(Guard { witness })) } else { Err(begin)? }
    }

    async fn handle_call(
        &mut self,
        (process, reply): Self::Call,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        reply.send(me.monitor(process));
        Ok(Next::Wait)
    }

    async fn handle_cast(
        &mut self,
        process: ProcessId,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        me.link(process);
        Ok(Next::Wait)
    }

    async fn handle_info(
        &mut self,
        notice: Notice,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        self.witness.send(Witnessed::Notice(notice));
        Ok(Next::Wait)
    }

    async fn terminate(&mut self, reason: &ExitReason, _me: &mut Process<Mail<Self>>) {
        self.witness.send(Witnessed::Terminate(reason.clone()));
    }
}

async fn guard(me: &Process<Witnessed>) -> ServerRef<Guard> {
    let args = (me.pid(), ExitReason::Normal);
    server::start_link::<Guard>(me, args).await.expect("it starts")
}

/// Spawns a process that waits until it is stopped.
fn idle() -> Pid<()> {
    spawn(async |mut me: Process<()>| me.receive().await)
}

// G1, D1, L3: signals of other processes are handled as info
#[purlin::test]
async fn down_and_exit_signals_of_other_processes_are_handled_as_info(mut me: Process<Witnessed>) {
    me.trap_exit(true);
    let guard = guard(&me).await;
    let (watched, linked) = (idle(), idle());
    let monitor = guard.call(|reply| (watched.id(), reply)).await.expect("it answers");
    watched.exit(ExitReason::error("one"));
    let Witnessed::Notice(Notice::Down(down)) = me.receive().await else { panic!("no down") };
    assert_eq!((down.monitor, down.reason), (monitor, ExitReason::error("one")));
    guard.cast(linked.id());
    guard.state().await.expect("it is linked by then");
    linked.exit(ExitReason::Shutdown);
    let Witnessed::Notice(Notice::Exit(exit)) = me.receive().await else { panic!("no exit") };
    assert_eq!((exit.from, exit.reason), (Some(linked.id()), ExitReason::Shutdown));
    let shut = guard.pid().clone();
    let teller = spawn(async move |_: Process<()>| shut.exit(ExitReason::Shutdown));
    let Witnessed::Notice(Notice::Exit(exit)) = me.receive().await else { panic!("no exit") };
    assert_eq!((exit.from, exit.reason), (Some(teller.id()), ExitReason::Shutdown));
    assert!(guard.pid().is_alive());
}

// G1, L3: the parent's exit signal, with any reason, stops a server that traps exits, through
// `terminate`
#[purlin::test]
async fn the_parents_exit_stops_a_server_that_traps_exits(mut me: Process<Witnessed>) {
    me.trap_exit(true);
    for reason in [ExitReason::Normal, ExitReason::Shutdown, ExitReason::error("lost")] {
        let guard = guard(&me).await;
        guard.pid().exit(reason.clone());
        let Witnessed::Terminate(last) = me.receive().await else { panic!("no terminate") };
        let Witnessed::Exit(exit) = me.receive().await else { panic!("no exit") };
        assert_eq!(last, reason);
        assert_eq!((exit.from, exit.reason), (Some(guard.id()), reason));
    }
    let guard = guard(&me).await;
    me.unlink(&guard);
    me.link(&guard);
    guard.pid().exit(ExitReason::Kill);
    let Witnessed::Exit(exit) = me.receive().await else { panic!("it is killed") };
    assert_eq!(exit.reason, ExitReason::Killed);
    assert!(me.try_receive().is_none());
}

// G1, L2: the end of the parent counts as its exit signal
#[purlin::test]
async fn a_server_stops_when_its_parent_ends(mut me: Process<Witnessed>) {
    let own = me.pid();
    let parent = spawn(async move |mut me: Process<ServerRef<Guard>>| {
        let start = server::start_link::<Guard>(&me, (own, ExitReason::Normal));
        let guard = start.await.expect("it starts");
        me.pid().send(guard);
        drop(me.receive().await);
        // The reason is `normal`, which would not end a server that does not trap exits.
    });
    let Witnessed::Terminate(reason) = me.receive().await else { panic!("no terminate") };
    assert_eq!(reason, ExitReason::Normal);
    assert_eq!(parent.ended().await, ExitReason::Normal);
}

// G1, L2: a failed `init` sends an exit signal to linked processes, like any other end
#[purlin::test]
async fn a_failed_linked_start_also_sends_an_exit_signal(mut me: Process<Witnessed>) {
    me.trap_exit(true);
    let reason = ExitReason::error("no disk");
    let failed = server::start_link::<Guard>(&me, (me.pid(), reason.clone())).await;
    let failed = failed.expect_err("it fails");
    assert_eq!(failed, StartError::Failed(reason.clone()));
    assert_eq!(ExitReason::from(failed), reason);
    let Witnessed::Exit(exit) = me.receive().await else { panic!("no exit") };
    assert_eq!(exit.reason, reason);
}

// G1, E1: the stop of a node counts as a parent's exit signal
#[test]
fn a_server_that_traps_exits_is_stopped_in_order_with_its_node() {
    let node = common::node(2);
    let (tx, rx) = std::sync::mpsc::channel();
    let witness = node.spawn(async move |mut me: Process<Witnessed>| {
        me.trap_exit(true);
        let guard = server::start_link::<Guard>(&me, (me.pid(), ExitReason::Normal)).await;
        tx.send(guard.is_ok()).expect("the test listens");
        loop {
            if let Witnessed::Terminate(reason) = me.receive().await {
                return reason;
            }
        }
    });
    assert_eq!(rx.recv(), Ok(true));
    common::stop(&node);
    assert_eq!(witness.exit_reason(), Some(ExitReason::Shutdown));
}

/// A server without callbacks other than `init`.
#[derive(Debug)]
struct Plain;

impl Server for Plain {
    type Args = Option<Next<Plain>>;
    type Call = Reply<()>;
    type Cast = u8;
    type Info = u8;
    type Continue = u8;

    async fn init(next: Self::Args, _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        Ok(next.map_or(Init::Ready(Plain), |next| Init::Then(Plain, next)))
    }
}

// G1: the same as OTP's defaults
#[purlin::test]
async fn messages_without_a_handler_are_dropped_or_stop_the_server() {
    let start = async |next| server::start::<Plain>(next).await.expect("it starts");
    let plain = start(Some(Next::Timeout(Duration::ZERO))).await;
    plain.send(7);
    assert_eq!(plain.state().await.as_deref(), Ok("Plain"));
    let Err(CallError::Ended(reason)) = plain.call(|reply| reply).await else {
        panic!("it is not handled")
    };
    assert_eq!(reason.to_string(), "bad_call: Reply { .. }");
    let plain = start(None).await;
    plain.cast(7);
    assert_eq!(plain.pid().ended().await.to_string(), "bad_cast: 7");
    let plain = start(Some(Next::Continue(7))).await;
    assert_eq!(plain.pid().ended().await.to_string(), "bad_continue: 7");
}

/// A server whose state panics when formatted.
struct Secret;

impl std::fmt::Debug for Secret {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no other error")
    }
}

impl Server for Secret {
    type Args = ();
    type Call = Infallible;
    type Cast = Infallible;
    type Info = Infallible;
    type Continue = Infallible;

    async fn init((): (), _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        Ok(Init::Ready(Secret))
    }
}

/// A server that never waits for a message.
#[derive(Debug)]
struct Restless;

impl Server for Restless {
    type Args = Next<Restless>;
    type Call = Infallible;
    type Cast = Infallible;
    type Info = Infallible;
    type Continue = ();

    async fn init(next: Self::Args, _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        Ok(Init::Then(Restless, next))
    }

    async fn handle_timeout(&mut self, _: &mut Process<Mail<Self>>) -> server::Result<Next<Self>> {
        Ok(Next::Timeout(Duration::ZERO))
    }

    async fn handle_continue(
        &mut self,
        (): (),
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        Ok(Next::Continue(()))
    }
}

// G1, F1, L7: a server that always continues yields, and can be stopped
#[purlin::test]
async fn a_server_that_never_waits_can_be_stopped() {
    for next in [Next::Timeout(Duration::ZERO), Next::Continue(())] {
        let restless = server::start::<Restless>(next).await.expect("it starts");
        restless.pid().exit(ExitReason::Kill);
        assert_eq!(restless.pid().ended().await, ExitReason::Killed);
    }
}

/// A server that panics before a callback's future exists, and in the conversion of an exit signal.
#[derive(Debug)]
struct Sudden(Pid<&'static str>);

#[derive(Debug)]
struct NoExit;

impl From<Exit> for NoExit {
    fn from(_: Exit) -> Self {
        panic!("no exits")
    }
}

impl Server for Sudden {
    type Args = Pid<&'static str>;
    type Call = Reply<()>;
    type Cast = Infallible;
    type Info = NoExit;
    type Continue = Infallible;

    async fn init(witness: Self::Args, me: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        me.trap_exit(true);
        Ok(Init::Ready(Sudden(witness)))
    }

    fn handle_call(
        &mut self,
        reply: Reply<()>,
        _: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = server::Result<Next<Self>>> + Send {
        assert!(!self.0.is_alive(), "no future");
        async move {
            reply.send(());
            Ok(Next::Wait)
        }
    }

    fn idle_timeout(&self) -> Option<Duration> {
        assert!(self.0.mailbox_len() == 0, "no time");
        None
    }

    async fn terminate(&mut self, _: &ExitReason, _: &mut Process<Mail<Self>>) {
        self.0.send("terminated");
    }
}

// G1: a panic anywhere in the code of a server ends it through `terminate`
#[purlin::test]
async fn a_panic_outside_a_future_calls_terminate(mut me: Process<&'static str>) {
    let sudden = server::start::<Sudden>(me.pid()).await.expect("it starts");
    let Err(CallError::Ended(reason)) = sudden.call(|reply| reply).await else {
        panic!("it cannot answer")
    };
    assert!(reason.to_string().ends_with("no future"), "{reason}");
    assert_eq!(me.receive().await, "terminated");

    let sudden = server::start::<Sudden>(me.pid()).await.expect("it starts");
    let child = sudden.pid().clone();
    spawn(async move |_: Process<()>| child.exit(ExitReason::Shutdown));
    let reason = sudden.pid().ended().await;
    assert!(reason.to_string().ends_with("no exits"), "{reason}");
    assert_eq!(me.try_receive(), Some("terminated"));

    me.pid().send("is waiting");
    let sudden = server::start::<Sudden>(me.pid()).await.expect("it starts");
    let reason = sudden.pid().ended().await;
    assert!(reason.to_string().ends_with("no time"), "{reason}");
    assert_eq!(me.flush(), ["is waiting", "terminated"]);
}

// G1: inspecting a server never ends it
#[purlin::test]
async fn a_panic_while_inspecting_a_server_does_not_end_it() {
    let secret = server::start::<Secret>(()).await.expect("it starts");
    assert_eq!(secret.state().await, Err(CallError::NoReply));
    let panics = |_: &Secret| -> u32 { panic!("on purpose") };
    assert_eq!(secret.inspect(panics).await, Err(CallError::NoReply));
    assert_eq!(secret.inspect(|_| 7).await, Ok(7));
    secret.request_stop(ExitReason::Shutdown);
    assert_eq!(secret.pid().ended().await, ExitReason::Shutdown);
    assert_eq!(secret.inspect(|_| 7).await, Err(CallError::NoProcess));
}

// G1: from a thread outside the node
#[test]
fn a_server_can_be_started_and_used_from_outside() {
    let node = common::node(1);
    let witness = node.spawn(async |mut me: Process<Seen>| {
        assert_eq!(me.receive().await, Seen::Terminate(3, ExitReason::Normal));
    });
    common::outside(async {
        let start = node.start::<Puppet>((Begin::Ready, witness.clone()));
        let puppet = start.await.expect("it starts");
        puppet.cast(Cast::Add(1));
        assert_eq!(puppet.call(Call::Get).await, Ok(2));
        puppet.cast(Cast::Add(1));
        assert_eq!(puppet.call_blocking(Call::Get, HANG), Ok(3));
        assert_eq!(puppet.stop().await, Ok(()));
        assert_eq!(witness.ended().await, ExitReason::Normal);
    });
    common::stop(&node);
}

// The panic names the function to use
#[test]
#[should_panic(expected = "Node::start for a server")]
fn a_start_outside_of_a_node_names_the_method_of_the_node() {
    let _ = purlin::pg::Groups::start("scope").now_or_never();
}
