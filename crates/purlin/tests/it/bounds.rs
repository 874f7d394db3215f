//! Bounded mailboxes: overflow policies and their effect on the sender.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use crate::common::{here, node, outside, stop};
use crate::waiting::{MS, comes, rest, simulated, uptime};
use futures_util::FutureExt;
use purlin::{
    CallError, Down, Drops, Exit, ExitReason, Overflow, Pid, Process, ProcessState, Reply,
    SendError, SpawnOptions, exit_process, receive, spawn, yield_now,
};

fn bounded(limit: usize, overflow: Overflow) -> SpawnOptions {
    SpawnOptions::new().bound(limit, overflow)
}

/// Commands to a receiver: the number of messages to receive next. Closing the channel ends it.
type Gate = tokio::sync::mpsc::UnboundedReceiver<usize>;

/// Receives up to the commanded number of messages without waiting, and collects them.
async fn takes<M: Send + 'static>(me: &mut Process<M>, gate: &mut Gate) -> Vec<M> {
    let mut taken = Vec::new();
    while let Some(many) = gate.recv().await {
        taken.extend((0..many).map_while(|_| me.try_receive()));
    }
    taken
}

/// Spawns a process with a bounded mailbox that receives only on command; returns its pid, the
/// command channel and the received messages.
fn taker(
    options: SpawnOptions,
) -> (Pid<u32>, tokio::sync::mpsc::UnboundedSender<usize>, tokio::sync::oneshot::Receiver<Vec<u32>>)
{
    let (permit, mut gate) = tokio::sync::mpsc::unbounded_channel();
    let (done, taken) = tokio::sync::oneshot::channel();
    let pid = options.spawn(async move |mut me: Process<u32>| {
        let taken = takes(&mut me, &mut gate).await;
        done.send(taken).expect("the test waits");
    });
    (pid.expect("there is room"), permit, taken)
}

// B1, B3, E2: a rejected message is returned by `try_send`, and counted after `send`
#[purlin::test]
async fn a_full_mailbox_with_reject_returns_the_message() {
    let (pid, permit, taken) = taker(bounded(3, Overflow::Reject));
    for n in 0..3 {
        assert_eq!(pid.try_send(n), Ok(()));
    }
    assert_eq!(pid.try_send(3), Err(SendError::Full(3)));
    assert_eq!(SendError::Full(3).into_inner(), 3);
    pid.send(4);
    assert_eq!((here().drops().rejected, here().dropped_messages()), (1, 1));
    let bound = pid.info().bound.expect("it has one");
    assert_eq!((bound.limit, bound.overflow, bound.dropped), (3, Overflow::Reject, 1));
    assert_eq!(pid.mailbox_len(), 3);
    permit.send(10).expect("it lives");
    drop(permit);
    assert_eq!(taken.await, Ok(vec![0, 1, 2]));
    assert_eq!(pid.ended().await, ExitReason::Normal);
    assert_eq!(pid.try_send(5), Err(SendError::NoProcess(5)), "what has ended is not full");
    assert_eq!(here().drops().rejected, 1);
}

// B1: a sender that has seen the effect of a receive finds capacity
#[purlin::test(workers = 2)]
async fn a_mailbox_has_capacity_after_a_message_was_received() {
    let options = bounded(1, Overflow::Reject);
    let echo = options.spawn(async |mut me: Process<Reply<()>>| {
        for _ in 0..1000 {
            me.receive().await.send(());
        }
    });
    let echo = echo.expect("there is room");
    for _ in 0..1000 {
        assert_eq!(echo.call(|reply| reply).await, Ok(()));
    }
    assert_eq!(echo.ended().await, ExitReason::Normal);
}

