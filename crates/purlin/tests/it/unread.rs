//! Unread messages: what happens to those that a process leaves in its mailbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{DropCounter, ends, here, node, outside, stop};
use purlin::server::{self, Init, Mail, Next, Server};
use purlin::{
    Down, Exit, ExitReason, Message, Overflow, Pid, Process, SpawnOptions, receive, spawn,
    yield_now,
};
use tokio::sync::oneshot;

/// Mailbox of a process that gets the unread messages of another one and its `Down`.
#[derive(Debug, PartialEq, Message)]
enum Queue {
    Job(u32),
    #[from]
    Down(Down),
}

/// Receives until the `Down`, which comes last.
async fn until_down(me: &mut Process<Queue>) -> (Vec<u32>, ExitReason) {
    let mut jobs = Vec::new();
    loop {
        match me.receive().await {
            Queue::Job(job) => jobs.push(job),
            Queue::Down(down) => return (jobs, down.reason),
        }
    }
}

/// Sends all messages to a process.
fn send_all<M: Send + 'static>(pid: &Pid<M>, messages: impl IntoIterator<Item = M>) {
    messages.into_iter().for_each(|message| pid.send(message));
}

/// Worker that receives job 100 and the oldest one, and ends on command: with a panic, or normally
/// if the command is dropped.
async fn worker(
    mut me: Process<u32>,
    queue: Pid<Queue>,
    ready: oneshot::Sender<()>,
    fail: oneshot::Receiver<()>,
) {
    me.on_unread(move |job| queue.send(Queue::Job(job)));
    receive!(me, { 100 => {} });
    me.receive().await;
    ready.send(()).expect("the test waits");
    assert!(fail.await.is_err(), "on purpose");
}

// M7: whatever ends the process; oldest first, before the down signal, and not counted as dropped
#[purlin::test]
async fn unread_messages_are_passed_before_the_down_signal(mut me: Process<Queue>) {
    for way in 0..4 {
        let queue = me.pid();
        let (ready, is_ready) = oneshot::channel();
        let (fail, fails) = oneshot::channel();
        let (pid, _monitor) =
            me.spawn_monitor(move |me: Process<u32>| worker(me, queue, ready, fails));
        send_all(&pid, [1, 2, 100, 3]);
        is_ready.await.expect("it has received two messages");
        match way {
            0 => drop(fail),
            1 => fail.send(()).expect("it waits"),
            2 => pid.exit(ExitReason::Shutdown),
            _ => pid.exit(ExitReason::Kill),
        }
        let (jobs, reason) = until_down(&mut me).await;
        assert_eq!(jobs, [2, 3]);
        assert!(match way {
            0 => reason == ExitReason::Normal,
            1 => matches!(reason, ExitReason::Panic(_)),
            2 => reason == ExitReason::Shutdown,
            _ => reason == ExitReason::Killed,
        });
    }
    assert_eq!(here().drops().ended, 0);
}

// M7: what the function sends arrives before the exit signal, and `ended` waits for it
#[purlin::test]
async fn a_worker_that_is_killed_has_passed_its_messages_when_it_has_ended(mut me: Process<Queue>) {
    let queue = me.pid();
    let (ready, is_ready) = oneshot::channel();
    let pid = spawn(async move |mut me: Process<u32>| {
        me.on_unread(move |job| queue.send(Queue::Job(job)));
        ready.send(()).expect("the test waits");
        receive!(me, { 1000 => {} });
    });
    is_ready.await.expect("it runs");
    (0..500).for_each(|job| pid.send(job));
    pid.exit(ExitReason::Kill);
    assert_eq!(pid.ended().await, ExitReason::Killed);
    let jobs: Vec<Queue> = me.flush();
    assert_eq!(jobs, (0..500).map(Queue::Job).collect::<Vec<_>>());
    assert_eq!(here().drops().ended, 0);
}

/// Mailbox of a process that is linked to the one whose unread messages it gets.
#[derive(Debug, PartialEq, Message)]
enum Linked {
    Job(u32),
    #[from]
    Exit(Exit),
}

