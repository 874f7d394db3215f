//! Messages: sending does not wait, delivery is in order, payloads are moved, and none is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{DropCounter, PanicsWhenDropped, Token, here, node, outside, stop};
use purlin::{ExitReason, Pid, Process, consume_budget, spawn, yield_now};
use tokio::sync::oneshot;

/// Returns the pid of an ended process.
async fn dead<M: Send + 'static>() -> Pid<M> {
    let pid = spawn(async |_: Process<M>| {});
    pid.ended().await;
    pid
}

// M1: sending returns although the process does not receive
#[test]
fn sending_to_a_process_that_does_not_receive_never_blocks() {
    let node = node(1);
    let (finish, finished) = oneshot::channel::<()>();
    let pid = node.spawn(async move |mut me: Process<usize>| {
        finished.await.expect("the sender lives");
        assert_eq!(me.flush(), (0..100_000).collect::<Vec<_>>());
    });
    (0..100_000).for_each(|n| pid.send(n));
    finish.send(()).expect("it waits");
    assert_eq!(outside(pid.ended()), ExitReason::Normal);
    stop(&node);
}

/// Receives `each` messages from each of `senders` senders and asserts the order per sender.
async fn in_order_of_each(mut me: Process<(usize, u32)>, senders: usize, each: u32) {
    let mut next = vec![0; senders];
    for _ in 0..senders as u64 * u64::from(each) {
        let (sender, n) = me.receive().await;
        assert_eq!(n, next[sender], "from sender {sender}");
        next[sender] += 1;
    }
    assert!(next.iter().all(|&n| n == each));
    assert_eq!(me.try_receive(), None);
}

// M2, M4: 64 senders, 2 000 messages each: all arrive, in order per sender
#[test]
fn messages_of_each_process_arrive_in_the_order_sent() {
    const SENDERS: usize = 64;
    const EACH: u32 = 2_000;
    let node = node(4);
    let receiver = node.spawn(|me| in_order_of_each(me, SENDERS, EACH));
    for sender in 0..SENDERS {
        let receiver = receiver.clone();
        node.spawn(async move |_: Process<()>| {
            for n in 0..EACH {
                receiver.send((sender, n));
                consume_budget().await;
            }
        });
    }
    assert_eq!(outside(receiver.ended()), ExitReason::Normal);
    assert_eq!(receiver.info().messages_in, SENDERS as u64 * u64::from(EACH));
    assert_eq!(node.dropped_messages(), 0);
    stop(&node);
}

// M2: a plain thread is a sender like any other
#[test]
fn messages_of_each_plain_thread_arrive_in_the_order_sent() {
    let node = node(2);
    let receiver = node.spawn(|me| in_order_of_each(me, 8, 10_000));
    std::thread::scope(|scope| {
        for sender in 0..8 {
            let receiver = &receiver;
            scope.spawn(move || (0..10_000).for_each(|n| receiver.send((sender, n))));
        }
    });
    assert_eq!(outside(receiver.ended()), ExitReason::Normal);
    stop(&node);
}

// M3: A sends to C and to B, and B sends to C: both messages arrive, in either order
#[purlin::test(workers = 4)]
async fn both_messages_of_a_triangle_arrive(mut me: Process<&'static str>) {
    for _ in 0..200 {
        let c = me.pid();
        let b = spawn(async move |mut me: Process<Pid<&'static str>>| {
            me.receive().await.send("round about")
        });
        let to_b = c.clone();
        spawn(async move |_: Process<()>| {
            c.send("straight on");
            b.send(to_b);
        });
        let mut came = [me.receive().await, me.receive().await];
        came.sort_unstable();
        assert_eq!(came, ["round about", "straight on"]);
    }
}

// M4: dropped without an error, and counted
#[purlin::test]
async fn a_message_to_an_ended_process_is_dropped_and_counted() {
    let drop_counter = DropCounter::default();
    let pid = dead::<Token>().await;
    let before = here().dropped_messages();
    (0..10).for_each(|_| pid.send(drop_counter.token()));
    assert_eq!(here().dropped_messages(), before + 10);
    assert_eq!((drop_counter.born(), drop_counter.dropped()), (10, 10));
}