// B1, B3: drop the newest
#[purlin::test]
async fn a_full_mailbox_with_drop_newest_keeps_the_queued_messages() {
    let (pid, permit, taken) = taker(bounded(3, Overflow::DropNewest));
    (0..5).for_each(|n| pid.send(n));
    assert_eq!(pid.try_send(5), Ok(()), "its sender gets no error");
    assert_eq!((here().drops().newest, here().dropped_messages()), (3, 3));
    assert_eq!(pid.info().bound.map(|bound| bound.dropped), Some(3));
    permit.send(10).expect("it lives");
    drop(permit);
    assert_eq!(taken.await, Ok(vec![0, 1, 2]));
}

// B1, B3: drop the oldest, also while the receiver waits for something else
#[test]
fn a_full_mailbox_with_drop_oldest_keeps_the_latest_messages() {
    simulated(async |_: Process<()>| {
        let (pid, permit, taken) = taker(bounded(3, Overflow::DropOldest));
        (0..5).for_each(|n| pid.send(n));
        rest().await;
        assert_eq!(pid.mailbox_len(), 3, "the oldest are dropped");
        (5..7).for_each(|n| pid.send(n));
        permit.send(10).expect("it lives");
        drop(permit);
        assert_eq!(taken.await, Ok(vec![4, 5, 6]));
        assert_eq!((here().drops().oldest, here().dropped_messages()), (4, 4));
    });
}

// B1, M2: a burst before the receiver runs leaves the latest, in the order sent
#[test]
fn a_burst_to_a_mailbox_that_drops_the_oldest_leaves_the_latest() {
    simulated(async |_: Process<()>| {
        for (limit, burst) in [(1, 10), (3, 100), (100, 1000)] {
            let (pid, permit, taken) = taker(bounded(limit, Overflow::DropOldest));
            (0..burst).for_each(|n| pid.send(n));
            permit.send(limit).expect("it lives");
            drop(permit);
            assert_eq!(taken.await, Ok((burst - limit as u32..burst).collect()));
        }
    });
}

// B1: messages beyond the bound are received in the same turn
#[purlin::test(workers = 1)]
async fn a_turn_receives_the_latest_messages_that_have_exceeded_the_bound() {
    let options = bounded(1, Overflow::DropOldest);
    let pid = options.spawn(async |mut me: Process<u32>| {
        (0..3).for_each(|n| me.pid().send(n));
        assert_eq!([me.try_receive(), me.try_receive()], [Some(2), None]);
        (3..5).for_each(|n| me.pid().send(n));
        assert_eq!(me.flush(), [4]);
        (5..7).for_each(|n| me.pid().send(n));
        assert!(receive!(me, { 6 => true, after Duration::ZERO => false }));
        me.pid().send(7);
        assert_eq!(me.flush(), [7], "no longer past the bound");
    });
    assert_eq!(pid.expect("there is room").ended().await, ExitReason::Normal);
}