// M7, L3: what the function sends arrives before the exit signal of a link
#[purlin::test]
async fn unread_messages_are_passed_before_the_exit_signal(mut me: Process<Linked>) {
    me.trap_exit(true);
    let parent = me.pid();
    let pid = me.spawn_link(async move |mut me: Process<u32>| {
        me.on_unread(move |job| parent.send(Linked::Job(job)));
        receive!(me, { 100 => {} });
    });
    send_all(&pid, [1, 2, 100]);
    let exit = Exit { from: Some(pid.id()), reason: ExitReason::Normal };
    for expected in [Linked::Job(1), Linked::Job(2), Linked::Exit(exit)] {
        assert_eq!(me.receive().await, expected);
    }
}

// M7: a panic of the function loses one message; the function is dropped afterwards
#[purlin::test]
async fn a_panic_of_the_function_loses_the_message_of_its_call(mut me: Process<Queue>) {
    let drops = DropCounter::default();
    let (queue, token) = (me.pid(), drops.token());
    let (pid, _monitor) = me.spawn_monitor(async move |mut me: Process<u32>| {
        let mut calls = 0;
        me.on_unread(move |job| {
            let _ = &token;
            calls += 1;
            assert_ne!(job, 2, "call {calls}");
            if job == 3 {
                purlin::exit(ExitReason::Normal);
            }
            queue.send(Queue::Job(job * 10 + calls));
        });
        receive!(me, { 100 => {} });
    });
    send_all(&pid, [1, 2, 3, 4, 100]);
    assert_eq!(until_down(&mut me).await, (vec![11, 44], ExitReason::Normal));
    assert_eq!(pid.ended().await, ExitReason::Normal);
    assert_eq!(drops.dropped(), 1);
}

// M7: another call replaces the function, and drops it
#[purlin::test]
async fn the_last_function_counts(mut me: Process<Queue>) {
    let drops = DropCounter::default();
    let (queue, token) = (me.pid(), drops.token());
    let counted = drops.clone();
    let (pid, _monitor) = me.spawn_monitor(async move |mut me: Process<u32>| {
        me.on_unread(move |_| {
            let _ = &token;
        });
        me.on_unread(move |job| queue.send(Queue::Job(job)));
        assert_eq!(counted.dropped(), 1);
        receive!(me, { 100 => {} });
    });
    send_all(&pid, [5, 100]);
    assert_eq!(until_down(&mut me).await, (vec![5], ExitReason::Normal));
}

// M7, L9: what is for the process itself is not passed
#[purlin::test]
async fn down_signals_and_messages_to_an_alias_are_not_passed(mut me: Process<Queue>) {
    let queue = me.pid();
    let (pid, _monitor) = me.spawn_monitor(async move |mut me: Process<Queue>| {
        me.on_unread(move |unread| match unread {
            Queue::Job(job) => queue.send(Queue::Job(job)),
            Queue::Down(_) => panic!("it is not passed"),
        });
        let ended = spawn(async |_: Process<()>| ());
        ended.ended().await;
        for taken in [true, false] {
            me.monitor(&ended);
            me.alias().send(Queue::Job(1));
            if taken {
                // They are in the save queue, and the others in the inbox.
                receive!(me, { Queue::Job(100) => {} });
            }
        }
        me.pid().send(Queue::Job(6));
    });
    send_all(&pid, [5, 100].map(Queue::Job));
    assert_eq!(until_down(&mut me).await, (vec![5, 6], ExitReason::Normal));
}