// M4: `try_send` returns the message
#[purlin::test]
async fn try_send_to_an_ended_process_returns_the_message() {
    let pid = dead::<String>().await;
    let before = here().dropped_messages();
    let message = pid.try_send("mine".to_string()).expect_err("no process is there").into_inner();
    assert_eq!(message, "mine");
    assert_eq!(here().dropped_messages(), before, "it was not dropped");
    let live = spawn(async |mut me: Process<String>| assert_eq!(me.receive().await, "yours"));
    assert_eq!(live.try_send("yours".to_string()), Ok(()));
    assert_eq!(live.ended().await, ExitReason::Normal);
}

/// Sends `sent` messages to a process that receives `received` of them, waits for its end, and
/// returns the number of messages that the node dropped.
async fn end_with_mail<M: Send + 'static>(
    sent: usize,
    received: usize,
    mut message: impl FnMut() -> M,
) -> u64 {
    let before = here().dropped_messages();
    let (go, wait) = oneshot::channel::<()>();
    let pid = spawn(async move |mut me: Process<M>| {
        wait.await.expect("the sender lives");
        for _ in 0..received {
            drop(me.receive().await);
        }
    });
    (0..sent / 2).for_each(|_| pid.send(message()));
    yield_now().await;
    (sent / 2..sent).for_each(|_| pid.send(message()));
    go.send(()).expect("it waits");
    pid.ended().await;
    here().dropped_messages() - before
}

// M4: created = received + dropped, for messages in the mailbox at the end
#[purlin::test]
async fn messages_queued_at_the_end_are_dropped_exactly_once() {
    for (sent, received) in [(1, 0), (1, 1), (10, 3), (1000, 0), (1000, 999), (5000, 1024)] {
        let drop_counter = DropCounter::default();
        let dropped = end_with_mail(sent, received, || drop_counter.token()).await;
        assert_eq!((drop_counter.born(), drop_counter.dropped()), (sent, sent));
        assert_eq!(dropped, (sent - received) as u64);
    }
}

// M4: also if the destructor of one of them panics
#[purlin::test]
async fn a_panicking_message_destructor_does_not_leak_other_messages() {
    let drop_counter = DropCounter::default();
    let mut n = 0;
    let dropped = end_with_mail(100, 0, || {
        n += 1;
        (drop_counter.token(), (n % 10 == 0).then(|| PanicsWhenDropped("a message's destructor")))
    })
    .await;
    assert_eq!(dropped, 100);
    assert_eq!((drop_counter.born(), drop_counter.dropped()), (100, 100));
}

/// Panics when dropped, with a payload that also panics when dropped.
struct PanicsTwice;

impl Drop for PanicsTwice {
    fn drop(&mut self) {
        std::panic::resume_unwind(Box::new(PanicsWhenDropped("the payload's destructor")));
    }
}

// M4, P2: the process ends and the worker continues
#[test]
fn a_panic_payload_that_panics_when_dropped_is_contained() {
    let node = node(1);
    let (finish, finished) = oneshot::channel::<()>();
    let pid = node.spawn(async move |_: Process<PanicsTwice>| drop(finished.await));
    pid.send(PanicsTwice);
    finish.send(()).expect("it waits");
    outside(async {
        assert_eq!(pid.ended().await, ExitReason::Normal);
        let (tx, rx) = oneshot::channel();
        node.spawn(async move |_: Process<()>| tx.send("the worker lives"));
        assert_eq!(rx.await, Ok("the worker lives"));
    });
    stop(&node);
}

// M4: concurrent with the end of the process, each message is received or dropped exactly once
#[test]
fn messages_sent_while_a_process_ends_are_received_or_dropped() {
    let node = node(4);
    let drop_counter = DropCounter::default();
    let received = Arc::new(AtomicUsize::new(0));
    for round in 0..200 {
        let (counts, limit) = (received.clone(), round % 50);
        let pid = node.spawn(async move |mut me: Process<Token>| {
            for _ in 0..limit {
                me.receive().await;
                counts.fetch_add(1, Ordering::Relaxed);
            }
        });
        for _ in 0..4 {
            let (pid, drop_counter) = (pid.clone(), drop_counter.clone());
            node.spawn(async move |_: Process<()>| {
                for _ in 0..50 {
                    pid.send(drop_counter.token());
                    consume_budget().await;
                }
            });
        }
    }
    let all = node.processes();
    outside(async {
        for info in all {
            if let Ok(pid) = node.pid::<()>(info.id) {
                pid.ended().await;
            } else if let Ok(pid) = node.pid::<Token>(info.id) {
                pid.ended().await;
            }
        }
    });
    stop(&node);
    assert_eq!((drop_counter.born(), drop_counter.dropped()), (40_000, 40_000));
    let received = received.load(Ordering::Relaxed) as u64;
    assert_eq!(received + node.dropped_messages(), 40_000);
}