// B1: destructors that send to a full mailbox need no deep stack
#[purlin::test(workers = 1)]
async fn messages_whose_destructors_send_to_the_full_mailbox_are_dropped_one_after_the_other() {
    const LIMIT: usize = 100_000;
    enum Msg {
        Job(#[expect(dead_code, reason = "its destructor matters")] Job),
        Released,
    }
    struct Job(Pid<Msg>);
    impl Drop for Job {
        fn drop(&mut self) {
            self.0.send(Msg::Released);
        }
    }
    let (begin, begun) = tokio::sync::oneshot::channel();
    let (let_go, may_go) = std::sync::mpsc::channel::<()>();
    let options = bounded(LIMIT, Overflow::DropOldest).blocking();
    let receiver = options.spawn(async move |mut me: Process<Msg>| {
        begin.send(()).expect("the test waits");
        may_go.recv().expect("the test lets it go");
        let is_job = |msg: &Msg| matches!(msg, Msg::Job(_));
        assert_eq!(me.flush().iter().filter(|msg| is_job(msg)).count(), 0);
    });
    let receiver = receiver.expect("there is room");
    begun.await.expect("it begins");
    // One half fills the inbox, the other one the list of messages beyond the bound.
    (0..2 * LIMIT).for_each(|_| receiver.send(Msg::Job(Job(receiver.clone()))));
    receiver.send(Msg::Released);
    assert_eq!(here().drops().oldest, LIMIT as u64 + 1, "all but one because of destructors");
    let_go.send(()).expect("it waits");
    assert_eq!(receiver.ended().await, ExitReason::Normal);
}

// R1, B1: a message that is lost because a guard panics is no longer in the mailbox
#[purlin::test(workers = 1)]
async fn a_message_that_a_guard_loses_leaves_the_bound() {
    for overflow in [Overflow::Wait, Overflow::Reject, Overflow::DropNewest, Overflow::DropOldest] {
        let pid = bounded(1, overflow).spawn(async |mut me: Process<u32>| {
            me.pid().send(0);
            let panics = || std::panic::resume_unwind(Box::new("on purpose"));
            let waits = async { receive!(me, { n if panics() => n }) };
            assert!(AssertUnwindSafe(waits).catch_unwind().await.is_err());
            for n in 1..4 {
                assert_eq!(me.pid().try_send(n), Ok(()));
                assert_eq!(me.receive().await, n);
            }
        });
        assert_eq!(pid.expect("there is room").ended().await, ExitReason::Normal, "{overflow:?}");
    }
}

/// Message whose destructor calls a function.
struct OnDrop<F: Fn()>(Option<F>);

impl<F: Fn()> OnDrop<F> {
    /// Drops it without the call.
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0.iter().for_each(|function| function());
    }
}

// B1: the destructor of a message that is dropped may send to the mailbox; the others are received
#[test]
fn a_destructor_that_sends_to_the_mailbox_does_not_keep_its_owner_from_receiving() {
    const LIMIT: usize = 1000;
    type Msg = Option<OnDrop<Box<dyn Fn() + Send>>>;
    simulated(async |_: Process<()>| {
        let options = bounded(LIMIT, Overflow::DropOldest);
        let receiver = options.spawn(async move |mut me: Process<Msg>| {
            for _ in 0..LIMIT {
                me.receive().await.expect("it is older than what the destructor sends").disarm();
            }
        });
        let receiver = receiver.expect("there is room");
        for _ in 0..=LIMIT {
            let to = receiver.clone();
            receiver.send(Some(OnDrop(Some(Box::new(move || to.send(None))))));
        }
        assert_eq!(receiver.ended().await, ExitReason::Normal);
        assert_eq!(here().drops().oldest, 1);
    });
}

// B1, P2: an exit in the destructor of a message that is dropped ends neither its sender nor its
// receiver
#[test]
fn an_exit_in_the_destructor_of_a_dropped_message_ends_no_process() {
    fn exits() {
        purlin::exit(ExitReason::Kill)
    }
    simulated(async |_: Process<()>| {
        let options = bounded(1, Overflow::DropOldest);
        let pid = options.spawn(async move |mut me: Process<OnDrop<fn()>>| {
            me.receive().await.disarm();
            yield_now().await;
        });
        let pid = pid.expect("there is room");
        // The sender drops one, and the receiver drops one.
        (0..3).for_each(|_| pid.send(OnDrop(Some(exits))));
        assert_eq!(here().drops().oldest, 1);
        yield_now().await;
        assert_eq!(pid.ended().await, ExitReason::Normal);
        assert_eq!(here().drops().oldest, 2);
    });
}

