//! `philosophers`: philosophers who ask an arbiter for their forks.

use std::time::Instant;

use may::go;
use may::sync::mpsc::{Receiver, Sender, channel};
use may::sync::spsc;
use purlin_contender::Sample;

use crate::channels::{call, receive};

/// Messages of the arbiter.
enum ToArbiter {
    /// Answered with whether both forks were free, and are now taken.
    Hungry(usize, spsc::Sender<bool>),
    Done(usize),
}

pub(crate) fn philosophers(count: u64, n: u64) -> Sample {
    let start = Instant::now();
    let (arbiter, mailbox) = channel();
    let serving = go!(move || serve(mailbox, count as usize));
    let philosophers: Vec<_> = (0..count as usize)
        .map(|seat| {
            let arbiter = arbiter.clone();
            go!(move || philosopher(seat, n, arbiter))
        })
        .collect();
    drop(arbiter);
    let mut eaten = 0;
    for philosopher in philosophers {
        eaten += philosopher.join().unwrap_or(0);
    }
    let elapsed = start.elapsed();

    let (granted, denied) = serving.join().unwrap_or_default();
    Sample::new(elapsed, count * n, granted, eaten).with("denied", denied)
}

/// Returns the number of meals of a philosopher.
fn philosopher(seat: usize, n: u64, arbiter: Sender<ToArbiter>) -> u64 {
    let mut meals = 0;
    while meals < n {
        match call(&arbiter, |reply| ToArbiter::Hungry(seat, reply)) {
            Some(true) if arbiter.send(ToArbiter::Done(seat)).is_ok() => meals += 1,
            Some(false) => {}
            _ => break,
        }
    }
    meals
}

/// Returns the numbers of meals granted and of requests denied.
fn serve(mailbox: Receiver<ToArbiter>, count: usize) -> (u64, u64) {
    let mut taken = vec![false; count];
    let (mut granted, mut denied) = (0, 0);
    while let Some(message) = receive(&mailbox) {
        match message {
            ToArbiter::Hungry(seat, reply) => {
                let free = !taken[seat] && !taken[(seat + 1) % count];
                if free {
                    taken[seat] = true;
                    taken[(seat + 1) % count] = true;
                    granted += 1;
                } else {
                    denied += 1;
                }
                // The reply can only be lost if the philosopher has failed.
                let _ = reply.send(free);
            }
            ToArbiter::Done(seat) => {
                taken[seat] = false;
                taken[(seat + 1) % count] = false;
            }
        }
    }
    (granted, denied)
}