// M7: a message that was accepted is received, passed, or dropped at the bound
#[test]
fn no_accepted_message_is_lost() {
    const SENDERS: u64 = 4;
    for (blocking, bound) in [(false, None), (true, None), (false, Some(8))] {
        let node = node(2);
        let (accepted, found) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let counts = (Arc::clone(&accepted), Arc::clone(&found));
        node.block_on(async move |_: Process<()>| {
            let (accepted, found) = counts;
            for round in 0..50 {
                let found = Arc::clone(&found);
                let receiver = async move |mut me: Process<u64>| {
                    let unread = Arc::clone(&found);
                    me.on_unread(move |n| {
                        unread.fetch_add(n, Ordering::Relaxed);
                    });
                    for _ in 0..round * 5 {
                        found.fetch_add(me.receive().await, Ordering::Relaxed);
                    }
                };
                let pid = match bound {
                    _ if blocking => SpawnOptions::new()
                        .blocking()
                        .spawn(receiver)
                        .expect("there is room for a process"),
                    None => spawn(receiver),
                    Some(limit) => {
                        let options = SpawnOptions::new().bound(limit, Overflow::Reject);
                        options.spawn(receiver).expect("there is room for a process")
                    }
                };
                let senders = (0..SENDERS).map(|_| {
                    let (pid, accepted) = (pid.clone(), Arc::clone(&accepted));
                    spawn(async move |_: Process<()>| {
                        let mut n = 0;
                        while pid.is_alive() {
                            n += 1;
                            if pid.try_send(n).is_ok() {
                                accepted.fetch_add(n, Ordering::Relaxed);
                            }
                            if n % 8 == 0 {
                                yield_now().await;
                            }
                        }
                    })
                });
                let senders: Vec<Pid<()>> = senders.collect();
                for sender in senders {
                    sender.ended().await;
                }
                pid.ended().await;
            }
        });
        assert_eq!(found.load(Ordering::Relaxed), accepted.load(Ordering::Relaxed));
        stop(&node);
    }
}

// M7, F2: a function that blocks delays the end of its own process only
#[test]
fn other_processes_run_while_the_function_blocks() {
    let node = node(1);
    let (is_called, may_return) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (called, returns) = (Arc::clone(&is_called), Arc::clone(&may_return));
    let pid = node.spawn(async move |mut me: Process<u32>| {
        me.on_unread(move |_| {
            called.store(true, Ordering::Release);
            while !returns.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
        });
        receive!(me, { 100 => {} });
    });
    send_all(&pid, [1, 100]);
    let other = node.spawn(async move |_: Process<()>| {
        while !is_called.load(Ordering::Acquire) {
            yield_now().await;
        }
        may_return.store(true, Ordering::Release);
    });
    assert_eq!(ends(&other), ExitReason::Normal);
    assert_eq!(ends(&pid), ExitReason::Normal);
    stop(&node);
}

/// Server that queues its casts again when it ends.
#[derive(Debug)]
struct Worker;

impl Server for Worker {
    type Args = Pid<Queue>;
    type Call = ();
    type Cast = u32;
    type Info = ();
    type Continue = ();

    async fn init(queue: Pid<Queue>, me: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        me.on_unread(move |mail| {
            if let Mail::Cast(job) = mail {
                queue.send(Queue::Job(job));
            }
        });
        Ok(Init::Ready(Worker))
    }

    async fn handle_cast(
        &mut self,
        job: u32,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        // The jobs behind this one have arrived.
        receive!(me, { Mail::Cast(100) => {} });
        Err(format!("job {job} fails").into())
    }
}

// M7, G1: a server passes its unread casts
#[purlin::test]
async fn unread_casts_of_a_server_can_be_queued_again(mut me: Process<Queue>) {
    let worker = server::start::<Worker>(me.pid()).await.expect("its init succeeds");
    me.monitor(worker.pid());
    [1, 2, 3, 100].into_iter().for_each(|job| worker.cast(job));
    let (jobs, reason) = until_down(&mut me).await;
    assert_eq!((jobs, reason.to_string()), (vec![2, 3], "job 1 fails".to_string()));
}

// M4: without a function they are dropped and counted
#[test]
fn unread_messages_without_a_function_are_dropped() {
    let node = node(1);
    let pid = node.spawn(async |mut me: Process<u32>| receive!(me, { 100 => {} }));
    send_all(&pid, [1, 2, 100]);
    assert_eq!(outside(pid.ended()), ExitReason::Normal);
    assert_eq!(node.drops().ended, 2);
    stop(&node);
}