// B1, M2: a down message does not overtake the messages of the process that has ended
#[purlin::test(workers = 1)]
async fn a_down_message_follows_the_latest_messages_of_a_burst() {
    #[derive(Debug, PartialEq)]
    enum Msg {
        Start(Pid<Pid<Msg>>),
        Number(u32),
        Down,
    }
    impl From<Down> for Msg {
        fn from(_: Down) -> Self {
            Self::Down
        }
    }
    let (done, received) = tokio::sync::oneshot::channel();
    let receiver = bounded(3, Overflow::DropOldest).spawn(async move |mut me: Process<Msg>| {
        let Msg::Start(sender) = me.receive().await else { unreachable!("it is sent first") };
        me.monitor(&sender);
        sender.send(me.pid());
        let mut all = Vec::new();
        while all.last() != Some(&Msg::Down) {
            all.push(me.receive().await);
        }
        done.send(all).expect("the test waits");
    });
    let receiver = receiver.expect("there is room");
    receiver.send(Msg::Start(spawn(async |mut me: Process<Pid<Msg>>| {
        let to = me.receive().await;
        (0..10).for_each(|n| to.send(Msg::Number(n)));
    })));
    let all = received.await.expect("it receives");
    // It may have received others before these.
    let latest = [Msg::Number(8), Msg::Number(9), Msg::Down];
    assert!(all.ends_with(&latest), "the down message counts as one: {all:?}");
}

// B1: until the receiver processes its mailbox, as many messages again as the limit are queued
#[test]
fn a_receiver_that_does_not_yield_has_at_most_twice_its_limit() {
    let node = node(1);
    let (begin, begun) = std::sync::mpsc::channel();
    let (let_go, may_go) = std::sync::mpsc::channel::<()>();
    let options = bounded(10, Overflow::DropOldest).blocking();
    let hog = options.spawn_on(&node, async move |mut me: Process<u32>| {
        begin.send(()).expect("the test waits");
        may_go.recv().expect("the test lets it go");
        yield_now().await;
        assert_eq!(me.flush(), (90..100).collect::<Vec<_>>());
    });
    let hog = hog.expect("there is room");
    begun.recv().expect("it begins");
    (0..100).for_each(|n| hog.send(n));
    assert_eq!((hog.mailbox_len(), node.drops().oldest), (10, 80));
    let_go.send(()).expect("it waits");
    assert_eq!(outside(hog.ended()), ExitReason::Normal);
    assert_eq!((node.drops().newest, node.drops().oldest), (0, 90));
    stop(&node);
}

// R4: messages that were skipped stay skipped when the oldest are dropped
#[purlin::test(workers = 1)]
async fn a_selective_receive_keeps_its_position_when_the_oldest_are_dropped() {
    let looked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looked);
    let options = bounded(4, Overflow::DropOldest);
    let picky = options.spawn(async move |mut me: Process<u32>| {
        let looks = |n: u32| {
            counted.fetch_add(1, Ordering::Relaxed);
            n == 9
        };
        let nine = receive!(me, { n if looks(n) => n });
        assert_eq!((nine, me.flush()), (9, vec![6, 7, 8]));
    });
    let picky = picky.expect("there is room");
    for n in 0..10_u32 {
        picky.send(n);
        comes("it has looked at it", || looked.load(Ordering::Relaxed) as u32 == n + 1).await;
    }
    assert_eq!(picky.ended().await, ExitReason::Normal);
    assert_eq!(looked.load(Ordering::Relaxed), 10, "each was looked at once");
}

/// Waits until a process is suspended for a reason other than receiving.
async fn until_waiting<M: Send + 'static>(pid: &Pid<M>) {
    comes("it waits", || pid.info().state == ProcessState::Waiting).await;
}

/// Spawns a process that sends consecutive numbers; returns its pid and the number of messages
/// sent.
fn sender(to: &Pid<u32>, count: u32) -> (Pid<()>, Arc<AtomicUsize>) {
    let (to, at) = (to.clone(), Arc::new(AtomicUsize::new(0)));
    let sent = Arc::clone(&at);
    let pid = spawn(async move |_: Process<()>| {
        for n in 0..count {
            to.send(n);
            sent.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
        }
    });
    (pid, at)
}

