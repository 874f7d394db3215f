//! Stress test of bounded mailboxes: many senders, some of them killed, and receivers that end or do not yield.
//! Invariant: every sent message was received, returned to its sender, or dropped and counted.
//!
//! `PURLIN_SEED` repeats a run as far as threads allow; `PURLIN_STRESS` is the number of rounds, 10 by default.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::chance::{Chance, rounds};
use crate::common::{DropCounter, Numbered, ends, node, outside, stop};
use purlin::{
    Drops, ExitReason, Node, Overflow, Pid, Process, SendError, SpawnOptions, consume_budget,
    yield_now,
};

const POLICIES: [Overflow; 4] =
    [Overflow::Wait, Overflow::Reject, Overflow::DropNewest, Overflow::DropOldest];
/// Messages per sender.
const EACH: usize = 300;
/// Senders of each kind.
const SENDERS: usize = 6;

/// One mailbox and what its senders share.
#[derive(Clone)]
struct Crowd {
    to: Pid<Numbered>,
    drop_counter: DropCounter,
    back: Arc<AtomicUsize>,
}

impl Crowd {
    /// Counts a failed send; returns `false` if the receiver has ended.
    fn count_failure(&self, sent: Result<(), SendError<Numbered>>) -> bool {
        self.back.fetch_add(usize::from(sent.is_err()), Ordering::Relaxed);
        !matches!(sent, Err(SendError::NoProcess(_)))
    }

    /// Sends with `send`; the overflow policy applies and may suspend the process.
    async fn sends(self, sender: usize) {
        for number in 0..EACH {
            self.to.send(self.drop_counter.message(sender, number));
            consume_budget().await;
        }
    }

    /// Sends with `send_async`, which waits for capacity.
    async fn waits(self, sender: usize) {
        for number in 0..EACH {
            let sent = self.to.send_async(self.drop_counter.message(sender, number)).await;
            if !self.count_failure(sent) {
                return;
            }
        }
    }

    /// Sends with `try_send`, which fails if there is no capacity.
    fn tries(self, sender: usize) {
        for number in 0..EACH {
            let sent = self.to.try_send(self.drop_counter.message(sender, number));
            if !self.count_failure(sent) {
                return;
            }
        }
    }
}

/// Receives up to `most` messages, checks the order per sender, and if `hogs` is set sometimes does not yield.
async fn receives(mut me: Process<Numbered>, most: usize, hogs: bool, received: Arc<AtomicUsize>) {
    let mut next = [0; 4 * SENDERS];
    for count in 0..most {
        let message = me.receive().await;
        assert!(message.number >= next[message.sender], "M2: in the order sent");
        next[message.sender] = message.number + 1;
        received.fetch_add(1, Ordering::Relaxed);
        match count % 64 {
            7 => yield_now().await,
            // Runs without an await while the senders continue.
            40 if hogs => (0..20_000).for_each(|_| {
                black_box(me.mailbox_len());
            }),
            _ => {}
        }
    }
}

/// Starts senders of every kind for one mailbox; returns the handles of their threads and their pids.
fn gather(
    node: &Node,
    crowd: &Crowd,
    chance: u64,
) -> (Vec<std::thread::JoinHandle<()>>, Vec<Pid<()>>) {
    let mut threads = Vec::new();
    let mut processes = Vec::new();
    for n in 0..SENDERS {
        let all = crowd.clone();
        processes.push(node.spawn(move |_| all.sends(n)));
        let all = crowd.clone();
        processes.push(node.spawn(move |_| all.waits(SENDERS + n)));
    }
    for n in 0..2 {
        let all = crowd.clone();
        threads.push(std::thread::spawn(move || all.tries(2 * SENDERS + n)));
        let all = crowd.clone();
        threads.push(std::thread::spawn(move || outside(all.waits(3 * SENDERS + n))));
    }
    // Some of the senders that may be suspended are killed.
    for (n, process) in processes.iter().step_by(2).enumerate() {
        if chance >> n & 1 == 1 {
            process.exit(ExitReason::Kill);
        }
    }
    (threads, processes)
}

/// Runs one mailbox per policy, with its senders, on one node.
fn round(seed: u64) -> Drops {
    let mut chance = Chance::new(seed);
    let node = node(2);
    let received = Arc::new(AtomicUsize::new(0));
    let all: Vec<_> = POLICIES
        .map(|overflow| {
            let limit = 1 + chance.below(40) as usize;
            let all = 4 * SENDERS * EACH;
            let most = if chance.below(2) == 0 { all } else { chance.below(1000) as usize };
            let (hogs, received) = (chance.below(4) == 0, Arc::clone(&received));
            let options = SpawnOptions::new().bound(limit, overflow);
            let to = options.spawn_on(&node, move |me| receives(me, most, hogs, received));
            let to = to.unwrap_or_else(|error| panic!("{error}"));
            let crowd = Crowd { to, drop_counter: DropCounter::default(), back: Arc::default() };
            let gathered = gather(&node, &crowd, chance.next());
            (crowd, gathered)
        })
        .into();
    let (mut sent, mut gone, mut back) = (0, 0, 0);
    for (crowd, (threads, processes)) in all {
        threads.into_iter().for_each(|thread| thread.join().expect("a thread sends"));
        for process in processes {
            let reason = ends(&process);
            assert!(matches!(reason, ExitReason::Normal | ExitReason::Killed), "{reason}");
        }
        crowd.to.exit(ExitReason::Shutdown);
        let reason = ends(&crowd.to);
        assert!(matches!(reason, ExitReason::Normal | ExitReason::Shutdown), "{reason}");
        sent += crowd.drop_counter.born();
        gone += crowd.drop_counter.dropped();
        back += crowd.back.load(Ordering::Relaxed);
    }
    assert_eq!(gone, sent, "payloads leaked or were dropped twice");
    let (drops, received) = (node.drops(), received.load(Ordering::Relaxed));
    let dropped = node.dropped_messages() as usize;
    assert_eq!(sent, received + back + dropped, "messages were lost or doubled: {drops:?}");
    stop(&node);
    drops
}

// B1, B3, M2, F3: sent = received + returned + dropped, even if senders are killed or receivers end
#[test]
fn no_message_of_a_full_mailbox_is_lost_or_duplicated() {
    let mut all = [0; 3];
    rounds(10, |seed| {
        let drops = round(seed);
        for (sum, more) in all.iter_mut().zip([drops.rejected, drops.newest, drops.oldest]) {
            *sum += more;
        }
    });
    // A sender makes twice as many sends per turn as the largest bound has places.
    assert!(
        all.iter().all(|dropped| *dropped > 0),
        "of each policy some mailbox was full: {all:?}"
    );
}
