//! Tests of the queues on simulated cores: nothing is lost, and each sender's messages stay in order.

use std::sync::Arc;

use purlin_simulator::{Costs, Machine, Topology, hint, thread, work};

use super::lock::Lock;
use super::otp::Otp;
use super::purlin::Purlin;
use super::{Queue, Receiver};

const SENDERS: usize = 8;
const EACH: u64 = 1000;

/// Receives the messages of eight senders and checks the order of each.
fn keeps_order<Q: Queue>() {
    for seed in 0..5 {
        let topology = Topology { sockets: 2, cores_per_socket: 5 };
        let report = Machine::new(topology, Costs::TWO_SOCKETS, seed).run(|| {
            let (queue, mut receiver) = Q::new();
            let senders: Vec<_> = (0..SENDERS)
                .map(|sender| {
                    let queue = Arc::clone(&queue);
                    thread::spawn(move || {
                        for number in 0..EACH {
                            work(5.0);
                            assert!(!queue.send((sender as u64) << 32 | number, sender as u32));
                        }
                    })
                })
                .collect();
            let mut next = [0; SENDERS];
            while next.iter().sum::<u64>() < SENDERS as u64 * EACH {
                receiver.receive(|message| {
                    let sender = (message >> 32) as usize;
                    assert_eq!(message & 0xffff_ffff, next[sender], "in the order sent");
                    next[sender] += 1;
                });
                hint::spin_loop();
            }
            senders.into_iter().for_each(|sender| sender.join().expect("a sender ends"));
            next
        });
        assert_eq!(report.value, [EACH; SENDERS]);
    }
}

#[test]
fn one_word_keeps_each_sender_in_order_and_loses_nothing() {
    keeps_order::<Purlin<false>>();
}

#[test]
fn shards_keep_each_sender_in_order_and_lose_nothing() {
    keeps_order::<Purlin<true>>();
}

#[test]
fn model_of_otp_keeps_each_sender_in_order_and_loses_nothing() {
    keeps_order::<Otp>();
}

#[test]
fn lock_keeps_each_sender_in_order_and_loses_nothing() {
    keeps_order::<Lock>();
}