// M1, B1: the message is accepted, and the sender is suspended at its next await until there is
// capacity
#[purlin::test(workers = 2)]
async fn a_sender_to_a_full_mailbox_is_suspended_until_there_is_capacity() {
    let (pid, permit, taken) = taker(bounded(3, Overflow::Wait));
    let (sender, at) = sender(&pid, 10);
    comes("it is past the limit", || at.load(Ordering::Relaxed) == 4).await;
    until_waiting(&sender).await;
    assert_eq!(pid.mailbox_len(), 4, "the one past the limit was accepted");
    // A mailbox that is exactly full has no capacity for another message.
    permit.send(1).expect("it lives");
    comes("one is received", || pid.mailbox_len() == 3).await;
    until_waiting(&pid).await;
    assert_eq!((at.load(Ordering::Relaxed), sender.info().state), (4, ProcessState::Waiting));
    permit.send(1).expect("it lives");
    comes("it goes on", || at.load(Ordering::Relaxed) == 6).await;
    until_waiting(&sender).await;
    while sender.is_alive() {
        permit.send(1).expect("it lives");
        yield_now().await;
    }
    permit.send(10).expect("it lives");
    drop(permit);
    assert_eq!(taken.await, Ok((0..10).collect::<Vec<_>>()));
    assert_eq!(here().dropped_messages(), 0);
}

// M1: a suspended sender is woken only by capacity; earlier wake-ups take effect afterwards
#[purlin::test(workers = 2)]
async fn a_suspended_sender_is_not_polled_for_other_messages() {
    let (pid, permit, taken) = taker(bounded(1, Overflow::Wait));
    let polls = Arc::new(AtomicUsize::new(0));
    let (counted, to) = (Arc::clone(&polls), pid.clone());
    let sender = spawn(async move |mut me: Process<&'static str>| {
        to.send(1);
        to.send(2);
        let mut first = true;
        let mail = std::pin::pin!(me.receive());
        let mut mail = mail;
        poll_fn(|cx| {
            counted.fetch_add(1, Ordering::Relaxed);
            if std::mem::take(&mut first) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            mail.poll_unpin(cx)
        })
        .await;
    });
    comes("it is suspended", || polls.load(Ordering::Relaxed) == 1).await;
    until_waiting(&sender).await;
    sender.send("mail");
    assert_eq!(sender.details().await.map(|details| details.traps_exits), Some(false));
    assert_eq!(polls.load(Ordering::Relaxed), 1);
    permit.send(2).expect("it lives");
    let outcome = sender.ended().await;
    assert_eq!(outcome, ExitReason::Normal);
    drop(permit);
    assert_eq!(taken.await, Ok(vec![1, 2]));
}

// M1: neither a thread nor a process that sends to itself is suspended
#[test]
fn neither_a_thread_nor_a_process_that_sends_to_itself_is_suspended() {
    let node = node(1);
    let options = bounded(1, Overflow::Wait);
    let own = options.spawn_on(&node, async |mut me: Process<u32>| {
        (0..10).for_each(|n| me.pid().send(n));
        assert_eq!(me.pid().send_async(10).await, Err(SendError::Full(10)));
        for n in 0..10 {
            assert_eq!(receive!(me, { own if own < 20 => own }), n);
        }
        assert_eq!((me.receive().await, me.receive().await), (20, 21));
    });
    let own = own.expect("there is room");
    (20..22).for_each(|n| own.send(n));
    assert_eq!(outside(own.ended()), ExitReason::Normal);
    stop(&node);
}

// B1, L4: a suspended sender can be killed, and leaves no entry in the wait list
#[purlin::test(workers = 2)]
async fn a_suspended_sender_can_be_killed() {
    let (pid, permit, taken) = taker(bounded(1, Overflow::Wait));
    let senders: Vec<_> = (0..10).map(|_| sender(&pid, 10).0).collect();
    for sender in &senders {
        until_waiting(sender).await;
    }
    for (n, sender) in senders.iter().enumerate() {
        let reason = if n % 2 == 0 { ExitReason::Kill } else { ExitReason::error("enough") };
        sender.exit(reason);
        assert_ne!(sender.ended().await, ExitReason::Normal);
    }
    permit.send(100).expect("it lives");
    drop(permit);
    let taken = taken.await.expect("it sends");
    assert!((10..=20).contains(&taken.len()), "{taken:?}");
}