// M5: the payload keeps its address, and its type is not `Clone`
#[purlin::test]
async fn a_payload_is_moved_and_never_copied(mut me: Process<(Vec<u8>, Box<Token>)>) {
    let drop_counter = DropCounter::default();
    let payload = (vec![7; 1 << 20], Box::new(drop_counter.token()));
    let before = (payload.0.as_ptr().addr(), (&raw const *payload.1).addr());
    me.pid().send(payload);
    let came = me.receive().await;
    assert_eq!((came.0.as_ptr().addr(), (&raw const *came.1).addr()), before);
    assert_eq!((drop_counter.born(), drop_counter.dropped()), (1, 0));
}

// M5: payloads of any size and alignment arrive intact
#[purlin::test]
async fn messages_of_any_size_and_alignment_arrive_intact() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(128))]
    struct Wide(u8);

    async fn there_and_back<M: Send + Clone + PartialEq + std::fmt::Debug + 'static>(message: M) {
        let sent = message.clone();
        let pid = spawn(async move |mut me: Process<M>| assert_eq!(me.receive().await, message));
        pid.send(sent);
        assert_eq!(pid.ended().await, ExitReason::Normal);
    }
    there_and_back(()).await;
    there_and_back(true).await;
    there_and_back(Wide(3)).await;
    there_and_back(u128::MAX).await;
    there_and_back([7u8; 10_000]).await;
    there_and_back("text".to_string()).await;
}

// M1: from a task of another tokio runtime
#[test]
fn a_task_of_another_runtime_can_send() {
    let node = node(2);
    let pid = node.spawn(|me| in_order_of_each(me, 4, 1000));
    outside(async {
        for sender in 0..4 {
            let pid = pid.clone();
            tokio::spawn(async move {
                for n in 0..1000 {
                    pid.send((sender, n));
                    tokio::task::yield_now().await;
                }
            });
        }
        assert_eq!(pid.ended().await, ExitReason::Normal);
    });
    stop(&node);
}

/// Sends a message when dropped.
struct Goodbye(Pid<&'static str>, &'static str);

impl Drop for Goodbye {
    fn drop(&mut self) {
        self.0.send(self.1);
    }
}

// M1: from the destructors of a process that panics, a process that is stopped, and a queued
// message
#[purlin::test]
async fn destructors_can_send(mut me: Process<&'static str>) {
    let bye = Goodbye(me.pid(), "it panicked");
    spawn(async move |_: Process<()>| {
        let _bye = bye;
        std::panic::resume_unwind(Box::new("the end"));
    });
    assert_eq!(me.receive().await, "it panicked");
    let other = node(1);
    let bye = Goodbye(me.pid(), "it was stopped");
    other.spawn(async move |mut me: Process<()>| {
        let _bye = bye;
        me.receive().await
    });
    other.stop().await;
    assert_eq!(me.receive().await, "it was stopped");
    let (go, wait) = oneshot::channel::<()>();
    let pid = spawn(async move |_: Process<Goodbye>| drop(wait.await));
    pid.send(Goodbye(me.pid(), "it waited"));
    go.send(()).expect("it waits");
    assert_eq!(me.receive().await, "it waited");
}

// M4: a message that a process sent to itself does not keep it alive
#[purlin::test]
async fn a_process_with_a_pid_in_its_own_mailbox_is_freed() {
    let drop_counter = DropCounter::default();
    for _ in 0..100 {
        let token = drop_counter.token();
        let pid = spawn(async move |me: Process<(Pid<()>, Token)>| {
            let other = spawn(async |mut me: Process<()>| me.receive().await);
            me.pid().send((other, token));
        });
        pid.ended().await;
    }
    assert_eq!(drop_counter.dropped(), 100);
}
