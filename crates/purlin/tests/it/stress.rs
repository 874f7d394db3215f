//! Stress test: random processes that spawn, send, receive, cancel, end and panic. Invariants that
//! hold for every interleaving: every message is received or dropped exactly once; every started
//! process has ended; the node stops.
//!
//! `PURLIN_SEED` repeats a run as far as threads allow; `PURLIN_STRESS` is the number of rounds, 12
//! by default.
//!
//! WHY real time: the timeouts of receives and calls here, 50 to 300 µs, only decide which branch a
//! process takes. The invariants hold for both.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::common::chance::{Chance, rounds};
use crate::common::{DropCounter, Token, ends, node, stop};
use futures_util::FutureExt;
use purlin::{ExitReason, Pid, Process, Reply, SpawnOptions, consume_budget, receive, yield_now};

/// Counted message.
struct Msg {
    what: What,
    _token: Token,
}

enum What {
    Plain(u64),
    Ask(u64, Reply<u64>),
    Trapped(Trap),
}
use What::{Ask, Plain, Trapped};

/// Panics when dropped, without calling the panic hook.
struct Trap;

impl Drop for Trap {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            std::panic::resume_unwind(Box::new("a trap"));
        }
    }
}

/// State shared by all processes of one round.
struct World {
    drop_counter: DropCounter,
    received: AtomicU64,
    /// Messages returned by calls to ended processes.
    refused: AtomicU64,
    began: AtomicU64,
    answers: AtomicU64,
    peers: Mutex<Vec<Pid<Msg>>>,
    limit: u64,
}

impl World {
    fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self {
            drop_counter: DropCounter::default(),
            received: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            began: AtomicU64::new(0),
            answers: AtomicU64::new(0),
            peers: Mutex::default(),
            limit,
        })
    }

    fn peers(&self) -> std::sync::MutexGuard<'_, Vec<Pid<Msg>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn any_peer(&self, chance: &mut Chance) -> Option<Pid<Msg>> {
        let peers = self.peers();
        let at = chance.below(peers.len().max(1) as u64) as usize;
        peers.get(at).cloned()
    }

    fn message(&self, what: What) -> Msg {
        Msg { what, _token: self.drop_counter.token() }
    }

    fn accept(&self, message: Msg) {
        self.received.fetch_add(1, Ordering::Relaxed);
        match message.what {
            Plain(_) => {}
            Ask(n, reply) => reply.send(n + 1),
            Trapped(trap) => std::mem::forget(trap),
        }
    }
}

fn begin(world: &Arc<World>, seed: u64) {
    if world.began.fetch_add(1, Ordering::Relaxed) >= world.limit {
        world.began.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    let shared = Arc::clone(world);
    let pid = SpawnOptions::new().spawn(move |me| live(me, shared, Chance::new(seed)));
    world.peers().push(pid.expect("there is room"));
}

/// One process: a random number of random steps.
async fn live(mut me: Process<Msg>, world: Arc<World>, mut chance: Chance) -> Result<(), String> {
    for _ in 0..chance.below(60) {
        match chance.below(12) {
            0 | 1 => begin(&world, chance.next()),
            2..=4 => {
                for _ in 0..chance.below(40) {
                    let Some(peer) = world.any_peer(&mut chance) else { continue };
                    let what = match chance.below(50) {
                        0 => Trapped(Trap),
                        n => Plain(n),
                    };
                    peer.send(world.message(what));
                    consume_budget().await;
                }
            }
            5 => {
                let Some(peer) = world.any_peer(&mut chance) else { continue };
                ask(&me, &peer, &world, chance.below(1000)).await;
            }
            6 => receive!(me, {
                message => world.accept(message),
                after Duration::ZERO => {}
            }),
            7 => {
                let odd = async {
                    receive!(me, { odd @ Msg { what: Plain(n), .. } if n % 2 == 1 => odd })
                };
                let given_up = tokio::time::timeout(Duration::from_micros(200), odd).await;
                given_up.into_iter().for_each(|message| world.accept(message));
            }
            8 => me.receive().now_or_never().into_iter().for_each(|m| world.accept(m)),
            9 => me.flush().into_iter().for_each(|message| world.accept(message)),
            10 => yield_now().await,
            _ => receive!(me, {
                message @ Msg { what: Ask(..) | Trapped(_), .. } => world.accept(message),
                after Duration::from_micros(50) => {}
            }),
        }
    }
    match chance.below(4) {
        0 => Err("at its end".to_string()),
        1 => std::panic::resume_unwind(Box::new("at its end")),
        _ => Ok(()),
    }
}

/// Calls a peer, which may reply, end, or exceed the timeout.
async fn ask(me: &Process<Msg>, peer: &Pid<Msg>, world: &World, n: u64) {
    if *peer == me.pid() {
        return;
    }
    let question = |reply| world.message(Ask(n, reply));
    match peer.call_timeout(question, Duration::from_micros(300)).await {
        Ok(answer) => {
            assert_eq!(answer, n + 1);
            world.answers.fetch_add(1, Ordering::Relaxed);
        }
        Err(purlin::CallError::NoProcess) => {
            world.refused.fetch_add(1, Ordering::Relaxed);
        }
        Err(_) => {}
    }
}

/// Runs one round and checks the invariants; returns the number of messages sent.
fn round(seed: u64, workers: usize) -> u64 {
    let node = node(workers);
    let world = World::new(400);
    let first = Arc::clone(&world);
    node.block_on(async move |_: Process<()>| {
        let mut chance = Chance::new(seed);
        (0..20).for_each(|_| begin(&first, chance.next()));
    });
    let mut ended = 0;
    loop {
        let all = world.peers().clone();
        if ended == all.len() {
            break;
        }
        for pid in &all[ended..] {
            let reason = ends(pid);
            assert_ne!(reason, ExitReason::Killed, "no process is killed here");
            if let ExitReason::Panic(panic) = reason {
                // A trap that was sent to an ended process is dropped by its sender.
                assert!(["at its end", "a trap"].contains(&panic.message.as_str()), "{panic}");
            }
        }
        ended = all.len();
    }
    assert_eq!(ended as u64, world.began.load(Ordering::Relaxed), "processes were lost");
    assert!(node.processes().is_empty(), "processes are left: {:?}", node.processes());
    // WHY before counting: the end is reported shortly before the messages left in the mailbox are
    // counted.
    stop(&node);
    let sent = world.drop_counter.born() as u64;
    let received = world.received.load(Ordering::Relaxed);
    let refused = world.refused.load(Ordering::Relaxed);
    let dropped = node.dropped_messages();
    assert_eq!(sent, received + refused + dropped, "messages were lost or doubled");
    assert_eq!(world.drop_counter.dropped() as u64, sent, "payloads leaked or were dropped twice");
    sent
}

// M4, P2, E1: sent = received + dropped, and every started process has ended
#[test]
fn random_processes_lose_no_message() {
    let (mut sent, mut workers) = (0, (1..=4).cycle());
    rounds(12, |seed| sent += round(seed, workers.next().unwrap_or(1)));
    assert!(sent > 0, "no message was sent");
}