// B1, D4: when the receiver ends, its suspended senders resume
#[purlin::test(workers = 2)]
async fn suspended_senders_resume_when_the_receiver_ends() {
    let (pid, permit, taken) = taker(bounded(2, Overflow::Wait));
    let soft: Vec<_> = (0..10).map(|_| sender(&pid, 10)).collect();
    for (sender, _) in &soft {
        until_waiting(sender).await;
    }
    let strict: Vec<_> = (0..10)
        .map(|n| {
            let to = pid.clone();
            spawn(async move |_: Process<()>| {
                assert_eq!(to.send_async(n).await, Err(SendError::NoProcess(n)));
            })
        })
        .collect();
    for sender in &strict {
        until_waiting(sender).await;
    }
    pid.exit(ExitReason::Kill);
    assert!(taken.await.is_err());
    for (sender, at) in soft {
        assert_eq!(sender.ended().await, ExitReason::Normal);
        assert_eq!(at.load(Ordering::Relaxed), 10);
    }
    for sender in strict {
        assert_eq!(sender.ended().await, ExitReason::Normal);
    }
    drop(permit);
    // The queued messages are counted after the end is reported.
    comes("all are counted", || here().drops().ended == 100).await;
}

// B1: `send_async` never exceeds the limit, under any policy, and from tasks of other runtimes too
#[test]
fn send_async_sends_when_there_is_capacity() {
    const EACH: u32 = 200;
    for overflow in [Overflow::Wait, Overflow::Reject, Overflow::DropNewest, Overflow::DropOldest] {
        let node = node(2);
        let most = if overflow == Overflow::DropOldest { 8 } else { 4 };
        let options = bounded(4, overflow);
        let pid = options.spawn_on(&node, async move |mut me: Process<u32>| {
            let mut sum = 0;
            for _ in 0..4 * EACH {
                assert!(me.mailbox_len() <= most);
                sum += me.receive().await;
            }
            assert_eq!(sum, 4 * (0..EACH).sum::<u32>());
        });
        let pid = pid.expect("there is room");
        for _ in 0..2 {
            let to = pid.clone();
            node.spawn(async move |_: Process<()>| {
                for n in 0..EACH {
                    assert_eq!(to.send_async(n).await, Ok(()));
                }
            });
        }
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let to = pid.clone();
                std::thread::spawn(move || {
                    outside(async {
                        for n in 0..EACH {
                            assert_eq!(to.send_async(n).await, Ok(()))
                        }
                    });
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("a thread sends"));
        if overflow == Overflow::DropOldest {
            pid.exit(ExitReason::Shutdown);
        } else {
            assert_eq!(outside(pid.ended()), ExitReason::Normal, "{overflow:?}");
            assert_eq!(node.dropped_messages(), 0);
        }
        stop(&node);
    }
}

// B1: a cancelled `send_async` has sent nothing and delays no other sender
#[purlin::test(workers = 1)]
async fn a_cancelled_send_async_sends_nothing() {
    let (pid, permit, taken) = taker(bounded(1, Overflow::Wait));
    pid.send(0);
    for n in 1..10 {
        assert_eq!(pid.send_async(n).now_or_never(), None);
    }
    let mut late = std::pin::pin!(pid.send_async(10));
    assert!(late.as_mut().now_or_never().is_none());
    permit.send(1).expect("it lives");
    assert_eq!(late.await, Ok(()));
    permit.send(1).expect("it lives");
    drop(permit);
    assert_eq!(taken.await, Ok(vec![0, 10]));
}

// B2: exit, down and alias messages bypass the bound, and count towards the mailbox length
#[purlin::test(workers = 1)]
async fn signals_bypass_every_bound() {
    #[derive(Debug)]
    enum Msg {
        Plain,
        Down(Down),
        Exit,
        Aliased,
    }
    impl From<Down> for Msg {
        fn from(down: Down) -> Self {
            Self::Down(down)
        }
    }
    impl From<Exit> for Msg {
        fn from(_: Exit) -> Self {
            Self::Exit
        }
    }
    for overflow in [Overflow::Wait, Overflow::Reject, Overflow::DropNewest] {
        let (permit, alias) = tokio::sync::oneshot::channel();
        let go = Arc::new(AtomicBool::new(false));
        let gone = Arc::clone(&go);
        let pid = bounded(1, overflow).spawn(async move |mut me: Process<Msg>| {
            me.trap_exit(true);
            me.monitor(&spawn(async |_: Process<()>| ()));
            let child = me.spawn_link(async |_: Process<()>| ());
            permit.send(me.alias()).expect("the test waits");
            child.ended().await;
            comes("it is to continue", || gone.load(Ordering::Relaxed)).await;
            let all = me.flush();
            let count = |is_it: fn(&Msg) -> bool| all.iter().filter(|msg| is_it(msg)).count();
            assert_eq!(count(|msg| matches!(msg, Msg::Plain)), 1);
            assert_eq!(count(|msg| matches!(msg, Msg::Aliased)), 1);
            assert_eq!(
                count(|msg| matches!(msg, Msg::Down(down) if down.reason == ExitReason::Normal)),
                1
            );
            assert_eq!(count(|msg| matches!(msg, Msg::Exit)), 2);
            // Receiving them frees capacity.
            assert_eq!(me.pid().try_send(Msg::Plain).map_err(|_| ()), Ok(()));
            assert_eq!(me.mailbox_len(), 1);
        });
        let pid = pid.expect("there is room");
        let alias = alias.await.expect("it sends");
        pid.send(Msg::Plain);
        alias.send(Msg::Aliased);
        exit_process(&pid, ExitReason::error("told"));
        comes("all wait", || pid.mailbox_len() == 5).await;
        if overflow == Overflow::Reject {
            assert!(matches!(pid.try_send(Msg::Plain), Err(SendError::Full(Msg::Plain))));
        }
        go.store(true, Ordering::Relaxed);
        assert_eq!(pid.ended().await, ExitReason::Normal);
    }
}

// B2, R4: the oldest message that was sent is dropped, not one that a signal became; a selective
// receive keeps its position
#[purlin::test(workers = 1)]
async fn messages_made_from_signals_are_not_dropped_as_the_oldest() {
    #[derive(Debug, PartialEq)]
    enum Msg {
        Number(u32),
        Down,
    }
    impl From<Down> for Msg {
        fn from(_: Down) -> Self {
            Self::Down
        }
    }
    let looked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looked);
    let picky = bounded(3, Overflow::DropOldest).spawn(async move |mut me: Process<Msg>| {
        for _ in 0..2 {
            me.monitor(&spawn(async |_: Process<()>| ()));
        }
        let looks = |msg: &Msg| {
            counted.fetch_add(1, Ordering::Relaxed);
            *msg == Msg::Number(9)
        };
        let nine = receive!(me, { msg if looks(&msg) => msg });
        assert_eq!((nine, me.flush()), (Msg::Number(9), vec![Msg::Down, Msg::Down]));
    });
    let picky = picky.expect("there is room");
    comes("it has its down messages", || looked.load(Ordering::Relaxed) == 2).await;
    for n in 0..10_u32 {
        picky.send(Msg::Number(n));
        comes("it has looked at it", || looked.load(Ordering::Relaxed) as u32 == n + 3).await;
    }
    assert_eq!(picky.ended().await, ExitReason::Normal);
    assert_eq!(looked.load(Ordering::Relaxed), 12, "each was looked at once");
    assert_eq!(here().drops().oldest, 9);
}

// B1: a down message removed by `demonitor_flush` frees capacity
#[purlin::test(workers = 1)]
async fn a_withdrawn_message_frees_capacity() {
    let options = bounded(1, Overflow::Reject);
    let pid = options.spawn(async |me: Process<Option<Down>>| {
        let (child, monitor) = me.spawn_monitor(async |_: Process<()>| ());
        child.ended().await;
        comes("the down message is there", || me.mailbox_len() == 1).await;
        yield_now().await;
        assert_eq!(me.pid().try_send(None), Err(SendError::Full(None)));
        assert!(!me.demonitor_flush(monitor));
        assert_eq!(me.pid().try_send(None), Ok(()));
    });
    assert_eq!(pid.expect("there is room").ended().await, ExitReason::Normal);
}

// C1, B1: depending on the policy, a call to a full mailbox fails immediately or waits
#[test]
fn a_call_to_a_full_mailbox_follows_the_overflow_policy() {
    struct Ask(Option<Reply<u32>>);
    async fn answers(mut me: Process<Ask>, mut gate: tokio::sync::oneshot::Receiver<()>) {
        (&mut gate).await.expect("the test opens the gate");
        while let Some(Ask(reply)) = me.try_receive() {
            reply.into_iter().for_each(|reply| reply.send(7));
        }
    }
    let minute = Duration::from_secs(60);
    for (overflow, expected, takes) in [
        (Overflow::Wait, CallError::Timeout(minute), minute),
        (Overflow::Reject, CallError::Full, Duration::ZERO),
        (Overflow::DropNewest, CallError::NoReply, Duration::ZERO),
    ] {
        simulated(move |_: Process<()>| {
            let expected = expected.clone();
            async move {
                let (open, gate) = tokio::sync::oneshot::channel();
                let options = bounded(1, overflow);
                let pid = options.spawn(move |me| answers(me, gate)).expect("there is room");
                pid.send(Ask(None));
                let began = uptime();
                let answer = pid.call_timeout(|reply| Ask(Some(reply)), minute).await;
                assert_eq!((answer, uptime() - began), (Err(expected), takes));
                let call = pid.call(|reply| Ask(Some(reply)));
                open.send(()).expect("it waits");
                if overflow == Overflow::Wait {
                    assert_eq!(call.await, Ok(7));
                }
                pid.ended().await;
            }
        });
    }
}

// B1, B3, N3: a timer's message is subject to the bound, and is counted if it is dropped
#[test]
fn timer_messages_are_subject_to_the_bound() {
    // Policy, messages that the receiver finds, number of dropped messages.
    for (overflow, kept, dropped) in [
        (Overflow::Wait, vec![0, 1, 2], 0),
        (Overflow::Reject, vec![0], 4),
        (Overflow::DropNewest, vec![0], 4),
        (Overflow::DropOldest, vec![2], 4),
    ] {
        simulated(move |mut me: Process<()>| {
            let kept = kept.clone();
            async move {
                let (pid, permit, taken) = taker(bounded(1, overflow));
                pid.send(0);
                pid.send_after(MS, 1);
                me.pid().send_after(2 * MS, ());
                me.receive().await;
                // The messages with value 2 are sent at 4, 6 and 8 ms.
                let ticks = pid.send_interval(2 * MS, || 2);
                me.pid().send_after(7 * MS, ());
                me.receive().await;
                assert!(ticks.cancel().is_some());
                assert_eq!(pid.info().bound.expect("it has one").dropped, dropped);
                permit.send(100).expect("it lives");
                drop(permit);
                assert_eq!(taken.await, Ok(kept), "{overflow:?}");
                let Drops { rejected, newest, oldest, ended, .. } = here().drops();
                let expected = match overflow {
                    Overflow::Wait => [0, 0, 0],
                    Overflow::Reject => [dropped, 0, 0],
                    Overflow::DropNewest => [0, dropped, 0],
                    _ => [0, 0, dropped],
                };
                assert_eq!(([rejected, newest, oldest], ended), (expected, 0));
            }
        });
    }
}
